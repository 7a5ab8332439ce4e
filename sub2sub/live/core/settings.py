"""Settings of a live peer: the simulator's, and what only a peer that waits for replies needs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sub2sub.events.dissemination import DisseminationSettings
from sub2sub.overlay.overlay import OverlaySettings


def _bounded() -> OverlaySettings:
    """The simulator's settings, with a limit to what lies can make of a ring view, and rest."""
    settings = OverlaySettings()
    return replace(settings, ring=replace(settings.ring, cap=512, max_steps=250), calm=5)


@dataclass(frozen=True)
class CoreSettings:
    """Settings of a live peer.

    Attributes
    ----------
    overlay, dissemination
        As of the simulator; ring views are limited to 512 neighbours, and peers rest after 5 calm cycles.
    patience : int
        Cycles to wait for a reply.
    offers : int
        Peers named to a publisher that asks, and to a newcomer.
    wary : bool
        Whether to doubt what others tell, and what silence seems to tell: every candidate for the ring view
        has to answer, even if others vouch for it; answers are waited for longer where they take long; new
        neighbours are not relied on for events (`sub2sub.live.core.reliance`); of each host only `of_a_host`
        links are taken into a view of CYCLON or VICINITY. Without, as in the simulator.
    of_a_host : int
        See `wary`; the loopback address is exempt.
    """

    overlay: OverlaySettings = field(default_factory=_bounded)
    dissemination: DisseminationSettings = field(default_factory=DisseminationSettings)
    patience: int = 2
    offers: int = 20
    wary: bool = True
    of_a_host: int = 8
