"""A broadcast at the lowest level reaches whole groups with one message, and loses what the network loses."""

from __future__ import annotations

import numpy as np
import pytest

from hierarchy.hpmcast import Condensation, Gossip, Population, disseminate, exact_knowledge, spread_interest
from hierarchy.hpmcast.extensions import broadcast_below
from sub2sub.compiled.common.network import Network
from sub2sub.errors import InputError

SYSTEM = Population.regular(a=10, levels=3)
VIEWS = exact_knowledge(SYSTEM, Condensation(redundancy=3)).views()
INTERESTED = (np.random.default_rng(1).random(1000) < 0.1).astype(np.uint8)
HIT = spread_interest(SYSTEM, INTERESTED)
GOSSIP = Gossip(constant=4.0)


def test_everybody_in_a_group_with_an_infected_delegate_hears_the_event():
    outcome = broadcast_below(VIEWS, HIT, 3, GOSSIP, seed=2)
    groups = SYSTEM.branch_of[1]
    reached = outcome.trace.first >= 0
    for group in np.unique(groups):
        assert reached[groups == group].all() or not reached[groups == group].any()
    assert outcome.trace.delivery(INTERESTED) > 0.99
    assert outcome.trace.parasites(INTERESTED) > disseminate(VIEWS, HIT, 3, GOSSIP, seed=2).trace.parasites(
        INTERESTED
    )


def test_one_broadcast_is_one_message():
    outcome = broadcast_below(VIEWS, HIT, 3, GOSSIP, seed=2)
    assert outcome.trace.sent.sum() == outcome.messages.sum()


def test_a_lost_broadcast_is_lost_for_each_neighbour_apart():
    network = Network.whole(1000)
    network.loss = 0.3
    outcome = broadcast_below(VIEWS, HIT, 3, GOSSIP, network=network, seed=2)
    assert 0.5 < outcome.trace.delivery(INTERESTED) < 1


def test_one_level_is_refused():
    flat = exact_knowledge(Population.regular(a=20, levels=1)).views()
    with pytest.raises(InputError, match="expected at least 2 levels"):
        broadcast_below(flat, np.ones(20, np.uint8), 0)
