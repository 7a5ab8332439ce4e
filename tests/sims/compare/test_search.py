"""The search for a working point spends its events where they decide."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from sims.compare.search import STAGES, Trial, Tried, search
from sims.compare.table import reach_over_events
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


def test_what_cannot_deliver_is_given_up_early_and_what_surely_does_is_not_asked_again() -> None:
    given = Settings([0.3, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0])
    assert [(one.place, one.events[0]) for one in given.found()] == [
        (0, STAGES[0]), (1, STAGES[1]), (2, STAGES[1]),
    ]  # fmt: skip
    assert given.published[1] == EVENTS[: STAGES[1]].tolist()  # each once, in their order
    assert len(given.published[3]) == STAGES[0]


def test_what_is_near_the_bound_sees_all_events() -> None:
    given = Settings([0.99], [1.0])
    (one,) = given.found()
    assert (one.events[0], given.published[0]) == (334, EVENTS.tolist())


def test_the_cheapest_come_first_whatever_their_order() -> None:
    given = Settings([1.0, 1.0, 0.2, 1.0], [4.0, 1.0, 3.0, 2.0])
    assert [one.place for one in given.found()] == [1, 3]


def test_settings_of_about_the_same_cost_are_tried_in_every_seed() -> None:
    """Otherwise seeds in which chance orders them otherwise have tried different ones, and none is chosen."""
    orders = ([2.0, 2.01, 2.02, 2.4], [2.02, 2.0, 2.01, 2.4], [2.01, 2.02, 2.0, 2.4])
    tried = [{one.place for one in Settings([1.0] * 4, costs).found()} for costs in orders]
    assert tried == [{0, 1, 2}] * 3


@pytest.mark.parametrize("count", [1, 20, 32, 33, 150, 151, 334])
def test_each_event_is_published_once_however_few_there_are(count: int) -> None:
    given = Settings([0.99], [1.0])
    (one,) = given.found(EVENTS[:count])
    assert given.published[0] == list(range(count))
    assert one.events[0] == count


def test_where_nothing_delivers_the_best_is_tried_with_all_events() -> None:
    given = Settings([0.3, 0.6, 0.5], [1.0, 2.0, 3.0])
    found = {one.place: one.events[0] for one in given.found()}
    assert found[1] == 334
    assert found[0] == found[2] == STAGES[0]


def test_what_is_sure_by_chance_in_one_seed_is_not_chosen_by_all_of_them() -> None:
    """One that misses 1.5 % of the events, wholly, is sure after 150 of them in every tenth seed."""
    early = 0
    for first in range(0, 300, 3):
        tried = [Settings([0.985], [1.0], seed).found()[0] for seed in range(first, first + 3)]
        early += sum(one.sure and one.events[0] == STAGES[1] for one in tried)
        means = np.array([one.means[0] for one in tried])
        variance = float(np.mean([one.variances[0] for one in tried]))
        events = sum(int(one.events[0]) for one in tried)
        low = means.mean() - reach_over_events(variance, events, float(means.std(ddof=1)), 3)
        assert low < Rule.good
    assert early > 10


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
