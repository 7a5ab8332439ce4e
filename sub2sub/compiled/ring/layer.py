"""The ring links of Sub-2-Sub (Section 4.1 and Figure 3).

Once a cycle a peer exchanges with one of its ring neighbours: each sends the other all its random, proximity
and ring links, and keeps, of its own and of the received links, exactly the neighbours that Figure 3 selects.
Nearer neighbours are usually neighbours of neighbours, so rings are complete within a few dozen cycles.
`sub2sub.compiled.ring_views.view` maintains a view, `sub2sub.compiled.ring.offers` chooses the links that a
partner may need, and `sub2sub.compiled.ring.exchange` runs an exchange; this module has the state of a
population, and runs a whole cycle.

Differences from the paper, and additions (`RingSettings.paper()` turns all additions off):

- In the paper, a peer selects links for the partner before it sends them, and the partner selects again. The
  first selection cannot change the result of the second, so the simulation leaves it out. It determines the
  length of messages, which `sub2sub.compiled.ring.message_length` computes. `offered` counts the links that
  the partner cannot refuse by a cheap test, which are far fewer.
- The paper does not say which neighbour to exchange with. Here it is the one not met for longest, new ones
  first.
- All peers accept the links of the layers below and choose their partners before any of them exchanges
  (`sub2sub.compiled.common.turns`).
- *hello*: a peer informs a new neighbour at the end of the cycle, or at the end of a later one if it still
  has it (*hello_after*). Without that, the neighbour finds the link in the other direction only by chance.
- *max_age*: a link carries the time at which its peer was last heard from. The fresher of two copies wins,
  and links that are too old are dropped and refused. Otherwise links to dead peers are passed on for ever.
- *drop_failed*: a neighbour that does not answer is dropped at once, and links to it that are no younger are
  refused (`sub2sub.compiled.ring_views.tombstones`). Requests are repeated (*tries*), more often where
  messages are lost (`sub2sub.compiled.ring.probes`).
- *verify*: a needed candidate has to answer a probe before it is accepted, unless a peer heard from it in
  this cycle. Otherwise a dead peer hides live ones behind it.
- *searches*: a peer that has lost one of its few neighbours exchanges with those that took its place at once,
  and with nearer ones that these name (`RingPeer.is_searching`). With one exchange a cycle a gap in a ring of
  a thousand peers stays open for up to twenty cycles.
- *join*: a newcomer asks for its neighbours at once (`sub2sub.compiled.ring.joining`).
- *tell_changes*: neighbours are informed when a peer's subscription changes
  (`sub2sub.compiled.ring.joining`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.feed import Feed
from sub2sub.compiled.common.growth import Renumbering
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import peer_key
from sub2sub.compiled.common.threads import threads
from sub2sub.compiled.common.turns import NOBODY, Work, everybody, exchange_in_waves
from sub2sub.compiled.common.views import LinkTable
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.compiled.machinery.compilation import plain
from sub2sub.compiled.ring.exchange import BEGIN, CHOOSE, EXCHANGE, HEAR, Turn, places_for, take_turns
from sub2sub.compiled.ring.hellos import NO_HELLOS
from sub2sub.compiled.ring.joining import join_ring, new_asked, tell_change
from sub2sub.compiled.ring.message_length import links_per_message
from sub2sub.compiled.ring.offers import Feeds
from sub2sub.compiled.ring.probes import MEMORY, SENT, Probes, tries_for
from sub2sub.compiled.ring.settings import RingStep
from sub2sub.compiled.ring_views.growing import grow_pool
from sub2sub.compiled.ring_views.labels import Labels
from sub2sub.compiled.ring_views.pool import (
    SINCE,
    STAMP,
    RingPool,
    compact,
    empty_pool,
    forget_tried,
    move_witnesses,
    places_of,
)
from sub2sub.compiled.ring_views.shadow import UNKNOWN
from sub2sub.compiled.ring_views.thread_space import StepSpace
from sub2sub.compiled.vicinity.layer import Vicinity
from sub2sub.peers.descriptors import DESCRIPTOR, HEADER, RANGE
from sub2sub.peers.draws import cycle_key
from sub2sub.peers.newcomer import ASKS, KNOWN
from sub2sub.peers.ring import NEVER, STREAM, VERIFYING, skips_turn
from sub2sub.peers.settings import Partner, RingSettings
from sub2sub.peers.verification import TOMBSTONES

__all__ = ["Partner", "Ring", "RingSettings"]

NO_HOSTS = np.empty(0, np.int64)


class Ring:
    """The ring layer of a population.

    Parameters
    ----------
    boxes : (n, 2, >= d) float64
        Half-open boxes of the peers, in the order of their sequence IDs.
    d : int
        Number of attributes.
    cyclon, vicinity
        The layers whose links feed this one; the engine steps them first.
    scaled : (n, 2, >= d) float64, optional
        The boxes in the units in which newcomers measure distances (`Population.measure`).

    Attributes
    ----------
    who_skips : callable, optional
        Peers that send only ring links to their partners in a cycle, as `skipping` says.
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
        scaled: NDArray[np.float64] | None = None,
    ) -> None:
        self.settings = settings or RingSettings()
        self.scaled = boxes if scaled is None else scaled
        self.seed, self.boxes, self.d, self.cyclon, self.vicinity = seed, boxes, d, cyclon, vicinity
        self.labels = Labels(boxes, d)
        tombstones = TOMBSTONES if self.settings.verify or self.settings.join else 0
        self._space = StepSpace(empty_pool(boxes.shape[0], d, tombstones), d)
        self._joined, self._contact = np.full(len(boxes), -1), np.full(len(boxes), -1)
        self._asked = new_asked(len(boxes))
        self._changed = np.empty((0, 2), np.int64)  # (old, new) peers, of which neighbours are to be informed
        self._copies = np.zeros((len(boxes), 2))  # of messages sent lately, and how many were repetitions
        self._sent, self._each = np.zeros((len(boxes), SENT), np.int64), np.zeros(SENT)
        self.who_skips: Callable[[int], NDArray[np.bool_]] | None = None

    @property
    def pool(self) -> RingPool:
        """The ring views."""
        return self._space.pools[0]

    @property
    def tries(self) -> NDArray[np.uint8]:
        """How often each peer sends a message that is lost, at most."""
        given, (copies, repeated) = self.settings, self._copies.T
        return tries_for(copies, repeated, given.tries, given.most_tries).astype(np.uint8)

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer exchange with a ring neighbour."""
        settings, key = RingStep.of(self.settings, cycle), cycle_key(self.seed, STREAM, cycle)
        self._space.begin(threads())
        probes = self._probes(cycle, network)
        self._tell_changes(settings, probes[0])
        self._join_newcomers(settings, probes[0])
        mentioned = self._mentioned(cycle)
        self._exchange(settings, probes, key, mentioned)
        if self.settings.hello:
            self._say_hello(settings, probes, np.uint64(peer_key(key, len(self.boxes))))
        self._copies = MEMORY * self._copies + sum(each.copies for each in probes)
        self._sent = np.asarray(sum(each.sent for each in probes))
        return self._costs(probes, self._links_per_message(cycle, network, mentioned))

    def _probes(self, cycle: int, network: Network) -> list[Probes]:
        """Probes for each thread, with its own counts."""
        n, faults, tries = len(self.boxes), network.faults(), self.tries
        key = cycle_key(self.seed, VERIFYING, cycle)
        return [
            Probes(
                faults, key, np.zeros(2, np.int64), np.zeros((n, SENT), np.int32), tries,
                np.zeros((n, 2), np.int32),
            )
            for _ in range(threads())
        ]  # fmt: skip

    def _costs(self, probes: list[Probes], links: float) -> dict[str, int]:
        """Messages, bytes and other counts of a cycle, given the mean number of links in a message."""
        messages, failed, offered, taken, hellos, _ = (int(count) for count in self._space.counts())
        joins, join_failed, join_links = (int(count) for count in self._asked.counts)
        small, unanswered = (int(count) for count in np.sum([each.counts for each in probes], axis=0))
        asked, cuts, given_up, _, _ = (int(count) for count in self._space.asked())
        descriptor = DESCRIPTOR + RANGE * self.d
        hello = HEADER + descriptor  # of the sender, which all messages but probes contain
        exchange_bytes = hello * messages + descriptor * round(messages * links)
        join_bytes = hello * joins + descriptor * join_links
        each = exchange_bytes / max(messages, 1), hello, HEADER, join_bytes / max(joins, 1)
        self._each = np.array(each)  # by kind, as in `Probes.sent`
        return {
            "messages": messages + hellos + small + joins,
            "failed": failed + unanswered + join_failed,
            "bytes": exchange_bytes + hello * hellos + HEADER * small + join_bytes,
            "offered": offered,
            "taken": taken,
            "hellos": hellos,
            "verifying": small,
            "joining": joins,
            "asked": asked,
            "cuts": cuts,
            "given_up": given_up,
        }

    def spent(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Messages and bytes of the last cycle, by peer; each message has the mean length of its kind."""
        return self._sent.sum(axis=1, dtype=np.int64), np.rint(self._sent @ self._each).astype(np.int64)

    def skipping(self, calm: int, cycle: int) -> NDArray[np.bool_]:
        """Which peers are at rest and skip their turn (`sub2sub.peers.ring.skips_turn`)."""
        pool = self.pool
        holders, at = places_of(pool)
        changed = np.where(pool.size > 0, pool.last_removal, cycle)
        np.maximum.at(changed, holders, pool.words[at + SINCE * pool.room[holders].astype(np.int64)])
        skips: NDArray[np.bool_] = skips_turn(cycle - changed, calm, cycle + np.arange(changed.size))
        return skips

    def _feeds(self) -> Feeds:
        near, random = self.vicinity, self.cyclon
        return Feeds(near.view, near.size, random.view, random.size)

    def _mentioned(self, cycle: int) -> Feeds:
        """Links of the layers below that messages to partners contain."""
        feeds = self._feeds()
        if self.who_skips is None:
            return feeds
        near, random = (np.where(self.who_skips(cycle), np.int8(0), size) for size in (feeds[1], feeds[3]))
        return feeds._replace(near_size=near, random_size=random)

    def _make_space(self) -> None:
        """Make space for the exchange of the two peers with the widest views."""
        self._space.make_space(int(plain(places_for)(2 * int(self.pool.size.max()), self._feeds())))

    def _exchange(self, settings: RingStep, probes: list[Probes], key: np.uint64, mentioned: Feeds) -> None:
        """Let all peers consider the links of the layers below, then exchange, once or more."""
        n, turn = len(self.boxes), self._turns(settings, probes)
        exchanging = self._turns(settings, probes, mentioned)
        now = Turn(BEGIN, 0, key, np.empty(n, np.int32), NO_HELLOS)
        everybody(n, turn(now), self._make_space)
        for number in range(settings.exchanges + settings.searches):
            if number > 0:
                everybody(n, turn(now._replace(part=CHOOSE, number=number)))
            if number >= settings.exchanges and (now.partner == NOBODY).all():
                break
            exchange = exchanging(now._replace(part=EXCHANGE, number=number))
            exchange_in_waves(now.partner, exchange, self._make_space, each=10.0)

    def _say_hello(self, settings: RingStep, probes: list[Probes], key: np.uint64) -> None:
        """Say hello to new neighbours, one message each."""
        n = len(self.boxes)
        hellos = self._space.hellos(n)
        most = int(np.diff(hellos.first).max(initial=0))

        def make_space() -> None:
            self._space.make_space(int(plain(places_for)(int(self.pool.size.max()) + most, self._feeds())))

        now = Turn(HEAR, 0, key, np.empty(0, np.int32), hellos)
        everybody(n, self._turns(settings, probes)(now), make_space)

    def _turns(
        self, settings: RingStep, probes: list[Probes], mentioned: Feeds | None = None
    ) -> Callable[[Turn], Work]:
        """The work of each thread in a part of the cycle."""
        space, boxes, feeds = self._space, self.labels.boxes, mentioned or self._feeds()

        def work(turn: Turn) -> Work:
            def take(k: int, peers: NDArray[np.int32]) -> int:
                done = take_turns(
                    space.pools[k], boxes, feeds, settings, probes[k], space.threads[k], turn, peers
                )
                return int(done)

            return take

        return work

    def _tell_changes(self, settings: RingStep, probes: Probes) -> None:
        """Let hosts inform the neighbours of peers that have changed."""
        for old, new in self._changed:
            if probes.faults.alive[new] == 1:
                self._space.make_space_to_join(2 * int(self.pool.size[old]) + 2, KNOWN)
                tell_change(
                    self.pool, self.labels.boxes, self.boxes, settings, probes, self._space.threads[0], old,
                    new,
                )  # fmt: skip
        self._changed = self._changed[:0]

    def change(self, old: NDArray[np.int64], new: NDArray[np.int64]) -> None:
        """Note that peers have changed to others, which have joined; the next step informs neighbours."""
        if self.settings.tell_changes:
            self._changed = np.concatenate([self._changed, np.stack([old, new], axis=1).astype(np.int64)])

    def _join_newcomers(self, settings: RingStep, probes: Probes) -> None:
        """Let newcomers ask for their neighbours, and take those that answer as proximity links."""
        waiting, feeds = np.flatnonzero(self._contact >= 0), self._feeds()
        self._asked.counts[:] = 0
        for newcomer in waiting[probes.faults.alive[waiting] == 1]:
            self._space.make_space_to_join(2 * ASKS, KNOWN)
            answers = join_ring(
                self.pool, self.labels.boxes, self.scaled, feeds, settings, probes, self._space.threads[0],
                self._asked, newcomer, self._contact[newcomer],
            )  # fmt: skip
            if isinstance(self.vicinity, Vicinity):
                self.vicinity.meet(int(newcomer), self._asked.met[:answers], settings.cycle)
        self._contact[waiting] = -1

    def _links_per_message(self, cycle: int, network: Network, mentioned: Feeds) -> float:
        """Mean number of links that a message of an exchange contains."""
        pool = self.pool
        links = Links(self.d, self.boxes, NO_HOSTS, *mentioned, pool.start, pool.size, pool.peer)
        return links_per_message(links, self.labels.boxes, network.alive, self.seed, cycle)

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Empty the ring views of `peers`, which ask for neighbours in the next step.

        A peer without a contact, or whose contact joins at the same time, gets its first neighbours from the
        layers below.
        """
        pool = self.pool
        self._joined[peers] = cycle
        self._copies[peers] = 0
        if self.settings.join:
            able = contacts >= 0
            able[able] = self._joined[contacts[able]] < cycle
            self._contact[peers] = np.where(able, contacts, -1)
        pool.silent[peers] = -1
        pool.size[peers] = 0
        pool.last_removal[peers] = NEVER
        pool.shadow[peers], pool.asked[peers] = UNKNOWN, 0
        forget_tried(pool, peers)
        moved = self.labels.update(self.boxes, peers)
        if moved:
            move_witnesses(pool, self.d, moved)
            pool.shadow[:], pool.asked[:] = UNKNOWN, 0

    def grow(self, moved: Renumbering) -> None:
        """Go on with more peers."""
        self.boxes, self.scaled = moved.population.boxes, moved.population.scaled
        self.labels.grow(self.boxes)
        self._space.compact(0, 1)
        self._space = StepSpace(compact(grow_pool(self.pool, moved), self.d, 1024), self.d)
        self._joined, self._changed = moved.rows(self._joined, -1), moved.peers(self._changed)
        self._contact = moved.rows(moved.peers(self._contact), -1)
        self._asked, self._copies = new_asked(len(self.boxes)), moved.rows(self._copies, 0)
        self._sent = moved.rows(self._sent, 0)

    def links(self) -> LinkTable:
        """All links as (holders, peers, stamps)."""
        holders, peers_at = places_of(self.pool)
        _, stamps_at = places_of(self.pool, STAMP)
        words = self.pool.words
        return holders, words[peers_at].astype(np.int64), words[stamps_at].astype(np.int64)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """State for a checkpoint."""
        self._space.compact(0)
        pool = {**self.pool._asdict(), "words": self.pool.words[: self.pool.top[0]]}
        return {**pool, **self.labels.arrays(), "joined": self._joined, "contact": self._contact,
                "changed": self._changed, "copies": self._copies}  # fmt: skip

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """State from a checkpoint."""
        pool = RingPool(**{name: np.array(arrays[name]) for name in RingPool._fields})
        self._space = StepSpace(compact(pool, self.d, 1024), self.d)
        self.labels.load(arrays)
        self._joined[...], self._contact[...] = arrays["joined"], arrays["contact"]
        self._changed, self._copies = np.array(arrays["changed"]), np.array(arrays["copies"])
