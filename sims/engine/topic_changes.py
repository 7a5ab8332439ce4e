"""Controls that add topics, remove topics and add supertopics during a run (CAMCAST, Section 2.1).

They act on overlays of communities (`hierarchy.membership.CommunityOverlay`). A checkpoint does not contain
the tree of topics: a run that is resumed repeats the changes to it (`replay`) before it loads the state.
"""

from __future__ import annotations

from dataclasses import dataclass

from hierarchy.membership import CommunityOverlay
from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sub2sub.errors import InputError


def _overlay(simulation: Simulation, name: str) -> CommunityOverlay:
    overlay = simulation.overlay
    if not isinstance(overlay, CommunityOverlay):
        raise InputError(f"{name}: expected communities of topics, got {type(overlay).__name__}")
    return overlay


@dataclass(frozen=True)
class AddTopic:
    """Add a topic. Newcomers can subscribe to it from then on.

    Attributes
    ----------
    topic : str
        Name of the new topic.
    parents : tuple of str
        Its supertopics. The topic gets a part of the first one's range. By default the parent in its path.
    name : str
        Name of the control.
    """

    topic: str
    parents: tuple[str, ...] = ()
    name: str = "add topic"

    def execute(self, simulation: Simulation) -> Row:
        """Add the topic."""
        added = _overlay(simulation, self.name).add_topic(self.topic, self.parents or None)
        return {"topic": self.topic, "moved": len(added.moved)}

    def replay(self, simulation: Simulation) -> None:
        """Add the topic to the tree again."""
        self.execute(simulation)


@dataclass(frozen=True)
class AddParent:
    """Add a further supertopic to a topic.

    Attributes
    ----------
    topic, parent : str
    name : str
        Name of the control.
    """

    topic: str
    parent: str
    name: str = "add parent"

    def execute(self, simulation: Simulation) -> Row:
        """Add the supertopic."""
        _overlay(simulation, self.name).add_parent(self.topic, self.parent)
        return {"topic": self.topic, "parent": self.parent}

    def replay(self, simulation: Simulation) -> None:
        """Add the supertopic to the tree again."""
        self.execute(simulation)


@dataclass(frozen=True)
class RemoveTopic:
    """Remove a topic without subtopics; its members unsubscribe.

    Attributes
    ----------
    topic : str
    name : str
        Name of the control.
    """

    topic: str
    name: str = "remove topic"

    def execute(self, simulation: Simulation) -> Row:
        """Remove the topic."""
        members = _overlay(simulation, self.name).remove_topic(self.topic, simulation.cycle)
        return {"topic": self.topic, "members": members}

    def replay(self, simulation: Simulation) -> None:
        """Remove the topic from the tree again; what its members did is part of the state."""
        overlay = _overlay(simulation, self.name)
        overlay.ranges.remove(self.topic)
        overlay.membership.topics_changed()
