"""Settings of a live peer: those of the simulator, and those of waiting for replies."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sub2sub.events.dissemination import DisseminationSettings
from sub2sub.overlay.overlay import OverlaySettings


def _bounded() -> OverlaySettings:
    """The simulator's settings, with rest, and with limits for ring views, which attackers may enlarge."""
    settings = OverlaySettings()
    return replace(settings, ring=replace(settings.ring, cap=512, max_steps=250), calm=5)


@dataclass(frozen=True)
class CoreSettings:
    """Settings of a live peer.

    Attributes
    ----------
    overlay, dissemination
        As in the simulator, but ring views have at most 512 neighbours, and peers rest after 5 calm cycles.
    patience : int
        Cycles to wait for a reply.
    offers : int
        Peers named in an answer to a publisher or to a newcomer.
    wary : bool
        Whether the peer expects false messages and slow answers. Every candidate for the ring view has to
        answer a probe, even if another peer has just heard from it; timeouts grow with the time that answers
        take; new neighbours are not relied on for events (`sub2sub.live.core.reliance`); a view of CYCLON or
        VICINITY takes at most `of_a_host` links of each host. If false, the peer behaves as in the simulator.
    of_a_host : int
        Links of one host in a view, at most (see `wary`); loopback addresses are exempt.
    """

    overlay: OverlaySettings = field(default_factory=_bounded)
    dissemination: DisseminationSettings = field(default_factory=DisseminationSettings)
    patience: int = 2
    offers: int = 20
    wary: bool = True
    of_a_host: int = 8
