"""Settings of a live peer: the simulator's, and what only a peer that waits for replies needs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sub2sub.events.dissemination import DisseminationSettings
from sub2sub.overlay.overlay import OverlaySettings

__all__ = ["CoreSettings"]


def _bounded() -> OverlaySettings:
    """The simulator's settings, with a limit to what lies can make of a ring view, and of its cost."""
    settings = OverlaySettings()
    return replace(settings, ring=replace(settings.ring, cap=512, max_steps=250))


@dataclass(frozen=True)
class CoreSettings:
    """Settings of a live peer.

    Attributes
    ----------
    overlay, dissemination
        As of the simulator; ring views are limited to 512 neighbours.
    patience : int
        Cycles to wait for a reply.
    offers : int
        Peers named to a publisher that asks, and to a newcomer.
    """

    overlay: OverlaySettings = field(default_factory=_bounded)
    dissemination: DisseminationSettings = field(default_factory=DisseminationSettings)
    patience: int = 2
    offers: int = 20
