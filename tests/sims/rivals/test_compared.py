"""Every system in every world it takes part in: the counts balance, and what is promised is kept."""

from __future__ import annotations

import numpy as np
import pytest

from sims.compare.unit import Measured
from sims.compare.worlds import FAULTS, Fault
from sims.rivals.base.catalogue import entrant, entrants_of
from sims.rivals.base.entrants import Traffic
from tests.sims.compare.worlds import WORLDS, small

CASES = [(world, system) for world in WORLDS for system in entrants_of(world.partition(" ")[0])]
NEVER_SPAM = {
    "sub2sub", "sub2sub, as published", "camcast", "camcast on rings", "multicast",
    "exact cover", "pmcast",
}  # fmt: skip
BOUNDS = {"broker", "matching tree"}
CYCLES = 25

_built: dict[tuple[str, str], Measured] = {}
_spent: dict[tuple[str, str], Traffic] = {}


def built(world: str, name: str) -> Measured:
    """One system for all tests of this module: built, and without faults."""
    if (world, name) not in _built:
        system = entrant(name).make(small(world).wanted, 1)
        system.overlay.bootstrap()
        _spent[world, name] = [system.step(cycle) for cycle in range(1, CYCLES + 1)][-1]
        _built[world, name] = Measured(small(world), system, entrant(name))
    measured = _built[world, name]
    measured.system.fail(measured.world.alive(Fault()), 0.0)
    return measured


@pytest.mark.parametrize(("world", "name"), CASES)
def test_messages_are_deliveries_duplicates_spam_and_failures(world: str, name: str) -> None:
    measured = built(world, name)
    there = measured.world
    for number, fault in enumerate((FAULTS[0], FAULTS[2], FAULTS[4])):
        measured.system.fail(there.alive(fault), fault.loss)
        down = measured.peer[there.alive(fault) == 0]
        for knob in measured.entrant.knobs[1:]:
            found = measured.publish(there.events, fault, knob, salt=number)
            parts = (found.deliveries, found.duplicates, found.spam, found.failed)
            assert all((part >= 0).all() for part in parts)
            assert np.array_equal(found.messages, sum(parts))
            assert (found.deliveries <= found.owed).all()
            assert found.forwarded.sum() == found.messages.sum()
            copies = found.deliveries.sum() + found.duplicates.sum() + found.entered.sum()
            assert found.received.sum() == copies
            assert found.spammed.sum() == found.spam.sum()
            assert (found.received[down] == 0).all()
            assert (found.forwarded[down] == 0).all()
            if name in NEVER_SPAM and "audience" not in knob:  # D: the uninterested are sent to as well
                assert found.spam.sum() == 0


@pytest.mark.parametrize("name", sorted({name for _, name in CASES} - {"sub2sub, as published"}))
def test_acknowledgements_are_among_the_settings_of_every_system(name: str) -> None:
    """But for that of a paper that has none, and is shown as it was published."""
    assert any("retries" in knob or "tries" in knob for knob in entrant(name).knobs)


@pytest.mark.parametrize(("world", "name"), CASES)
def test_upkeep_of_all_subscribers_adds_up(world: str, name: str) -> None:
    system = built(world, name).system
    spent, of_all = system.spent(), _spent[world, name]
    if name == "matching tree" or system.static:
        return
    assert spent is not None
    messages, size = (int(own.sum()) for own in spent)
    # The broker and the publishers on dyadic topics are hosts of their own, whose share is left out.
    least = 0.5 if name in {"broker", "enclosing topic", "exact cover"} else 1.0
    assert least * of_all.messages * 0.999 <= messages <= of_all.messages / least * 1.001
    assert least**2 * of_all.bytes * 0.999 <= size <= of_all.bytes / least * 1.001


@pytest.mark.parametrize(("world", "name"), CASES)
def test_matches_are_the_live_ones_beside_the_publisher(world: str, name: str) -> None:
    measured = built(world, name)
    there, fault = measured.world, FAULTS[4]
    alive, publishers = there.alive(fault), there.publishers(fault)
    measured.system.fail(alive, 0.0)
    found = measured.publish(there.events, fault, measured.entrant.knobs[1:][:2][-1], salt=0)
    events = there.events[publishers[there.events] >= 0]
    truth = [int(alive[there.matches.of(e)].sum()) - 1 for e in events.tolist()]
    assert found.owed.tolist() == truth


@pytest.mark.parametrize(("world", "name"), CASES)
def test_who_received_an_event_when_adds_up_to_its_counts(world: str, name: str) -> None:
    measured = built(world, name)
    there, system = measured.world, measured.system
    publishers = measured.peer[there.publishers(Fault())[there.events]]
    settings = measured.entrant.at(measured.entrant.knobs[1:][:2][-1])
    plain, found = (system.publish(there.events, publishers, settings, 3, record) for record in (False, True))
    assert plain.receptions is None
    assert found.receptions is not None
    assert np.array_equal(plain.messages, found.messages)
    for k, event in enumerate(there.events.tolist()):
        peers, hops = found.receptions.of(k)
        wanting = np.isin(peers, measured.peer[there.matches.of(event)])
        assert peers[0] == publishers[k]
        assert (np.diff(hops) >= 0).all()
        assert len(set(peers.tolist())) == len(peers)
        assert wanting.sum() == found.delivered[k]
        assert hops[wanting].max() == found.hops[k]


@pytest.mark.parametrize(("world", "name"), [case for case in CASES if case[1].startswith("sub2sub")])
def test_complete_rings_deliver_everything_without_faults(world: str, name: str) -> None:
    measured = built(world, name)
    for knob in measured.entrant.knobs[1:]:
        found = measured.publish(measured.world.events, Fault(), knob, salt=0)
        assert np.array_equal(found.deliveries, found.owed)


@pytest.mark.parametrize(("world", "name"), CASES)
def test_gossip_at_its_most_generous_misses_little_without_faults(world: str, name: str) -> None:
    measured = built(world, name)
    found = measured.publish(measured.world.events, Fault(), measured.entrant.knobs[1:][-1], salt=0)
    assert (found.deliveries / found.owed).mean() > 0.85


@pytest.mark.parametrize(("world", "name"), CASES)
def test_publishing_changes_nothing_and_repeats_itself(world: str, name: str) -> None:
    measured = built(world, name)
    measured.system.fail(measured.world.alive(Fault()), 0.15)
    knob = measured.entrant.knobs[1:][:2][-1]
    first, again, other = (measured.publish(measured.world.events, Fault(), knob, salt) for salt in (7, 7, 8))
    assert np.array_equal(first.messages, again.messages)
    assert np.array_equal(first.forwarded, again.forwarded)
    assert not all(
        np.array_equal(getattr(first, load), getattr(other, load)) for load in ("forwarded", "received")
    )


@pytest.mark.parametrize(("world", "name"), CASES)
def test_links_are_counted_for_every_subscriber(world: str, name: str) -> None:
    links = built(world, name).system.links()
    for count in links.values():
        assert count.shape == (small(world).n,)
        assert (count >= 0).all()
    if name not in BOUNDS:
        assert sum(count.sum() for count in links.values()) > small(world).n


@pytest.mark.parametrize("world", WORLDS[:3])
def test_bounds_need_one_message_for_each_delivery_and_the_broker_one_to_itself(world: str) -> None:
    for name in BOUNDS:
        measured = built(world, name)
        found = measured.publish(measured.world.events, Fault(), measured.entrant.knobs[1], salt=0)
        assert np.array_equal(found.deliveries, found.owed)
        assert np.array_equal(found.messages, found.owed + (name == "broker"))


@pytest.mark.parametrize("world", WORLDS[:3])
def test_rings_take_a_message_for_each_subscriber_and_one_or_two_where_both_ways_meet(world: str) -> None:
    measured = built(world, "sub2sub")
    assert measured.entrant.knobs[1] == {"shortcuts": 0, "tries": 1, "retries": 0}
    found = measured.publish(measured.world.events, Fault(), measured.entrant.knobs[1], salt=0)
    more = found.messages - found.owed
    assert (more[found.owed == 1] == 0).all()
    assert np.isin(more[found.owed > 1], (1, 2)).all()


def test_gossipsub_takes_a_message_for_each_link_of_its_meshes_but_those_that_events_came_by() -> None:
    measured = built("topics", "gossipsub, D 8")
    there, system = measured.world, measured.system
    plain = measured.entrant.knobs[1]
    assert plain == {"D_lazy": 0, "mcache_gossip": 0}
    publishers = measured.peer[there.publishers(Fault())[there.events]]
    found = system.publish(there.events, publishers, measured.entrant.at(plain), 0, record=True)
    for k, publisher in enumerate(publishers.tolist()):
        members = found.receptions.of(k)[0].tolist()
        meshes = sum(len(system.layer.peers[member].mesh) for member in members)
        above = int((system.entries.contact[publisher] >= 0).sum())  # sent to by the publisher, along no mesh
        assert found.messages[k] == meshes - (len(members) - 1 - above) + above


def test_a_subscriber_of_an_exact_cover_pays_for_all_its_memberships() -> None:
    cover, enclosing = (built("between 0.3", name).system for name in ("exact cover", "enclosing topic"))
    assert cover.links()["topic table"].sum() > enclosing.links()["topic table"].sum()
    assert len(cover.network.alive) > len(enclosing.network.alive)
