"""Groups and their rendezvous, and contacts in the groups above."""

from __future__ import annotations

import numpy as np

from sims.rivals.base.groups import ENTRIES, Entries, Groups, first_contacts
from sims.rivals.base.objects import Transport
from sub2sub.compiled.common.network import Network
from sub2sub.overlay.population import Population
from sub2sub.peers.draws import Dice
from tests.sims.compare.worlds import small


def groups() -> Groups:
    world = small("topics")
    assert world.topics is not None
    people = Population.of(world.lows, world.highs, seed=1)
    found = Groups(people, world.topics.ranges)
    assert np.array_equal(found.of, world.topics.of[people.row])
    return found


def test_named_contacts_are_live_members_of_the_wanted_group_and_not_who_asks() -> None:
    found = groups()
    n = len(found.of)
    alive = (np.arange(n) % 4 > 0).astype(np.uint8)
    for salt in range(20):
        bits = np.arange(n, dtype=np.uint64) * np.uint64(7919) + np.uint64(salt)
        named = found.name(found.of, np.arange(n), alive, bits)
        for peer, contact in enumerate(named.tolist()):
            mates = np.flatnonzero((found.of == found.of[peer]) & (alive == 1))
            if contact < 0:
                assert set(mates.tolist()) <= {peer}
            else:
                assert contact in mates
                assert contact != peer


def test_first_contacts_join_every_group_in_one_piece() -> None:
    found = groups()
    contacts = first_contacts(np.arange(len(found.of)), found.of, seed=3)
    for group in np.unique(found.of):
        members = np.flatnonzero(found.of == group)
        assert (contacts[members] < 0).sum() == 1
        root = {int(peer): int(contacts[peer]) for peer in members}
        for peer in members.tolist():
            steps = 0
            while root[peer] >= 0:
                peer, steps = root[peer], steps + 1
                assert steps <= len(members)


def test_entries_are_live_members_of_the_groups_above_even_after_crashes() -> None:
    found = groups()
    entries, network = Entries(found, 1), Network.whole(len(found.of))
    for cycle in range(1, 5):
        entries.step(cycle, network)
    network.alive[::3] = 0
    network.loss = 0.1
    for cycle in range(5, 80):
        cost = entries.step(cycle, network)
    assert cost["messages"] == entries.sent.sum()
    assert cost["bytes"] == entries.bytes.sum()
    stale = 0
    for peer in np.flatnonzero(network.alive).tolist():
        for level, topic in enumerate(found.above[found.of[peer]]):
            members = np.flatnonzero((found.of == topic) & (network.alive == 1))
            known = entries.contact[peer, level]
            known = known[known >= 0]
            assert (found.of[known] == topic).all()
            stale += int((network.alive[known] == 0).sum())
            assert len(known) >= min(ENTRIES, len(members), 1)
    assert stale == 0


def test_mail_bills_every_copy_to_its_sender_and_loses_as_much_as_the_network_does() -> None:
    network = Network.whole(2)
    network.loss = 0.5
    transport = Transport(2, tries=2)
    transport.open(network, Dice(3))
    arrived = sum(transport.arrives(0, 1, 8) for _ in range(4000))
    assert abs(arrived / 4000 - 0.75) < 0.03
    assert abs(transport.messages[0] / 4000 - 1.5) < 0.03
    assert transport.bill() == {
        "messages": transport.messages[0],
        "failed": transport.messages[0] - arrived,
        "bytes": 20 * transport.messages[0],
    }
