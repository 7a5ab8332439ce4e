"""Compilation changes nothing: interpreted and compiled kernels give the same overlay."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

LIFE = """
import hashlib, sys
import numpy as np
import tests.sub2sub.kernels.uncompiled
from sub2sub.overlay.overlay import Overlay, OverlaySettings
from sub2sub.overlay.population import Population

rng = np.random.default_rng(3)
low = np.round(rng.random((40, {d})) * 0.7, 1)
settings = OverlaySettings.paper() if {paper} else OverlaySettings()
overlay = Overlay(Population.of(low, low + np.round(rng.random((40, {d})) / 2, 1), seed=3), settings, seed=3)
overlay.bootstrap()
digest = hashlib.sha256()
for cycle in range(1, 6):
    if cycle == 4:
        overlay.network.alive[5:9] = 0
        overlay.network.loss = 0.1
    costs = overlay.step(cycle)
    digest.update(repr({{name: dict(cost) for name, cost in costs.items()}}).encode())
    for layer in (overlay.cyclon, overlay.vicinity, overlay.ring):
        digest.update(np.stack(layer.links()).tobytes())
print(overlay.ring.links()[0].size, digest.hexdigest())
"""


def lived(compiled: bool, paper: bool, d: int) -> str:
    done = subprocess.run(
        [sys.executable, "-c", LIFE.format(paper=paper, d=d)],
        env={**os.environ, "NUMBA_DISABLE_JIT": str(int(not compiled))},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize(("paper", "d"), [(True, 3), (False, 5)])
def test_an_interpreted_overlay_is_the_compiled_one(paper: bool, d: int) -> None:
    compiled = lived(True, paper, d)
    assert int(compiled.split()[0]) > 100  # there are views to compare
    assert lived(False, paper, d) == compiled
