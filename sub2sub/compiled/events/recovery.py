"""Recovery of missed events in a population: `sub2sub.peers.recovery` for all peers at once.

`Recovery.publish` records which peers have new events (`Outcome.receptions`). A peer then knows which of its
adjacent neighbours have an event: they acknowledged it or sent it. (That all acknowledgements of a message
may be lost is neglected.)

`Recovery.step` exchanges one cycle of digests over the current ring views. The state has one row for each
pair of an event and a peer that has it, in the order of (event, peer).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.compiled.common.growth import Renumbering
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.common.network import Network, attempts
from sub2sub.compiled.common.randomness import draw, peer_key
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.compiled.ring.probes import SENT, Probes, is_there
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import points
from sub2sub.geometry.matching import holds
from sub2sub.peers.descriptors import HEADER, NAME, event_bytes
from sub2sub.peers.draws import cycle_key
from sub2sub.peers.recovery import ROUNDS, STREAM
from sub2sub.peers.settings import RecoverySettings

NOBODY = -1
_PEER = np.int64(0xFFFFFFFF)
Integers = NDArray[np.int64]


def _none() -> Integers:
    return np.empty(0, np.int64)


@dataclass
class Recovery:
    """The peers that have each recent event.

    Attributes
    ----------
    rows : (k,) int64
        Event and peer as one number, `event << 32 | peer`, ascending.
    known : (k, 2) int64
        The neighbours up and down the event's ring that are known to have it, -1 for none.

    Examples
    --------
    >>> from sub2sub.compiled.events.dissemination import disseminate
    >>> from sub2sub.overlay.overlay import Overlay
    >>> overlay = Overlay.of(np.zeros((20, 1)), np.ones((20, 1)), seed=1).run(8)
    >>> links, network, event = Links.of(overlay), overlay.network, [[0.5]]
    >>> network.loss = 0.7  # most messages of the event are lost
    >>> outcome = disseminate(links, network, event, cycle=8, record=True)
    >>> recovery = Recovery(seed=1)
    >>> number = recovery.publish(links, network, event, outcome, cycle=8)
    >>> network.loss = 0.0
    >>> recovery.step(links, network, cycle=9)["recovered"] + int(outcome.reached[0])
    20
    """

    settings: RecoverySettings = field(default_factory=RecoverySettings)
    seed: int = 0
    rows: Integers = field(default_factory=_none)
    known: Integers = field(default_factory=lambda: np.empty((0, 2), np.int64))
    _points: NDArray[np.float64] | None = None
    _since: Integers = field(default_factory=_none)

    def publish(
        self, links: Links, network: Network, events: ArrayLike, outcome: Outcome, cycle: int
    ) -> Integers:
        """Add new events and the peers that received them (`disseminate(record=True)`); their numbers."""
        at, found = points(events, links.d), outcome.receptions
        if found is None or found.offsets.size != len(at) + 1:
            raise InputError(f"outcome: expected one of {len(at)} events, spread with record=True")
        numbers = self._since.size + np.arange(len(at))
        self._points = at if self._points is None else np.concatenate([self._points, at])
        self._since = np.append(self._since, np.full(len(at), cycle))
        event = np.repeat(numbers, np.diff(found.offsets))
        rows = np.sort(event << 32 | found.peer.astype(np.int64))
        adjacent = self._adjacent(links, rows, _none())
        has = np.isin(rows & ~_PEER | adjacent.T, rows).T & (adjacent != NOBODY)
        self._insert(rows, np.where(has, adjacent, NOBODY))
        return numbers

    def has(self, event: ArrayLike, peer: ArrayLike) -> NDArray[np.bool_]:
        """Whether peers have events, pair by pair; events that are no longer kept count as missed."""
        asked = np.asarray(event, np.int64) << 32 | np.asarray(peer, np.int64)
        return np.isin(asked, self.rows)

    def recent(self, cycle: int) -> tuple[Integers, NDArray[np.float64], Integers]:
        """The events that are kept in a cycle: numbers, points, cycles of publication."""
        numbers = np.flatnonzero(self._since >= cycle - self.settings.history)
        at = np.empty((0, 1)) if self._points is None else self._points[numbers]
        return numbers, at, self._since[numbers]

    def forget(self, peers: ArrayLike) -> None:
        """Remove peers that have left for good: newcomers may get their numbers."""
        self._keep(~np.isin(self.rows & _PEER, np.asarray(peers, np.int64)))

    def renumber(self, moved: Renumbering) -> None:
        """Use the new numbers of a population that has grown."""
        self.rows = self.rows & ~_PEER | moved.peers(self.rows & _PEER)
        self.known = moved.peers(self.known)

    def step(self, links: Links, network: Network, cycle: int) -> Mapping[str, int]:
        """Let every live peer send digests of its recent events; the cost, and the events recovered."""
        self._keep(self._since[self.rows >> 32] >= cycle - self.settings.history)
        active = self.rows[network.alive[self.rows & _PEER] == 1]
        silent, cost = _none(), np.zeros(5, np.int64)
        for number in range(ROUNDS):
            if not active.size:
                break
            key = np.uint64(peer_key(cycle_key(self.seed, STREAM, cycle), number))
            new, again, silent = self._round(links, network, active, silent, key, cost)
            active = np.union1d(new, again) if number < self.settings.retries else new
        messages, failed, names, events, recovered = (int(count) for count in cost)
        size = HEADER * messages + NAME * names + (event_bytes(links.d) - HEADER) * events
        return {"messages": messages, "failed": failed, "bytes": size, "recovered": recovered}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """State for a checkpoint."""
        at = np.empty((0, 1)) if self._points is None else self._points
        return {"rows": self.rows, "known": self.known, "points": at, "since": self._since}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """State from a checkpoint."""
        self.rows, self.known, self._since = (np.array(arrays[name]) for name in ("rows", "known", "since"))
        self._points = np.array(arrays["points"]) if self._since.size else None

    def _round(
        self,
        links: Links,
        network: Network,
        active: Integers,
        silent: Integers,
        key: np.uint64,
        cost: Integers,
    ) -> tuple[Integers, Integers, Integers]:
        """Send digests, answers and events.

        Returns the rows that are new, the rows that have to try another neighbour, and the silent pairs.
        """
        adjacent = self._adjacent(links, active, silent)
        adjacent[adjacent[:, 1] == adjacent[:, 0], 1] = NOBODY
        due = (adjacent != NOBODY) & (adjacent != self.known[np.searchsorted(self.rows, active)])
        row, neighbour = active[np.nonzero(due)[0]], adjacent[due]
        order = np.lexsort((row >> 32, (row & _PEER) << 32 | neighbour))
        row, neighbour = row[order], neighbour[order]
        event, holder = row >> 32, row & _PEER
        pairs, number = np.unique(holder << 32 | neighbour, return_inverse=True)
        by_peer = np.zeros((len(network.alive), SENT), np.int32)
        tries = np.full(len(network.alive), self.settings.tries, np.uint8)
        probes = Probes(network.faults(), key, cost[:2], by_peer, tries, np.zeros((tries.size, 2), np.int32))
        answered = _tell(pairs, probes)
        silent = np.union1d(silent, pairs[~answered])
        there, of_neighbour = answered[number], event << 32 | neighbour
        lacking = np.flatnonzero(there & ~np.isin(of_neighbour, self.rows))
        # A peer that several digests name an event to asks the first of their senders.
        chosen = lacking[np.sort(np.unique(of_neighbour[lacking], return_index=True)[1])]
        arrived, sent = _send(row[chosen], neighbour[chosen], probes, self.settings.tries)
        new = np.sort(of_neighbour[chosen[arrived]])
        self._insert(new, np.full((new.size, 2), NOBODY))
        has = there & np.isin(of_neighbour, self.rows)
        self._note(links, row[has], neighbour[has], silent)
        self._note(links, of_neighbour[has], holder[has], silent)
        cost += [sent, chosen.size - new.size, row.size + chosen.size, sent, new.size]
        return new, np.unique(row[~has]), silent

    def _adjacent(self, links: Links, rows: Integers, silent: Integers) -> Integers:
        assert self._points is not None
        return _adjacent(links, self._points, rows, silent)  # type: ignore[no-any-return]

    def _note(self, links: Links, rows: Integers, ids: Integers, silent: Integers) -> None:
        """Record that the peers `ids` have the events of these rows, where they are adjacent."""
        at, side = np.nonzero(self._adjacent(links, rows, silent) == ids[:, None])
        self.known[np.searchsorted(self.rows, rows[at]), side] = ids[at]

    def _insert(self, rows: Integers, known: Integers) -> None:
        at = np.searchsorted(self.rows, rows)
        self.rows, self.known = np.insert(self.rows, at, rows), np.insert(self.known, at, known, axis=0)

    def _keep(self, which: NDArray[np.bool_]) -> None:
        self.rows, self.known = self.rows[which], self.known[which]


@kernel
def _adjacent(links, points, rows, silent):
    """The nearest neighbours up and down the ring that match a row's event and are not silent."""
    found, lows, highs = np.full((rows.shape[0], 2), NOBODY), links.boxes[:, 0], links.boxes[:, 1]
    for k in range(rows.shape[0]):
        event, holder = rows[k] >> 32, rows[k] & _PEER
        first, size = links.ring_start[holder], np.int64(links.ring_size[holder])
        for side in range(2):
            for j in range(size):
                peer = np.int64(links.ring_peer[first + j if side == 0 else first + size - 1 - j])
                if holds(lows, highs, peer, points, event) and not _has(silent, holder << 32 | peer):
                    found[k, side] = peer
                    break
    return found


@kernel
def _has(values, value):
    """Whether an ascending array has a value."""
    at = np.searchsorted(values, value)
    return at < values.shape[0] and values[at] == value


@kernel
def _tell(pairs, probes):
    """Send a digest from the first to the second peer of each pair, and an answer back; which answered."""
    answered = np.empty(pairs.shape[0], np.bool_)
    for k in range(pairs.shape[0]):
        answered[k] = is_there(probes, pairs[k] >> 32, pairs[k] & _PEER)
    return answered


@kernel
def _send(rows, neighbours, probes, tries):
    """Send events to the peers that asked for them; which arrived, and the number of messages."""
    arrived, messages = np.empty(rows.shape[0], np.bool_), 0
    for k in range(rows.shape[0]):
        key = peer_key(peer_key(probes.key, rows[k] & _PEER), neighbours[k])
        copies, lost = attempts(draw(peer_key(key, rows[k] >> 32), 0), probes.faults.loss, tries)
        arrived[k] = not lost
        messages += copies
    return arrived, messages
