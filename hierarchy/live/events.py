"""Events of a community as an application receives them: by a callback, or by iteration."""

from __future__ import annotations

from hierarchy.camcast.community import Event, Subscriber
from sub2sub.live.net.subscriptions import Inbox


class Events(Inbox[Event]):
    """One subscription to a community; made by `Community.subscribe`."""

    def __init__(self, callback: Subscriber | None = None) -> None:
        super().__init__(callback)
