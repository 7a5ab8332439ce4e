"""What each peer spends on upkeep: the messages of all peers are those that the layers count."""

from __future__ import annotations

import numpy as np
import pytest

from sub2sub.compiled.common.threads import threads as all_threads
from sub2sub.compiled.common.threads import use_threads
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.peers.settings import OverlaySettings


def grown(loss: float, settings: OverlaySettings | None = None) -> Overlay:
    low = np.random.default_rng(3).random((150, 2)) * 0.8
    overlay = Overlay(Population.of(low, low + 0.2, seed=1), settings, seed=1)
    overlay.network.loss = loss
    overlay.run(8)
    return overlay


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("loss", [0.0, 0.2])
def test_messages_and_bytes_of_all_peers_add_up_in_every_layer(loss: float, threads: int) -> None:
    before = all_threads()
    use_threads(threads)
    overlay = grown(loss)
    down = np.arange(0, 150, 7)
    overlay.network.alive[down] = 0
    for cycle in range(9, 14):
        costs = overlay.step(cycle)
        for layer in overlay.layers:
            messages, size = layer.spent()
            assert messages.sum() == costs[layer.name]["messages"], layer.name
            assert size.sum() == pytest.approx(costs[layer.name]["bytes"], abs=150), layer.name
            assert not messages[down].any(), layer.name
    use_threads(before)


def test_without_loss_everybody_asks_once_and_answers_as_often_as_it_is_asked() -> None:
    overlay = grown(0.0, OverlaySettings.paper())
    for layer in (overlay.cyclon, overlay.vicinity):
        messages, _ = layer.spent()
        assert messages.sum() == 300
        assert messages.min() >= 1
        assert messages.max() > 2  # some are asked by several
