"""How much processor time the whole stack takes beside another commit: both in one run, alternating.

    python benchmarks/against.py HEAD~1                          10,000 peers, 30 cycles from nothing
    python benchmarks/against.py main --attributes 5 --rounds 5
    python benchmarks/against.py main --cpu haswell              kernels compiled for another processor
    python benchmarks/against.py main --record benchmarks/whole-stack.csv     keep the ratios in a table

The other commit is checked out into a temporary worktree (a folder that holds a checkout is taken as it is).
Each turn is a process of its own, which compiles or loads its kernels before the clock starts. Ratios are of
the quickest turns, this tree to the other: below 1 is faster. A digest of all views tells whether both did
the same work. 3 attributes, power law, settings as published, rings forming; one thread.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workloads.files.environment import machine

ROOT = Path(__file__).resolve().parents[1]

# Only names that every commit has.
TURN = """
import hashlib, json, sys, time
import numpy as np
from sub2sub import Overlay, OverlaySettings, Population
from workloads import named

def overlay_of(n, d):
    lows, highs = named(f"power-law-{d}").subscriptions(n, 1)
    overlay = Overlay(Population.of(lows, highs, seed=1), OverlaySettings.paper(), seed=1)
    overlay.bootstrap()
    return overlay

n, d, cycles = (int(word) for word in sys.argv[1:])
warm = overlay_of(200, d)
warm.step(1)
overlay = overlay_of(n, d)
times = {layer.name: 0.0 for layer in overlay.layers}
for cycle in range(1, cycles + 1):
    for layer in overlay.layers:
        before = time.process_time()
        layer.step(cycle, overlay.network)
        times[layer.name] += time.process_time() - before
digest = hashlib.sha256()
for layer in (overlay.cyclon, overlay.vicinity, overlay.ring):
    for column in layer.links():
        digest.update(np.ascontiguousarray(column).tobytes())
print(json.dumps({"times": times, "digest": digest.hexdigest()}))
"""


@contextlib.contextmanager
def checkout(rev: str) -> Iterator[Path]:
    """A folder with the files of a commit."""
    if Path(rev).is_dir():
        yield Path(rev).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        made = subprocess.run([*git, "add", "--quiet", "--detach", str(tree), rev], check=False)
        if made.returncode:  # git has said why
            raise SystemExit(f"{rev}: expected a commit, or a folder that holds a checkout")
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def turn(tree: Path, cpu: str, size: list[str]) -> dict[str, Any]:
    """One build of the rings by the code of a tree."""
    env = {**os.environ, "PYTHONPATH": str(tree), "SUB2SUB_THREADS": "1"}
    if cpu:
        env |= {"NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": ""}  # the name alone changes nothing
    done = subprocess.run(
        [sys.executable, "-c", TURN, *size], cwd=tree, env=env, check=True, stdout=subprocess.PIPE, text=True
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def commit(tree: Path) -> str:
    """The commit that a tree holds, marked if files differ from it."""
    asked = ["git", "-C", str(tree), "describe", "--always", "--dirty", "--exclude", "*"]
    return subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def record(path: Path, row: dict[str, Any]) -> None:
    """Add a row to a table, which is made if it is not there."""
    new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(row), lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)


def main() -> None:
    """Alternate, and print the ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("rev", help="a commit, or a folder with a checkout")
    parser.add_argument("--peers", type=int, default=10_000)
    parser.add_argument("--attributes", type=int, default=3)
    parser.add_argument("--cycles", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cpu", default="", help="as NUMBA_CPU_NAME, with no features but its own")
    parser.add_argument("--record", type=Path, help="a CSV file to add the outcome to")
    given = parser.parse_args()
    size = [str(number) for number in (given.peers, given.attributes, given.cycles)]
    results: dict[str, list[dict[str, Any]]] = {"this": [], "other": []}
    with checkout(given.rev) as other:
        commits = commit(ROOT), commit(other)
        for _ in range(given.rounds):
            for name, tree in (("other", other), ("this", ROOT)):
                results[name].append(turn(tree, given.cpu, size))
    least = {
        name: {layer: min(one["times"][layer] for one in turns) for layer in turns[0]["times"]}
        for name, turns in results.items()
    }
    totals = {name: min(sum(one["times"].values()) for one in turns) for name, turns in results.items()}
    where = given.cpu or "this processor"
    print(f"{given.peers} peers, {given.attributes} attributes, {given.cycles} cycles, {where}")
    print(f"{'':>12} {'this':>8} {given.rev[:8]:>8}  ratio")
    for layer in least["this"]:
        if layer in least["other"] and least["other"][layer] > 0.01:
            a, b = least["this"][layer], least["other"][layer]
            print(f"{layer:>12} {a:8.2f} {b:8.2f}  {a / b:.2f}")
    a, b = totals["this"], totals["other"]
    print(f"{'whole stack':>12} {a:8.2f} {b:8.2f}  {a / b:.2f}")
    digests = {one["digest"] for turns in results.values() for one in turns}
    same = len(digests) == 1
    print("views: the same" if same else "views: DIFFERENT")
    if given.record:
        row = {"date": datetime.now(UTC).date().isoformat(), "commit": commits[0], "beside": commits[1],
               "processor": machine()["processor"], "compiled_for": given.cpu or "itself",
               "peers": given.peers, "attributes": given.attributes, "cycles": given.cycles,
               "seconds": round(a, 3), "beside_seconds": round(b, 3), "ratio": round(a / b, 3),
               "same_views": same}  # fmt: skip
        record(given.record, row)


if __name__ == "__main__":
    main()
