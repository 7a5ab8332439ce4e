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
- *drop_failed*: a neighbour that does not answer is dropped at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.cyclon.layer import Cyclon
from sub2sub.geometry.labels import Labels
from sub2sub.kernels.compilation import hot, rule
from sub2sub.kernels.randomness import cycle_key, draw, peer_key, stream_number, unit
from sub2sub.kernels.simd.ring import place_of
from sub2sub.overlay.links import Links
from sub2sub.overlay.network import Network, reaches
from sub2sub.ring.message_length import links_per_message
from sub2sub.ring.offers import Feeds, Manner, collect, consider, note, renew_stamps
from sub2sub.ring.partner import AHEAD, CHOICE, choose_partner, look_ahead
from sub2sub.ring.pool import (
    MET,
    STAMP,
    RingPool,
    empty_pool,
    fits,
    forget_tried,
    move_witnesses,
    places_of,
    squeeze,
)
from sub2sub.ring.settings import Partner, RingSettings
from sub2sub.ring.shadow import UNKNOWN, frame_of
from sub2sub.ring.view import new_desk, remove
from sub2sub.vicinity.layer import LINK, MESSAGE, RANGE, Vicinity

__all__ = ["Partner", "Ring", "RingSettings"]

STREAM = stream_number("ring")
NOBODY = np.empty(0, np.int64)
REQUEST, REPLY, DRAWS = 1, 2, 8  # numbers of a peer's draws, and how many it has for each exchange
MESSAGES, FAILED, OFFERED, TAKEN, HELLOS = range(5)


@rule
def _meet(pool, t, x, cycle):
    """Note that t heard from x, if x is a neighbour; when they last met, -1 for never."""
    place = place_of(pool.words, pool.start[t], np.int64(pool.size[t]), x)
    if place < 0:
        return np.int64(-1)
    room = np.int64(pool.room[t])
    at = pool.start[t] + MET * room + place
    before = np.int64(pool.words[at])
    pool.words[at], pool.words[at + (STAMP - MET) * room] = cycle, cycle
    return before


@rule
def _expire(pool, boxes, t, manner, cycle, d, desk):
    """Remove the neighbours that nobody has heard from for too long."""
    stamps = pool.start[t] + STAMP * np.int64(pool.room[t])
    place = np.int64(0)
    while place < pool.size[t]:
        if pool.words[stamps + place] < manner.oldest:
            remove(pool, boxes, t, place, cycle, d, manner.max_steps, desk)
        else:
            place += 1


@rule
def _most(widest, rows, exchanges, n):
    """How wide a view may be, and how much may be noted for it, after a peer's turn."""
    return min((widest + 2 * rows) << min(exchanges, 20), n + 2 * rows)


@rule
def _exchange(pool, boxes, d, feeds, manner, i, place, draws, turn, cycle, alive, group, loss, desk, other,
              offers, answers, news, counts):  # fmt: skip
    """Let i exchange with the neighbour at `place` of its view."""
    n = boxes.shape[0]
    j = np.int64(pool.words[pool.start[i] + place])
    counts[MESSAGES] += 1
    if not reaches(alive, group, i, j) or (loss > 0.0 and unit(draw(draws, turn * DRAWS + REQUEST)) < loss):
        counts[FAILED] += 1
        pool.words[pool.start[i] + MET * np.int64(pool.room[i]) + place] = cycle
        if manner.drop_failed:
            remove(pool, boxes, i, place, cycle, d, manner.max_steps, desk)
        return
    other.holder[:] = -1
    desk.known[0], other.known[0] = 0, 0
    frame_of(boxes, pool.shadow, j, other.frame)
    met_by_j = _meet(pool, j, i, cycle)
    answered = manner.two_sided
    if answered:
        counts[MESSAGES] += 1
        if loss > 0.0 and unit(draw(draws, turn * DRAWS + REPLY)) < loss:
            counts[FAILED] += 1
            answered = 0
    if manner.aged:
        renew_stamps(pool, i, j, n, answered)
    count = 0
    if answered:
        met = _meet(pool, i, j, cycle)
        count = collect(pool, boxes, feeds, i, j, met, manner, desk, offers)
    back = collect(pool, boxes, feeds, j, i, met_by_j, manner, other, answers)
    back = note(pool, boxes, j, i, cycle, other.frame, answers, back)
    counts[OFFERED] += count + back + desk.known[0] + other.known[0]
    if back > 0:
        counts[TAKEN] = consider(pool, boxes, j, answers, back, manner, cycle, d, other, news, counts[TAKEN])
    if met_by_j < 0:
        _meet(pool, j, i, cycle)
    if count > 0:
        counts[TAKEN] = consider(pool, boxes, i, offers, count, manner, cycle, d, desk, news, counts[TAKEN])


@hot
def _step(pool, boxes, d, feeds, manner, cycle, key, alive, group, loss, desk, other, offers, answers, news,
          counts, ahead, first):  # fmt: skip
    """Step the peers from `first` on; returns where it had to stop for lack of space, n when done."""
    n = boxes.shape[0]
    rows = feeds.near.shape[1] + feeds.random.shape[1] + 2
    widest = np.int64(0)
    for i in range(n):
        widest = max(widest, np.int64(pool.size[i]))
    for i in range(first, n):
        look_ahead(pool, feeds, manner.partner, i, key, ahead)
        if alive[i] == 0:
            continue
        # Space for the widest possible outcome, so that nothing can fail halfway.
        most = _most(widest, rows, manner.exchanges, n)
        everybody = (1 + manner.exchanges) * most
        if (
            most > offers.shape[1]
            or not fits(pool, everybody, d)
            or counts[TAKEN] + 2 * everybody > news.shape[0]
        ):
            return i
        draws = peer_key(key, i)
        desk.holder[:] = -1
        frame_of(boxes, pool.shadow, i, desk.frame)
        if manner.oldest > 0:
            _expire(pool, boxes, i, manner, cycle, d, desk)
        count = collect(pool, boxes, feeds, i, i, np.int64(-1), manner, desk, offers)
        if count > 0:
            counts[TAKEN] = consider(
                pool, boxes, i, offers, count, manner, cycle, d, desk, news, counts[TAKEN]
            )
        for turn in range(manner.exchanges):
            place = choose_partner(pool, i, manner.partner, n, draw(draws, turn * DRAWS + CHOICE))
            if place < 0:
                break
            j = np.int64(pool.words[pool.start[i] + place])
            _exchange(
                pool, boxes, d, feeds, manner, i, place, draws, turn, cycle, alive, group, loss, desk, other,
                offers, answers, news, counts,
            )  # fmt: skip
            widest = max(widest, np.int64(pool.size[j]))
        widest = max(widest, np.int64(pool.size[i]))
    return n


@hot
def _say_hello(
    pool, boxes, d, news, told, manner, cycle, key, alive, group, loss, desk, offers, counts, first
):
    """Deliver the hellos from number `first` on; returns where it had to stop for lack of space."""
    for k in range(first, told):
        t, x = news[k, 0], news[k, 1]
        if pool.size[x] + 2 > offers.shape[1] or not fits(pool, np.int64(pool.size[x]) + 2, d):
            return k
        counts[HELLOS] += 1
        if not reaches(alive, group, t, x) or (loss > 0.0 and unit(draw(key, k)) < loss):
            continue
        frame_of(boxes, pool.shadow, x, desk.frame)
        if note(pool, boxes, x, t, cycle, desk.frame, offers, np.int64(0)) > 0:
            desk.holder[:] = -1
            consider(pool, boxes, x, offers, 1, manner, cycle, d, desk, news, told)
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
        vicinity: Vicinity,
        settings: RingSettings | None = None,
        seed: int = 0,
    ) -> None:
        self.settings = settings or RingSettings()
        self.seed, self.boxes, self.d, self.cyclon, self.vicinity = seed, boxes, d, cyclon, vicinity
        self.labels = Labels(boxes, d)
        self.pool = empty_pool(boxes.shape[0], d)
        self._enlarge(256)
        self._news = np.empty((4096, 2), np.int64)
        self._ahead = np.zeros(AHEAD, np.int64)

    def _enlarge(self, neighbours: int) -> None:
        self._desk, self._other = new_desk(self.d, neighbours), new_desk(self.d, neighbours)
        self._offers, self._answers = (np.empty((4, neighbours), np.int64) for _ in range(2))

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer exchange with a ring neighbour."""
        s, n, near, random = self.settings, self.boxes.shape[0], self.vicinity, self.cyclon
        feeds = Feeds(near.view, near.size, random.view, random.size)
        manner = Manner(
            int(s.partner), s.exchanges, int(s.two_sided), int(s.drop_failed), s.cap, s.max_steps,
            int(s.max_age > 0), cycle - s.max_age if s.max_age else 0,
        )  # fmt: skip
        key = cycle_key(self.seed, STREAM, cycle)
        net = (network.alive, network.group, network.loss)
        counts = np.zeros(5, np.int64)
        asked = np.zeros(5, np.int64)
        done = 0
        while done < n:
            done = _step(
                self.pool, self.labels.boxes, self.d, feeds, manner, cycle, key, *net, self._desk,
                self._other, self._offers, self._answers, self._news, counts, self._ahead, done,
            )  # fmt: skip
            if done < n:
                done = self._make_space(done, int(counts[TAKEN]), asked)
        told, done, key = int(counts[TAKEN]), 0, np.uint64(peer_key(key, n))
        while s.hello and done < told:
            done = _say_hello(
                self.pool, self.labels.boxes, self.d, self._news, told, manner, cycle, key, *net, self._desk,
                self._offers, counts, done,
            )  # fmt: skip
            if done < told:
                done = self._make_space(done, told, asked)
        asked += self._desk.counts + self._other.counts
        self._desk.counts[:], self._other.counts[:] = 0, 0
        messages, failed, offered, taken, hellos = (int(count) for count in counts)
        return {
            "messages": messages + hellos,
            "failed": failed,
            "bytes": self._bytes(messages, hellos, cycle, network),
            "offered": offered,
            "taken": taken,
            "hellos": hellos,
            "asked": int(asked[0]),
            "cuts": int(asked[1]),
            "given_up": int(asked[2]),
        }

    def _bytes(self, exchanged: int, hellos: int, cycle: int, network: Network) -> int:
        """Bytes of messages: each has its sender's descriptor, those of exchanges a selection besides."""
        near, random, pool = self.vicinity, self.cyclon, self.pool
        links = Links(
            self.d, self.boxes, NOBODY, near.view, near.size, random.view, random.size, pool.start, pool.size,
            pool.peer,
        )  # fmt: skip
        held = links_per_message(links, self.labels.boxes, network.alive, self.seed, cycle)
        descriptors = exchanged + hellos + round(exchanged * held)
        return MESSAGE * (exchanged + hellos) + (LINK + RANGE * self.d) * descriptors

    def _make_space(self, done: int, told: int, asked: NDArray[np.int64]) -> int:
        """Enlarge whatever a kernel stopped for, with room for a while; where to go on."""
        rows = self.vicinity.view.shape[1] + self.cyclon.view.shape[1] + 2
        exchanges = self.settings.exchanges
        most = int(_most(int(self.pool.size.max()), rows, exchanges, self.boxes.shape[0]))
        if most > self._offers.shape[1]:
            asked += self._desk.counts + self._other.counts
            self._enlarge(2 * most)
        if told + 2 * (1 + exchanges) * most > self._news.shape[0]:
            news = np.empty((2 * told + 4 * (1 + exchanges) * most, 2), np.int64)
            news[:told] = self._news[:told]
            self._news = news
        if not fits(self.pool, (1 + exchanges) * most, self.d):
            used = int(self.pool.room.sum(dtype=np.int64))
            self.pool = squeeze(self.pool, self.d, used // 8 + 12 * (1 + exchanges) * most)
        return done

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Empty the ring views of `peers`; the first neighbours come from the layers below."""
        pool = self.pool
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
        return {**pool, **self.labels.arrays()}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """State from a checkpoint."""
        pool = RingPool(**{name: np.array(arrays[name]) for name in RingPool._fields})
        self.pool = squeeze(pool, self.d, 1024)
        self.labels.load(arrays)
