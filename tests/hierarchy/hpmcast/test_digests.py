"""Digests repair what dissemination missed, cost what they send, and lose what the network loses."""

from __future__ import annotations

import numpy as np
import pytest

from hierarchy.hpmcast import Gossip, Population, disseminate, exact_knowledge, spread_interest
from hierarchy.hpmcast.extensions import DigestSettings, exchange_digests
from sub2sub.compiled.common.network import Network
from sub2sub.errors import InputError

SYSTEM = Population.regular(a=10, levels=3)
VIEWS = exact_knowledge(SYSTEM).views()
INTERESTED = (np.random.default_rng(1).random(1000) < 0.1).astype(np.uint8)
HIT = spread_interest(SYSTEM, INTERESTED)


def test_more_rounds_of_digests_deliver_more_until_all_have_it():
    before = disseminate(VIEWS, HIT, 3, Gossip(), seed=2)
    deliveries = [before.trace.delivery(INTERESTED)]
    for rounds in (1, 4, 30):
        after, _ = exchange_digests(VIEWS, HIT, before, DigestSettings(rounds), seed=2)
        deliveries.append(after.trace.delivery(INTERESTED))
        assert (after.trace.first[before.trace.reached] == before.trace.first[before.trace.reached]).all()
    assert deliveries == sorted(deliveries)
    assert deliveries[0] < 0.95 < deliveries[-1]


def test_digests_go_only_to_those_whose_line_the_event_passes():
    before = disseminate(VIEWS, HIT, 3, Gossip(), seed=2)
    after, _ = exchange_digests(VIEWS, HIT, before, DigestSettings(20), seed=2)
    touched = (after.trace.first >= 0) & (before.trace.first < 0) & (INTERESTED == 0)
    assert (VIEWS.top[touched] > 1).all()  # delegates of somebody interested


def test_every_message_is_billed():
    before = disseminate(VIEWS, HIT, 3, Gossip(), seed=2)
    after, counts = exchange_digests(VIEWS, HIT, before, seed=2)
    assert after.trace.sent.sum() - before.trace.sent.sum() == counts.sum()
    assert after.trace.received.sum() - before.trace.received.sum() == counts.sum()
    assert counts[2] == (after.trace.first >= 0).sum() - (before.trace.first >= 0).sum()


def test_a_lost_message_is_billed_and_neither_received_nor_repairs_anything():
    before = disseminate(VIEWS, HIT, 3, Gossip(), seed=2)
    network = Network.whole(1000)
    network.loss = 1.0
    after, counts = exchange_digests(VIEWS, HIT, before, network=network, seed=2)
    assert counts[0] > 0
    assert counts[1] == counts[2] == 0
    assert (after.trace.first == before.trace.first).all()
    assert (after.trace.received == before.trace.received).all()


def test_settings_outside_their_domain_are_refused():
    with pytest.raises(InputError, match=r"digests.rounds: expected 1 or more, got 0"):
        DigestSettings(rounds=0)
