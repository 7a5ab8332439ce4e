"""A swarm of cores without sockets, driven in the simulator's order with the simulator's draws.

Layer by layer, peer by peer; whatever a message causes is done before the next peer has its turn, but for
hellos, which are told at the end of the cycle.
"""

from __future__ import annotations

import numpy as np

from sub2sub.cyclon.rendezvous import STREAM as RENDEZVOUS
from sub2sub.kernels.randomness import cycle_key, draws, peer_key
from sub2sub.live.core import messages as m
from sub2sub.live.core.core import Core, Keys
from sub2sub.live.core.descriptors import Descriptor
from sub2sub.live.core.settings import CoreSettings
from sub2sub.overlay.overlay import Overlay, OverlaySettings
from sub2sub.overlay.population import Population
from sub2sub.overlay.views import peer_of, stamp_of


def evenly_spread(n: int) -> list[int]:
    """IDs whose distances are those of the peers' numbers; n a power of two."""
    return [k * (2**64 // n) for k in range(n)]


class Lockstep:
    """The live counterpart of an overlay, from the same start."""

    def __init__(self, overlay: Overlay, settings: OverlaySettings) -> None:
        people, self.seed = overlay.population, overlay.seed
        self.alive = overlay.network.alive
        lows, highs = people.ranges()
        self.peers = [
            Descriptor.of(int(people.ids[i]), "127.0.0.1", 1 + i, lows[i], highs[i])
            for i in range(len(people))
        ]
        self.number = {peer.id: i for i, peer in enumerate(self.peers)}
        self.delivered: list[tuple[int, bytes]] = []
        self.cores = [self.core(i, settings) for i in range(len(people))]
        self.hellos: list[tuple[int, m.Send]] = []
        for i, core in enumerate(self.cores):
            core.join(self.peers[peer_of(word)] for word in overlay.cyclon.view[i, : overlay.cyclon.size[i]])

    def core(self, i: int, settings: OverlaySettings) -> Core:
        own = self.peers[i]

        def deliver(event: m.Event) -> None:
            self.delivered.append((i, event.name))

        return Core(own, deliver, CoreSettings(overlay=settings), now=0, phase=i)

    def keys(self, i: int, cycle: int) -> Keys:
        return lambda stream: np.uint64(peer_key(cycle_key(self.seed, stream, cycle), i))

    def step(self, cycle: int) -> None:
        live = [i for i in range(len(self.cores)) if self.alive[i]]
        for i in live:
            self.cores[i].next_cycle()
            if self.cores[i].wants_contact():
                self.cores[i].introduce(self.peers[self.named(i, live, cycle)])
        for turn in ("shuffle", "meet_near", "probe", "meet_ring"):
            for i in live:
                keys = self.keys(i, cycle)
                self.carry(i, getattr(self.cores[i], turn)(keys), keys)
        hellos, self.hellos = self.hellos, []
        for teller, send in hellos:
            assert send.to is not None
            to = self.number[send.to.id]
            if self.alive[to]:
                self.cores[to].receive(send.message, self.peers[teller].id, self.keys(to, cycle))

    def named(self, i: int, live: list[int], cycle: int) -> int:
        """Whom the rendezvous names to i."""
        bits = draws(cycle_key(self.seed, RENDEZVOUS, cycle), np.array([i]))[0]
        return live[(live.index(i) + 1 + int(bits) % (len(live) - 1)) % len(live)]

    def carry(self, i: int, sends: list[m.Send], keys: Keys) -> None:
        """Deliver what i sends, and bring it the replies."""
        self.hellos += [(i, send) for send in sends if isinstance(send.message, m.Hello)]
        for send in sends:
            if isinstance(send.message, m.Hello):
                continue
            assert send.to is not None
            j = self.number[send.to.id]
            if not self.alive[j]:
                self.carry(i, self.cores[i].unreachable(send.to, send.message), keys)
                continue
            answers = self.cores[j].receive(send.message, self.peers[i].id, keys)
            back = [answer for answer in answers if answer.to is None]
            self.carry(j, [answer for answer in answers if answer.to is not None], keys)
            for answer in back:
                self.carry(i, self.cores[i].receive(answer.message, self.peers[j].id, keys), keys)

    def views(self) -> dict[str, list[list[tuple[int, ...]]]]:
        """All views, in the simulator's numbers."""
        number = self.number
        return {
            "cyclon": [[(number[p.id], s) for p, s in core.random.view] for core in self.cores],
            "vicinity": [[(number[p.id], s) for p, s in core.near.view] for core in self.cores],
            "ring": [
                [(number[e.peer.id], e.stamp, e.met, e.since) for e in core.ring.in_order()]
                for core in self.cores
            ],
        }


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
            [(int(peer_of(word)), int(stamp_of(word))) for word in layer.view[i, : layer.size[i]]]
            for i in range(len(layer.size))
        ]
    return rows
