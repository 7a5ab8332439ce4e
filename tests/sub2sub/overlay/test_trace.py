"""A trace says all that a peer needs to decide, and its decisions are those of the overlay."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sub2sub import Overlay, Population
from sub2sub.errors import InputError
from sub2sub.overlay.trace import SETTINGS, Line, Trace, as_json, view_of
from sub2sub.peers.cyclon import CyclonPeer, Shuffle
from sub2sub.peers.descriptors import Descriptor, Link
from sub2sub.peers.draws import Dice
from sub2sub.peers.ring import Report, RingLink, RingPeer
from sub2sub.peers.settings import CyclonSettings, RingSettings, VicinitySettings
from sub2sub.peers.vicinity import VicinityPeer

DICE, VERIFY = "dice", "verify"
GIVEN = {  # what a peer is given, by layer and decision, as in docs/trace.md
    "cyclon": {"partner": ["as is"], "turn_to": ["peer", "as is", "as is", DICE], "answer": ["links", DICE],
               "finish": ["shuffle", "links"], "fail": ["shuffle"]},
    "vicinity": {"feed": ["links", "as is", DICE], "offer": ["peer", "links", "as is", DICE],
                 "answer": ["peer", "links", "links", "as is", DICE], "finish": ["links", "as is", DICE],
                 "fail": ["peer"]},
    "ring": {"expire": ["as is"], "consider": ["links", "as is", VERIFY], "is_searching": ["as is"],
             "partner": ["as is", DICE], "answer": ["peer", "report", "links", "as is", VERIFY],
             "finish": ["peer", "report", "as is", VERIFY], "fail": ["peer", "as is"]},
}  # fmt: skip


class Told(Dice):
    """Draws as a line tells them."""

    def __init__(self, draws: list[list[int]]) -> None:
        super().__init__(0)
        self.draws = [tuple(draw) for draw in draws]

    def bits(self, k: int) -> int:
        number, bits = self.draws.pop(0)
        assert number == k
        return bits


class Replay:
    """The peers of a trace, made anew from its lines alone."""

    def __init__(self, head: Line, population: list[Line]) -> None:
        self.own = [Descriptor.of(line["peer"], line["low"], line["high"]) for line in population]
        n, settings = len(self.own), head["settings"]
        self.peers: dict[str, list[Any]] = {
            "cyclon": [
                CyclonPeer(own, CyclonSettings(**settings["cyclon"]), phase=own.id) for own in self.own
            ],
            "vicinity": [
                VicinityPeer(own, VicinitySettings(**settings["vicinity"]), around=n) for own in self.own
            ],
            "ring": [RingPeer(own, RingSettings(**settings["ring"]), around=n) for own in self.own],
        }
        for line in population:
            self.peers["cyclon"][line["peer"]].join([self.own[line["contact"]]], 0)

    def links(self, rows: list[list[int]]) -> list[Link]:
        return [Link(self.own[peer], stamp) for peer, stamp in rows]

    def given(self, kind: str, value: Any) -> Any:
        if kind == "peer":
            return self.own[value]
        if kind == "links":
            return self.links(value)
        if kind == "report":
            ring = [RingLink(self.own[peer], *stamps) for peer, *stamps in value["ring"]]
            return Report(self.links(value["fed"]), ring)
        if kind == "shuffle":
            links = self.links(value["links"])
            sent = frozenset(link.peer.id for link in links[:-1])
            return Shuffle(self.own[value["partner"]], links, sent, value["again"])
        return value

    def check(self, line: Line) -> None:
        peer, kinds = self.peers[line["layer"]][line["peer"]], GIVEN[line["layer"]][line["decision"]]
        dice, probes = Told(line["draws"]), [tuple(probe) for probe in line["probes"]]

        def verify(verification: Any) -> Any:
            def is_there(other: Descriptor) -> bool:
                asked, answers = probes.pop(0)
                assert asked == other.id
                return answers

            return verification.run(is_there, line["cycle"])

        values = iter(line["given"])
        special = {DICE: dice, VERIFY: verify}
        given = [special[kind] if kind in special else self.given(kind, next(values)) for kind in kinds]
        assert view_of(peer) == line["before"]
        result = getattr(peer, line["decision"])(*given)
        assert json.loads(json.dumps(as_json(result))) == line["result"]
        assert view_of(peer) == line["after"]
        assert (dice.draws, probes) == ([], [])


def told(trace: Trace, cycles: int) -> tuple[Replay, list[Line]]:
    lines = [json.loads(json.dumps(line)) for line in trace.run(cycles)]
    return Replay(lines[0], lines[1 : trace.n + 1]), lines[trace.n + 1 :]


def check_all(replay: Replay, decisions: list[Line]) -> None:
    for line in decisions:
        replay.check(line)


def test_a_trace_replays_from_its_lines_alone() -> None:
    replay, decisions = told(Trace(20, crash=0.2), 14)
    check_all(replay, decisions)
    made = {(line["layer"], line["decision"]) for line in decisions}
    assert made == {(layer, decision) for layer, own in GIVEN.items() for decision in own}
    assert any(line["probes"] for line in decisions)


def test_a_peer_that_decides_otherwise_is_found() -> None:
    replay, decisions = told(Trace(6), 2)
    grown = (line for line in decisions if line["decision"] == "finish" and line["before"] != line["after"])
    next(grown)["given"][1].clear()
    with pytest.raises(AssertionError):
        check_all(replay, decisions)


@pytest.mark.parametrize(
    "wrong", [{"peers": 1}, {"peers": "x"}, {"attributes": 0}, {"seed": -1}, {"crash": 1}]
)
def test_a_wrong_number_is_one_line(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(InputError, match=f"^{name}: expected [^\n]*$"):
        Trace(**wrong)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_decisions_are_those_of_the_overlay(seed: int) -> None:
    trace = Trace(40, 2, seed)
    lines = list(trace.run(12))
    lows, highs = ([getattr(own, end) for own in trace.own] for end in ("low", "high"))
    overlay = Overlay(Population.of(lows, highs, ids=np.arange(40)), SETTINGS, seed)
    overlay.admit(np.arange(40), np.array(trace.contacts), 0)
    for cycle in range(1, 13):
        if cycle == lines[0]["crash_before_cycle"]:
            overlay.network.alive[trace.crashed] = 0
        overlay.step(cycle)
    for kind, peers in (("cyclon", trace.random), ("vicinity", trace.near), ("ring", trace.ring)):
        links = {(peer.own.id, *row[:2]) for peer in peers for row in view_of(peer)}
        holders, others, stamps = overlay.kinds[kind].links()
        assert links == set(zip(holders.tolist(), others.tolist(), stamps.tolist(), strict=True)), kind


def test_the_command_writes_the_lines(tmp_path: Path) -> None:
    asked = ["trace", "--peers", "5", "--cycles", "2", "--seed", "3"]
    command = [sys.executable, "-m", "sub2sub", *asked]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert [json.loads(line) for line in printed] == json.loads(json.dumps(list(Trace(5, seed=3).run(2))))
    subprocess.run([*command, "--out", tmp_path / "t.jsonl"], check=True)
    assert (tmp_path / "t.jsonl").read_text().splitlines() == printed
