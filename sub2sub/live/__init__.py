"""Live peers: the simulated protocols over real sockets. Needs the extra `live` (msgpack)."""

from sub2sub.live.core import Core
from sub2sub.live.coresettings import CoreSettings
from sub2sub.live.limits import Limits
from sub2sub.live.node import Node, Published
from sub2sub.live.subscriptions import Received, Subscription
from sub2sub.live.tls import Tls

__all__ = ["Core", "CoreSettings", "Limits", "Node", "Published", "Received", "Subscription", "Tls"]
