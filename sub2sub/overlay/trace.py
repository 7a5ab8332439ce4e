"""Every decision of a small population of readable peers, as lines of JSON.

The peers are those of `sub2sub.peers`, with which the kernels and the live peers agree. An implementation in
another language that makes the same decisions from the same messages and draws speaks the same protocol;
docs/trace.md says how to compare. Peers are numbered in the order of the ring, and their IDs are their
numbers. Some crash halfway. No message is lost: only those to crashed peers do not arrive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from sub2sub.errors import InputError
from sub2sub.peers import cyclon, ring, vicinity
from sub2sub.peers.cyclon import CyclonPeer, Shuffle
from sub2sub.peers.descriptors import Descriptor, Link
from sub2sub.peers.draws import Dice, stream_number
from sub2sub.peers.ring import Report, RingLink, RingPeer
from sub2sub.peers.settings import OverlaySettings
from sub2sub.peers.verification import Verification
from sub2sub.peers.vicinity import VicinityPeer

SETTINGS = OverlaySettings(suspect_age=0, patience=0)  # probes and contacts asked for are left out
STARTS, CRASHES = stream_number("trace"), stream_number("trace/crashes")
WIDEST = 0.5  # range of a random subscription
Line = dict[str, Any]


class RecordedDice(Dice):
    """Draws that are remembered, with their numbers, until they are told."""

    __slots__ = ("drawn",)

    def __init__(self, key: int) -> None:
        super().__init__(key)
        self.drawn: list[tuple[int, int]] = []

    def bits(self, k: int) -> int:
        """The k-th draw: 64 random bits."""
        self.drawn.append((k, super().bits(k)))
        return self.drawn[-1][1]


def as_json(value: Any) -> Any:
    """What a decision gets or returns: a peer as its number, a link as [peer, stamp, and since when]."""
    if isinstance(value, Descriptor):
        return value.id
    if isinstance(value, Link | RingLink):
        return [value.peer.id, *value[1:]]
    if isinstance(value, Shuffle | Report):
        return {key: as_json(part) for key, part in value._asdict().items() if key != "sent"}
    return [as_json(part) for part in value] if isinstance(value, list | tuple) else value


def view_of(peer: CyclonPeer | VicinityPeer | RingPeer) -> list[Any]:
    """The view of a peer: [peer, stamp] each, of ring neighbours [peer, stamp, since, met]."""
    if isinstance(peer, RingPeer):
        return [[each.peer.id, each.stamp, each.since, each.met] for each in peer.in_order()]
    return [as_json(link) for link in peer.view]


class Trace:
    """A population whose decisions are told one after the other.

    Parameters
    ----------
    peers, attributes, seed : int
        Of random ranges.
    crash : float
        Share of the peers that crash.

    Examples
    --------
    >>> lines = list(Trace(peers=5).run(cycles=3))
    >>> lines[0]["format"], lines[1]["peer"], lines[6]["layer"], lines[6]["decision"]
    (1, 0, 'cyclon', 'partner')
    """

    def __init__(self, peers: int = 50, attributes: int = 2, seed: int = 1, crash: float = 0.1) -> None:
        numbers = {"peers": (peers, 2), "attributes": (attributes, 1), "seed": (seed, 0)}
        for name, (given, least) in numbers.items():
            if not isinstance(given, int) or given < least:
                raise InputError(f"{name}: expected a whole number from {least} on, got {given!r}")
        if not 0 <= crash < 1:
            raise InputError(f"crash: expected a share from 0 to below 1, got {crash!r}")
        self.n, self.seed = peers, seed
        rng = np.random.default_rng(seed)
        lows = rng.random((peers, attributes))
        self.own = [
            Descriptor.of(number, low, low + wide)
            for number, (low, wide) in enumerate(zip(lows, rng.random(lows.shape) * WIDEST, strict=True))
        ]
        starts = Dice.of(seed, STARTS, 0)
        self.contacts = [1, *(starts.of_peer(number).below(0, number) for number in range(1, peers))]
        self.crashed = Dice.of(seed, CRASHES, 0).sample(0, self.n, int(crash * self.n))
        self.alive = [True] * self.n
        self.random = [CyclonPeer(own, SETTINGS.cyclon, phase=own.id) for own in self.own]
        self.near = [VicinityPeer(own, SETTINGS.vicinity, around=self.n) for own in self.own]
        self.ring = [RingPeer(own, SETTINGS.ring, around=self.n) for own in self.own]
        self._lines: list[Line] = []

    def run(self, cycles: int) -> Iterator[Line]:
        """Tell settings and peers, then all decisions of some cycles, in the order in which they are made."""
        half = cycles // 2 + 1
        yield {
            "format": 1, "seed": self.seed, "peers": self.n, "cycles": cycles,
            "crashed": self.crashed, "crash_before_cycle": half,
            "streams": {"cyclon": cyclon.STREAM, "vicinity": vicinity.STREAM, "ring": ring.STREAM},
            "settings": {name: asdict(SETTINGS)[name] for name in ("cyclon", "vicinity", "ring")},
        }  # fmt: skip
        for own, contact in zip(self.own, self.contacts, strict=True):
            yield {"peer": own.id, "low": own.low, "high": own.high, "contact": contact}
            self.random[own.id].join([self.own[contact]], 0)
        for cycle in range(1, cycles + 1):
            if cycle == half:
                self.alive = [number not in self.crashed for number in range(self.n)]
            for step in (self._shuffle, self._approach, self._build_rings):
                step(cycle)
                yield from self._lines
                self._lines.clear()

    def _decide(self, cycle: int, peer: Any, decision: str, *given: Any, probes: bool = False) -> Any:
        """Let a peer decide, and note what it was given, drew, asked, changed and returned."""
        layer = {CyclonPeer: "cyclon", VicinityPeer: "vicinity", RingPeer: "ring"}[type(peer)]
        line: Line = {"cycle": cycle, "layer": layer, "peer": peer.own.id, "decision": decision}
        line |= {"given": [as_json(each) for each in given if not isinstance(each, Dice)], "draws": []}
        line |= {"probes": [], "before": view_of(peer)}

        def is_there(other: Descriptor) -> bool:
            line["probes"].append([other.id, self.alive[other.id]])
            return self.alive[other.id]

        def verify(verification: Verification) -> list[Descriptor]:
            return verification.run(is_there, cycle)

        result = getattr(peer, decision)(*given, *([verify] if probes else []))
        for dice in (each for each in given if isinstance(each, RecordedDice)):
            line["draws"] += dice.drawn
            dice.drawn.clear()
        self._lines.append(line | {"after": view_of(peer), "result": as_json(result)})
        return result

    def _turns(self, peers: list[Any], stream: int, cycle: int) -> list[tuple[Any, RecordedDice]]:
        """The peers whose turn it is, with their draws."""
        dice = Dice.of(self.seed, stream, cycle)
        living = [peer for peer in peers if self.alive[peer.own.id]]
        return [(peer, RecordedDice(dice.of_peer(peer.own.id).key)) for peer in living]

    def _shuffle(self, cycle: int) -> None:
        """Let the peers of CYCLON exchange random links."""
        turns = self._turns(self.random, cyclon.STREAM, cycle)
        chosen = [self._decide(cycle, peer, "partner", cycle) for peer, _ in turns]
        for (peer, dice), (partner, again) in zip(turns, chosen, strict=True):
            if partner is None:
                continue
            shuffle = self._decide(cycle, peer, "turn_to", partner, again, cycle, dice)
            if self.alive[partner.id]:
                reply = self._decide(cycle, self.random[partner.id], "answer", shuffle.links, dice)
                self._decide(cycle, peer, "finish", shuffle, reply)
            else:
                self._decide(cycle, peer, "fail", shuffle)

    def _approach(self, cycle: int) -> None:
        """Let the peers of VICINITY exchange links to near ones."""
        turns = self._turns(self.near, vicinity.STREAM, cycle)
        randoms = [peer.view for peer in self.random]
        chosen = [
            self._decide(cycle, peer, "feed", randoms[peer.own.id], cycle, dice) for peer, dice in turns
        ]
        for (peer, dice), partner in zip(turns, chosen, strict=True):
            if partner is None:
                continue
            if not self.alive[partner.id]:
                self._decide(cycle, peer, "fail", partner)
                continue
            offer = self._decide(cycle, peer, "offer", partner, randoms[peer.own.id], cycle, dice)
            given = peer.own, offer, randoms[partner.id], cycle, dice
            reply = self._decide(cycle, self.near[partner.id], "answer", *given)
            self._decide(cycle, peer, "finish", reply, cycle, dice)

    def _build_rings(self, cycle: int) -> None:
        """Let the peers of the ring take links from below, exchange their neighbours, and say hello."""
        turns = self._turns(self.ring, ring.STREAM, cycle)
        fed = [near.view + random.view for near, random in zip(self.near, self.random, strict=True)]
        hellos: set[tuple[int, int]] = set()

        def decide(peer: RingPeer, decision: str, *given: Any) -> Any:
            result = self._decide(cycle, peer, decision, *given, probes=True)
            accepted = result[1] if decision == "answer" else result
            hellos.update((told.id, peer.own.id) for told in accepted)
            return result

        for peer, _ in turns:
            self._decide(cycle, peer, "expire", cycle)
            decide(peer, "consider", fed[peer.own.id], cycle)
        for turn in range(SETTINGS.ring.exchanges + SETTINGS.ring.searches):
            more = turn >= SETTINGS.ring.exchanges
            chosen = [
                None if more and not self._decide(cycle, peer, "is_searching", cycle)
                else self._decide(cycle, peer, "partner", turn, dice)
                for peer, dice in turns
            ]  # fmt: skip
            for (peer, _), partner in zip(turns, chosen, strict=True):
                if partner is None:
                    continue
                if not self.alive[partner.id]:
                    self._decide(cycle, peer, "fail", partner, cycle)
                    continue
                report = peer.report(fed[peer.own.id])
                reply, _ = decide(self.ring[partner.id], "answer", peer.own, report, fed[partner.id], cycle)
                decide(peer, "finish", partner, reply, cycle)
        for told, teller in sorted(hellos):
            if self.alive[told]:
                decide(self.ring[told], "consider", [Link(self.own[teller], cycle)], cycle)
