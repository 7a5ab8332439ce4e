"""Live cores and the simulator, given the same draws, messages and faults, end with the same views."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.live.core import messages as m
from sub2sub.peers.draws import Dice
from sub2sub.peers.forwarding import STREAM
from sub2sub.peers.settings import (
    CyclonSettings,
    DisseminationSettings,
    OverlaySettings,
    Partner,
    RingSettings,
    Tie,
    VicinitySettings,
)
from tests.sub2sub.live.lockstep import Lockstep, overlay_of, simulated_views
from tests.sub2sub.ring.held import held_by, make_older

DEFAULT, CALM = OverlaySettings(), OverlaySettings(calm=2)


@pytest.mark.parametrize("how", [DEFAULT, OverlaySettings.paper(), CALM], ids=["default", "paper", "calm"])
@pytest.mark.parametrize(("n", "d"), [(32, 1), (64, 2), (32, 5)])
def test_views_are_those_of_the_simulator_cycle_by_cycle(n: int, d: int, how: OverlaySettings) -> None:
    overlay = overlay_of(n, d, seed=n + d, settings=how)
    swarm = Lockstep(overlay, how)
    for cycle in range(1, 21):
        if cycle == 10:  # a fifth crashes; cores and overlay share who is alive
            overlay.network.alive[::5] = 0
        overlay.step(cycle)
        swarm.step(cycle)
        assert swarm.views() == simulated_views(overlay, held_by(overlay.ring)), f"cycle {cycle}"


CYCLES = 18


@dataclass(frozen=True)
class History:
    """The faults of a population: loss, a crash, a partition, and crashed peers that join again."""

    n: int
    d: int
    seed: int
    loss: float
    crash_at: int
    cut_at: int
    join_at: int
    leave_at: int
    how: OverlaySettings


@st.composite
def histories(draw: st.DrawFn) -> History:
    return History(
        n=draw(st.sampled_from([4, 8, 16])),
        d=draw(st.integers(1, 3)),
        seed=draw(st.integers(0, 2**32)),
        loss=draw(st.sampled_from([0.0, 0.2, 0.5])),
        crash_at=draw(st.integers(2, 12)),
        cut_at=draw(st.integers(2, 12)),
        join_at=draw(st.integers(6, 14)),
        leave_at=draw(st.integers(5, 14)),  # so that no stamp falls below 0
        how=OverlaySettings(
            cyclon=CyclonSettings(
                view=draw(st.integers(2, 6)),
                shuffle=2,
                retry=draw(st.sampled_from([0, 3])),
                tries=draw(st.integers(1, 3)),
            ),
            vicinity=VicinitySettings(
                view=draw(st.integers(2, 6)),
                shuffle=3,
                tie=draw(st.sampled_from(Tie)),
                max_age=draw(st.sampled_from([0, 4])),
            ),
            ring=RingSettings(
                partner=draw(st.sampled_from(Partner)),
                two_sided=draw(st.booleans()),
                cap=draw(st.sampled_from([0, 0, 2])),
                hello=draw(st.booleans()),
                hello_after=draw(st.sampled_from([0, 0, 2])),
                max_age=draw(st.sampled_from([0, 5, 7])),
                drop_failed=draw(st.booleans()),
                tries=draw(st.integers(1, 3)),
                most_tries=0,  # live, TCP finds out how often to repeat
                verify=draw(st.booleans()),
                join=draw(st.booleans()),
                max_steps=0,
            ),
            suspect_age=draw(st.sampled_from([0, 2, 4])),
            patience=draw(st.sampled_from([0, 3])),
            calm=draw(st.sampled_from([0, 2, 3])),
        ),
    )


MAKES_WAY = History(  # a peer tells a newcomer of the one that makes way for it among its proximity links
    n=16, d=1, seed=3, loss=0.0, crash_at=2, cut_at=2, join_at=6, leave_at=5,
    how=OverlaySettings(
        CyclonSettings(view=2, shuffle=2, retry=0, tries=1),
        VicinitySettings(view=2, shuffle=3, max_age=0),
        RingSettings(
            partner=Partner.LEAST_RECENT, exchanges=1, two_sided=False, cap=0, hello=False, hello_after=0,
            max_age=0, drop_failed=False, tries=1, most_tries=0, verify=False, max_steps=0,
        ),
        suspect_age=0, patience=0, calm=0,
    ),
)  # fmt: skip


@settings(max_examples=80)
@example(MAKES_WAY)
@given(histories())
def test_views_are_those_of_the_simulator_with_faults(history: History) -> None:
    n, how = history.n, history.how
    overlay = overlay_of(n, history.d, history.seed % 1000, how)
    swarm, network = Lockstep(overlay, how), overlay.network
    network.loss = history.loss
    some = np.arange(1, n, 4)
    for cycle in range(1, CYCLES):
        network.group[:] = np.arange(n) % 2 if cycle in (history.cut_at, history.cut_at + 1) else 0
        if cycle == history.crash_at:
            network.alive[some] = 0
        if cycle == history.join_at:
            overlay.admit(some, some - 1, cycle)
            for i in some.tolist():
                swarm.join(i, i - 1, cycle)
        overlay.step(cycle)
        swarm.step(cycle)
        if cycle == history.leave_at:  # a goodbye makes neighbours take the link for one to be probed
            for j in swarm.leave(0, cycle):
                if how.suspect_age:
                    make_older(overlay.ring, j, 0, cycle - how.suspect_age)
            network.alive[0] = 0
        assert swarm.views() == simulated_views(overlay, held_by(overlay.ring)), f"cycle {cycle}"
        assert swarm.lost_partners() == overlay.cyclon.lost.tolist()


@pytest.mark.parametrize("crashed", [0, 12])
def test_events_spread_as_in_the_simulator(crashed: int) -> None:
    how = DEFAULT
    overlay = overlay_of(64, 2, seed=7, settings=how)
    swarm = Lockstep(overlay, how)
    for cycle in range(1, 9):
        overlay.step(cycle)
        swarm.step(cycle)
    overlay.network.alive[:crashed] = 0
    events = np.random.default_rng(1).random((20, 2))
    once = DisseminationSettings(tries=1)  # live, TCP repeats
    outcome = disseminate(Links.of(overlay), overlay.network, events, settings=once, seed=3, cycle=8)
    for e, point in enumerate(events.tolist()):
        name, dice = e.to_bytes(16, "big"), Dice.of(3, STREAM, 8).of_peer(e)
        entries = [
            i
            for i, core in enumerate(swarm.cores)
            if swarm.alive[i] and core.own.matches(tuple(point)) and outcome.matches[e]
        ]
        reached = {
            entry: _spread(swarm, m.Event(name + bytes([entry]), tuple(point), 0, b""), entry, dice)
            for entry in entries
        }
        found = (outcome.reached[e], outcome.messages[e], outcome.failed[e], outcome.hops[e])
        # The simulator drew the entry; one of those possible must give just what it got.
        assert not entries or found in reached.values()


def _spread(swarm: Lockstep, event: m.Event, entry: int, dice: Dice) -> tuple[int, int, int, int]:
    """Peers reached, messages, failed ones, and the last hop."""
    hop_of: dict[int, int] = {}
    messages = failed = 0
    waiting: deque[tuple[int, int, m.Event]] = deque([(entry, -1, event)])
    while waiting:
        i, sender, message = waiting.popleft()
        core = swarm.cores[i]
        draws = lambda stream, i=i: dice.of_peer(i)  # noqa: E731
        if sender < 0:
            sends = core.publish(message, draws)
        else:
            sends = core.receive(message, swarm.peers[sender].id, draws)
        if message.name in core.events.seen and i not in hop_of:
            hop_of[i] = message.hops
        outgoing = deque(send for send in sends if send.to)
        while outgoing:
            send = outgoing.popleft()
            assert send.to is not None
            messages += 1
            j = swarm.number[send.to.id]
            if swarm.alive[j]:
                waiting.append((j, i, send.message))  # type: ignore[arg-type]
            else:
                failed += 1
                outgoing.extend(core.unreachable(send.to, send.message))
    return len(hop_of), messages, failed, max(hop_of.values())
