"""Topic hierarchies, and gossip through them.

The names below are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hierarchy.peers.settings import CamcastRoute
    from hierarchy.shared.topic_overlay import Delivery, TopicOverlay
    from hierarchy.shared.topics import Topics
    from hierarchy.topics import NestedRanges, TopicTree

_NAMES = {
    "CamcastRoute": "peers.settings",
    "Delivery": "shared.topic_overlay",
    "NestedRanges": "topics",
    "TopicOverlay": "shared.topic_overlay",
    "TopicTree": "topics",
    "Topics": "shared.topics",
}

__all__ = ["CamcastRoute", "Delivery", "NestedRanges", "TopicOverlay", "TopicTree", "Topics"]


def __getattr__(name: str) -> Any:
    """Import a public name."""
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_NAMES[name]}"), name)
