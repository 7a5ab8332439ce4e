"""Controls that add topics, remove topics and add supertopics during a run (CAMCAST, Section 2.1).

They act on overlays of communities (`hierarchy.membership.CommunityOverlay`) and on the overlay shared by
topics and ranges (`hierarchy.shared.SharedOverlay`). On the shared overlay a member whose topic's range has
moved leaves and rejoins on the same host, and subscribers of an additional parent join the topic's community
as well (`hierarchy.topics.encoding`). A peer that is down while its topic moves leaves for ever. A checkpoint
does not contain the tree of topics: a resumed run repeats its changes (`replay`) before it loads the state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypeIs

from sims.engine.control import Row
from sims.engine.faults import depart, enter
from sims.engine.simulation import Simulation
from sub2sub.errors import InputError, require

if TYPE_CHECKING:
    from hierarchy.membership import CommunityOverlay
    from hierarchy.shared import SharedOverlay
    from hierarchy.topics import NestedRanges


def _of_communities(overlay: Any) -> TypeIs[CommunityOverlay]:
    from hierarchy.membership import CommunityOverlay  # loaded by those only who have topics

    return isinstance(overlay, CommunityOverlay)


def _is_shared(overlay: Any) -> TypeIs[SharedOverlay]:
    from hierarchy.shared import SharedOverlay

    return isinstance(overlay, SharedOverlay)


def _overlay(simulation: Simulation, name: str) -> CommunityOverlay | SharedOverlay:
    overlay = simulation.overlay
    if _of_communities(overlay) or (_is_shared(overlay) and overlay.topics):
        return overlay
    raise InputError(f"{name}: expected an overlay of topics, got {type(overlay).__name__}")


def _ranges(overlay: CommunityOverlay | SharedOverlay) -> NestedRanges:
    ranges = overlay.ranges if _of_communities(overlay) else overlay.topics
    assert ranges is not None
    return ranges


class _TopicChange(ABC):
    """A change of the tree, which a resumed run repeats; checkpoints contain what subscribers did.

    Attributes
    ----------
    name : str
        Name of the control: names its table and selects its random numbers.
    """

    name: str

    @abstractmethod
    def _change(self, ranges: NestedRanges) -> Any:
        """Change the tree."""

    def replay(self, simulation: Simulation) -> None:
        """Change the tree again."""
        overlay = _overlay(simulation, self.name)
        self._change(_ranges(overlay))
        if _of_communities(overlay):
            overlay.membership.topics_changed()


@dataclass(frozen=True)
class AddTopic(_TopicChange):
    """Add a topic. Newcomers can subscribe to it from then on.

    Attributes
    ----------
    topic : str
        Name of the new topic.
    parents : tuple of str
        Its supertopics. The topic gets a part of the first one's range. By default the parent in its path.
    newcomers : int
        Number of subscribers that join it at once, each on a new host.
    """

    topic: str
    parents: tuple[str, ...] = ()
    newcomers: int = 0
    name: str = "add topic"

    def __post_init__(self) -> None:
        """Refuse an invalid number."""
        require(self, self.name, newcomers=0)

    def execute(self, simulation: Simulation) -> Row:
        """Add the topic."""
        overlay = _overlay(simulation, self.name)
        if _of_communities(overlay):
            added = overlay.add_topic(self.topic, self.parents or None)
        else:
            added = _change(simulation, overlay, self.name, self._change)
        if self.newcomers:
            enter(simulation, self.name, *_boxes(overlay, np.full(self.newcomers, added.topic)))
        return {"topic": self.topic, "moved": len(added.moved)}

    def _change(self, ranges: NestedRanges) -> Any:
        return ranges.add(self.topic, self.parents or None)


@dataclass(frozen=True)
class AddParent(_TopicChange):
    """Add a further supertopic to a topic.

    Attributes
    ----------
    topic : str
        The topic below.
    parent : str
        Its new supertopic, which the topic must not include.
    """

    topic: str
    parent: str
    name: str = "add parent"

    def execute(self, simulation: Simulation) -> Row:
        """Add the supertopic."""
        overlay = _overlay(simulation, self.name)
        if _of_communities(overlay):
            overlay.add_parent(self.topic, self.parent)
        else:
            _change(simulation, overlay, self.name, self._change)
        return {"topic": self.topic, "parent": self.parent}

    def _change(self, ranges: NestedRanges) -> None:
        ranges.tree.add_parent(self.topic, self.parent)


@dataclass(frozen=True)
class RemoveTopic(_TopicChange):
    """Remove a topic without subtopics; its members unsubscribe.

    Attributes
    ----------
    topic : str
        Name of the topic.
    """

    topic: str
    name: str = "remove topic"

    def execute(self, simulation: Simulation) -> Row:
        """Remove the topic."""
        overlay = _overlay(simulation, self.name)
        if _of_communities(overlay):
            return {"topic": self.topic, "members": overlay.remove_topic(self.topic, simulation.cycle)}
        number = _ranges(overlay).tree.number(self.topic)
        members = int(np.count_nonzero(_followed(overlay) == number))
        _change(simulation, overlay, self.name, self._change)
        return {"topic": self.topic, "members": members}

    def _change(self, ranges: NestedRanges) -> None:
        ranges.remove(self.topic)


def _followed(overlay: SharedOverlay) -> NDArray[np.int64]:
    """The topic that each peer subscribes to; -1 for none."""
    topics = {tuple(row): number for number, row in enumerate(_ranges(overlay).bounds().tolist())}
    lows, highs = (side[:, 0].tolist() for side in overlay.population.ranges())
    found = np.array([topics.get((low, high + 1), -1) for low, high in zip(lows, highs, strict=True)])
    return np.where(overlay.population.present & (overlay.topical == 1), found, -1)


def _boxes(
    overlay: CommunityOverlay | SharedOverlay, topics: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Closed ranges (lows, highs) of subscriptions to topics, given by number."""
    bounds = _ranges(overlay).bounds()[topics]
    lows, highs = (np.full((len(topics), overlay.population.d), end) for end in (-np.inf, np.inf))
    lows[:, 0], highs[:, 0] = bounds[:, 0], bounds[:, 1] - 1
    return lows, highs


def _change(
    simulation: Simulation, overlay: SharedOverlay, name: str, change: Callable[[NestedRanges], Any]
) -> Any:
    """Change the topics, then the subscriptions to topics whose ranges have moved."""
    followed, population, ranges = _followed(overlay), overlay.population, _ranges(overlay)
    before = ranges.bounds()
    outcome = change(ranges)
    is_moved = np.any(before != ranges.bounds()[: len(before)], axis=1)[followed] & (followed >= 0)
    is_left = np.array([number not in ranges.tree for number in range(len(before))])[followed]
    follows = is_moved & ~is_left & (overlay.network.alive == 1)
    depart(simulation, np.flatnonzero(is_moved & ~follows))
    old = np.flatnonzero(follows)
    if old.size:
        rows, boxes = population.row[old], _boxes(overlay, followed[old])
        newcomers = enter(simulation, name, *boxes, population.host[old], without=old)
        old = overlay.peers_of(rows)  # their numbers may have changed
        depart(simulation, old)
        overlay.change(old, newcomers)
    _subscribe_further(simulation, overlay, name)
    return outcome


def _subscribe_further(simulation: Simulation, overlay: SharedOverlay, name: str) -> None:
    """Let subscribers join the communities that their topics include through additional parents."""
    ranges, population = _ranges(overlay), overlay.population
    if not ranges.tree.has_further_parents:
        return
    followed = _followed(overlay)
    live = np.flatnonzero((followed >= 0) & (overlay.network.alive == 1))
    there = set(zip(population.host[live].tolist(), followed[live].tolist(), strict=True))
    further = {
        topic: [ranges.topic_at(int(low)) for low in ranges.ranges(topic)[1:, 0]]
        for topic in {topic for _, topic in there}
    }
    missing = sorted({(host, below) for host, topic in there for below in further[topic]} - there)
    if missing:
        hosts, topics = np.array(missing).T
        enter(simulation, name, *_boxes(overlay, topics), hosts)
