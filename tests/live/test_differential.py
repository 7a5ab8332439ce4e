"""Live cores and the simulator, given the same draws and message order, end with the same views."""

from __future__ import annotations

import pytest

from sub2sub.overlay import OverlaySettings
from tests.live.lockstep import Lockstep, overlay_of, simulated_views
from tests.sub2sub.ring_reference import held_by


@pytest.mark.parametrize("settings", [OverlaySettings(), OverlaySettings.paper()], ids=["default", "paper"])
@pytest.mark.parametrize(("n", "d"), [(32, 1), (64, 2), (32, 5)])
def test_views_are_those_of_the_simulator_cycle_by_cycle(n: int, d: int, settings: OverlaySettings) -> None:
    overlay = overlay_of(n, d, seed=n + d, settings=settings)
    swarm = Lockstep(overlay, settings)
    for cycle in range(1, 21):
        if cycle == 10:  # a fifth crashes; cores and overlay share who is alive
            overlay.network.alive[::5] = 0
        overlay.step(cycle)
        swarm.step(cycle)
        assert swarm.views() == simulated_views(overlay, held_by(overlay.ring)), f"cycle {cycle}"
