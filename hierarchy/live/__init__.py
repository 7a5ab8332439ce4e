"""Live CAMCAST processes over real sockets. Needs the extra `live` (msgpack)."""

from hierarchy.live.blocking import LiveTransport
from hierarchy.live.events import Events
from hierarchy.live.member import Member
from hierarchy.live.member_settings import MemberSettings
from hierarchy.live.process import Community, Process
from hierarchy.live.simulated_process import SimulatedProcess

__all__ = ["Community", "Events", "LiveTransport", "Member", "MemberSettings", "Process", "SimulatedProcess"]
