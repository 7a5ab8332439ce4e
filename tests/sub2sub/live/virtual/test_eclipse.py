"""What an eclipse does to deliveries, and what is left of it afterwards."""

from __future__ import annotations

import pytest

from tests.sub2sub.live.virtual.attacked import report
from tests.sub2sub.live.virtual.eclipse import Attack, Eclipse, run


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


def calm(eclipse: Eclipse) -> set[int]:
    """Cycles after which peers rest."""
    return {core.calm for _, node in eclipse.nodes for core in node.cores.values()}


def test_five_hosts_that_are_there_first_stop_little_and_nothing_afterwards() -> None:
    """A quarter of the deliveries took place where views were not shared out among hosts."""
    attack = Attack(beside=5, early=True, hosts=5)
    eclipse = Eclipse(15, attack)
    hits = eclipse.run()
    assert calm(eclipse) == {0}, "surrounded peers would rest: so nobody rests where IDs are anybody's"
    assert hits.during > 0.85
    assert hits.after > 0.9
    assert hits.dials <= 15 * attack.hosts * 7, "an address that fails is tried again after .5, 1, 2, ... s"


def test_one_that_publishes_is_not_relied_on_for_all() -> None:
    """93 % where a host on both sides was relied on; all of them now, in four seeds."""
    assert Eclipse(10, Attack(publishes=True)).run().during >= 0.99


def test_inventions_at_any_host_are_not_handed_events() -> None:
    assert Eclipse(10, Attack(beside=2, early=True, scattered=True)).run().during > 0.9


def test_where_nobody_is_wary_it_does() -> None:
    hits = Eclipse(10, Attack(beside=3, anew=True), wary=False).run()
    assert hits.during < 0.9


def test_where_ids_are_bound_nobody_stands_where_it_likes() -> None:
    eclipse = Eclipse(10, Attack(beside=3, anew=True, bound=True))
    assert eclipse.run().during == 1.0
    assert calm(eclipse) == {5}


@pytest.mark.parametrize(
    "arguments",
    [[], ["0"], ["20", "0"], ["20", "none"], ["20", "1", "a", "b"], ["20", "1", "nowhere"]],
)
def test_scripts_of_attacks_refuse_wrong_arguments_in_one_line(arguments: list[str]) -> None:
    with pytest.raises(SystemExit, match=r"^(expected: a number of nodes|no attack has).*$"):
        report({"an attack": Attack()}, run, arguments)
