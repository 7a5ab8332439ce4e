"""Live CAMCAST processes over real sockets. Needs the extra `live` (msgpack)."""

from hierarchy.live.member import Member
from hierarchy.live.member_settings import MemberSettings
from hierarchy.live.process import Community, Events, Process

__all__ = ["Community", "Events", "Member", "MemberSettings", "Process"]
