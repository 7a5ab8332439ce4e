"""Live peers of the shared overlay: topics and ranges on one overlay, over real sockets."""

from hierarchy.shared.live.shared_core import SharedCore, SharedCoreSettings
from hierarchy.shared.live.shared_node import SharedNode, TopicSubscription

__all__ = ["SharedCore", "SharedCoreSettings", "SharedNode", "TopicSubscription"]
