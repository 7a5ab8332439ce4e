"""Settings of a live peer: those of the simulator, and those of waiting for replies."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sub2sub.peers.settings import DisseminationSettings, OverlaySettings


def _bounded() -> OverlaySettings:
    """The simulator's settings, with rest, and with limits for ring views."""
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
        Cycles to wait for a reply, at least: where replies take long, peers wait longer.
    offers : int
        Peers named in an answer to a publisher or to a newcomer.
    """

    overlay: OverlaySettings = field(default_factory=_bounded)
    dissemination: DisseminationSettings = field(default_factory=DisseminationSettings)
    patience: int = 2
    offers: int = 20
