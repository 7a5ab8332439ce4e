"""Topic hierarchies and their encoding as nested ranges."""

from hierarchy.topics.encoding import Added, NestedRanges
from hierarchy.topics.tree import ROOT, TopicTree

__all__ = ["ROOT", "Added", "NestedRanges", "TopicTree"]
