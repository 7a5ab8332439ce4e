"""Live cores without sockets, driven in the simulator's order with the simulator's random numbers and faults.

In each layer, all peers choose their partners, then the exchanges take place one after the other. All
messages that an exchange causes are delivered before the next one, except hellos, which are delivered at the
end of the cycle.

Two differences are removed here. If a reply is lost, a simulated peer does nothing (VICINITY, ring), but a
live one cannot distinguish that from a lost request. So if a reply is lost, the exchange is closed without
informing the core; `test_silence.py` tests how cores handle missing replies. And a live peer says late hellos
(`hello_after`) in its turn, while a candidate that may make the neighbour superfluous has not answered yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sub2sub.compiled.common.views import peer_of
from sub2sub.compiled.cyclon.rendezvous import STREAM as RENDEZVOUS
from sub2sub.compiled.ring.probing import STREAM as PROBING
from sub2sub.compiled.ring.probing import TRIES
from sub2sub.live.core import messages as m
from sub2sub.live.core.live_peer import Core, Draws
from sub2sub.live.core.settings import CoreSettings
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.peers import cyclon, ring, vicinity
from sub2sub.peers.descriptors import Descriptor
from sub2sub.peers.draws import Dice
from sub2sub.peers.settings import OverlaySettings
from sub2sub.peers.verification import slot_of
from tests.sub2sub.overlay.engine import copies, reaches, row
from tests.sub2sub.overlay.histories import links_of


def evenly_spread(n: int) -> list[int]:
    """IDs with the same distances as the numbers of peers; n is a power of two."""
    return [k * (2**64 // n) for k in range(n)]


class Lockstep:
    """The live counterpart of an overlay, from the same start, in the same network."""

    def __init__(self, overlay: Overlay, settings: OverlaySettings) -> None:
        people, self.seed, self.settings = overlay.population, overlay.seed, settings
        self.network, self.alive = overlay.network, overlay.network.alive
        lows, highs = people.ranges()
        self.peers = [
            Descriptor.of(int(people.ids[i]), lows[i], highs[i], ("127.0.0.1", 1 + i))
            for i in range(len(people))
        ]
        self.number = {peer.id: i for i, peer in enumerate(self.peers)}
        self.delivered: list[tuple[int, bytes]] = []
        self.cycle, self.entering = 0, dict[int, int]()
        self.cores = [self.core(i, 0) for i in range(len(people))]
        self.hellos: list[tuple[int, m.Send]] = []
        for i, core in enumerate(self.cores):
            core.join(self.peers[peer_of(word)] for word in overlay.cyclon.view[i, : overlay.cyclon.size[i]])

    def core(self, i: int, now: int) -> Core:
        def deliver(event: m.Event) -> None:
            self.delivered.append((i, event.name))

        core = Core(self.peers[i], deliver, CoreSettings(overlay=self.settings), now=now, phase=i + now)
        core.ring.tombstones.slot_of = lambda id: int(slot_of(self.number[id]))
        core.ring_exchanges.questions = 1  # one after the other, as in the simulator
        core.ring_exchanges.searches = False  # in its own turns, as in the simulator
        return core

    def join(self, i: int, contact: int, cycle: int) -> None:
        """Restart a peer with one contact, before its turn in a cycle."""
        core = self.cores[i] = self.core(i, cycle - 1)
        core.random.join([self.peers[contact]], cycle)
        core.random.since = 1
        self.entering[i] = contact

    def leave(self, i: int, cycle: int) -> list[int]:
        """Let a peer send goodbyes after a cycle; return their receivers."""
        told = []
        for send in self.cores[i].leave():
            assert send.to is not None
            j = self.number[send.to.id]
            if reaches(self.network, i, j):
                assert self.cores[j].receive(send.message, self.peers[i].id, self.draws(j, cycle)) == []
                told.append(j)
        return told

    def draws(self, i: int, cycle: int) -> Draws:
        return lambda stream: Dice.of(self.seed, stream, cycle).of_peer(i)

    def step(self, cycle: int) -> None:
        self.cycle, live = cycle, [i for i in range(len(self.cores)) if self.alive[i]]
        for i in live:
            self.cores[i].clock.tick()
            assert self.cores[i].give_up() == []
            if self.cores[i].wants_contact() and len(live) > 1:
                self.cores[i].introduce(self.peers[self.named(i, live, cycle)])
        shuffles = [self.cores[i].random_partner() for i in live]
        self.in_turn(live, cycle, shuffles, "shuffle_with")
        near = [(self.cores[i].feed_near(self.draws(i, cycle)),) for i in live]
        self.in_turn(live, cycle, near, "exchange_near")
        for i in live:
            draws = self.draws(i, cycle)
            self.carry(i, self.cores[i].probe(draws), draws)
        for i, contact in sorted(self.entering.items()):
            if self.alive[i]:
                self.carry(i, self.cores[i].enter([self.peers[contact]]), self.draws(i, cycle))
        self.entering = {}
        for i in live:
            self.feed(i, cycle)
        for turn in range(self.settings.ring.exchanges + self.settings.ring.searches):
            self.turn = turn
            chosen = [self.partner(i, cycle) for i in live]
            for i, partner in zip(live, chosen, strict=True):
                if partner:
                    self.carry(i, self.cores[i].ring_exchanges.begin(partner), self.draws(i, cycle))
        self.say_hello(cycle)

    def partner(self, i: int, cycle: int) -> Descriptor | None:
        """The ring neighbour to exchange with in this turn, None for a peer that is through."""
        peer = self.cores[i].ring
        if self.turn >= self.settings.ring.exchanges and not peer.is_searching(cycle):
            return None
        return peer.partner(self.turn, self.draws(i, cycle)(ring.STREAM))

    def feed(self, i: int, cycle: int) -> None:
        """Let a peer consider the links of the layers below; late hellos wait until its probes are over."""
        core, draws = self.cores[i], self.draws(i, cycle)
        sends = core.ring_exchanges.feed()
        late = [
            send for send in sends if isinstance(send.message, m.Hello) and self.settings.ring.hello_after
        ]
        self.carry(i, [send for send in sends if send not in late], draws)
        self.carry(i, [send for send in late if send.to and send.to.id in core.ring.view], draws)

    def in_turn(self, live: list[int], cycle: int, chosen: Sequence[tuple[Any, ...]], exchange: str) -> None:
        """Let all peers exchange with their partners, one after the other."""
        for i, choice in zip(live, chosen, strict=True):
            draws = self.draws(i, cycle)
            if choice[0]:
                self.carry(i, getattr(self.cores[i], exchange)(*choice, draws), draws)

    def say_hello(self, cycle: int) -> None:
        hellos, self.hellos = self.hellos, []
        everybody = Dice.of(self.seed, ring.STREAM, cycle).of_peer(len(self.cores))
        by_pair = {(self.number[send.to.id], teller): send for teller, send in hellos if send.to}
        for (to, teller), send in sorted(by_pair.items(), key=lambda item: item[0]):
            lost = everybody.of_peer(teller).of_peer(to).chance(0, self.network.loss)
            if reaches(self.network, teller, to) and not lost:
                self.cores[to].receive(send.message, self.peers[teller].id, self.draws(to, cycle))

    def named(self, i: int, live: list[int], cycle: int) -> int:
        """The peer that the rendezvous service names to i."""
        bits = self.draws(i, cycle)(RENDEZVOUS).bits(0)
        return live[(live.index(i) + 1 + bits % (len(live) - 1)) % len(live)]

    def carry(self, i: int, sends: list[m.Send], draws: Draws) -> None:
        """Deliver the messages of i, and the replies to i."""
        self.hellos += [(i, send) for send in sends if isinstance(send.message, m.Hello)]
        for k, send in enumerate(send for send in sends if not isinstance(send.message, m.Hello)):
            assert send.to is not None
            j, core, message = self.number[send.to.id], self.cores[i], send.message
            lost = [self.lost(i, j, message, k, draws, reply) for reply in (False, True)]
            if not reaches(self.network, i, j) or lost[0]:
                self.carry(i, core.unreachable(send.to, message), draws)
                continue
            if isinstance(message, m.Seek) and lost[1]:  # the simulator tells nobody what got lost
                self.carry(i, core.unreachable(send.to, message), draws)
                continue
            answers = self.cores[j].receive(message, self.peers[i].id, draws)
            back = [answer for answer in answers if answer.to is None]
            self.carry(j, [answer for answer in answers if answer.to is not None], draws)
            for answer in back:
                if not lost[1]:
                    self.carry(i, core.receive(answer.message, self.peers[j].id, draws), draws)
                elif isinstance(message, m.Shuffle | m.Probe):
                    self.carry(i, core.unreachable(send.to, message), draws)
                else:
                    del core.exchanges.open[message.exchange]

    def lost(self, i: int, j: int, message: m.Message, k: int, draws: Draws, reply: bool) -> bool:
        """Whether the simulator would lose the k-th request of a turn, or the reply to it."""
        loss, how = self.network.loss, self.settings
        match message:
            case m.Shuffle():
                number = cyclon.REPLY if reply else cyclon.REQUEST
                return not copies(draws(cyclon.STREAM), number, loss, how.cyclon.tries)[1]
            case m.Near():
                return draws(vicinity.STREAM).chance(vicinity.REPLY if reply else vicinity.REQUEST, loss)
            case m.Ring():
                number = self.turn * ring.DRAWS + (ring.REPLY if reply else ring.REQUEST)
                return not copies(draws(ring.STREAM), number, loss, how.ring.tries)[1]
            case m.Probe() if self.cores[i].exchanges.open[message.exchange].asker is None:
                return not copies(draws(PROBING), 2 * (k + 1) + reply, loss, max(how.ring.tries, TRIES))[1]
            case m.Probe() | m.Seek():
                pair = Dice.of(self.seed, ring.VERIFYING, self.cycle).of_peer(i).of_peer(j)
                return not copies(pair, int(reply), loss, how.ring.tries)[1]
        raise AssertionError(message)

    def views(self) -> dict[str, list[list[tuple[int, ...]]]]:
        """All views, in the simulator's numbers."""
        number = self.number
        views: dict[str, list[list[tuple[int, ...]]]] = {
            name: [
                [(number[id], stamp) for id, stamp in row(getattr(core, layer).view)] for core in self.cores
            ]
            for name, layer in (("cyclon", "random"), ("vicinity", "near"))
        }
        views["ring"] = [
            [(number[e.peer.id], e.stamp, e.met, e.since) for e in core.ring.in_order()]
            for core in self.cores
        ]
        return views

    def lost_partners(self) -> list[int]:
        """The partner that each peer would retry, as in `Cyclon.lost`."""
        numbers = [self.number[core.random.lost.id] if core.random.lost else -1 for core in self.cores]
        return [
            -2 - number if number >= 0 and core.random.failed_again else number
            for number, core in zip(numbers, self.cores, strict=True)
        ]


def overlay_of(n: int, d: int, seed: int, settings: OverlaySettings, ids: list[int] | None = None) -> Overlay:
    """A small overlay of random boxes, just started."""
    rng = np.random.default_rng(seed)
    low = rng.random((n, d)) * 0.8
    width = rng.random((n, d)) * 0.6
    people = Population.of(low, np.minimum(low + width, 1.0), ids=ids or evenly_spread(n))
    overlay = Overlay(people, settings, seed=seed)
    overlay.bootstrap()
    return overlay


def simulated_views(
    overlay: Overlay, ring: list[list[tuple[int, int, int, int]]]
) -> dict[str, list[list[tuple[int, ...]]]]:
    """The same of an overlay."""
    rows: dict[str, list[list[tuple[int, ...]]]] = {"ring": [list(row) for row in ring]}
    for layer in (overlay.cyclon, overlay.vicinity):
        rows[layer.name] = [
            list(links_of(row, size)) for row, size in zip(layer.view, layer.size, strict=True)
        ]
    return rows
