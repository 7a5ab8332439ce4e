"""The totals of gossip: the draws are those of the protocol, and every message is accounted for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hierarchy.camcast import Communities, StaticTables, TopicSettings, disseminate, parameters
from hierarchy.hpmcast import Gossip
from sims.compare.worlds import Fault
from sims.rivals.base.accounts import STREAM, keys_of
from sims.rivals.base.catalogue import entrant
from sims.rivals.base.sampled import VIEW, Sampled
from sims.rivals.base.system import Publication, Truth
from sims.rivals.base.table_gossip import Choices, spread_tables
from sims.rivals.below.addressed import shared_rows
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import peer_key
from sub2sub.compiled.events.accounting import account, new_totals, outcome_of
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.geometry.matching import Members
from sub2sub.peers.draws import cycle_key
from tests.sims.compare.worlds import small

GROUP = Communities.chain(10, 40, 150)


def publish(loss: float = 0.0, down: int = 0, retries: int = 0, record: bool = False) -> Outcome:
    """One event of the lowest of three communities."""
    settings = TopicSettings(c=2, g=8)
    tables = StaticTables(GROUP, settings).draw(seed=3)
    own = Choices(*(column[GROUP.topic] for column in parameters(GROUP.sizes, settings)))
    wanting = np.flatnonzero(GROUP.interested(2))
    network = faulty(loss, down)
    matches = Members(np.array([0, wanting.size]), wanting)
    truth = Truth(np.arange(200), np.arange(200), network.alive, matches)
    event, publisher = np.array([0]), np.array([199])
    asked = Publication(event, publisher, 9, record)
    return spread_tables(
        (tables.topic_table, tables.super_table, own), network, truth, asked, keys_of(5, 9, event), retries
    )  # fmt: skip


def faulty(loss: float, down: int) -> Network:
    network = Network.whole(200)
    network.loss = loss
    network.alive[:down:2] = 0
    return network


@pytest.mark.parametrize(("loss", "down"), [(0.0, 0), (0.2, 0), (0.1, 60)])
def test_an_event_takes_the_way_that_camcast_takes(
    monkeypatch: pytest.MonkeyPatch, loss: float, down: int
) -> None:
    outcome = publish(loss, down, record=True)
    # The same key as above: an event's number is hashed into that of the publication.
    key = np.uint64(peer_key(cycle_key(5, STREAM, 9), 0))
    monkeypatch.setattr("hierarchy.compiled.camcast.dissemination.cycle_key", lambda *_: key)
    settings = TopicSettings(c=2, g=8)
    tables = StaticTables(GROUP, settings).draw(seed=3)
    network = faulty(loss, down)
    spread = disseminate(tables, parameters(GROUP.sizes, settings), 199, seed=5, network=network)
    assert outcome.messages[0] == spread.sent.sum() + spread.upward.sum()
    assert outcome.deliveries[0] == spread.delivered.sum() - 1
    assert outcome.hops[0] == spread.rounds
    assert outcome.spam[0] == spread.parasites(GROUP, 2) == 0
    assert outcome.acks[0] == 0
    assert outcome.receptions is not None
    peers, hops = outcome.receptions.of(0)
    assert dict(zip(peers.tolist(), hops.tolist(), strict=True)) == {
        peer: hop for peer, hop in enumerate(spread.trace.first.tolist()) if hop >= 0
    }


def test_messages_sent_again_reach_the_living_and_every_arrival_is_acknowledged() -> None:
    once, again = publish(loss=0.3), publish(loss=0.3, retries=4)
    assert again.deliveries[0] > once.deliveries[0]
    assert again.acks[0] == again.messages[0] - again.failed[0]
    assert again.unbalanced() == 0
    # A message gets lost five times in a row once in 400 times.
    assert again.deliveries[0] >= 0.98 * again.owed[0]


def test_a_message_to_a_dead_member_is_paid_for_as_often_as_it_is_sent() -> None:
    once, again = publish(down=60), publish(down=60, retries=4)
    assert np.array_equal(once.deliveries, again.deliveries)
    assert again.failed[0] == 5 * once.failed[0] > 0


def outcome_after(
    host: np.ndarray, first: list[int], sent: list[int], arrived: list[int], wanting: list[int], up: list[int]
) -> Outcome:
    totals = new_totals(1, len(up))
    account(
        0, np.array(wanting), 0, np.array(up, np.uint8), host, np.array(first), np.array(sent),
        np.array(arrived), np.zeros(len(host)), totals,
    )  # fmt: skip
    return outcome_of(totals, np.array([0]))


def test_the_outcome_after_one_event_are_kept_as_said() -> None:
    """Five hosts, of which 0 publishes, 1 and 2 want the event, 3 does not, and 4 wants it but is down."""
    found = outcome_after(
        np.arange(5), [0, 1, 3, 2, -1], [4, 2, 0, 1, 0], [1, 2, 1, 2, 0], [0, 1, 2, 4], [1, 1, 1, 1, 0]
    )
    assert (found.owed[0], found.deliveries[0], found.hops[0], found.entered[0]) == (2, 2, 3, 1)
    assert [int(x[0]) for x in (found.messages, found.duplicates, found.spam, found.failed)] == [7, 2, 2, 1]
    assert (found.parasitic[0], found.spammed.tolist()) == (1, [0, 0, 0, 2, 0])
    assert found.taken.tolist() == [1, 1, 1, 0, 0]
    assert found.unbalanced() == 0


def test_a_publisher_that_does_not_want_its_event_is_owed_nothing() -> None:
    found = outcome_after(np.arange(3), [0, 1, 2], [2, 1, 0], [1, 1, 1], [1, 2], [1, 1, 1])
    assert (found.owed[0], found.deliveries[0], found.entered[0], found.spam[0]) == (2, 2, 0, 1)
    assert found.unbalanced() == 0


def test_several_members_of_one_host_are_one_subscriber_with_the_event_since_the_first() -> None:
    found = outcome_after(np.array([0, 1, 1]), [0, 2, 1], [3, 1, 0], [0, 2, 2], [0, 1], [1, 1])
    assert (found.deliveries[0], found.duplicates[0], found.spam[0], found.failed[0]) == (1, 3, 0, 0)
    assert found.hops[0] == 1
    assert found.forwarded.tolist() == [3, 1]
    assert found.received.tolist() == [1, 4]  # the publisher's own copy is the first


def test_equal_tables_held_once_publish_as_if_everybody_held_its_own() -> None:
    from sims.rivals.papers.hpmcast import Hpmcast

    world = small("ranges power-law-2")
    system = Hpmcast(world.wanted, seed=1)
    system.overlay.bootstrap()
    for cycle in range(1, 16):  # not yet settled: some tables differ
        system.step(cycle)
    events = world.events
    publishers = system.peer_of[world.publishers(Fault())[events]]
    once = system.publish(events, publishers, Gossip(3, 3.0), salt=1)
    own = system.overlay.membership.knowledge()
    assert len(shared_rows(own).tables[0].members) < world.n
    system.forget()
    system._computed["known"] = own
    each = system.publish(events, publishers, Gossip(3, 3.0), salt=1)
    for name in ("messages", "delivered", "hops", "received", "forwarded"):
        assert np.array_equal(getattr(once, name), getattr(each, name))


def test_members_of_groups_smaller_than_a_view_know_all_of_them_and_forget_the_dead() -> None:
    group = np.repeat([0, 1, 2], [4, 15, 60])
    n = len(group)
    views = Sampled(np.zeros((n, 1)), np.ones((n, 1)), np.arange(n), group, seed=1)
    views.bootstrap()
    for cycle in range(1, 31):
        views.step(cycle)
    sizes = views.sizes()
    assert (sizes[:19] == np.repeat([3, 14], [4, 15])).all()
    assert (sizes[19:] == VIEW).mean() > 0.9
    table = views.table()
    for member in range(n):
        known = table[member, : sizes[member]]
        assert len(set(known.tolist())) == len(known)
        assert (group[known] == group[member]).all()
        assert member not in known
    views.network.alive[4:9] = 0
    for cycle in range(31, 70):
        views.step(cycle)
    assert not np.isin(views.table()[9:19], np.arange(4, 9)).any()


@pytest.mark.parametrize("name", ["hpmcast", "broadcast", "camcast"])
def test_retransmission_is_a_knob_that_delivers_more_under_loss(name: str) -> None:
    world = small("topics")
    system = entrant(name).make(world.wanted, 1)
    system.overlay.bootstrap()
    for cycle in range(1, 26):
        system.step(cycle)
    system.fail(world.alive(Fault()), 0.3)
    events = world.events
    publishers = system.peer_of[world.publishers(Fault())[events]]
    plain = entrant(name).at(system.knobs[0])
    once, again = (
        system.publish(events, publishers, replace(plain, retries=retries), 1) for retries in (0, 3)
    )
    assert again.deliveries.sum() > once.deliveries.sum()
    assert again.unbalanced() == 0
    assert again.acks.sum() == (again.messages - again.failed).sum()
    assert once.acks.sum() == 0
