"""What an eclipse does to deliveries, and what is left of it afterwards."""

from __future__ import annotations

import pytest

from tests.sub2sub.live.virtual.eclipse import Attack, Eclipse


@pytest.mark.parametrize(
    ("attack", "least"),
    [
        (Attack(listens=False), 1.0),
        (Attack(), 1.0),
        (Attack(beside=3, anew=True), 0.95),
        (Attack(beside=2, early=True), 0.95),
    ],
    ids=["deaf", "beside", "three anew", "early"],
)
def test_an_eclipse_stops_hardly_any_event(attack: Attack, least: float) -> None:
    """Three invented IDs beside each peer, again and again, cost up to a twentieth (three seeds)."""
    hits = Eclipse(10, attack).run()
    assert (hits.before, hits.after) == (1.0, 1.0)
    assert hits.during >= least


def test_after_an_attack_from_many_hosts_nodes_find_one_another_again() -> None:
    """Everybody they know is gone then; they begin again with whoever answers (0.2 by chance)."""
    hits = Eclipse(10, Attack(beside=5, anew=True, hosts=5)).run()
    assert hits.after > 0.8


def test_where_nobody_is_wary_it_does() -> None:
    hits = Eclipse(10, Attack(beside=3, anew=True), wary=False).run()
    assert hits.during < 0.9


def test_where_ids_are_bound_nobody_stands_where_it_likes() -> None:
    eclipse = Eclipse(10, Attack(beside=3, anew=True, bound=True))
    assert eclipse.run().during == 1.0
