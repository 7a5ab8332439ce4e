"""The agenda returns members in the order in which their earliest copies arrive."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sub2sub.compiled.timing.agenda import again, clear, departure, forget_member, new_agenda, offer, take
from sub2sub.compiled.timing.latency import Clock
from sub2sub.compiled.timing.settings import Timing

CLOCK = Clock.of(Timing(latency="constant", bandwidth=8.0, event_bytes=1000), np.arange(30))
HOPS = Clock.of(None, np.arange(30))


@given(st.lists(st.tuples(st.integers(0, 29), st.integers(0, 12)), max_size=120))
def test_the_earliest_copy_of_each_member_is_taken_in_order(offers: list[tuple[int, int]]) -> None:
    agenda = new_agenda(30, CLOCK)
    earliest: dict[int, tuple[int, int]] = {}
    for number, (member, when) in enumerate(offers):
        is_first = member not in earliest or when < earliest[member][0]
        assert offer(agenda, member, -1, float(when)) == is_first
        if is_first:
            earliest[member] = (when, number)
    expected = sorted(earliest, key=lambda member: earliest[member])
    assert [take(agenda) for _ in expected] == expected
    assert take(agenda) == -1


@given(st.lists(st.integers(0, 29), max_size=60))
def test_counted_in_hops_it_is_a_queue(members: list[int]) -> None:
    agenda = new_agenda(30, HOPS)
    for hop, member in enumerate(members):
        offer(agenda, member, -1, float(hop))
    once = list(dict.fromkeys(members))
    assert [take(agenda) for _ in once] == once


def test_hops_are_those_of_the_copy_that_is_first() -> None:
    agenda = new_agenda(4, CLOCK)
    offer(agenda, 0, -1, 0.0)
    assert take(agenda) == 0
    offer(agenda, 1, 0, 10.0)
    offer(agenda, 2, 0, 90.0)
    assert take(agenda) == 1
    offer(agenda, 2, 1, 30.0)  # two hops, and sooner than one
    assert (take(agenda), int(agenda.hop[2]), int(agenda.sender[2])) == (2, 2, 1)
    assert not offer(agenda, 2, 0, 40.0)  # it has the event
    assert take(agenda) == -1


def test_a_timer_comes_back_and_nothing_is_left_after_clearing() -> None:
    agenda = new_agenda(3, CLOCK)
    offer(agenda, 2, -1, 5.0)
    again(agenda, 1, 7.0)
    assert [take(agenda), take(agenda)] == [2, 1]
    again(agenda, 1, 9.0)
    assert take(agenda) == 1
    forget_member(CLOCK, agenda, 2)
    assert offer(agenda, 2, -1, 50.0)
    clear(agenda)
    assert take(agenda) == -1
    assert offer(agenda, 1, -1, 1.0)


def test_a_message_waits_for_the_uplink_and_one_that_is_sent_again_does_not() -> None:
    """A thousand bytes take a millisecond at 8 Mbit/s."""
    free = np.zeros(30)
    leaves = [departure(CLOCK, free, 0, to, 100.0, 0) for to in (1, 2, 3)]
    assert leaves == [101.0, 102.0, 103.0]
    assert departure(CLOCK, free, 0, 4, 100.0, 2) == 101.0
    assert departure(CLOCK, free, 5, 1, 100.0, 0) == 101.0  # an uplink of its own
    assert departure(CLOCK, free, 0, 0, 100.0, 0) == 100.0  # it stays on the host
    assert departure(HOPS, free, 0, 1, 100.0, 0) == 100.0
