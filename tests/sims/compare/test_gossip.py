"""Counting by member changes nothing but the counts: the same draws, the same ways."""

from __future__ import annotations

import numpy as np
import pytest

from hierarchy.camcast import Communities, StaticTables, TopicSettings, disseminate, parameters
from sims.compare.systems.gossip import STREAM, Choices, spread_tables
from sims.compare.systems.knowledge import shared_rows
from sims.compare.systems.system import Knob
from sims.compare.tally import (
    DELIVERED,
    DUPLICATES,
    FAILED,
    HOPS,
    MATCHES,
    MESSAGES,
    PARASITE,
    SPAM,
    Tally,
    account,
)
from sims.compare.worlds import Fault
from sub2sub.geometry.matching import Members
from sub2sub.kernels.randomness import cycle_key, peer_key
from sub2sub.overlay.network import Network
from tests.sims.compare.worlds import small


@pytest.mark.parametrize(("loss", "down"), [(0.0, 0), (0.2, 0), (0.1, 60)])
def test_an_event_takes_the_way_that_camcast_takes(
    monkeypatch: pytest.MonkeyPatch, loss: float, down: int
) -> None:
    group = Communities.chain(10, 40, 150)
    settings = TopicSettings(c=2, g=8)
    tables, shared = StaticTables(group, settings).draw(seed=3), parameters(group.sizes, settings)
    network = Network.whole(200)
    network.loss = loss
    network.alive[:down:2] = 0
    own = Choices(*(column[group.topic] for column in shared))
    wanting = np.flatnonzero(group.interested(2))
    matches = Members(np.array([0, wanting.size]), wanting)
    tally = spread_tables(
        tables.topic_table, tables.super_table, own, network, np.arange(200), network.alive, matches,
        np.array([0]), np.array([199]), np.array([199]), seed=5, salt=9,
    )  # fmt: skip
    # The same key as above: an event's number is hashed into that of the publication.
    key = np.uint64(peer_key(cycle_key(5, STREAM, 9), 0))
    monkeypatch.setattr("hierarchy.camcast.dissemination.cycle_key", lambda *_: key)
    spread = disseminate(tables, shared, 199, seed=5, network=network)
    row = tally.events[0]
    assert row[MESSAGES] == spread.sent.sum() + spread.upward.sum()
    assert row[DELIVERED] == spread.delivered.sum() - 1
    assert row[HOPS] == spread.rounds
    assert row[SPAM] == spread.parasites(group, 2) == 0


def test_the_books_of_one_event_are_kept_as_said() -> None:
    """Five hosts, of which 0 publishes, 1 and 2 want the event, 3 does not, and 4 wants it but is down."""
    matches = Members(np.array([0, 4]), np.array([0, 1, 2, 4]))
    alive = np.array([1, 1, 1, 1, 0], np.uint8)
    first = np.array([0, 1, 3, 2, -1], np.int32)
    sent, arrived = np.array([4, 2, 0, 1, 0]), np.array([1, 2, 1, 2, 0])
    tally = Tally.empty(1, 5)
    account(
        0, matches.offsets, matches.members, 0, 0, alive, np.arange(5), first, sent, arrived, np.full(5, -1),
        np.full(5, -1), (tally.events, tally.hosts),
    )  # fmt: skip
    row = tally.events[0]
    found = {
        name: int(row[k]) for name, k in (("matches", MATCHES), ("delivered", DELIVERED), ("hops", HOPS))
    }
    assert found == {"matches": 2, "delivered": 2, "hops": 3}
    assert row[[MESSAGES, DUPLICATES, SPAM, FAILED, PARASITE]].tolist() == [7, 2, 2, 1, 1]
    assert tally.unbalanced() == 0


def test_several_members_of_one_host_are_one_subscriber() -> None:
    matches = Members(np.array([0, 2]), np.array([0, 1]))
    tally = Tally.empty(1, 2)
    account(
        0, matches.offsets, matches.members, 0, 0, np.ones(2, np.uint8), np.array([0, 1, 1]),
        np.array([0, 1, 2], np.int32), np.array([3, 1, 0]), np.array([0, 2, 2]), np.full(2, -1),
        np.full(2, -1), (tally.events, tally.hosts),
    )  # fmt: skip
    assert tally.events[0, [DELIVERED, DUPLICATES, SPAM, FAILED]].tolist() == [1, 3, 0, 0]
    assert tally.hosts.tolist() == [[3, 0, 0], [1, 4, 0]]


def test_equal_tables_held_once_publish_as_if_everybody_held_its_own() -> None:
    from sims.compare.systems.hpmcast import Hpmcast

    world = small("ranges power-law-2")
    system = Hpmcast(world, seed=1)
    for cycle in range(1, 16):  # not yet settled: some tables differ
        system.step(cycle)
    publishers, events = world.publishers(Fault()), world.events
    knob = Knob(F=3, c=3)
    once = system.publish(events, publishers[events], knob, salt=1)
    own = system.membership.knowledge()
    assert len(shared_rows(own).tables[0].members) < world.n
    system._forget()
    system.known = own
    each = system.publish(events, publishers[events], knob, salt=1)
    assert np.array_equal(once.events, each.events)
    assert np.array_equal(once.hosts, each.hosts)
