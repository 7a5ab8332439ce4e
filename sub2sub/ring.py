"""The ring links of Sub-2-Sub (004, Section 4.1 and Figure 3).

Once a cycle a peer exchanges with one of its ring neighbours: each offers the other everything it knows
(its random, proximity and ring links) and keeps, of its own and of what arrived, exactly the neighbours that
Figure 3 selects. Neighbours of neighbours are where nearer ones are found, so rings close in a few dozen
cycles. How a view is kept is in `sub2sub.ringview`; this module is who talks to whom about what.

Read differently from the paper, or added to it (`RingSettings.paper()` turns every addition off):

- The paper selects for the partner before sending, and again on arrival. The first selection cannot change
  the outcome of the second, so a simulation need not do it. What a message holds is counted as what the
  sender has that overlaps the partner and that the partner was not offered before: an upper bound.
- The paper leaves open which neighbour to exchange with. Here: the one not met for longest, new ones first.
- *hello*: one who takes up a neighbour tells it so at the end of the cycle. Otherwise a link that one
  side has found and the other has not waits for chance.
- *max_age*: a link carries when its peer was last heard from, the fresher copy wins everywhere, and one too
  old is dropped and refused. Without that a dead peer's link is passed on for ever.
- *drop_failed*: a neighbour that does not answer is dropped at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compilation import hot, rule
from sub2sub.cyclon import Cyclon
from sub2sub.errors import InputError
from sub2sub.network import Network, reaches
from sub2sub.proximity import overlap
from sub2sub.randomness import below, cycle_key, draw, peer_key, stream_number, unit
from sub2sub.ringpool import RingPool, empty_pool, fits, repack
from sub2sub.ringview import find, is_hidden, new_desk, offer, put_back, remove, take_out
from sub2sub.vicinity import LINK, MESSAGE, RANGE, Vicinity
from sub2sub.views import peer_of, stamp_of

__all__ = ["Partner", "Ring", "RingSettings"]

STREAM = stream_number("ring")


class Partner(IntEnum):
    """Which ring neighbour to exchange with."""

    LEAST_RECENT = 0
    RANDOM = 1
    NEAREST = 2


@dataclass(frozen=True)
class RingSettings:
    """Settings of the ring layer.

    Attributes
    ----------
    partner : Partner
        LEAST_RECENT converges a little faster than RANDOM; NEAREST stalls.
    exchanges : int
        Exchanges a peer starts in one cycle. The paper has one; two need half the cycles.
    two_sided : bool
        Whether the partner answers. Without answers rings never complete.
    cap : int
        Most neighbours to keep, 0 for no limit. Any cap that is reached leaves rings open for ever.
    hello : bool
        Whether one who takes up a neighbour tells it so.
    max_age : int
        Oldest link to keep or take up, in cycles; 0 for no limit. Too short a limit drops live neighbours.
    drop_failed : bool
        Whether a neighbour that does not answer is dropped.
    max_steps : int
        Cuts after which the question whether a neighbour is superfluous is given up and it is kept, 0 for
        never. How often that happens is reported with every step as `given_up`.
    """

    partner: Partner = Partner.LEAST_RECENT
    exchanges: int = 1
    two_sided: bool = True
    cap: int = 0
    hello: bool = True
    max_age: int = 40
    drop_failed: bool = True
    max_steps: int = 10_000

    def __post_init__(self) -> None:
        """Refuse settings outside their domain."""
        if self.exchanges < 0:
            raise InputError(f"ring.exchanges: expected 0 or more, got {self.exchanges}")
        for name in ("cap", "max_age", "max_steps"):
            if getattr(self, name) < 0:
                raise InputError(f"ring.{name}: expected 0 (no limit) or more, got {getattr(self, name)}")

    @classmethod
    def paper(cls, **changes: Any) -> RingSettings:
        """The protocol as published: no hello, no ages, nothing dropped."""
        return cls(**{"hello": False, "max_age": 0, "drop_failed": False, **changes})


class Limits(NamedTuple):
    """What bounds a view in one cycle."""

    oldest: int  # least stamp to keep or take up
    cap: int
    steps: int


@rule
def choose_partner(desk, policy, n, bits):
    """Place on the desk of the neighbour to exchange with, or -1."""
    size = desk.count[0]
    if size == 0:
        return -1
    first = below(bits, size)
    if policy == 1:
        return first
    best, least = first, np.int64(1) << 40
    for k in range(size):
        place = first + k
        if place >= size:
            place -= size
        way = np.int64(desk.way[place])
        score = np.int64(desk.met[place]) if policy == 0 else min(way, n - way)
        if score < least:
            best, least = place, score
    return best


@rule
def _collect(pool, boxes, t, x, stamp, limits, d, desk, offers, count):
    """Note x for t unless it is too old, does not overlap, or is plainly superfluous; the new count."""
    if x == t or stamp < limits.oldest or not overlap(boxes, t, x):
        return count
    if is_hidden(pool.shadow, boxes, t, x, d, desk.table):
        return count
    offers[0, count], offers[1, count] = x, stamp
    return count + 1


@hot
def collect_row(pool, boxes, t, row, size, limits, d, desk, offers, count):
    """Note what t may want of a random or proximity view."""
    for k in range(size):
        count = _collect(pool, boxes, t, peer_of(row[k]), stamp_of(row[k]), limits, d, desk, offers, count)
    return count


@hot
def collect_ring(pool, boxes, t, s, met, his, limits, d, desk, offers, count):
    """Note what t may want of the ring view of s that lies on the desk `his`, and renew common stamps.

    What stood there when the two last met was offered then, and need not be offered again as long as
    nothing was removed from t's view since.
    """
    n = boxes.shape[0]
    memory = met if pool.forgot[t] < met else np.int64(-1)
    up = t - s if t > s else t - s + n
    size, split = his.count[0], find(his, up)
    mine = 0
    for k in range(size):  # in the order of the ring as seen from t
        place = split + k
        if place >= size:
            place -= size
        way = np.int64(his.way[place]) - up
        if way <= 0:
            way += n
        if way == n:
            continue  # t itself
        while mine < desk.count[0] and desk.way[mine] < way:
            mine += 1
        if mine < desk.count[0] and desk.way[mine] == way:
            desk.stamp[mine] = max(desk.stamp[mine], his.stamp[place])
        elif his.since[place] >= memory:
            x = t + way if t + way < n else t + way - n
            count = _collect(pool, boxes, t, x, np.int64(his.stamp[place]), limits, d, desk, offers, count)
    return count


@hot
def consider(pool, boxes, t, offers, count, limits, cycle, d, desk, news, told):
    """Offer t what was noted, nearest on the ring first; returns how many news there are to tell."""
    n = boxes.shape[0]
    for k in range(1, count):
        x, stamp = offers[0, k], offers[1, k]
        key = min(abs(x - t), n - abs(x - t))
        place = k
        while place > 0 and min(abs(offers[0, place - 1] - t), n - abs(offers[0, place - 1] - t)) > key:
            offers[0, place], offers[1, place] = offers[0, place - 1], offers[1, place - 1]
            place -= 1
        offers[0, place], offers[1, place] = x, stamp
    for k in range(count):
        x, stamp = offers[0, k], offers[1, k]
        way = x - t if x > t else x - t + n
        place = find(desk, way)
        if place < desk.count[0] and desk.way[place] == way:
            desk.stamp[place] = max(desk.stamp[place], stamp)
        elif (limits.cap == 0 or desk.count[0] < limits.cap) and offer(
            pool.shadow, boxes, t, x, stamp, cycle, d, limits.steps, desk
        ):
            news[told, 0], news[told, 1] = t, x
            told += 1
    return told


@rule
def _met(desk, way, cycle):
    """Note an exchange with the neighbour at that way up, if it is one; when the last one was, -1 for never."""
    place = find(desk, way)
    if place == desk.count[0] or desk.way[place] != way:
        return np.int64(-1)
    before = np.int64(desk.met[place])
    desk.met[place] = cycle
    return before


@rule
def _expire(pool, boxes, t, limits, cycle, d, desk):
    """Remove the neighbours that nobody has heard from for too long."""
    place = 0
    while place < desk.count[0]:
        if desk.stamp[place] < limits.oldest:
            remove(pool.shadow, pool.forgot, boxes, t, place, cycle, d, limits.steps, desk)
        else:
            place += 1


@hot
def _step(pool, boxes, d, near, near_size, random, random_size, policy, exchanges, two_sided, drop_failed, limits,
          cycle, key, alive, group, loss, desk, other, offers, answers, news, counts, first):  # fmt: skip
    """Step the peers from `first` on; returns where it had to stop for lack of space, n when done."""
    n = boxes.shape[0]
    rows = random.shape[1] + near.shape[1] + 2
    widest = np.int64(0)
    for i in range(n):
        widest = max(widest, np.int64(pool.size[i]))
    for i in range(first, n):
        if alive[i] == 0:
            continue
        # Space for the widest possible outcome, so that nothing can fail halfway.
        most = 2 * widest + 4 * rows
        if most > desk.way.shape[0] or not fits(pool, 2 * most) or counts[3] + 4 * most > news.shape[0]:
            return i
        draws = peer_key(key, i)
        take_out(pool, boxes, i, desk)
        if limits.oldest > 0:
            _expire(pool, boxes, i, limits, cycle, d, desk)
        count = collect_row(pool, boxes, i, near[i], near_size[i], limits, d, desk, offers, 0)
        count = collect_row(pool, boxes, i, random[i], random_size[i], limits, d, desk, offers, count)
        counts[3] = consider(pool, boxes, i, offers, count, limits, cycle, d, desk, news, counts[3])
        for turn in range(exchanges):
            place = choose_partner(desk, policy, n, draw(draws, 8 * turn))
            if place < 0:
                break
            up = np.int64(desk.way[place])
            j = i + up if i + up < n else i + up - n
            counts[0] += 1
            if not reaches(alive, group, i, j) or (loss > 0.0 and unit(draw(draws, 8 * turn + 1)) < loss):
                counts[1] += 1
                desk.met[place] = cycle
                if drop_failed:
                    remove(pool.shadow, pool.forgot, boxes, i, place, cycle, d, limits.steps, desk)
                continue
            take_out(pool, boxes, j, other)
            met_by_j = _met(other, n - up, cycle)
            answered = two_sided
            if two_sided:
                counts[0] += 1
                if loss > 0.0 and unit(draw(draws, 8 * turn + 2)) < loss:
                    counts[1] += 1
                    answered = False
            count = 0
            if answered:
                met = _met(desk, up, cycle)
                desk.stamp[place] = cycle
                count = collect_ring(pool, boxes, i, j, met, other, limits, d, desk, offers, 0)
                count = collect_row(pool, boxes, i, near[j], near_size[j], limits, d, desk, offers, count)
                count = collect_row(pool, boxes, i, random[j], random_size[j], limits, d, desk, offers, count)
            answers[0, 0], answers[1, 0] = i, cycle
            back = collect_ring(pool, boxes, j, i, met_by_j, desk, limits, d, other, answers, 1)
            back = collect_row(pool, boxes, j, near[i], near_size[i], limits, d, other, answers, back)
            back = collect_row(pool, boxes, j, random[i], random_size[i], limits, d, other, answers, back)
            counts[2] += count + back
            counts[3] = consider(pool, boxes, j, answers, back, limits, cycle, d, other, news, counts[3])
            if met_by_j < 0:
                _met(other, n - up, cycle)
            put_back(pool, n, j, other)
            widest = max(widest, other.count[0], desk.count[0])
            counts[3] = consider(pool, boxes, i, offers, count, limits, cycle, d, desk, news, counts[3])
        put_back(pool, n, i, desk)
        widest = max(widest, desk.count[0])
    return n


@hot
def _say_hello(pool, boxes, d, news, told, limits, cycle, key, alive, group, loss, desk, offers, counts, first):
    """Deliver the hellos from number `first` on; returns where it had to stop for lack of space."""
    n = boxes.shape[0]
    for k in range(first, told):
        t, x = news[k, 0], news[k, 1]
        if pool.size[x] + 2 > desk.way.shape[0] or not fits(pool, np.int64(pool.size[x]) + 2):
            return k
        counts[4] += 1
        if not reaches(alive, group, t, x) or (loss > 0.0 and unit(draw(key, k)) < loss):
            continue
        count = _collect(pool, boxes, x, t, cycle, limits, d, desk, offers, 0)
        if count:
            take_out(pool, boxes, x, desk)
            consider(pool, boxes, x, offers, count, limits, cycle, d, desk, news, told)
            put_back(pool, n, x, desk)
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
        self.pool = empty_pool(boxes.shape[0], d)
        self._enlarge(256)
        self._news = np.empty((4096, 2), np.int64)

    def _enlarge(self, neighbours: int) -> None:
        self._desk, self._other = new_desk(self.d, neighbours), new_desk(self.d, neighbours)
        self._offers, self._answers = (np.empty((2, neighbours), np.int64) for _ in range(2))

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer exchange with a ring neighbour."""
        s, n = self.settings, self.boxes.shape[0]
        limits = Limits(cycle - s.max_age if s.max_age else 0, s.cap, s.max_steps)
        key = cycle_key(self.seed, STREAM, cycle)
        counts = np.zeros(5, np.int64)  # messages, failed, offered, news, hellos
        asked = np.zeros(5, np.int64)
        near, random = self.vicinity, self.cyclon
        done = 0
        while done < n:
            done = _step(
                self.pool, self.boxes, self.d, near.view, near.size, random.view, random.size, int(s.partner),
                s.exchanges, s.two_sided, s.drop_failed, limits, cycle, key, network.alive, network.group, network.loss,
                self._desk, self._other, self._offers, self._answers, self._news, counts, done,
            )  # fmt: skip
            if done < n:
                done = self._make_space(done, int(counts[3]), asked)
        taken = told = int(counts[3])
        done = 0
        while s.hello and done < told:
            done = _say_hello(
                self.pool, self.boxes, self.d, self._news, told, limits, cycle, np.uint64(peer_key(key, n)),
                network.alive, network.group, network.loss, self._desk, self._offers, counts, done,
            )  # fmt: skip
            if done < told:
                done = self._make_space(done, told, asked)
        asked += self._desk.counts + self._other.counts
        self._desk.counts[:], self._other.counts[:] = 0, 0
        messages, failed, offered, _, hellos = (int(count) for count in counts)
        link = LINK + RANGE * self.d
        return {
            "messages": messages + hellos,
            "failed": failed,
            "bytes": MESSAGE * (messages + hellos) + link * (offered + hellos + messages),
            "offered": offered,
            "taken": taken,
            "hellos": hellos,
            "asked": int(asked[0]),
            "cuts": int(asked[1]),
            "given_up": int(asked[2]),
        }

    def _make_space(self, done: int, told: int, asked: NDArray[np.int64]) -> int:
        """Enlarge whatever a kernel stopped for, with room for a while; where to go on."""
        widest = int(self.pool.size.max())
        rows = self.vicinity.view.shape[1] + self.cyclon.view.shape[1] + 2
        most = 4 * widest + 8 * rows
        if 2 * widest + 4 * rows > self._desk.way.shape[0]:
            asked += self._desk.counts + self._other.counts
            self._enlarge(most)
        if told + 4 * most > self._news.shape[0]:
            news = np.empty((2 * told + 8 * most, 2), np.int64)
            news[:told] = self._news[:told]
            self._news = news
        if int(self.pool.top[0]) + 6 * most > self.pool.peer.shape[0]:
            used = int(self.pool.room.sum(dtype=np.int64))
            self.pool = repack(self.pool, max(used // 3, 16 * most))
        return done

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Empty the ring views of `peers`; the first neighbours come from the layers below."""
        self.pool.size[peers] = 0
        self.pool.shadow[peers] = 0
        self.pool.forgot[peers] = cycle

    def links(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """All links as (holders, peers, stamps)."""
        pool = self.pool
        sizes = pool.size.astype(np.int64)
        holders = np.repeat(np.arange(sizes.size), sizes)
        offsets = np.arange(holders.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        at = pool.start[holders] + offsets
        return holders, pool.peer[at].astype(np.int64), pool.stamp[at].astype(np.int64)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """State for a checkpoint."""
        self.pool = repack(self.pool, 1024)
        return self.pool._asdict()

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """State from a checkpoint."""
        self.pool = RingPool(**{name: np.array(arrays[name]) for name in RingPool._fields})
