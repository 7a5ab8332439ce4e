"""Every system in every world it takes part in: the books balance, and what is promised is kept."""

from __future__ import annotations

import numpy as np
import pytest

from sims.compare.systems.catalogue import system_named, systems_of
from sims.compare.systems.system import System
from sims.compare.tally import DELIVERED, DUPLICATES, FAILED, MATCHES, MESSAGES, RECEIVED, SENT, SPAM, SPAMMED
from sims.compare.worlds import FAULTS, Fault
from tests.sims.compare.worlds import WORLDS, small

CASES = [(world, system) for world in WORLDS for system in systems_of(world)]
NEVER_SPAM = {"sub2sub", "sub2sub acks", "camcast", "camcast on rings", "multicast", "exact cover", "pmcast"}
CYCLES = 25

_built: dict[tuple[str, str], System] = {}


def built(world: str, name: str) -> System:
    """One system for all tests of this module: built, and without faults."""
    if (world, name) not in _built:
        system = system_named(name)(small(world), seed=1)
        for cycle in range(1, CYCLES + 1):
            system.step(cycle)
        _built[world, name] = system
    system = _built[world, name]
    system.fail(system.world.alive(Fault()), 0.0)
    return system


@pytest.mark.parametrize(("world", "name"), CASES)
def test_messages_are_deliveries_duplicates_spam_and_failures(world: str, name: str) -> None:
    system = built(world, name)
    there = system.world
    for number, fault in enumerate((FAULTS[0], FAULTS[2], FAULTS[4])):
        publishers = there.publishers(fault)
        events = there.events[publishers[there.events] >= 0]
        system.fail(there.alive(fault), fault.loss)
        for knob in system.knobs:
            tally = system.publish(events, publishers[events], knob, salt=number)
            row = tally.events
            parts = row[:, [DELIVERED, DUPLICATES, SPAM, FAILED]]
            assert (parts >= 0).all()
            assert np.array_equal(row[:, MESSAGES], parts.sum(axis=1))
            assert (row[:, DELIVERED] <= row[:, MATCHES]).all()
            assert tally.hosts[:, SENT].sum() == row[:, MESSAGES].sum()
            assert tally.hosts[:, RECEIVED].sum() == row[:, [DELIVERED, DUPLICATES, SPAM]].sum()
            assert tally.hosts[:, SPAMMED].sum() == row[:, SPAM].sum()
            assert (tally.hosts[there.alive(fault) == 0] == 0).all()
            if name in NEVER_SPAM:
                assert row[:, SPAM].sum() == 0


@pytest.mark.parametrize(("world", "name"), CASES)
def test_matches_are_the_live_ones_beside_the_publisher(world: str, name: str) -> None:
    system = built(world, name)
    there, fault = system.world, FAULTS[4]
    alive, publishers = there.alive(fault), there.publishers(fault)
    events = there.events[publishers[there.events] >= 0]
    system.fail(alive, 0.0)
    tally = system.publish(events, publishers[events], system.usual, salt=0)
    truth = [int(alive[there.matches.of(e)].sum()) - 1 for e in events.tolist()]
    assert tally.events[:, MATCHES].tolist() == truth


@pytest.mark.parametrize(("world", "name"), [case for case in CASES if case[1].startswith("sub2sub")])
def test_complete_rings_deliver_everything_without_faults(world: str, name: str) -> None:
    system = built(world, name)
    publishers = system.world.publishers(Fault())
    for knob in system.knobs:
        row = system.publish(system.world.events, publishers[system.world.events], knob, salt=0).events
        assert np.array_equal(row[:, DELIVERED], row[:, MATCHES])


@pytest.mark.parametrize(("world", "name"), CASES)
def test_gossip_at_its_most_generous_misses_little_without_faults(world: str, name: str) -> None:
    system = built(world, name)
    publishers = system.world.publishers(Fault())
    row = system.publish(
        system.world.events, publishers[system.world.events], system.knobs[-1], salt=0
    ).events
    assert (row[:, DELIVERED] / row[:, MATCHES]).mean() > 0.85


@pytest.mark.parametrize(("world", "name"), CASES)
def test_publishing_changes_nothing_and_repeats_itself(world: str, name: str) -> None:
    system = built(world, name)
    publishers = system.world.publishers(Fault())
    events = system.world.events
    system.fail(system.world.alive(Fault()), 0.15)
    first, again, other = (
        system.publish(events, publishers[events], system.usual, salt).events for salt in (7, 7, 8)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(("world", "name"), CASES)
def test_links_are_counted_for_every_subscriber(world: str, name: str) -> None:
    for count in built(world, name).links().values():
        assert count.shape == (small(world).n,)
        assert (count >= 0).all()
    assert sum(count.sum() for count in built(world, name).links().values()) > small(world).n


def test_a_subscriber_of_an_exact_cover_pays_for_all_its_memberships() -> None:
    cover, enclosing = built("between 0.3", "exact cover"), built("between 0.3", "enclosing topic")
    assert cover.links()["topic table"].sum() > enclosing.links()["topic table"].sum()
    assert len(cover.network.alive) > len(enclosing.network.alive)
