"""Counter-based randomness: a draw is a pure function of (seed, stream, cycle, peer, k).

`sub2sub.peers.draws` has the same draws in plain Python, bit for bit. There is no generator to share, save or
advance. A layer hashes seed, stream and cycle into a key once per step (`cycle_key` there), each peer hashes
its number into that key, and its k-th draw of the cycle is the k-th value of the SplitMix64 sequence that
starts there (Steele, Lea, Flood: *Fast splittable pseudorandom number generators*, OOPSLA 2014). So runs do
not depend on the order or the number of threads, a run resumed at cycle c draws what the uninterrupted one
draws, and a readable reference can replay a kernel.

>>> key = peer_key(1, 2)
>>> bool((draws(key, np.arange(5)) == draws(key, np.arange(9))[:5]).all())
True

Called from Python one by one, `draw` and its like take and give plain integers; wrap them in `np.uint64`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.machinery.compilation import kernel, rule

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32, _S11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32), np.uint64(11)


@rule
def mix(x):
    """SplitMix64's finaliser: a bijection of 64 bits in which every input bit moves every output bit."""
    x = np.uint64(x)
    x = (x ^ (x >> _S30)) * _M1
    x = (x ^ (x >> _S27)) * _M2
    return x ^ (x >> _S31)


@rule
def peer_key(key, peer):
    """Key of one peer under a cycle key; numbers below 0 may stand for purposes of their own."""
    return mix(np.uint64(key) ^ (np.uint64(np.int64(peer)) * _M1 + GOLDEN))


@rule
def draw(key, k):
    """The k-th draw under a key: 64 random bits."""
    return mix(np.uint64(key) + (np.uint64(k) + np.uint64(1)) * GOLDEN)


@kernel
def _draws(key, peers, k):
    bits = np.empty(peers.shape[0], np.uint64)
    for p in range(peers.shape[0]):
        bits[p] = draw(peer_key(key, peers[p]), k)
    return bits


def draws(key: np.uint64, peers: NDArray[np.int64], k: int = 0) -> NDArray[np.uint64]:
    """The k-th draw of each of many peers, for callers outside kernels.

    Examples
    --------
    >>> draws(np.uint64(1), np.array([7, 8])).dtype
    dtype('uint64')
    """
    return _draws(np.uint64(key), np.asarray(peers, np.int64), k)  # type: ignore[no-any-return]


@rule
def below(bits, n):
    """Map 64 random bits to an integer in [0, n), n < 2^32 (bias below n / 2^32)."""
    return np.int64(((np.uint64(bits) >> _S32) * np.uint64(n)) >> _S32)


@rule
def unit(bits):
    """Map 64 random bits to a float in [0, 1) with 53 random bits."""
    return np.float64(np.uint64(bits) >> _S11) * (1.0 / 9007199254740992.0)
