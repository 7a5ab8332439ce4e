"""Spreading events over the rings (004, Section 4.2), for many events at once.

What a peer does with an event is in `sub2sub.forwarding`; here is what goes in and what comes out.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.audience import Audience, audience
from sub2sub.compilation import kernel
from sub2sub.errors import InputError
from sub2sub.forwarding import Desk, World, new_desk, spread
from sub2sub.hosts import hosts_of
from sub2sub.links import Links
from sub2sub.network import Network
from sub2sub.outcomes import Outcome
from sub2sub.randomness import cycle_key, peer_key, stream_number

__all__ = ["DisseminationSettings", "disseminate"]

STREAM = stream_number("dissemination")
CHUNK = 256  # events a thread takes at a time


@dataclass(frozen=True)
class DisseminationSettings:
    """Settings of dissemination.

    Attributes
    ----------
    shortcuts : int
        k: random matching links an event is forwarded to. Each costs about a message per delivery; with
        none, events take as many hops as half the ring is long.
    ring_shortcuts : bool
        Whether ring links may serve as shortcuts, too. In small rings they often are the only ones, and while
        rings are still open more events get through; they lead less far, so hops are no fewer for it.
    retries : int
        Neighbours tried further on in either direction when the adjacent one does not answer.
    """

    shortcuts: int = 1
    ring_shortcuts: bool = True
    retries: int = 3

    def __post_init__(self) -> None:
        """Refuse settings outside their domain."""
        for name in ("shortcuts", "retries"):
            if not 0 <= getattr(self, name) <= 63:
                raise InputError(f"dissemination.{name}: expected 0 to 63, got {getattr(self, name)}")

    @classmethod
    def paper(cls, **changes: Any) -> DisseminationSettings:
        """As published: shortcuts are proximity and random links, and who does not answer is not replaced."""
        return cls(**{"ring_shortcuts": False, "retries": 0, **changes})


def disseminate(
    links: Links,
    network: Network,
    events: ArrayLike,
    *,
    entry: ArrayLike | None = None,
    to: Audience | None = None,
    settings: DisseminationSettings | None = None,
    seed: int = 0,
    cycle: int = 0,
    threads: int = 1,
) -> Outcome:
    """Let each event enter the overlay, and follow it to the end.

    Parameters
    ----------
    links : Links
        The views of all peers, `Links.of(overlay)`.
    network : Network
        Who is alive and reaches whom, and what gets lost.
    events : (m, d) array_like
    entry : (m,) array_like of int, optional
        The peer each event enters at, -1 for none; by default a random one of those it is meant for.
    to : Audience, optional
        Whom the events are meant for, where that is known already; it is matched otherwise.
    settings : DisseminationSettings
    seed, cycle : int
        What the draws depend on, with the numbers of event and peer.
    threads : int
        Threads to use; the outcome is the same with any number.

    Raises
    ------
    InputError
        For events, entries or an audience that do not fit the population.

    Examples
    --------
    >>> from sub2sub.overlay import Overlay
    >>> from sub2sub.population import Population
    >>> low = np.random.default_rng(1).random((200, 2)) * 0.7
    >>> overlay = Overlay(Population.of(low, low + 0.3), seed=1)
    >>> overlay.bootstrap()
    >>> for cycle in range(1, 31):
    ...     cost = overlay.step(cycle)
    >>> outcome = disseminate(Links.of(overlay), overlay.network, np.random.default_rng(2).random((50, 2)))
    >>> outcome.hit_ratio, int(outcome.spam.sum())
    (1.0, 0)
    """
    s = settings or DisseminationSettings()
    at = links.packed(events)
    m, n = len(at), len(links.boxes)
    to = to or audience(links, network, at[:, 0, : links.d], seed=seed, cycle=cycle)
    if len(to.matches) != m:
        raise InputError(f"to: expected an audience of {m} events, got one of {len(to.matches)}")
    start = _entries(to.entry if entry is None else entry, m, n)
    if threads < 1:
        raise InputError(f"threads: expected 1 or more, got {threads}")
    hosts = hosts_of(links.host, network.alive)
    ring_number = np.cumsum(links.ring_size, dtype=np.int64) - links.ring_size
    world = World(
        links, ring_number, hosts, network.alive, network.group, float(network.loss), s.shortcuts,
        s.ring_shortcuts, s.retries,
    )  # fmt: skip
    key = np.uint64(cycle_key(seed, STREAM, cycle))
    counts = np.zeros((8, m), np.int64)
    desks = [new_desk(links, hosts, s.shortcuts, s.retries) for _ in range(threads)]
    at_hop = [np.empty(0, np.int64)] * (1 + -(-m // CHUNK))

    def work(thread: int) -> None:
        for first in range(thread * CHUNK, m, threads * CHUNK):
            last = min(first + CHUNK, m)
            at_hop[first // CHUNK] = _spread_chunk(world, at, start, first, last, key, desks[thread], counts)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))
    reached, delivered, hops, messages, local, duplicates, spam, failed = counts
    taken, received, forwarded = np.sum([desk.load for desk in desks], axis=0)
    copies, sent = (np.trim_zeros(row, "b") for row in np.sum([desk.histograms for desk in desks], axis=0))
    return Outcome(
        to.matches, to.applications, reached, delivered, hops, messages, local, duplicates, spam, failed,
        np.append(0, np.cumsum(hops + 1)), np.concatenate(at_hop), taken, received, forwarded, copies, sent,
        _failures(world, desks),
    )  # fmt: skip


def _entries(entry: ArrayLike, m: int, n: int) -> NDArray[np.int64]:
    given = np.asarray(entry)
    if given.shape != (m,) or (given.dtype.kind not in "iu" and m):
        raise InputError(f"entry: expected {m} integers, got {given.dtype} of shape {given.shape}")
    bad = np.flatnonzero((given < -1) | (given >= n))
    if bad.size:
        raise InputError(f"entry row {bad[0]}: expected a peer below {n}, or -1, got {given[bad[0]]}")
    return given.astype(np.int64)


def _failures(world: World, desks: list[Desk]) -> NDArray[np.int64]:
    """The ring links marked on any desk, by holder and then in the order of its view."""
    broken = np.unique(np.concatenate([np.flatnonzero(desk.broken) for desk in desks]))
    # Holders without links have the number of the next: of equal numbers the last is meant.
    holder = np.searchsorted(world.ring_number, broken, side="right") - 1
    place = world.links.ring_start[holder] + broken - world.ring_number[holder]
    return np.stack([holder, world.links.ring_peer[place].astype(np.int64)], axis=1)


@kernel
def _spread_chunk(world, events, entry, first, last, key, desk, counts):
    """Spread the events first .. last - 1; returns the deliveries at each hop, event after event."""
    at_hop = np.empty(64, np.int64)
    size = 0
    for e in range(first, last):
        hops = spread(world, events, e, entry[e], peer_key(key, e), desk, counts)
        if size + hops + 1 > at_hop.shape[0]:
            longer = np.empty(2 * (size + hops + 1), np.int64)
            longer[:size] = at_hop[:size]
            at_hop = longer
        at_hop[size : size + hops + 1] = desk.levels[: hops + 1]
        size += hops + 1
    return at_hop[:size].copy()
