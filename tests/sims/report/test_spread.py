"""An event in the page takes the way it takes in the library: same draws, same counts. Runs under Node.js."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sims.report.cells import asset
from sims.report.overlay import OverlayView
from sub2sub.compiled.common.randomness import below, draw, peer_key, unit
from sub2sub.peers.draws import cycle_key, stream_number
from sub2sub.peers.settings import DisseminationSettings
from tests.sims.report.overlays import python_counts, recorded, simulation

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node.js (node) to run the page's scripts")

SPREAD_ALL = """
const { world, audience, spread, cycleKey, peerKey, draw, below } = sub2sub;
const here = await world(head.snapshots[0], head.attributes.length);
const key = (stream) => cycleKey(BigInt(head.seed), BigInt(head.streams[stream]), here.cycle);
return data.points.map((point, e) => {
  const ring = audience(here, point);
  const entry = ring.length ? ring[below(draw(peerKey(key("entry"), e), 0), ring.length)] : -1;
  const { counts } = spread(here, point, entry, peerKey(key("dissemination"), e), data.how);
  return { matches: ring.length, ...counts };
});
"""


def run_scripts(tmp_path: Path, body: str, data: Any, view: OverlayView | None = None) -> Any:
    """What an asynchronous function of the page's scripts returns, given `data`."""
    blobs = view.packer._blobs if view else {}
    program = "\n".join(
        [
            f"const data = {json.dumps(data)}, head = {json.dumps(view.head if view else None)};",
            f"const blobs = {json.dumps(blobs)};",
            "globalThis.document = { getElementById: (id) => ({ textContent: blobs[id] }) };",
            *(asset(f"{name}.js", "sub2sub.overlay") for name in ("draws", "spread")),
            asset("view/data.js"),
            f"(async () => {{ {body} }})().then((found) => console.log(JSON.stringify(found)));",
        ]
    )
    (tmp_path / "program.js").write_text(program)
    assert NODE is not None
    done = subprocess.run([NODE, tmp_path / "program.js"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_draws_are_those_of_the_library(tmp_path: Path) -> None:
    cases = [(seed, cycle, peer, k) for seed in (0, 1, 2**63) for cycle in (0, 40) for peer in (0, 9999)
             for k in (0, 7, 1 << 32)]  # fmt: skip
    stream = stream_number("dissemination")
    expected = []
    for seed, cycle, peer, k in cases:
        bits = np.uint64(draw(np.uint64(peer_key(cycle_key(seed, stream, cycle), peer)), k))
        expected.append([str(int(bits)), int(below(bits, 10_007)), float(unit(bits))])
    found = run_scripts(
        tmp_path,
        """return data.cases.map(([seed, cycle, peer, k]) => {
          const { draw, peerKey, cycleKey, below, unit } = sub2sub;
          const bits = draw(peerKey(cycleKey(BigInt(seed), BigInt(data.stream), cycle), peer), k);
          return [String(bits), below(bits, 10007), unit(bits)];
        });""",
        {"cases": [(str(seed), *rest) for seed, *rest in cases], "stream": str(stream)},
    )
    assert found == expected


@pytest.mark.parametrize("cycles", [2, 20])
@pytest.mark.parametrize(
    ("settings", "loss", "dead", "shared"),
    [
        (DisseminationSettings(shortcuts=0, retries=0), 0.0, 0.0, False),
        (DisseminationSettings(), 0.0, 0.0, False),
        (DisseminationSettings.paper(shortcuts=3), 0.0, 0.1, False),
        (DisseminationSettings(shortcuts=2), 0.2, 0.2, False),
        (DisseminationSettings(), 0.1, 0.3, True),
    ],
    ids=["rings-only", "default", "paper-crashed", "lossy", "shared-hosts"],
)
def test_events_spread_as_in_the_library(
    tmp_path: Path, cycles: int, settings: DisseminationSettings, loss: float, dead: float, shared: bool
) -> None:
    run = simulation(n=150, d=2, cycles=cycles, seed=cycles, dead=dead, shared=shared)
    run.overlay.network.loss = loss
    points = np.random.default_rng(5).random((60, 2))
    view = recorded(run, settings=settings)
    how = {
        "shortcuts": settings.shortcuts, "ringShortcuts": settings.ring_shortcuts,
        "tries": settings.tries, "retries": settings.retries, "loss": loss,
    }  # fmt: skip
    found = run_scripts(tmp_path, SPREAD_ALL, {"points": points.tolist(), "how": how}, view)
    expected = python_counts(run, points, settings)
    assert found == expected
    assert max(row["reached"] for row in expected) > 10
    assert cycles == 20 or any(row["reached"] < row["matches"] for row in expected)


def test_events_stop_at_the_border_of_a_partition(tmp_path: Path) -> None:
    run = simulation(n=100, cycles=15, seed=4)
    run.overlay.network.group[::3] = 1
    points = np.random.default_rng(6).random((30, 2))
    how = {"shortcuts": 1, "ringShortcuts": True, "tries": 3, "retries": 3, "loss": 0}
    found = run_scripts(tmp_path, SPREAD_ALL, {"points": points.tolist(), "how": how}, recorded(run))
    assert found == python_counts(run, points, DisseminationSettings())
    assert sum(row["failed"] for row in found) > 0
