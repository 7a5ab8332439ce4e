from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.compiled.scamp.layer import Scamp
from hierarchy.live import failures
from hierarchy.live.member import Member
from hierarchy.peers.settings import ScampSettings
from sub2sub.compiled.common.network import Network
from sub2sub.errors import InputError
from tests.hierarchy.membership.scamp.driver import Driver, simulated_views

rules = st.builds(
    ScampSettings,
    c=st.integers(0, 2),
    lease=st.sampled_from([4, 9, 50]),
    indirection=st.sampled_from([0, 3]),
    isolation=st.sampled_from([2, 10]),
    patience=st.sampled_from([1, 3]),
    hop_limit=st.sampled_from([3, 60]),
    contact_first=st.booleans(),
)


@pytest.fixture(autouse=True, scope="module")
def no_member_is_given_up():
    """What live members make of messages that fail is their own, see docs/live.md."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(failures, "FAILURES", 10**9)
        patch.setattr(
            Member,
            "send_elsewhere",
            lambda self, *given: self.scamp.undelivered(given[0], self.cycle, given[1]),
        )
        yield


@st.composite
def histories(draw, n: int = 14, cycles: int = 14):
    """For each cycle: joins with their contacts, leaves, crashes, recoveries, and the loss of messages."""
    history = []
    joined: list[int] = []
    for _ in range(cycles):
        joins = []
        for peer in draw(st.lists(st.integers(0, n - 1), max_size=4, unique=True)):
            others = [p for p in joined if p != peer]
            joins.append((peer, draw(st.sampled_from(others)) if others else -1))
            if peer not in joined:
                joined.append(peer)
        leaves = draw(st.lists(st.sampled_from(joined), max_size=1)) if joined else []
        leaves = [p for p in leaves if p not in [peer for peer, _ in joins]]
        crashes = draw(st.lists(st.integers(0, n - 1), max_size=1))
        history.append((joins, leaves, crashes, draw(st.sampled_from([0.0, 0.0, 0.3])), draw(st.booleans())))
    return history


def _nobody(n: int) -> Network:
    return Network(np.zeros(n, np.uint8), np.zeros(n, np.uint8))


def _replay(layer, network, history, check) -> None:
    for cycle, (joins, leaves, crashes, loss, split) in enumerate(history):
        network.alive[[p for p, _ in joins]] = 1
        network.alive[leaves] = 0
        network.alive[crashes] = 0
        network.loss = loss
        network.group[::2] = split
        if joins:
            layer.join([p for p, _ in joins], [c for _, c in joins], cycle)
        if leaves:
            layer.leave(leaves, cycle)
        check(cycle, layer.step(cycle, network))


@given(histories(), rules, st.integers(0, 2**32), st.sampled_from([0, 3, 9]))
@settings(deadline=None, max_examples=80)
def test_the_kernels_decide_as_live_members_do_draw_for_draw(history, own, seed, wanted) -> None:
    scamp, members = Scamp(14, seed, own), Driver(14, seed, own, wanted)
    scamp.views.wanted[:] = wanted
    expected: list = []
    _replay(members, _nobody(14), history, lambda cycle, sent: expected.append((sent, members.views())))

    def compare(cycle, cost) -> None:
        sent, views = expected[cycle]
        assert simulated_views(scamp) == views
        assert cost["messages"] == sent

    _replay(scamp, _nobody(14), history, compare)


@given(histories(), rules, st.integers(0, 2**32))
@settings(deadline=None, max_examples=80)
def test_views_hold_others_once_each_and_rows_stay_packed(history, own, seed) -> None:
    scamp = Scamp(14, seed, own)
    network = Network(np.zeros(14, np.uint8), np.zeros(14, np.uint8))

    def check(cycle, cost) -> None:
        v = scamp.views
        for i in range(14):
            known = v.partial[i, : v.size[i]].tolist()
            assert i not in known
            assert len(set(known)) == len(known)
            assert min(known, default=0) >= 0
            assert np.all(v.partial[i, v.size[i] :] == -1)
            assert not network.alive[i] or np.all(v.expires[i, : v.size[i]] > cycle)

    _replay(scamp, network, history, check)


def _grown(n: int, own: ScampSettings, seed: int = 1) -> tuple[Scamp, Network, int]:
    """A group that grew by ten members a cycle, each with a random contact."""
    network = Network(np.zeros(n, np.uint8), np.zeros(n, np.uint8))
    scamp = Scamp(n, seed, own)
    dice = np.random.default_rng(seed)
    for cycle, start in enumerate(range(0, n, 10)):
        peers = np.arange(start, min(n, start + 10))
        network.alive[peers] = 1
        scamp.join(peers, [dice.integers(p) if p else -1 for p in peers], cycle)
        scamp.step(cycle, network)
    return scamp, network, cycle + 1


def test_views_settle_at_ln_n_without_anybody_knowing_n() -> None:
    for n in (300, 3000):
        scamp, _, _ = _grown(n, ScampSettings(c=0, indirection=0, lease=10_000))
        assert scamp.views.size.mean() == pytest.approx(np.log(n), rel=0.15)


def test_extra_copies_multiply_the_views() -> None:
    sizes = [
        _grown(1000, ScampSettings(c=c, indirection=0, lease=10_000))[0].views.size.mean() for c in (0, 1, 2)
    ]
    assert sizes[1] == pytest.approx(2 * sizes[0], rel=0.15)
    assert sizes[2] == pytest.approx(3 * sizes[0], rel=0.2)


def test_indirection_saves_a_group_that_everybody_joins_through_one_gateway() -> None:
    n = 300
    sizes = {}
    for steps in (0, 10):
        network = Network.whole(n)
        scamp = Scamp(n, 1, ScampSettings(indirection=steps))
        scamp.join(np.arange(n), np.r_[-1, np.zeros(n - 1, int)], 0)
        scamp.step(0, network)
        sizes[steps] = scamp.views.size.max()
    assert sizes[0] > 200  # the gateway ends up knowing everybody
    assert sizes[10] < 40


def test_leases_leave_the_size_of_views_alone() -> None:
    scamp, network, cycle = _grown(500, ScampSettings(lease=20))
    before = scamp.views.size.mean()
    for later in range(cycle, cycle + 300):  # ten leases
        scamp.step(later, network)
    assert scamp.views.size.mean() == pytest.approx(before, rel=0.3)
    assert scamp.views.size.min() > 0


def test_leases_clear_the_views_of_the_crashed() -> None:
    scamp, network, cycle = _grown(300, ScampSettings(lease=20))
    network.alive[::3] = 0
    for later in range(cycle, cycle + 31):
        scamp.step(later, network)
    v = scamp.views
    for i in np.flatnonzero(network.alive):
        assert np.all(network.alive[v.partial[i, : v.size[i]]] == 1)


def test_a_group_holds_together_when_a_third_of_it_crashes() -> None:
    scamp, network, cycle = _grown(120, ScampSettings(lease=20))
    network.alive[::3] = 0
    for later in range(cycle, cycle + 60):
        scamp.step(later, network)
    v, reached, waiting = scamp.views, {1}, [1]
    while waiting:
        member = waiting.pop()
        new = set(v.partial[member, : v.size[member]].tolist()) - reached
        reached |= new
        waiting += new
    assert len(reached) == 80


def test_an_isolated_member_subscribes_again() -> None:
    scamp, network, cycle = _grown(100, ScampSettings(lease=10_000, isolation=5))
    v = scamp.views
    lonely = 50
    for i in range(100):  # everybody forgets it
        for place in range(v.size[i] - 1, -1, -1):
            if v.partial[i, place] == lonely:
                v.partial[i, place] = v.partial[i, v.size[i] - 1]
                v.size[i] -= 1
                v.partial[i, v.size[i]] = -1
    for later in range(cycle, cycle + 8):
        scamp.step(later, network)
    assert np.any(scamp.views.partial == lonely)


def test_a_leaver_is_replaced_in_the_views_that_had_it() -> None:
    scamp, network, cycle = _grown(300, ScampSettings(c=0, lease=10_000))
    before = int(scamp.views.size.sum())
    leaver = 7
    own = int(scamp.views.size[leaver])
    network.alive[leaver] = 0
    scamp.leave([leaver], cycle)
    scamp.step(cycle, network)
    assert not np.any(scamp.views.partial == leaver)
    # All but c + 1 of the links to it live on, and its own are gone.
    assert before - own - scamp.views.size.sum() <= 4


def test_a_checkpoint_goes_on_as_the_uninterrupted_run() -> None:
    scamp, network, cycle = _grown(60, ScampSettings(lease=10))
    other = Scamp(60, 1, ScampSettings(lease=10))
    other.load({name: array.copy() for name, array in scamp.arrays().items()})
    for later in range(cycle, cycle + 30):
        assert scamp.step(later, network) == other.step(later, network)
    for name, array in scamp.arrays().items():
        assert np.array_equal(array, other.arrays()[name])


@pytest.mark.parametrize("field", ["c", "lease", "indirection", "isolation", "patience", "hop_limit"])
def test_settings_outside_their_domain_are_refused(field) -> None:
    with pytest.raises(InputError, match=f"{field}: expected [0-9] or more"):
        ScampSettings(**{field: -1})
