from hierarchy.peers.settings import CamcastRoute as CamcastRoute
from hierarchy.shared.topic_overlay import Delivery as Delivery
from hierarchy.shared.topic_overlay import TopicOverlay as TopicOverlay
from hierarchy.shared.topics import Topics as Topics
from hierarchy.topics import NestedRanges as NestedRanges
from hierarchy.topics import TopicTree as TopicTree
