"""The search for a system's working point within one seed, with as few events as decide it.

A *working point* is the cheapest setting that delivers under every fault of a rule, in time, by the lower end
of a confidence interval over all events and seeds (`sims.compare.summary`). In each seed all settings are
first tried with a few of the events reserved for this choice, which gives their costs. Then, the cheapest
first, each is tried with more events until it is *hopeless*: it is too slow, or the upper end of an interval
is below what is asked, or *sure*, with the lower ends above after the last of `STAGES`: of two seeds with so
many events each, none of which misses anybody, at most 1 % miss somebody (the rule of three). A setting that
is neither is tried with all events. Two settings that are sure end the search: more expensive ones can no
longer be chosen. Settings that cost about as much as the second of them are still tried: they may be cheaper
in another seed, and only settings that all seeds have tried can be chosen. Because an interval is used for
several decisions, it is wide (`LOOKS` standard errors: 99.9 %). If all settings are hopeless, the one that
delivers most is tried with all events.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sims.compare.worlds import Rule

LOOKS = 3.3
STAGES = (32, 150)  # events after which a setting may be given up, and after the last of which it may be sure
ENOUGH = 2  # settings that have to be sure
ALIKE = 1.05  # costs that chance may put in another order, relative to each other
LATE = 1.2  # times over the budget from which on a setting is too slow beyond doubt


class Trial(NamedTuple):
    """What became of some events with one setting.

    Attributes
    ----------
    hits : list of (events,) float64
        For each fault of the rule, the share of the subscribers that each event has reached.
    cost, ms : float
        The cost of the rule, and the milliseconds to the last subscriber under the worst fault.
    """

    hits: list[NDArray[np.float64]]
    cost: float
    ms: float


Publish = Callable[[int, NDArray[np.int64]], Trial]


@dataclass(eq=False)
class Tried:
    """What is known of a setting in one seed.

    Attributes
    ----------
    place : int
        Its place among the settings of the system.
    trial : Trial
        Of all events so far; its costs are those of the first stage.
    rule : Rule
    """

    place: int
    trial: Trial
    rule: Rule

    def add(self, more: Trial) -> None:
        """Take more events into account."""
        pairs = zip(self.trial.hits, more.hits, strict=True)
        self.trial = self.trial._replace(hits=[np.concatenate(pair) for pair in pairs])

    @property
    def means(self) -> NDArray[np.float64]:
        """The hit ratio under each fault."""
        return np.array([own.mean() if own.size else 1.0 for own in self.trial.hits])

    @property
    def variances(self) -> NDArray[np.float64]:
        """The variance over events of the share reached, under each fault."""
        return np.array([own.var(ddof=1) if own.size > 1 else 0.0 for own in self.trial.hits])

    @property
    def events(self) -> NDArray[np.int64]:
        """The number of events under each fault."""
        return np.array([own.size for own in self.trial.hits])

    @property
    def _reach(self) -> NDArray[np.float64]:
        reach: NDArray[np.float64] = LOOKS * np.sqrt(self.variances / np.maximum(self.events, 1))
        return reach

    @property
    def hopeless(self) -> bool:
        """Whether it surely delivers too little under some fault, or too late."""
        late = 0 < LATE * self.rule.budget < self.trial.ms
        return late or bool((self.means + self._reach < self.rule.good).any())

    @property
    def sure(self) -> bool:
        """Whether it surely delivers enough under all faults, and in time."""
        late = 0 < self.rule.budget < self.trial.ms
        return not late and bool((self.means - self._reach >= self.rule.good).all())


def search(publish: Publish, settings: int, events: NDArray[np.int64], rule: Rule) -> list[Tried]:
    """Try settings until it is decided which of them a system may be shown with.

    Parameters
    ----------
    publish : callable
        Publishes events with the setting of a number.
    settings : int
        How many there are.
    events : (m,) int64
        Numbers of the events to choose by.
    rule : Rule

    Returns
    -------
    list of Tried
        The cheapest first; those clearly dearer than the second that is sure are left out.

    Examples
    --------
    Of four settings that cost 1 to 4 the first does not deliver enough:

    >>> def publish(place, events):
    ...     return Trial([np.full(events.size, 0.9 if place == 0 else 1.0)], 1.0 + place, 0.0)
    >>> [(one.place, int(one.events[0])) for one in search(publish, 4, np.arange(334), Rule())]
    [(0, 32), (1, 150), (2, 150)]
    """
    tried = [Tried(place, publish(place, events[: STAGES[0]]), rule) for place in range(settings)]
    tried.sort(key=lambda one: one.trial.cost)
    sure, most = 0, np.inf
    for number, one in enumerate(tried):
        if one.trial.cost > most:
            return tried[:number]
        for done, stage in pairwise((*STAGES, len(events))):
            more, known = events[done:stage], one.hopeless or (done == STAGES[-1] and one.sure)
            if more.size and not known:
                one.add(publish(one.place, more))
        sure += one.sure
        if one.sure and sure == ENOUGH:
            most = ALIKE * one.trial.cost
    best = max(tried, key=lambda one: one.means.min())
    if all(one.hopeless for one in tried) and len(events) > STAGES[0]:
        best.trial = publish(best.place, events)._replace(cost=best.trial.cost, ms=best.trial.ms)
    return tried
