"""Live members, without sockets: a community is one component, however many come at once and however much
is lost. A thousand members and more seeds:

    PYTHONPATH=. python benchmarks/one_component.py --live --sizes 1000
"""

from __future__ import annotations

import numpy as np
import pytest

from hierarchy.live import MemberSettings
from hierarchy.peers.settings import CensusSettings, ScampSettings
from tests.hierarchy.live.swarm import Swarm

TOPICS = [".a"] * 6 + [".a.b"] * 24
LEASE = 16
SETTINGS = MemberSettings(scamp=ScampSettings(lease=LEASE), census=CensusSettings(period=20))


@pytest.mark.parametrize("membership", ["unstructured", "semi-structured", "structured"])
@pytest.mark.parametrize("loss", [0.0, 0.05, 0.15])
@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "one by one"])
def test_communities_become_one_component_and_stay_so(membership, loss, at_once) -> None:
    """Everybody renews its lease meanwhile: nobody may be out of all tables while it does."""
    swarm = Swarm(membership, loss, 3, SETTINGS)
    topics = [TOPICS[number] for number in np.random.default_rng(3).permutation(len(TOPICS))]
    for newcomers in [topics] if at_once else [[topic] for topic in topics]:
        swarm.enter(newcomers)
        swarm.cycle()
    for cycle in range(28 + LEASE + LEASE // 2):
        swarm.cycle()
        parts = swarm.parts()
        assert cycle < 28 or set(parts.values()) == {1}, (cycle, parts)


@pytest.mark.parametrize("seed", [2, 4, 6])
def test_heartbeats_that_fail_leave_nobody_out_of_all_tables_within_a_long_lease(seed) -> None:
    """The longer a lease, the more links to members that are there are lost before anything renews them."""
    swarm = Swarm("unstructured", 0.15, seed)
    swarm.enter([".a"] * 50)
    for cycle in range(75):
        swarm.cycle()
        assert cycle < 28 or swarm.parts() == {".a": 1}, cycle


def test_members_count_their_community() -> None:
    swarm = Swarm("unstructured", 0.05, 1, SETTINGS)
    swarm.enter(TOPICS)
    for _ in range(30):
        swarm.cycle()
    for member in swarm.members.values():
        size = TOPICS.count(member.own.topic)
        assert 0.5 * size < member.census.estimate() < 1.8 * size
        assert member.p_sel() == pytest.approx(min(1, 5 / size), rel=0.8)
