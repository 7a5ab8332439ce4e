"""Topics that come, go and get further supertopics while communities run (CAMCAST, Section 2.1).

Controls for overlays of communities (`hierarchy.membership.CommunityOverlay`). A checkpoint does not keep
the tree of topics, so a run with these controls has to be run from its beginning.
"""

from __future__ import annotations

from dataclasses import dataclass

from hierarchy.membership import CommunityOverlay
from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sub2sub.errors import InputError

__all__ = ["AddParent", "AddTopic", "RemoveTopic"]


def _overlay(simulation: Simulation, name: str) -> CommunityOverlay:
    overlay = simulation.overlay
    if not isinstance(overlay, CommunityOverlay):
        raise InputError(f"{name}: expected communities of topics, got {type(overlay).__name__}")
    return overlay


@dataclass(frozen=True)
class AddTopic:
    """A topic is added; newcomers may subscribe to it from then on.

    Attributes
    ----------
    topic : str
        Its name.
    parents : tuple of str
        Its supertopics, the one whose range it gets a part of first; by default the one its path says.
    name : str
        Of the control.
    """

    topic: str
    parents: tuple[str, ...] = ()
    name: str = "add topic"

    def execute(self, simulation: Simulation) -> Row:
        """Add it."""
        added = _overlay(simulation, self.name).add_topic(self.topic, self.parents or None)
        return {"topic": self.topic, "moved": len(added.moved)}


@dataclass(frozen=True)
class AddParent:
    """A topic gets a further supertopic.

    Attributes
    ----------
    topic, parent : str
    name : str
        Of the control.
    """

    topic: str
    parent: str
    name: str = "add parent"

    def execute(self, simulation: Simulation) -> Row:
        """Add it."""
        _overlay(simulation, self.name).add_parent(self.topic, self.parent)
        return {"topic": self.topic, "parent": self.parent}


@dataclass(frozen=True)
class RemoveTopic:
    """A topic without subtopics is removed; its members unsubscribe.

    Attributes
    ----------
    topic : str
    name : str
        Of the control.
    """

    topic: str
    name: str = "remove topic"

    def execute(self, simulation: Simulation) -> Row:
        """Remove it."""
        members = _overlay(simulation, self.name).remove_topic(self.topic, simulation.cycle)
        return {"topic": self.topic, "members": members}
