"""Memory per peer of each system, after ten cycles: the numbers in `sims/runs/memory.py`.

    python benchmarks/memory.py                  every system, 3,000 peers; rings of 1, 3 and 5 attributes
    python benchmarks/memory.py --peers 20000 sub2sub

Each system is measured in a process of its own, which first runs 300 peers, so that compiled code and caches
do not count. The peak includes arrays that are copied while they grow.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from sims.config.experiment import experiment_from
from sims.engine import Simulation
from sims.rivals import RUNNABLE
from sims.runs.runner import simulation_of

SPECS = ("uniform-1", "power-law-3", "uniform-5")


def resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def grown(system: str, spec: str, peers: int) -> Simulation:
    """An overlay after ten cycles."""
    data: dict[str, Any] = {"system": system, "population": {"size": peers}}
    if spec:
        data["workload"] = {"spec": spec, "events": 100}
    if system == "protocols":
        data["layers"] = {"stack": [{"kind": "cyclon"}]}
    simulation = simulation_of(experiment_from(data), 1, Path("unused"))
    simulation.observers.clear()
    simulation.overlay.bootstrap()
    simulation.run(10)
    return simulation


def measure(system: str, spec: str, peers: int) -> None:
    """Print the bytes per peer of one system."""
    grown(system, spec, 300)
    before = resident()
    simulation = grown(system, spec, peers)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    held, most = (round((value - before) / peers) for value in (resident(), peak))
    layers = ", ".join(layer.name for layer in simulation.overlay.layers)
    print(
        f"{system:18} {spec or '-':12} {held:9,} bytes held, {most:9,} at most, per peer ({layers})",
        flush=True,
    )


def main() -> None:
    """Measure the systems that the command line asks for."""
    parser = argparse.ArgumentParser(description="Memory per peer of each system.")
    parser.add_argument("systems", nargs="*", default=RUNNABLE)
    parser.add_argument("--peers", type=int, default=3_000)
    parser.add_argument("--spec", default=None, help="measure in this process, on this workload")
    asked = parser.parse_args()
    if asked.spec is not None:
        measure(asked.systems[0], asked.spec, asked.peers)
        return
    for system in asked.systems:
        for spec in SPECS if system == "sub2sub" else ("",):
            words = [sys.executable, __file__, system, "--peers", str(asked.peers), "--spec", spec]
            subprocess.run(words, check=True)


if __name__ == "__main__":
    main()
