"""The search for a working point spends its events where they decide."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from sims.compare.search import STAGES, Trial, Tried, search
from sims.compare.worlds import Fault, Rule

EVENTS = np.arange(334)
LOSS = Rule((Fault(loss=0.05),))


class Settings:
    """Settings with a hit ratio and a cost each; an event misses all or nobody."""

    def __init__(self, chances: list[float], costs: list[float], seed: int = 1) -> None:
        self.chances, self.costs, self.seed, self.late = chances, costs, seed, 0.0
        self.published: dict[int, list[int]] = {place: [] for place in range(len(chances))}

    def publish(self, place: int, events: NDArray[np.int64]) -> Trial:
        """Each event has the same fate whenever it is published."""
        assert events.size
        self.published[place] += events.tolist()
        drawn = np.random.default_rng(self.seed + place).random(len(EVENTS))[events]
        return Trial([(drawn < self.chances[place]).astype(float)], self.costs[place], self.late)

    def found(self, events: NDArray[np.int64] = EVENTS) -> list[Tried]:
        return search(self.publish, len(self.chances), events, LOSS)


def test_what_cannot_deliver_is_given_up_early_and_what_can_sees_all_events() -> None:
    given = Settings([0.3, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0])
    assert [(one.place, one.events[0]) for one in given.found()] == [(0, STAGES[0]), (1, 334), (2, 334)]
    assert given.published[1] == EVENTS.tolist()  # each once, in their order
    assert len(given.published[3]) == STAGES[0]


def test_the_cheapest_come_first_whatever_their_order() -> None:
    given = Settings([1.0, 1.0, 0.2, 1.0], [4.0, 1.0, 3.0, 2.0])
    assert [one.place for one in given.found()] == [1, 3]


def test_settings_of_about_the_same_cost_are_tried_in_every_seed() -> None:
    """Otherwise seeds in which chance orders them otherwise have tried different ones, and none is chosen."""
    orders = ([2.0, 2.01, 2.02, 2.4], [2.02, 2.0, 2.01, 2.4], [2.01, 2.02, 2.0, 2.4])
    tried = [{one.place for one in Settings([1.0] * 4, costs).found()} for costs in orders]
    assert tried == [{0, 1, 2}] * 3


@pytest.mark.parametrize("count", [1, 20, 32, 33, 100, 101])
def test_each_event_is_published_once_however_few_there_are(count: int) -> None:
    given = Settings([1.0], [1.0])
    (one,) = given.found(EVENTS[:count])
    assert given.published[0] == list(range(count))
    assert one.events[0] == count


def test_where_nothing_delivers_the_best_is_tried_with_all_events() -> None:
    given = Settings([0.3, 0.6, 0.5], [1.0, 2.0, 3.0])
    found = {one.place: one.events[0] for one in given.found()}
    assert found[1] == 334
    assert found[0] == found[2] == STAGES[0]


@pytest.mark.parametrize("chance", [0.985, 0.99, 0.995])
def test_what_is_near_the_bound_is_neither_given_up_nor_sure_before_all_events_have_told(
    chance: float,
) -> None:
    for seed in range(20):
        (one,) = Settings([chance], [1.0], seed).found()
        assert one.events[0] == 334 or one.hopeless
        assert not one.sure or one.means[0] > Rule.good


def test_hardly_any_setting_that_delivers_is_given_up() -> None:
    lost = sum(Settings([0.992], [1.0], seed).found()[0].hopeless for seed in range(400))
    assert lost <= 2


def test_a_setting_has_to_deliver_under_every_fault() -> None:
    """The first is a ring without shortcuts: it survives loss by retransmission, and no crash."""

    def publish(place: int, events: NDArray[np.int64]) -> Trial:
        crashed = 0.13 if place == 0 else 1.0
        return Trial([np.ones(events.size), np.full(events.size, crashed)], 1.0 + place, 500.0)

    found = search(publish, 3, EVENTS, Rule())
    assert [(one.place, one.hopeless, one.sure) for one in found] == [
        (0, True, False), (1, False, True), (2, False, True),
    ]  # fmt: skip


def test_a_setting_that_takes_longer_than_the_budget_is_not_chosen() -> None:
    def publish(place: int, events: NDArray[np.int64]) -> Trial:
        return Trial([np.ones(events.size)], 1.0 + place, 50_000.0 if place == 0 else 600.0)

    assert [one.hopeless for one in search(publish, 2, EVENTS, LOSS)] == [True, False]
    whenever = Rule(LOSS.faults, budget=0.0)
    assert [one.hopeless for one in search(publish, 2, EVENTS, whenever)] == [False, False]
