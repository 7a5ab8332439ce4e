"""Live peers: the simulated protocols over real sockets. Needs the extra `live` (msgpack, uvloop)."""

from sub2sub.live.core.live_peer import Core
from sub2sub.live.core.settings import CoreSettings
from sub2sub.live.net.entry import Published
from sub2sub.live.net.host import run
from sub2sub.live.net.node import Node
from sub2sub.live.net.subscriptions import Received, Subscription
from sub2sub.live.net.tls import Tls
from sub2sub.live.wire.limits import Limits

__all__ = [
    "Core",
    "CoreSettings",
    "Limits",
    "Node",
    "Published",
    "Received",
    "Subscription",
    "Tls",
    "run",
]
