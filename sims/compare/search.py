"""The search for a system's working point within one seed, with as few events as decide it.

A *working point* is the cheapest setting that delivers `GOOD` of all deliveries under a fault, by the lower
end of a confidence interval over all events and seeds (`sims.compare.summary`). In each seed all settings are
first tried with a few of the events reserved for this choice, which gives their costs. Then, the cheapest
first, each is tried with more events until it is *hopeless*: the upper end of its interval is below `GOOD`.
Settings that are not hopeless are tried with all events. Two settings that are *sure*, with the lower end
above `GOOD`, end the search: more expensive ones can no longer be chosen. Settings that cost about as much as
the second of them are still tried: they may be cheaper in another seed, and only settings that all seeds have
tried can be chosen. Because an interval is used for several decisions, it is wide (`LOOKS` standard errors:
99.9 %). If all settings are hopeless, the one that delivers most is tried with all events.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sims.compare.worlds import GOOD

LOOKS = 3.3
STAGES = (32, 100)  # events after which a setting may be given up
ENOUGH = 2  # settings that have to be sure
ALIKE = 1.05  # costs that chance may put in another order, relative to each other

Publish = Callable[[int, NDArray[np.int64]], tuple[NDArray[np.float64], float]]


@dataclass(eq=False)
class Tried:
    """What is known of a setting in one seed.

    Attributes
    ----------
    place : int
        Its place among the settings of the system.
    hits : (events,) float64
        Share of the subscribers that each event has reached.
    messages : float
        Messages for an event of the first stage.
    """

    place: int
    hits: NDArray[np.float64]
    messages: float

    def add(self, more: NDArray[np.float64]) -> None:
        """Take more events into account."""
        self.hits = np.concatenate([self.hits, more])

    @property
    def mean(self) -> float:
        """Hit ratio."""
        return float(self.hits.mean()) if self.hits.size else 1.0

    @property
    def variance(self) -> float:
        """Of the share over events."""
        return float(self.hits.var(ddof=1)) if self.hits.size > 1 else 0.0

    @property
    def _reach(self) -> float:
        return LOOKS * float(np.sqrt(self.variance / max(self.hits.size, 1)))

    @property
    def hopeless(self) -> bool:
        """Whether it does not deliver enough, beyond doubt."""
        return self.mean + self._reach < GOOD

    @property
    def sure(self) -> bool:
        """Whether it does, beyond doubt."""
        return self.mean - self._reach >= GOOD


def search(publish: Publish, settings: int, events: NDArray[np.int64]) -> list[Tried]:
    """Try settings until it is decided which of them a system may be shown with.

    Parameters
    ----------
    publish : callable
        Publishes events with the setting of a number; shares of the subscribers reached, messages per event.
    settings : int
        How many there are.
    events : (m,) int64
        Numbers of the events to choose by.

    Returns
    -------
    list of Tried
        The cheapest first; those clearly dearer than the second that is sure are left out.

    Examples
    --------
    Of four settings with 1 to 4 messages for an event the first does not deliver enough:

    >>> def publish(place, events):
    ...     return np.full(events.size, 0.9 if place == 0 else 1.0), 1.0 + place
    >>> [(tried.place, tried.hits.size) for tried in search(publish, 4, np.arange(334))]
    [(0, 32), (1, 334), (2, 334)]
    """
    tried = []
    for place in range(settings):
        found, messages = publish(place, events[: STAGES[0]])
        tried.append(Tried(place, found, messages))
    tried.sort(key=lambda one: one.messages)
    sure, most = 0, np.inf
    for number, one in enumerate(tried):
        if one.messages > most:
            return tried[:number]
        for done, stage in pairwise((*STAGES, len(events))):
            more = events[done:stage]
            if more.size and not one.hopeless:
                one.add(publish(one.place, more)[0])
        sure += one.sure
        if one.sure and sure == ENOUGH:
            most = ALIKE * one.messages
    best = max(tried, key=lambda one: one.mean)
    if all(one.hopeless for one in tried) and best.hits.size < len(events):
        one = Tried(best.place, publish(best.place, events)[0], best.messages)
        tried[tried.index(best)] = one
    return tried
