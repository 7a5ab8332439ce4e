"""What an object draws is what a kernel draws."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sub2sub.compiled.common.randomness import below, draw, peer_key, unit
from sub2sub.compiled.common.views import sample
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.peers.draws import Dice, cycle_key

keys, numbers = st.integers(0, 2**64 - 1), st.integers(0, 2**20)


@kernel
def _drawn(key, peer, k, n):
    bits = draw(peer_key(key, peer), k)
    return bits, below(bits, n), unit(bits)


@kernel
def _sampled(key, first, size, count):
    return sample(size, count, key, first)


@given(keys, st.integers(-5, 2**31), numbers, st.integers(1, 2**32 - 1))
def test_every_draw_is_the_one_of_the_kernels(key: int, peer: int, k: int, n: int) -> None:
    bits, number, share = _drawn(np.uint64(key), peer, k, n)
    dice = Dice(np.uint64(key)).of_peer(peer)
    assert (dice.bits(k), dice.below(k, n), dice.unit(k)) == (int(bits), int(number), float(share))
    assert dice.chance(k, float(share)) is False
    assert dice.chance(k, float(np.nextafter(share, 2))) is True


@given(keys, keys, numbers)
def test_the_key_of_a_cycle_is_the_one_of_the_kernels(seed: int, stream: int, cycle: int) -> None:
    assert Dice.of(seed, stream, cycle).key == int(cycle_key(seed, stream, cycle))


@given(keys, st.integers(0, 63), st.data())
def test_a_sample_is_the_one_of_the_kernels(key: int, size: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, size))
    mask = int(_sampled(np.uint64(key), 32, size, count))
    assert Dice(key).sample(32, size, count) == [place for place in range(size) if mask >> place & 1]


@given(keys)
def test_draws_one_after_the_other_are_those_by_number(key: int) -> None:
    dice = Dice(key)
    taken = [dice.next_bits(), dice.next_below(10), dice.next_unit(), dice.next_chance(0.5)]
    assert taken == [dice.bits(0), dice.below(1, 10), dice.unit(2), dice.chance(3, 0.5)]
