"""Spreading events over the rings (Sub-2-Sub, Section 4.2), for many events at once.

What a peer does with an event is in `sub2sub.events.forwarding`; here is what goes in and what comes out.

Events are spread in an order in which neighbours in attribute space follow one another (a Z-order curve:
Morton, 1966), so that one finds the peers, views and boxes of the last still in the processor's caches. The
outcome depends on an event's number and on nothing else, so neither that order nor threads change it.
"""

from __future__ import annotations

import queue
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.errors import InputError, require
from sub2sub.events.audience import FEWEST, Audience, Census, batches, half_open
from sub2sub.events.forwarding import (
    SPAMMED,
    TAIL,
    TAKEN,
    Scratch,
    World,
    forget,
    mark,
    new_scratch,
    spread,
    spread_in_time,
)
from sub2sub.events.hosts import hosts_of
from sub2sub.events.outcome import Outcome
from sub2sub.events.receptions import Receptions
from sub2sub.events.times import Times
from sub2sub.geometry.boxes import points
from sub2sub.geometry.matching import BoxIndex
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import cycle_key, peer_key, stream_number
from sub2sub.kernels.threads import threads as all_threads
from sub2sub.overlay.links import Links
from sub2sub.overlay.network import Network
from sub2sub.timing.latency import HOPS, Clock

STREAM = stream_number("dissemination")
Batch = NDArray[np.int64]


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
    max_age : int
        Oldest proximity or random link to use as a shortcut, in cycles, 0 for no limit. Old ones lead to
        peers that have left or changed their subscription: to messages that fail, and spam. Ring links are
        young anyway. With 4, events take about 6 % more hops than without a limit.
    tries : int
        Times an event is sent to the same adjacent neighbour while no acknowledgement comes. With one, every
        lost message looks like a dead peer; a dead one costs as many messages.
    retries : int
        Neighbours tried further on in either direction when the adjacent one does not answer. With neither
        these nor a second try, nothing is acknowledged.

    Examples
    --------
    >>> DisseminationSettings.paper().acknowledged, DisseminationSettings().acknowledged
    (False, True)
    """

    shortcuts: int = 1
    ring_shortcuts: bool = True
    max_age: int = 4
    tries: int = 3
    retries: int = 3

    def __post_init__(self) -> None:
        require(self, "dissemination", tries=(1, 63), max_age=0, shortcuts=(0, 63), retries=(0, 63))

    @classmethod
    def paper(cls, **changes: Any) -> DisseminationSettings:
        """As published: shortcuts are proximity and random links, and nothing is sent twice or elsewhere."""
        return cls(**{"ring_shortcuts": False, "max_age": 0, "tries": 1, "retries": 0, **changes})

    @property
    def acknowledged(self) -> bool:
        """Whether adjacent neighbours acknowledge events."""
        return self.tries > 1 or self.retries > 0


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
) -> Outcome:
    """Let each event enter the overlay, and follow it to the end.

    Parameters
    ----------
    links : Links
        The views of all peers, `Links.of(overlay)`.
    network : Network
        Who is alive and reaches whom, what gets lost, and how long messages take.
    events : (m, d) array_like
    entry : (m,) array_like of int, optional
        The peer each event enters at, -1 for none; by default a random one of those it is meant for.
    to : Audience, optional
        Whom the events are meant for, where that is known already; it is matched otherwise.
    settings : DisseminationSettings
    seed, cycle : int
        What the draws depend on, with the numbers of event and peer.
    threads : int, optional
        Threads to use, by default as many as there are cores; the outcome is the same with any number.
    record : bool
        Whether to keep who got what when (`Outcome.receptions`): eight bytes a delivery.

    In a network with latencies `Outcome.times` tells milliseconds, four bytes a delivery.

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
    if threads is None:
        threads = max(min(all_threads(), m // FEWEST), 1)
    if not isinstance(threads, int) or threads < 1:
        raise InputError(f"threads: expected a whole number from 1 on, got {threads!r}")
    hosts = hosts_of(links.host, network.alive)
    young = links.younger(s.max_age) if s.max_age else links
    world = World(
        young, np.cumsum(links.ring_size, dtype=np.int64) - links.ring_size, hosts, network.alive,
        network.group, float(network.loss), s.shortcuts, s.ring_shortcuts,
        s.tries if s.acknowledged else 0, s.retries, Clock.of(network.timing, links.host),
    )  # fmt: skip
    key = np.uint64(cycle_key(seed, STREAM, cycle))
    counts = np.zeros((9, m), np.int64)
    census = Census.of(links, network, m, seed, cycle)
    index = BoxIndex(*half_open(links), at)
    order = _near_one_another(at)
    spare: queue.SimpleQueue[Scratch] = queue.SimpleQueue()
    for _ in range(threads):
        spare.put(new_scratch(links, hosts, s.shortcuts, s.retries, world.clock))

    def work(batch: Batch) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        numbers = order[batch]
        offsets, members = index.match(at[numbers])
        if to is None:
            census.add(numbers, offsets, members)
        start = (to or census.found).entry if given is None else given
        scratch = spare.get()
        try:
            return _spread_batch(  # type: ignore[no-any-return]
                world, numbers, offsets, members, start, key, scratch, counts, record
            )
        finally:
            spare.put(scratch)

    with ThreadPoolExecutor(threads) as pool:
        try:
            parts = list(pool.map(work, batches(m, n, 8 * threads if threads > 1 else 1)))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # what is waiting need not be waited for
            raise
    whom = to or census.found
    reached, delivered, hops, messages, local, duplicates, spam, failed, acks = counts
    used = [spare.get() for _ in range(threads)]
    load = np.sum([each.notes[:, TAKEN : SPAMMED + 1] for each in used], axis=0)
    taken, received, forwarded, spammed = load.T.copy()
    copies, sent = (np.trim_zeros(row, "b") for row in np.sum([each.histograms for each in used], axis=0))
    outcome = Outcome(
        matches=whom.matches, applications=whom.applications, reached=reached, delivered=delivered,
        hops=hops, messages=messages, local=local, duplicates=duplicates, spam=spam, failed=failed, acks=acks,
        parasitic=np.zeros_like(messages), entry=whom.entry if given is None else given,
        entered=(reached + spam > 0).astype(np.int64), taken=taken, received=received,
        forwarded=forwarded, spammed=spammed, copies=copies, sent=sent,
        failures=_failures(world, used),
    )  # fmt: skip
    if world.clock.timed:
        offsets, ms = _by_number(order, reached, np.concatenate([part[1] for part in parts]))
        outcome = replace(outcome, times=Times.among(offsets, _without_entries(offsets, ms)))
    if not record:
        return outcome
    offsets, rows = _by_number(order, reached, np.concatenate([part[0] for part in parts]))
    times = ms if world.clock.timed else np.empty(0, np.float32)
    peer, hop = rows.T.copy()
    return replace(outcome, receptions=Receptions(offsets, peer, hop, times))


def _without_entries(offsets: Batch, ms: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same with NaN for the first of each event, where it entered: that was no delivery."""
    delivered = ms.copy()
    delivered[offsets[:-1][np.diff(offsets) > 0]] = np.nan
    return delivered


def _near_one_another(events: NDArray[np.float64]) -> Batch:
    """The numbers of the events in Z-order: bits of all attributes, the highest of each first."""
    m, d = events.shape
    if m == 0 or d == 0:
        return np.arange(m)
    bits = max(60 // d, 1)
    low, high = events.min(axis=0), events.max(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        share = (events - low) / np.where(high > low, high - low, 1.0)
    cell = (np.nan_to_num(share, nan=0.0, posinf=0.0) * (2.0**bits - 1)).astype(np.int64)
    curve = np.zeros(m, np.int64)
    for bit in range(bits - 1, -1, -1):
        for k in range(min(d, 60)):
            curve = curve << 1 | (cell[:, k] >> bit & 1)
    return np.argsort(curve, kind="stable")


def _by_number(order: Batch, lengths: Batch, values: NDArray[Any]) -> tuple[Batch, NDArray[Any]]:
    """Values of events, so many each, laid out in the order of events' numbers instead of `order`."""
    start = np.empty(order.size, np.int64)
    start[order] = np.cumsum(lengths[order]) - lengths[order]
    offsets = np.append(0, np.cumsum(lengths))
    return offsets, values[np.repeat(start - offsets[:-1], lengths) + np.arange(len(values))]


def _entries(entry: ArrayLike, m: int, n: int) -> NDArray[np.int64]:
    given = np.asarray(entry)
    if given.shape != (m,) or (given.dtype.kind not in "iu" and m):
        raise InputError(f"entry: expected {m} integers, got {given.dtype} of shape {given.shape}")
    bad = np.flatnonzero((given < -1) | (given >= n))
    if bad.size:
        raise InputError(f"entry row {bad[0]}: expected a peer below {n}, or -1, got {given[bad[0]]}")
    return given.astype(np.int64)


def _failures(world: World, spare: list[Scratch]) -> NDArray[np.int64]:
    """The ring links marked on any scratch, by holder and then in the order of its view."""
    broken = np.unique(np.concatenate([np.flatnonzero(scratch.broken) for scratch in spare]))
    # Holders without links have the number of the next: of equal numbers the last is meant.
    holder = np.searchsorted(world.ring_number, broken, side="right") - 1
    place = world.links.ring_start[holder] + broken - world.ring_number[holder]
    return np.stack([holder, world.links.ring_peer[place].astype(np.int64)], axis=1)


@kernel
def _spread_batch(world, numbers, offsets, members, entry, key, scratch, counts, record):
    """Spread events, given who matches each; if recorded, who took them at which hop; and when."""
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
        count = scratch.ends[TAIL]
        if record:
            takers = _with_room(takers, taken, count)
            _note_takers(scratch, takers[taken : taken + count], hops, timed)
            taken += count
        if timed:
            ms = _with_room(ms, told, count)
            for place in range(count):
                ms[told + place] = scratch.agenda.when[scratch.queue[place]]
            told += count
            forget(world, scratch)
    return takers[:taken].copy(), ms[:told].copy()


@kernel
def _note_takers(scratch, takers, hops, timed):
    """Who took an event, and at which hop."""
    takers[:, 0] = scratch.queue[: len(takers)]
    place = 0
    for hop in range(hops + 1):
        for _ in range(scratch.levels[hop]):
            takers[place, 1] = scratch.agenda.hop[takers[place, 0]] if timed else hop
            place += 1


@kernel
def _with_room(values, size, more):
    """The first `size` values in an array with room for more."""
    if size + more <= values.shape[0]:
        return values
    longer = np.empty((2 * (size + more),) + values.shape[1:], values.dtype)  # noqa: RUF005
    longer[:size] = values[:size]
    return longer
