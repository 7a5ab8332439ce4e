"""What a stranger does to events, by telling everybody of members and super-contacts of its own."""

from __future__ import annotations

import pytest

from hierarchy.contacts import Contact
from hierarchy.live import dependants
from hierarchy.live.super_table_hosts import SharedOutTable
from tests.hierarchy.live.community_eclipse import Attack, CommunityEclipse


def test_a_host_that_is_there_first_does_not_keep_events_from_going_up() -> None:
    """Half of the deliveries took place, those within the community."""
    hits = CommunityEclipse(8, Attack(early=True)).run()
    assert (hits.during, hits.after) == (1.0, 1.0)


def test_as_many_hosts_as_a_table_has_places_do_not_keep_events_from_going_up() -> None:
    """A gateway of the topic above has a place in it; without one, half of the deliveries took place."""
    hits = CommunityEclipse(8, Attack(early=True, hosts=3)).run()
    assert (hits.during, hits.after) == (1.0, 1.0)


@pytest.mark.parametrize("hosts", [1, 3])
def test_members_that_feign_and_are_there_first_do_not_stop_events(hosts: int) -> None:
    """A tenth of the deliveries took place."""
    attack = Attack(early=True, hosts=hosts, members=True, feigns=True, turns_to=True)
    hits = CommunityEclipse(8, attack, seed=2).run()
    assert (hits.during, hits.after) == (1.0, 1.0)


def test_a_gateway_need_not_hand_events_to_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 17 members in each community a gateway hands events to eight, two of them the attacker's."""
    monkeypatch.setattr(dependants, "MOST", 8)
    attack = Attack(early=True, members=True, feigns=True, turns_to=True)
    hits = CommunityEclipse(34, attack, seed=2).run()
    assert hits.during > 0.9
    assert hits.after == 1.0


def test_a_super_topic_table_takes_others_for_those_of_one_host_and_for_nobody_else() -> None:
    def contact(id: int, host: int, topic: str = ".a") -> Contact:
        return Contact(id, f"192.0.2.{host}", 7000, topic)

    table = SharedOutTable([".a", "."], z=3)
    table.merge(contact(k, 1) for k in range(1, 6))
    assert [each.id for each in table.entries] == [1, 2, 3]
    assert table.merge([contact(7, 2), contact(8, 2), contact(9, 3), contact(10, 4)])
    assert [each.id for each in table.entries] == [1, 9, 7], "the first of a host stays"
    assert not table.merge([contact(11, 5), contact(12, 6, ".")])
    assert not SharedOutTable([".a"], z=3).merge([contact(1, 1, ".b")])


def test_members_that_feign_do_not_stop_events_of_a_semi_structured_membership() -> None:
    """A fifth of the deliveries took place: nobody announced itself, as all were told that they were in."""
    eclipse = CommunityEclipse(8, Attack(early=True, members=True, feigns=True))
    eclipse.membership = "semi-structured"
    hits = eclipse.run()
    assert (hits.during, hits.after) == (1.0, 1.0)
