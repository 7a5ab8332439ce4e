"""The ring links of Sub-2-Sub (Section 4.1 and Figure 3).

Once a cycle a peer exchanges with one of its ring neighbours: each offers the other everything it knows
(its random, proximity and ring links) and keeps, of its own and of what arrived, exactly the neighbours that
Figure 3 selects. Neighbours of neighbours are where nearer ones are found, so rings close in a few dozen
cycles. How a view is kept is in `sub2sub.ring.view`, what is offered in `sub2sub.ring.offers`; this module is
who talks to whom.

Read differently from the paper, or added to it (`RingSettings.paper()` turns every addition off):

- The paper selects for the partner before sending, and again on arrival. The first selection cannot change
  the outcome of the second, so a simulation need not do it; how long it makes messages, and so the bytes
  they cost, is worked out in `sub2sub.ring.message_length`. `offered` counts what the partner cannot refuse
  at a glance, which is far less.
- The paper leaves open which neighbour to exchange with. Here: the one not met for longest, new ones first.
- *hello*: one who takes up a neighbour tells it so at the end of the cycle. Otherwise a link that one
  side has found and the other has not waits for chance.
- *max_age*: a link carries when its peer was last heard from, the fresher copy wins everywhere, and one too
  old is dropped and refused. Without that a dead peer's link is passed on for ever.
- *drop_failed*: a neighbour that does not answer is dropped at once; requests are repeated (*tries*), and
  links to the silent one that are no younger are refused (`sub2sub.ring.tombstones`).
- *verify*: a candidate that is needed answers a probe before it is taken up, unless somebody heard from it in
  this cycle. Otherwise a dead one hides the live ones behind it.
- *join*: a newcomer asks for its neighbours at once (`sub2sub.ring.joining`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.cyclon.layer import Cyclon
from sub2sub.geometry.labels import Labels
from sub2sub.kernels.compilation import hot, rule
from sub2sub.kernels.randomness import cycle_key, draw, peer_key, stream_number
from sub2sub.overlay.feed import Feed
from sub2sub.overlay.links import Links
from sub2sub.overlay.network import Network, arrives, attempts, reaches
from sub2sub.overlay.sizes import DESCRIPTOR, HEADER, RANGE
from sub2sub.ring.joining import ASKS, KNOWN, join_ring, new_asked
from sub2sub.ring.message_length import links_per_message
from sub2sub.ring.offers import Feeds, collect, consider, note, renew_stamps
from sub2sub.ring.partner import AHEAD, CHOICE, choose_partner, look_ahead
from sub2sub.ring.pool import (
    MET,
    PEER,
    STAMP,
    RingPool,
    empty_pool,
    fits,
    forget_tried,
    get,
    move_witnesses,
    place_of,
    places_of,
    put,
    size_of,
    squeeze,
)
from sub2sub.ring.probes import Probes
from sub2sub.ring.scratch import Scratch, forget_lists, new_scratch
from sub2sub.ring.settings import Partner, RingSettings, StepSettings
from sub2sub.ring.shadow import UNKNOWN, frame_of
from sub2sub.ring.tombstones import TOMBSTONES, bury
from sub2sub.ring.view import remove

__all__ = ["Partner", "Ring", "RingSettings"]

STREAM, VERIFYING = stream_number("ring"), stream_number("ring/verify")
NOBODY = np.empty(0, np.int64)
# Numbers of a peer's draws, and how many it has for each exchange.
REQUEST, REPLY, DRAWS = 1, 2, 8
MESSAGES, FAILED, OFFERED, TAKEN, HELLOS = range(5)


class _StepScratch(NamedTuple):
    """The space for one step: of the peer whose turn it is, of its partner, and of the whole step."""

    own: Scratch
    partner: Scratch
    news: NDArray[np.int64]  # (links, 2) who took up whom in this cycle
    counts: NDArray[np.int64]  # see `MESSAGES` and so on
    ahead: NDArray[np.int64]  # (AHEAD,) see `look_ahead`


@rule
def _meet(pool, t, x, cycle):
    """Note that t heard from x, if x is a neighbour; when they last met, -1 for never."""
    place = place_of(pool, t, x)
    if place < 0:
        return np.int64(-1)
    before = get(pool, t, MET, place)
    put(pool, t, MET, place, cycle)
    put(pool, t, STAMP, place, cycle)
    return before


@rule
def _expire(pool, boxes, t, settings, scratch):
    """Remove the neighbours that nobody has heard from for too long."""
    place = np.int64(0)
    while place < pool.size[t]:
        if get(pool, t, STAMP, place) < settings.oldest:
            remove(pool, boxes, t, place, settings, scratch)
        else:
            place += 1


@rule
def _most(widest, rows, exchanges, n):
    """How wide a view may be, and how much may be noted for it, after a peer's turn."""
    return min((widest + 2 * rows) << min(exchanges, 20), n + 2 * rows)


@rule
def _prepare(pool, boxes, t, scratch):
    """Clear the scratch space for t, and lay the frame over its box."""
    forget_lists(scratch)
    scratch.known[0] = 0
    frame_of(boxes, pool.shadow, t, scratch.frame)


@rule
def _consider(pool, boxes, t, count, settings, scratch, step, probes):
    """Let t consider what is noted in its scratch space; whom it takes up is news."""
    if count > 0:
        told = step.counts[TAKEN]
        step.counts[TAKEN] = consider(pool, boxes, t, count, settings, scratch, probes, step.news, told)


@rule
def _exchange(pool, boxes, feeds, settings, probes, step, i, place, draws, turn):
    """Let i exchange with the neighbour at `place` of its view."""
    n, cycle, counts, own, partner = boxes.shape[0], settings.cycle, step.counts, step.own, step.partner
    j = get(pool, i, PEER, place)
    faults = probes.faults
    copies, lost = attempts(draw(draws, turn * DRAWS + REQUEST), faults.loss, settings.tries)
    reached = reaches(faults.alive, faults.group, i, j)
    counts[MESSAGES] += copies if reached else settings.tries
    if lost or not reached:
        counts[FAILED] += 1
        put(pool, i, MET, place, cycle)
        if settings.verify:
            bury(pool, i, j, cycle)
        if settings.drop_failed:
            remove(pool, boxes, i, place, settings, own)
        return
    own.known[0] = 0
    _prepare(pool, boxes, j, partner)
    met_by_j = _meet(pool, j, i, cycle)
    answered = settings.two_sided
    if answered:
        copies, lost = attempts(draw(draws, turn * DRAWS + REPLY), faults.loss, settings.tries)
        counts[MESSAGES] += copies
        if lost:
            counts[FAILED] += 1
            answered = 0
    if settings.aged:
        renew_stamps(pool, i, j, n, answered)
    count = np.int64(0)
    if answered:
        met = _meet(pool, i, j, cycle)
        count = collect(pool, boxes, feeds, i, j, met, settings, own)
    back = collect(pool, boxes, feeds, j, i, met_by_j, settings, partner)
    back = note(pool, boxes, j, i, cycle, partner, back)
    counts[OFFERED] += count + back + own.known[0] + partner.known[0]
    _consider(pool, boxes, j, back, settings, partner, step, probes)
    if met_by_j < 0:
        _meet(pool, j, i, cycle)
    _consider(pool, boxes, i, count, settings, own, step, probes)


@hot
def _step(pool, boxes, feeds, settings, probes, step, key, first):
    """Step the peers from `first` on; returns where it had to stop for lack of space, n when done."""
    n, d = boxes.shape[0], step.own.point.shape[0]
    rows = feeds.near.shape[1] + feeds.random.shape[1] + 2
    widest = np.int64(0)
    for i in range(n):
        widest = max(widest, size_of(pool, i))
    for i in range(first, n):
        look_ahead(pool, feeds, settings.partner, i, key, step.ahead)
        if probes.faults.alive[i] == 0:
            continue
        # Space for the widest possible outcome, so that nothing can fail halfway.
        most = _most(widest, rows, settings.exchanges, n)
        everybody = (1 + settings.exchanges) * most
        if (
            most > step.own.offers.shape[1]
            or not fits(pool, everybody, d)
            or step.counts[TAKEN] + 2 * everybody > step.news.shape[0]
        ):
            return i
        draws = peer_key(key, i)
        _prepare(pool, boxes, i, step.own)
        if settings.oldest > 0:
            _expire(pool, boxes, i, settings, step.own)
        count = collect(pool, boxes, feeds, i, i, np.int64(-1), settings, step.own)
        _consider(pool, boxes, i, count, settings, step.own, step, probes)
        for turn in range(settings.exchanges):
            place = choose_partner(pool, i, settings.partner, n, draw(draws, turn * DRAWS + CHOICE))
            if place < 0:
                break
            j = get(pool, i, PEER, place)
            _exchange(pool, boxes, feeds, settings, probes, step, i, place, draws, turn)
            widest = max(widest, size_of(pool, j))
        widest = max(widest, size_of(pool, i))
    return n


@hot
def _say_hello(pool, boxes, settings, probes, step, key, told, first):
    """Deliver the hellos from number `first` on; returns where it had to stop for lack of space."""
    scratch = step.own
    for k in range(first, told):
        t, x = step.news[k, 0], step.news[k, 1]
        places = size_of(pool, x) + 2
        if places > scratch.offers.shape[1] or not fits(pool, places, scratch.point.shape[0]):
            return k
        step.counts[HELLOS] += 1
        if not arrives(probes.faults, t, x, key, k):
            continue
        _prepare(pool, boxes, x, scratch)
        if note(pool, boxes, x, t, settings.cycle, scratch, np.int64(0)) > 0:
            consider(pool, boxes, x, np.int64(1), settings, scratch, probes, step.news, told)
    return told


class Ring:
    """The ring layer of a population.

    Parameters
    ----------
    boxes : (n, 2, >= d) float64
        Half-open boxes of the peers, in the order of their sequence IDs.
    d : int
        Number of attributes.
    cyclon, vicinity
        The layers whose links feed this one; stepped by the engine, before it.
    settings : RingSettings
    seed : int
    """

    name = "ring"

    def __init__(
        self,
        boxes: NDArray[np.float64],
        d: int,
        cyclon: Cyclon,
        vicinity: Feed,
        settings: RingSettings | None = None,
        seed: int = 0,
    ) -> None:
        self.settings = settings or RingSettings()
        self.seed, self.boxes, self.d, self.cyclon, self.vicinity = seed, boxes, d, cyclon, vicinity
        self.labels = Labels(boxes, d)
        self.pool = empty_pool(boxes.shape[0], d, TOMBSTONES)
        self._enlarge(256)
        self._news = np.empty((4096, 2), np.int64)
        self._joined, self._contact = np.full(len(boxes), -1), np.full(len(boxes), -1)
        self._asked = new_asked(len(boxes))
        self._ahead = np.zeros(AHEAD, np.int64)

    def _enlarge(self, neighbours: int) -> None:
        self._own, self._partner = new_scratch(self.d, neighbours), new_scratch(self.d, neighbours)

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer exchange with a ring neighbour."""
        n, near, random = self.boxes.shape[0], self.vicinity, self.cyclon
        feeds = Feeds(near.view, near.size, random.view, random.size)
        settings, key = StepSettings.of(self.settings, cycle), cycle_key(self.seed, STREAM, cycle)
        counts, asked, verified = np.zeros(5, np.int64), np.zeros(5, np.int64), np.zeros(2, np.int64)
        probes = Probes(network.faults(), cycle_key(self.seed, VERIFYING, cycle), verified)
        joins, join_failed, join_links = self._join_newcomers(feeds, settings, probes, asked)
        done = 0
        while done < n:
            step = self._scratch(counts)
            done = _step(self.pool, self.labels.boxes, feeds, settings, probes, step, key, done)
            if done < n:
                self._make_space(int(counts[TAKEN]), asked)
        told, done, key = int(counts[TAKEN]), 0, np.uint64(peer_key(key, n))
        while self.settings.hello and done < told:
            step = self._scratch(counts)
            done = _say_hello(self.pool, self.labels.boxes, settings, probes, step, key, told, done)
            if done < told:
                self._make_space(told, asked)
        asked += self._own.counts + self._partner.counts
        self._own.counts[:], self._partner.counts[:] = 0, 0
        messages, failed, offered, taken, hellos = (int(count) for count in counts)
        small = int(verified[0])
        join_bytes = HEADER * joins + (DESCRIPTOR + RANGE * self.d) * (joins + join_links)
        return {
            "messages": messages + hellos + small + joins,
            "failed": failed + int(verified[1]) + join_failed,
            "bytes": self._bytes(messages, hellos, cycle, network) + HEADER * small + join_bytes,
            "offered": offered,
            "taken": taken,
            "hellos": hellos,
            "verifying": small,
            "joining": joins,
            "asked": int(asked[0]),
            "cuts": int(asked[1]),
            "given_up": int(asked[2]),
        }

    def _join_newcomers(
        self, feeds: Feeds, settings: StepSettings, probes: Probes, asked: NDArray[np.int64]
    ) -> tuple[int, int, int]:
        """Let newcomers ask for their neighbours; messages, questions in vain, and links they were told."""
        waiting = np.flatnonzero(self._contact >= 0)
        self._asked.counts[:] = 0
        for newcomer in waiting[probes.faults.alive[waiting] == 1]:
            self._make_space_to_join(asked)
            join_ring(
                self.pool, self.labels.boxes, self.boxes, feeds, settings, probes,
                self._scratch(np.zeros(5, np.int64)), self._asked, newcomer, self._contact[newcomer],
            )  # fmt: skip
        self._contact[waiting] = -1
        messages, failed, links = (int(count) for count in self._asked.counts)
        return messages, failed, links

    def _make_space_to_join(self, asked: NDArray[np.int64]) -> None:
        """See to it that one newcomer's neighbours, and it in their views, find space."""
        widest = int(self.pool.size.max()) + 16
        if max(KNOWN, widest) > self._own.offers.shape[1]:
            asked += self._own.counts + self._partner.counts
            self._enlarge(2 * max(KNOWN, widest))
        if self._news.shape[0] < KNOWN:
            self._news = np.empty((KNOWN, 2), np.int64)
        spare = 2 * ASKS * widest + 4 * KNOWN
        if not fits(self.pool, spare // 4, self.d):
            self.pool = squeeze(self.pool, self.d, 2 * spare)

    def _scratch(self, counts: NDArray[np.int64]) -> _StepScratch:
        return _StepScratch(self._own, self._partner, self._news, counts, self._ahead)

    def _bytes(self, exchanged: int, hellos: int, cycle: int, network: Network) -> int:
        """Bytes of messages: each has its sender's descriptor, those of exchanges a selection besides."""
        near, random, pool = self.vicinity, self.cyclon, self.pool
        links = Links(
            self.d, self.boxes, NOBODY, near.view, near.size, random.view, random.size, pool.start, pool.size,
            pool.peer,
        )  # fmt: skip
        held = links_per_message(links, self.labels.boxes, network.alive, self.seed, cycle)
        descriptors = exchanged + hellos + round(exchanged * held)
        return HEADER * (exchanged + hellos) + (DESCRIPTOR + RANGE * self.d) * descriptors

    def _make_space(self, told: int, asked: NDArray[np.int64]) -> None:
        """Enlarge whatever a kernel stopped for, with room for a while."""
        rows = self.vicinity.view.shape[1] + self.cyclon.view.shape[1] + 2
        exchanges = self.settings.exchanges
        most = int(_most(int(self.pool.size.max()), rows, exchanges, self.boxes.shape[0]))
        if most > self._own.offers.shape[1]:
            asked += self._own.counts + self._partner.counts
            self._enlarge(2 * most)
        if told + 2 * (1 + exchanges) * most > self._news.shape[0]:
            news = np.empty((2 * told + 4 * (1 + exchanges) * most, 2), np.int64)
            news[:told] = self._news[:told]
            self._news = news
        if not fits(self.pool, (1 + exchanges) * most, self.d):
            used = int(self.pool.room.sum(dtype=np.int64))
            self.pool = squeeze(self.pool, self.d, used // 8 + 12 * (1 + exchanges) * most)

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Empty the ring views of `peers`, who ask for neighbours when the layer is stepped next.

        One whose contact joins at the same time, or that has none, waits for the layers below to find some.
        """
        pool = self.pool
        self._joined[peers] = cycle
        if self.settings.join:
            able = contacts >= 0
            able[able] = self._joined[contacts[able]] < cycle
            self._contact[peers] = np.where(able, contacts, -1)
        pool.buried[peers] = -1
        pool.size[peers] = 0
        pool.forgot[peers] = cycle
        pool.shadow[peers], pool.asked[peers] = UNKNOWN, 0
        forget_tried(pool, peers)
        moved = self.labels.update(self.boxes, peers)
        if moved:
            move_witnesses(pool, self.d, moved)
            pool.shadow[:], pool.asked[:] = UNKNOWN, 0

    def links(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """All links as (holders, peers, stamps)."""
        holders, at = places_of(self.pool)
        stamps = self.pool.words[at + STAMP * self.pool.room[holders].astype(np.int64)]
        return holders, self.pool.words[at].astype(np.int64), stamps.astype(np.int64)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """State for a checkpoint."""
        pool = {**self.pool._asdict(), "words": self.pool.words[: self.pool.top[0]]}
        return {**pool, **self.labels.arrays(), "joined": self._joined, "contact": self._contact}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """State from a checkpoint."""
        pool = RingPool(**{name: np.array(arrays[name]) for name in RingPool._fields})
        self.pool = squeeze(pool, self.d, 1024)
        self.labels.load(arrays)
        self._joined[...], self._contact[...] = arrays["joined"], arrays["contact"]
