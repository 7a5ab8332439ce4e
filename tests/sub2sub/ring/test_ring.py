"""The ring layer makes the same decisions as `RingPeer`, and converges to what Figure 3 selects."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.views import FREE, empty_views, link
from sub2sub.compiled.ring.layer import Ring
from sub2sub.compiled.ring_views import labels
from sub2sub.compiled.ring_views.thread_space import StepSpace
from sub2sub.compiled.vicinity.proximity import packed_boxes
from sub2sub.errors import InputError
from sub2sub.overlay.forgetting import drop_ring_links
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.peers.descriptors import Descriptor, Link
from sub2sub.peers.need import Need
from sub2sub.peers.ring import RingPeer
from sub2sub.peers.settings import OverlaySettings, Partner, RingSettings
from sub2sub.rings.selection import select_ring
from tests.sub2sub.geometry import naive
from tests.sub2sub.geometry.populations import Population as Boxes
from tests.sub2sub.geometry.populations import populations
from tests.sub2sub.overlay.engine import FigureThree, RingEngine, Row, descriptors
from tests.sub2sub.ring.held import held_by

CYCLES = 12


@dataclass
class History:
    """A ring layer with random links of the layers below, and the faults of each cycle."""

    n: int
    d: int
    seed: int
    loss: float
    crash_at: int
    cut_at: int
    change_at: int
    grid: int  # coordinates to choose from: the fewer, the more boxes touch, nest and repeat
    ring: RingSettings
    rng: np.random.Generator = field(init=False)
    gone: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.gone = np.empty(0, np.int64)

    def boxes(self, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        ends = np.sort(self.rng.integers(0, self.grid, (n, self.d, 2)), axis=2)
        return ends[:, :, 0].astype(float), ends[:, :, 1] + 1.0

    def fed(self, cycle: int, view: NDArray[np.int64], size: NDArray[np.int8]) -> list[Row]:
        """Fill a view of a layer below with links to random peers, made in the last cycles."""
        view[:], rows = FREE, []
        for t in range(self.n):
            others = np.delete(np.arange(self.n), t)
            peers = self.rng.choice(others, min(int(self.rng.integers(0, 7)), self.n - 1), replace=False)
            row = [(int(peer), int(self.rng.integers(max(cycle - 6, 0), cycle + 1))) for peer in peers]
            view[t, : len(row)] = [link(*each) for each in row]
            size[t] = len(row)
            rows.append(row)
        return rows

    def apply_faults(self, cycle: int, network: Network) -> None:
        some = np.arange(self.n) % 4 == 1
        network.loss = self.loss
        network.alive[some] = not self.crash_at <= cycle < self.crash_at + 4
        network.alive[self.gone] = 0
        network.group[:] = np.arange(self.n) % 2 if cycle in (self.cut_at, self.cut_at + 1) else 0


@st.composite
def histories(draw: st.DrawFn) -> History:
    return History(
        n=draw(st.integers(2, 16)),
        d=draw(st.integers(1, 3)),
        seed=draw(st.integers(0, 2**32)),
        loss=draw(st.sampled_from([0.0, 0.0, 0.25])),
        crash_at=draw(st.integers(2, CYCLES)),
        cut_at=draw(st.integers(2, CYCLES)),
        change_at=draw(st.integers(3, CYCLES)),
        grid=draw(st.sampled_from([3, 6, 1000])),
        ring=RingSettings(
            partner=draw(st.sampled_from(Partner)),
            exchanges=draw(st.integers(0, 2)),
            searches=draw(st.integers(0, 3)),
            two_sided=draw(st.booleans()),
            cap=draw(st.sampled_from([0, 0, 0, 1, 3])),
            hello=draw(st.booleans()),
            hello_after=draw(st.sampled_from([0, 0, 1, 3])),
            max_age=draw(st.sampled_from([0, 3, 6])),
            drop_failed=draw(st.booleans()),
            tries=draw(st.integers(1, 3)),
            most_tries=draw(st.sampled_from([0, 4, 9])),
            verify=draw(st.booleans()),
            join=draw(st.booleans()),
            tell_changes=draw(st.booleans()),
            max_steps=0,
        ),
    )


def naive_boxes(boxes: NDArray[np.float64], d: int) -> list[naive.Box]:
    return [list(zip(low[:d], high[:d], strict=True)) for low, high in boxes.tolist()]


def ring_of(history: History) -> tuple[Ring, Any, Any]:
    below = [
        SimpleNamespace(view=empty_views(history.n, 8), size=np.zeros(history.n, np.int8)) for _ in range(2)
    ]
    boxes = packed_boxes(*history.boxes(history.n))
    return Ring(boxes, history.d, *below, history.ring, history.seed), *below  # type: ignore[arg-type]


def change(history: History, layer: Ring, engine: RingEngine, cycle: int) -> None:
    """Some peers change their subscriptions: all others forget them, and they join again.

    Each but the first has a contact; those whose contact joins at the same time wait for gossip.
    """
    peers = np.arange(0, history.n, 3)
    contacts = (peers + history.rng.integers(1, history.n, peers.size)) % history.n
    contacts[0] = -1
    holders, others, _ = layer.links()
    lost = np.isin(others, peers)
    drop_ring_links(layer, np.stack([holders[lost], others[lost]], axis=1), cycle)
    for peer in engine.peers:
        for x in set(peer.view) & set(peers.tolist()):
            peer.remove(x, cycle)
    lows, highs = history.boxes(peers.size)
    layer.boxes[peers, 0, : history.d], layer.boxes[peers, 1, : history.d] = lows, highs
    layer.join(peers, contacts, cycle)
    population = descriptors(naive_boxes(layer.boxes, history.d))
    for number, contact in zip(peers.tolist(), contacts.tolist(), strict=True):
        engine.peers[number] = engine.peer(population[number])
        engine.persistence.forget(number)
        if history.ring.join and contact >= 0 and contact not in peers:
            engine.contacts[number] = contact
    old = peers[peers + 1 < history.n] + 1  # those that come next have changed to them, and are gone
    layer.change(old, old - 1)
    if history.ring.tell_changes:
        engine.changes = [(each, each - 1) for each in old.tolist()]
    history.gone = old


ANSWERED_AFTER_ALL = History(
    n=15, d=3, seed=3, loss=0.25, crash_at=2, cut_at=2, change_at=5, grid=3,
    ring=RingSettings.paper(two_sided=False, most_tries=0, max_steps=0, verify=True),
)  # fmt: skip
"""A candidate is silent, answers later, is removed and offered again by an older link."""


def in_step_with_its_peers(history: History, layer: Ring, cyclon: Any, vicinity: Any) -> None:
    engine = RingEngine(descriptors(naive_boxes(layer.boxes, history.d)), history.ring, history.seed)
    network = Network.whole(history.n)
    for cycle in range(1, CYCLES):
        history.apply_faults(cycle, network)
        if cycle == history.change_at:
            change(history, layer, engine, cycle)
            network.alive[history.gone] = 0
        random, near = (history.fed(cycle, below.view, below.size) for below in (cyclon, vicinity))
        fed = [near[t] + random[t] for t in range(history.n)]
        counts, expected = layer.step(cycle, network), engine.step(cycle, network, fed)
        assert held_by(layer) == engine.links()
        assert counts["verifying"] == expected.verifying
        assert counts["joining"] == expected.joining
        assert counts["messages"] == sum(
            (expected.messages, expected.hellos, expected.verifying, expected.joining)
        )
        assert counts["failed"] == expected.failed
        assert counts["hellos"] == expected.hellos
        assert counts["taken"] == len(expected.news)
        assert counts["given_up"] == 0


@settings(max_examples=120)
@given(histories())
@example(ANSWERED_AFTER_ALL)
def test_the_kernels_decide_as_their_peer_does(history: History) -> None:
    in_step_with_its_peers(history, *ring_of(history))


@settings(max_examples=200)
@given(populations(st.integers(1, 3), most=14, least=2), st.sampled_from([0, 0, 1, 3]), st.data())
def test_a_view_needs_what_figure_3_selects_whatever_was_refused_before(
    population: Boxes, cap: int, data: st.DataObject
) -> None:
    """Compare the kernels' answers, and the memory of them, with Figure 3 as printed."""
    own, *others = descriptors(population.boxes)
    need, figure_3 = Need(own), FigureThree(own)
    view: dict[int, Descriptor] = {}
    for _ in range(4):
        if view and data.draw(st.booleans()):
            del view[data.draw(st.sampled_from(sorted(view)))]
            need.forget()
        unknown = [peer for peer in data.draw(st.permutations(others)) if peer.id not in view]
        overlapping = [peer for peer in unknown if figure_3.may_be_needed(peer)]
        worth_offering = [peer for peer in unknown if need.may_be_needed(peer)]
        taken, kept = figure_3.offer(list(view.values()), overlapping, cap)
        assert need.offer(list(view.values()), worth_offering, cap) == (taken, kept)
        view = {peer.id: peer for peer in [*view.values(), *taken] if peer.id in kept}


@settings(max_examples=30)
@given(histories())
def test_labels_that_run_out_change_no_decision(history: History) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labels, "_MOST", 2 * history.n + 2)
        in_step_with_its_peers(history, *ring_of(history))


def live(history: History, layer: Ring, cyclon: Any, vicinity: Any, cycles: range) -> list[Any]:
    """Step the layer through cycles of the history; return the counts and views after each."""
    network, seen = Network.whole(history.n), []
    for cycle in cycles:
        history.apply_faults(cycle, network)
        for below in (cyclon, vicinity):
            history.fed(cycle, below.view, below.size)
        seen.append((dict(layer.step(cycle, network)), held_by(layer)))
    return seen


@settings(max_examples=20)
@given(histories())
def test_a_layer_that_runs_out_of_space_goes_on_where_it_stopped(history: History) -> None:
    roomy, tight = ring_of(history), ring_of(History(**settings_of(history)))
    layer = tight[0]
    pool = layer.pool._replace(words=np.empty(64, np.int32), end=np.array([48]))
    layer._space = StepSpace(pool, layer.d, neighbours=1)
    again = History(**settings_of(history))
    again.boxes(again.n)
    history.__post_init__()
    history.boxes(history.n)
    assert live(history, *roomy, range(1, CYCLES)) == live(again, *tight, range(1, CYCLES))


@settings(max_examples=20)
@given(histories(), st.integers(1, CYCLES - 1))
def test_a_layer_restored_from_a_checkpoint_continues_as_without_one(history: History, at: int) -> None:
    straight, cyclon, vicinity = ring_of(history)
    live(history, straight, cyclon, vicinity, range(1, at))
    resumed, *below = ring_of(History(**settings_of(history)))
    resumed.load({name: array.copy() for name, array in straight.arrays().items()})
    state = history.rng.bit_generator.state
    expected = live(history, straight, cyclon, vicinity, range(at, CYCLES))
    history.rng.bit_generator.state = state
    assert live(history, resumed, *below, range(at, CYCLES)) == expected


def settings_of(history: History) -> dict[str, Any]:
    return {name: value for name, value in vars(history).items() if name not in ("rng", "gone")}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"exchanges": -1}, "ring.exchanges: expected 0 or more, got -1"),
        ({"cap": -2}, r"ring.cap: expected 0 or more, got -2"),
        ({"max_age": -1}, r"ring.max_age: expected 0 or more, got -1"),
    ],
)
def test_settings_outside_their_domain_are_refused(changes: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        RingSettings(**changes)  # type: ignore[arg-type]


def subscriptions(d: int, n: int, grid: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    if grid:  # touching, identical, exact-value and wildcard ranges
        lows = rng.integers(0, 6, (n, d)).astype(float)
        highs = lows + rng.integers(0, 4, (n, d))
        open_ended = rng.random((n, d)) < 0.1
        return np.where(open_ended, -np.inf, lows), np.where(open_ended, np.inf, highs)
    centre, width = rng.random((n, d)), rng.random((n, d)) ** 2
    return centre - width / 2, centre + width / 2


def settled(overlay: Overlay, cycles: int) -> Overlay:
    overlay.bootstrap()
    for cycle in range(1, cycles + 1):
        assert overlay.step(cycle)["ring"]["given_up"] == 0
    return overlay


def views(overlay: Overlay) -> dict[int, set[int]]:
    holders, peers, _ = overlay.ring.links()
    held: dict[int, set[int]] = {peer: set() for peer in range(len(overlay.population))}
    for holder, peer in zip(holders.tolist(), peers.tolist(), strict=True):
        held[holder].add(peer)
    return held


@pytest.mark.parametrize("paper", [True, False])
@pytest.mark.parametrize(("d", "grid"), [(1, True), (1, False), (2, True), (3, False), (3, True), (5, False)])
def test_converged_views_are_the_selection_from_all_peers(d: int, grid: bool, paper: bool) -> None:
    n = 120
    lows, highs = subscriptions(d, n, grid, seed=d)
    people = Population.of(lows, highs, seed=d)
    overlay = settled(Overlay(people, OverlaySettings.paper() if paper else None, seed=d), 60)
    low, high = lows[people.row], highs[people.row]
    held = views(overlay)
    for peer in range(n):
        others = np.delete(np.arange(n), peer)
        ring = select_ring(
            low[peer], high[peer], int(people.ids[peer]), low[others], high[others], people.ids[others]
        )
        assert held[peer] == set(others[ring.successors].tolist()) | set(others[ring.predecessors].tolist())


def test_a_capped_view_stays_within_its_cap() -> None:
    lows, highs = subscriptions(2, 150, False, seed=4)
    capped = OverlaySettings(ring=RingSettings.paper(cap=7))
    overlay = settled(Overlay(Population.of(lows, highs, seed=4), capped, seed=4), 25)
    assert max(len(view) for view in views(overlay).values()) == 7


def test_with_a_finer_clock_each_lasting_neighbour_gets_one_hello():
    own, other = (Descriptor.of(id, [0.0], [1.0]) for id in (1, 2))
    peer = RingPeer(own, RingSettings(hello_after=200))
    peer.consider([Link(other, 130)], 130)
    told = [tick for tick in range(100, 1000, 100) if peer.hellos_due(tick, cycle=100)]
    assert told == [400]  # the first tick 200 after 130
    peer.heard_from(other.id, 250)
    assert not any(peer.hellos_due(tick, cycle=100) for tick in range(100, 1000, 100))
