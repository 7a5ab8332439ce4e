"""Probing: peers ask neighbours that nobody has heard from for a while whether they are still there.

Not in Sub-2-Sub, where links to dead ring neighbours are passed on for ever. A ring link carries the time at
which any peer last heard from its peer, and the fresher of two copies wins. In a healthy overlay links are a
few cycles old, because the neighbours of a peer exchange with one another. So a link as old as `suspect_age`
is probed, and an answer makes it fresh. In a small view, links half as old are probed: a peer hears less of
few neighbours, and each matters more (`probing_age`). A neighbour that answers none of several probes is
dropped at once, and links to it that are no younger are refused (`RingSettings.drop_failed`); otherwise its
link ages until the ring layer drops it (`RingSettings.max_age`). A live peer is dropped only if all probes
are lost, and is accepted again with the next exchange that mentions it.

A neighbour that failed to take an event (`Outcome.failures`) is probed at once: `unanswered` returns those
that are silent, so that their holders can drop them (`sub2sub.overlay.forgetting`), but not others whose
message was lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.compiled.common.growth import Renumbering
from sub2sub.compiled.common.layer import LayerBase
from sub2sub.compiled.common.network import Network, answers
from sub2sub.compiled.common.randomness import peer_key
from sub2sub.compiled.machinery.compilation import hot, rule
from sub2sub.compiled.ring.layer import Ring
from sub2sub.compiled.ring.probes import probing_age
from sub2sub.compiled.ring.settings import RingStep
from sub2sub.compiled.ring_views.pool import PEER, STAMP, get, put
from sub2sub.compiled.ring_views.scratch import new_scratch
from sub2sub.compiled.ring_views.tombstones import set_tombstone
from sub2sub.compiled.ring_views.view import remove
from sub2sub.errors import InputError
from sub2sub.peers.descriptors import HEADER
from sub2sub.peers.draws import cycle_key, stream_number

STREAM, STREAM_FAILED = stream_number("probing"), stream_number("probing after failures")
TRIES = 3  # copies of a probe, or of its answer, that are sent if needed, at least


@rule
def _answers(faults, i, other, draws, k, tries, sent):
    """Whether a peer answers a probe of i; counts the messages of both."""
    answered, asked, replies = answers(faults, i, other, draws, k, tries[i], tries[other])
    sent[i] += asked
    sent[other] += replies
    return answered


@hot
def _step(pool, boxes, suspect_age, settings, key, faults, tries, scratch, sent):
    failed = 0
    for i in range(pool.size.shape[0]):
        if faults.alive[i] == 0:
            continue
        draws = peer_key(key, i)
        asked, place = 0, np.int64(0)
        age = probing_age(suspect_age, pool.size[i])
        while place < pool.size[i]:
            if settings.cycle - get(pool, i, STAMP, place) >= age:
                asked += 1
                peer = get(pool, i, PEER, place)
                if _answers(faults, i, peer, draws, asked, tries, sent):
                    put(pool, i, STAMP, place, settings.cycle)
                    place += 1
                    continue
                failed += 1
                if settings.drop_failed:
                    if settings.verify:
                        set_tombstone(pool, i, peer, settings.cycle)
                    remove(pool, boxes, i, place, settings, scratch)
                    continue
            place += 1
    return failed


@hot
def _ask(pairs, key, faults, tries, silent, sent):
    for k in range(pairs.shape[0]):
        silent[k] = not _answers(faults, pairs[k, 0], pairs[k, 1], peer_key(key, k), 0, tries, sent)


def unanswered(
    network: Network,
    pairs: ArrayLike,
    seed: int = 0,
    cycle: int = 0,
    tries: NDArray[np.integer[Any]] | None = None,
) -> tuple[NDArray[np.int64], int]:
    """Let holders probe neighbours, (f, 2); return the pairs with silent neighbours, and the messages sent.

    `tries` is the number of copies that each peer sends of a lost message (`Ring.tries`), at least 3.

    Examples
    --------
    >>> net = Network.whole(3)
    >>> net.alive[2] = 0
    >>> unanswered(net, [[0, 1], [0, 2]])
    (array([[0, 2]]), 5)
    """
    asked = np.asarray(pairs, np.int64).reshape(-1, 2)
    silent, sent = np.zeros(len(asked), np.bool_), np.zeros(len(network.alive), np.int64)
    key = np.uint64(cycle_key(seed, STREAM_FAILED, cycle))
    _ask(asked, key, network.faults(), _at_least(tries, len(network.alive)), silent, sent)
    return asked[silent], int(sent.sum())


def _at_least(tries: NDArray[np.integer[Any]] | None, n: int) -> NDArray[np.uint8]:
    given = np.zeros(n, np.uint8) if tries is None else tries
    return np.maximum(given, TRIES).astype(np.uint8)


class Probing(LayerBase):
    """The probing layer: probes ring links that gossip does not keep fresh; they belong to the ring layer.

    Parameters
    ----------
    ring : Ring
        The layer whose links are probed; the engine steps it after this one.
    suspect_age : int
        Age in cycles from which on a link is probed; 0 for never.
    """

    name = "probing"

    def __init__(self, ring: Ring, suspect_age: int = 4, seed: int = 0) -> None:
        if suspect_age < 0:
            raise InputError(f"probing.suspect_age: expected 0 or more, got {suspect_age}")
        self.ring, self.suspect_age, self.seed = ring, suspect_age, seed
        self._sent = np.zeros(len(ring.boxes), np.int64)

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer probe its suspects."""
        failed, self._sent = 0, np.zeros_like(self._sent)
        if self.suspect_age:
            ring, key = self.ring, cycle_key(self.seed, STREAM, cycle)
            failed = _step(
                ring.pool, ring.labels.boxes, self.suspect_age, RingStep.of(ring.settings, cycle), key,
                network.faults(), _at_least(ring.tries, len(ring.boxes)),
                new_scratch(ring.d, int(ring.pool.size.max()) + 2), self._sent,
            )  # fmt: skip
        messages = int(self._sent.sum())
        return {"messages": messages, "failed": int(failed), "bytes": HEADER * messages}

    def spent(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Messages and bytes of the last cycle, by peer."""
        return self._sent, HEADER * self._sent

    def grow(self, moved: Renumbering) -> None:
        """Go on with more peers."""
        self._sent = moved.rows(self._sent, 0)
