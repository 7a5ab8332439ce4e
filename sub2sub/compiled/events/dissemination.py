"""Spreading many events over the rings (Sub-2-Sub, Section 4.2).

`sub2sub.compiled.events.forwarding` has the rules of one peer. This module checks the input, divides the
events among threads and collects the outcome. Random draws depend on an event's number, so neither the order
in which events are spread nor the number of threads changes the outcome. Events that are near one another in
attribute space follow one another (`z_order`), so that the peers, views and boxes that they use are still in
the processor's caches.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.compiled.common.links import Links
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import peer_key
from sub2sub.compiled.common.threads import threads as all_threads
from sub2sub.compiled.events.audience import FEWEST, Audience, AudienceCount, batches, half_open
from sub2sub.compiled.events.forwarding import (
    SPAMMED,
    TAIL,
    TAKEN,
    EventScratch,
    World,
    forget_event,
    mark,
    new_event_scratch,
    spread,
    spread_in_time,
)
from sub2sub.compiled.events.hosts import hosts_of
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.events.receptions import Receptions, Times
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.compiled.timing.latency import HOPS, Clock
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import points
from sub2sub.geometry.matching import BoxIndex, with_room
from sub2sub.peers.draws import cycle_key
from sub2sub.peers.forwarding import STREAM
from sub2sub.peers.settings import DisseminationSettings
from sub2sub.progress import tracked

SHOWN_PARTS = 50  # of the events, where progress is shown

Integers = NDArray[np.int64]
Part = tuple[NDArray[np.int32], NDArray[np.float32]]
"""Receptions (peer, hop) and their milliseconds, event after event."""


class Batch(NamedTuple):
    """Some events: their numbers, the peers that match each (`Members`), and where all events enter."""

    numbers: Integers
    offsets: Integers
    members: Integers
    entry: Integers


class Spreader(Protocol):
    """A rule of forwarding, compiled: spreads a batch of events."""

    def new_scratch(self) -> EventScratch:
        """Scratch space for one thread."""

    def spread(
        self, batch: Batch, key: np.uint64, scratch: EventScratch, counts: Integers, record: bool
    ) -> Part:
        """Spread the events of a batch, fill their columns of `counts`, and return the receptions."""
        ...


class AlongRings:
    """Sub-2-Sub's forwarding (`sub2sub.compiled.events.forwarding`)."""

    def __init__(self, world: World) -> None:
        self.world = world

    def new_scratch(self) -> EventScratch:
        """Scratch space for one thread."""
        return new_event_scratch(self.world)

    def spread(
        self, batch: Batch, key: np.uint64, scratch: EventScratch, counts: Integers, record: bool
    ) -> Part:
        """Spread the events of a batch along the rings."""
        return _spread_batch(self.world, *batch, key, scratch, counts, record)  # type: ignore[no-any-return]


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
    threads: int | None = None,
    record: bool = False,
    stream: int = STREAM,
    spreader: Callable[[World], Spreader] | None = None,
    progress: bool = False,
) -> Outcome:
    """Let each event enter the overlay at one peer, and spread it until no peer forwards it any more.

    Parameters
    ----------
    links : Links
        The views of all peers, `Links.of(overlay)`.
    network : Network
        Live peers, partitions, loss, and how long messages take.
    events : (m, d) array_like
    entry : (m,) array_like of int, optional
        The peer at which each event enters, -1 for none; by default a random peer that matches it.
    to : Audience, optional
        The matches of the events, if they were counted before; by default they are counted here.
    settings : DisseminationSettings
    seed, cycle : int
        Random draws depend on these and on the numbers of event and peer.
    threads : int, optional
        Number of threads, by default one per core; the outcome is the same with any number.
    record : bool
        Whether to record which peer received which event (`Outcome.receptions`): eight bytes per delivery.
    spreader : callable, optional
        Makes another rule of forwarding from the views, the network and the settings; by default the rings'.
        Its random draws are those of `stream`.
    progress : bool
        Whether to show on standard error how far it is.

    In a network with latencies `Outcome.times` has the milliseconds: four bytes per delivery.

    Raises
    ------
    InputError
        For events, entries or an audience that do not fit the population.

    Examples
    --------
    >>> from sub2sub.overlay.overlay import Overlay
    >>> low = np.random.default_rng(1).random((200, 2)) * 0.7
    >>> overlay = Overlay.of(low, low + 0.3, seed=1).run(30)
    >>> outcome = disseminate(Links.of(overlay), overlay.network, np.random.default_rng(2).random((50, 2)))
    >>> outcome.hit_ratio, int(outcome.spam.sum())
    (1.0, 0)
    """
    s = DisseminationSettings() if settings is None else settings
    if not isinstance(s, DisseminationSettings):
        raise InputError(f"settings: expected DisseminationSettings, got {type(s).__name__}")
    at = points(events, links.d)
    m, n = len(at), len(links.boxes)
    if to is not None and len(to.matches) != m:
        raise InputError(f"to: expected an audience of {m} events, got one of {len(to.matches)}")
    given = None if entry is None else _entries(entry, m, n)
    threads = _number_of_threads(threads, m)
    world, key = _world(links, network, s), np.uint64(cycle_key(seed, stream, cycle))
    census, index = AudienceCount.of(links, network, m, seed, cycle), BoxIndex(*half_open(links), at)
    counts, order = np.zeros((9, m), np.int64), z_order(at)

    def work(places: Integers, scratch: EventScratch) -> Part:
        numbers = order[places]
        offsets, members = index.match(at[numbers])
        if to is None:
            census.add(numbers, offsets, members)
        start = (to or census.found).entry if given is None else given
        batch = Batch(numbers, offsets, members, start)
        return along.spread(batch, key, scratch, counts, record)

    along = AlongRings(world) if spreader is None else spreader(world)
    scratches = [along.new_scratch() for _ in range(threads)]
    pieces = batches(m, n, SHOWN_PARTS if progress else 8 * threads if threads > 1 else 1)
    parts = _in_threads(work, pieces, scratches, progress)
    outcome = _outcome(world, to or census.found, given, counts, scratches)
    return _with_parts(outcome, order, parts, record, world.clock.timed)


def _in_threads(
    work: Callable[[Integers, EventScratch], Part],
    batches: Sequence[Integers],
    scratches: Sequence[EventScratch],
    progress: bool,
) -> list[Part]:
    """Call `work` for every batch, with one thread per scratch space; the results in the order of batches."""
    spare: queue.SimpleQueue[EventScratch] = queue.SimpleQueue()
    for scratch in scratches:
        spare.put(scratch)

    def with_scratch(batch: Integers) -> Part:
        scratch = spare.get()
        try:
            return work(batch, scratch)
        finally:
            spare.put(scratch)

    with ThreadPoolExecutor(len(scratches)) as pool:
        try:
            return list(tracked(pool.map(with_scratch, batches), len(batches), "events, in parts", progress))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # after Ctrl-C no further batch begins
            raise


def _number_of_threads(given: int | None, events: int) -> int:
    """The given number of threads; by default one per core, each with at least `FEWEST` events."""
    threads = max(min(all_threads(), events // FEWEST), 1) if given is None else given
    if not isinstance(threads, int) or threads < 1:
        raise InputError(f"threads: expected a whole number from 1 on, got {threads!r}")
    return threads


def _world(links: Links, network: Network, s: DisseminationSettings) -> World:
    """The overlay, the network and the settings, for the kernels."""
    young = links.younger(s.max_age) if s.max_age else links
    return World(
        young, np.cumsum(links.ring_size, dtype=np.int64) - links.ring_size,
        hosts_of(links.host, network.alive), network.alive, network.group, float(network.loss), s.shortcuts,
        s.ring_shortcuts, s.tries if s.acknowledged else 0, s.retries, Clock.of(network.timing, links.host),
        np.empty(0, np.uint8),
    )  # fmt: skip


def _outcome(
    world: World, to: Audience, given: Integers | None, counts: Integers, used: list[EventScratch]
) -> Outcome:
    """The outcome, from the counts per event and, per peer, from the scratch space of each thread."""
    reached, delivered, hops, messages, local, duplicates, spam, failed, acks = counts
    load = np.sum([each.notes[:, TAKEN : SPAMMED + 1] for each in used], axis=0)
    taken, received, forwarded, spammed = load.T.copy()
    copies, sent = (np.trim_zeros(row, "b") for row in np.sum([each.histograms for each in used], axis=0))
    return Outcome(
        matches=to.matches, applications=to.applications, reached=reached, delivered=delivered,
        hops=hops, messages=messages, local=local, duplicates=duplicates, spam=spam, failed=failed, acks=acks,
        parasitic=np.zeros_like(messages), entry=to.entry if given is None else given,
        entered=(reached + spam > 0).astype(np.int64), taken=taken, received=received,
        forwarded=forwarded, spammed=spammed, copies=copies, sent=sent, failures=_failures(world, used),
    )  # fmt: skip


def _with_parts(outcome: Outcome, order: Integers, parts: list[Part], record: bool, timed: bool) -> Outcome:
    """Add the times, if there are any, and the receptions, if they were recorded, of all batches."""
    ms = np.empty(0, np.float32)
    if timed:
        offsets, ms = by_number(order, outcome.reached, np.concatenate([part[1] for part in parts]))
        outcome = replace(outcome, times=Times.among(offsets, _without_entries(offsets, ms)))
    if not record:
        return outcome
    offsets, rows = by_number(order, outcome.reached, np.concatenate([part[0] for part in parts]))
    peer, hop = rows.T.copy()
    return replace(outcome, receptions=Receptions(offsets, peer, hop, ms))


def _without_entries(offsets: Integers, ms: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same with NaN for the first reception of each event: an entry is not a delivery."""
    delivered = ms.copy()
    delivered[offsets[:-1][np.diff(offsets) > 0]] = np.nan
    return delivered


def _entries(entry: ArrayLike, m: int, n: int) -> NDArray[np.int64]:
    given = np.asarray(entry)
    if given.shape != (m,) or (given.dtype.kind not in "iu" and m):
        raise InputError(f"entry: expected {m} integers, got {given.dtype} of shape {given.shape}")
    bad = np.flatnonzero((given < -1) | (given >= n))
    if bad.size:
        raise InputError(f"entry row {bad[0]}: expected a peer below {n}, or -1, got {given[bad[0]]}")
    return given.astype(np.int64)


def _failures(world: World, spare: list[EventScratch]) -> NDArray[np.int64]:
    """The ring links that any thread marked as failed, by holder and then in the order of its view."""
    broken = np.unique(np.concatenate([np.flatnonzero(scratch.broken) for scratch in spare]))
    # A holder without ring links has the same first number as the next holder: the last of them is meant.
    holder = np.searchsorted(world.ring_number, broken, side="right") - 1
    place = world.links.ring_start[holder] + broken - world.ring_number[holder]
    return np.stack([holder, world.links.ring_peer[place].astype(np.int64)], axis=1)


@kernel
def _spread_batch(world, numbers, offsets, members, entry, key, scratch, counts, record):
    """Spread events, given the peers that match each; returns a `Part`."""
    takers, ms = np.empty((64, 2), np.int32), np.empty(64, np.float32)
    timed = world.clock.kind != HOPS
    taken, told = 0, 0
    for k in range(numbers.shape[0]):
        e = numbers[k]
        mark(scratch.wanted, members, offsets[k], offsets[k + 1])
        if timed:
            hops = spread_in_time(world, e, entry[e], peer_key(key, e), scratch, counts)
        else:
            hops = spread(world, e, entry[e], peer_key(key, e), scratch, counts)
        mark(scratch.wanted, members, offsets[k], offsets[k + 1])
        if hops < 0:
            continue
        takers, taken, ms, told = note(world, scratch, hops, record, takers, taken, ms, told)
    return takers[:taken].copy(), ms[:told].copy()


@kernel
def note(world, scratch, hops, record, takers, taken, ms, told):
    """Append to a `Part` who received an event, if asked for, and when, in a network with latencies."""
    count, timed = scratch.ends[TAIL], world.clock.kind != HOPS
    if record:
        takers = with_room(takers, taken, count)
        _note_takers(scratch, takers[taken : taken + count], hops, timed)
        taken += count
    if timed:
        ms = with_room(ms, told, count)
        for place in range(count):
            ms[told + place] = scratch.agenda.when[scratch.queue[place]]
        told += count
        forget_event(world, scratch)
    return takers, taken, ms, told


@kernel
def _note_takers(scratch, takers, hops, timed):
    """Write the peers that received an event, and their hops."""
    takers[:, 0] = scratch.queue[: len(takers)]
    place = 0
    for hop in range(hops + 1):
        for _ in range(scratch.levels[hop]):
            takers[place, 1] = scratch.agenda.hop[takers[place, 0]] if timed else hop
            place += 1


def z_order(events: NDArray[np.float64]) -> Integers:
    """The numbers of the events (m, d) in Z-order: by the highest bits of all attributes, then the next bits.

    Examples
    --------
    >>> z_order(np.array([[0.0, 0.0], [0.9, 0.9], [0.1, 0.0], [1.0, 0.0]]))
    array([0, 2, 3, 1])
    """
    m, d = events.shape
    if m == 0:
        return np.arange(m)
    bits = max(60 // d, 1)
    low, high = events.min(axis=0), events.max(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        share = (events - low) / np.where(high > low, high - low, 1.0)
    cell = (np.nan_to_num(share, nan=0.0, posinf=0.0) * (2.0**bits - 1)).astype(np.int64)
    curve = np.zeros(m, np.int64)
    for bit in range(bits - 1, -1, -1):
        for k in range(d):
            curve = curve << 1 | (cell[:, k] >> bit & 1)
    return np.argsort(curve, kind="stable")


def by_number(order: Integers, lengths: Integers, values: NDArray[Any]) -> tuple[Integers, NDArray[Any]]:
    """Values of events, sorted by the events' numbers; also where the values of each event begin.

    `values` come in the order of events `order`; event e has `lengths[e]` of them.

    Examples
    --------
    >>> by_number(np.array([1, 0]), np.array([1, 2]), np.array([7, 8, 9]))
    (array([0, 1, 3]), array([9, 7, 8]))
    """
    start = np.empty(order.size, np.int64)
    start[order] = np.cumsum(lengths[order]) - lengths[order]
    offsets = np.append(0, np.cumsum(lengths))
    return offsets, values[np.repeat(start - offsets[:-1], lengths) + np.arange(len(values))]
