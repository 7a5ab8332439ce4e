"""The draws of one peer for one purpose, in plain Python: what kernels draw, for peers written as objects.

A `Dice` is a key of `sub2sub.compiled.common.randomness` and gives what a kernel gets under that key, bit for
bit. Draws are taken by number, where a protocol assigns each decision its number, or one after the other,
where the number of decisions is not known beforehand; both can be used on one object.

`Random` is the same for protocols of one's own, one object for a peer, a cycle and a purpose.

The arithmetic is written in Python's integers because calling a compiled function costs more than the few
operations of a draw.

>>> dice = Dice.of(seed=1, stream=2, cycle=3).of_peer(7)
>>> dice.below(0, 10) == dice.next_below(10), dice.used
(True, 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from sub2sub.errors import InputError

T = TypeVar("T")

_WORD = 0xFFFFFFFFFFFFFFFF
_GOLDEN = 0x9E3779B97F4A7C15
_M1, _M2 = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mix(x: int) -> int:
    """SplitMix64's finaliser: a bijection of 64 bits in which every input bit moves every output bit."""
    x = (x ^ x >> 30) * _M1 & _WORD
    x = (x ^ x >> 27) * _M2 & _WORD
    return x ^ x >> 31


class Dice:
    """Draws under a key.

    Parameters
    ----------
    key : int or np.uint64
        As of `cycle_key` or `peer_key`.

    Attributes
    ----------
    used : int
        Draws taken one after the other so far; the next of them has this number.

    Examples
    --------
    >>> dice = Dice(7)
    >>> dice.below(3, 10) < 10, 0.0 <= dice.unit(4) < 1.0, dice.chance(5, 1.0)
    (True, True, True)
    >>> len(set(dice.sample(0, 20, 8)))
    8
    """

    __slots__ = ("key", "used")

    def __init__(self, key: int | np.uint64) -> None:
        self.key, self.used = int(key), 0

    @classmethod
    def of(cls, seed: int, stream: int, cycle: int) -> Dice:
        """The draws of a stream in a cycle (`cycle_key`)."""
        key = mix(seed + _GOLDEN & _WORD)
        key = mix(key ^ (stream * _GOLDEN & _WORD))
        return cls(mix(key + cycle * _GOLDEN & _WORD))

    def of_peer(self, peer: int) -> Dice:
        """The draws of a peer under this key (`peer_key`)."""
        return Dice(mix(self.key ^ ((peer & _WORD) * _M1 + _GOLDEN & _WORD)))

    def bits(self, k: int) -> int:
        """The k-th draw: 64 random bits."""
        return mix(self.key + (int(k) + 1) * _GOLDEN & _WORD)

    def below(self, k: int, n: int) -> int:
        """The k-th draw as a number below n, n < 2^32."""
        return (self.bits(k) >> 32) * n >> 32

    def unit(self, k: int) -> float:
        """The k-th draw as a number from 0 to 1, without 1."""
        return (self.bits(k) >> 11) * (1.0 / 9007199254740992.0)

    def chance(self, k: int, probability: float) -> bool:
        """Whether the k-th draw hits an event of that probability."""
        return self.unit(k) < probability

    def sample(self, first: int, size: int, count: int) -> list[int]:
        """A random set of `count` of the places 0 .. size - 1, in order (draws first, first + 1, ...).

        Floyd's algorithm, as `sub2sub.compiled.common.views.sample`: one draw serves three places, 21 bits
        apart.
        """
        chosen: set[int] = set()
        bits = 0
        for k in range(count):
            bits = self.bits(first + k // 3) if k % 3 == 0 else bits << 21 & _WORD
            last = size - count + k
            place = (bits >> 32) * (last + 1) >> 32
            chosen.add(last if place in chosen else place)
        return sorted(chosen)

    def next_bits(self) -> int:
        """The next draw: 64 random bits."""
        self.used += 1
        x = self.key + self.used * _GOLDEN & _WORD  # as `bits`, without two calls: peers draw very often
        x = (x ^ x >> 30) * _M1 & _WORD
        x = (x ^ x >> 27) * _M2 & _WORD
        return x ^ x >> 31

    def next_below(self, n: int) -> int:
        """The next draw as a number below n."""
        return (self.next_bits() >> 32) * n >> 32

    def next_unit(self) -> float:
        """The next draw as a number from 0 to 1, without 1."""
        return (self.next_bits() >> 11) * (1.0 / 9007199254740992.0)

    def next_chance(self, probability: float) -> bool:
        """Whether the next draw hits an event of that probability."""
        return self.next_unit() < probability


def stream_number(name: str) -> int:
    """A stable number for a named stream, so that layers draw independently of one another.

    Examples
    --------
    >>> stream_number("cyclon") != stream_number("vicinity")
    True
    """
    value = 0xCBF29CE484222325  # FNV-1a, 64 bits
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def cycle_key(seed: int, stream: int, cycle: int) -> np.uint64:
    """The key of one stream in one cycle, for kernels; `stream_number` tells layers and controls apart."""
    return np.uint64(Dice.of(seed, stream, cycle).key)


class Random:
    """The random numbers of one peer in one cycle for one purpose: the same whenever they are asked for.

    There is no state to share or to save. A run that is resumed, or split among threads, draws the same.

    Parameters
    ----------
    seed : int
    purpose : str
        Such as a protocol's name; other purposes draw independently.
    cycle, peer : int

    Examples
    --------
    >>> random = Random(seed=1, purpose="push-sum", cycle=3, peer=7)
    >>> random.below(10) < 10, 0.0 <= random.unit() < 1.0, random.chance(1.0)
    (True, True, True)
    >>> random.choice("abc") in "abc", sorted(random.sample(range(20), 20)) == list(range(20))
    (True, True)
    >>> Random(1, "push-sum", 3, 7).unit() == Random(1, "push-sum", 3, 7).unit()
    True
    """

    __slots__ = ("_dice",)

    def __init__(self, seed: int, purpose: str, cycle: int = 0, peer: int = 0) -> None:
        self._dice = Dice.of(seed, stream_number(purpose), cycle).of_peer(peer)

    def unit(self) -> float:
        """A number from 0 to 1, without 1."""
        return self._dice.next_unit()

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        if n < 1:
            raise InputError(f"below: expected 1 or more, got {n}")
        return self._dice.next_below(n)

    def chance(self, probability: float) -> bool:
        """Whether an event of that probability happens."""
        return self._dice.next_chance(probability)

    def choice(self, items: Sequence[T]) -> T:
        """One of the items."""
        if len(items) == 0:
            raise InputError("choice: expected one or more items, got none")
        return items[self._dice.next_below(len(items))]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """`count` different ones of the items, or all where there are fewer, in random order."""
        if count < 0:
            raise InputError(f"sample: expected a count from 0 on, got {count}")
        left = list(items)
        for k in range(min(count, len(left))):
            other = k + self._dice.next_below(len(left) - k)
            left[k], left[other] = left[other], left[k]
        return left[:count]
