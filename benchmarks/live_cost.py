"""What a live Sub-2-Sub peer costs at rest, in processor time and messages, beside another commit.

    python benchmarks/live_cost.py                            60 peers in one process
    python benchmarks/live_cost.py --against d4ae2b8          the other commit's peers in turn with these
    python benchmarks/live_cost.py --peers 250 --period 4 --kinds     messages of each kind and their cost

Peers of random ranges of two attributes, as of `sub2sub live swarm`, on loopback. Some cycles after all rings
are complete, ten are measured. Each turn is a process of its own, the two commits one after the other; ratios
are of the cheapest turns. Microseconds of a kind are by the wall clock: on a busy machine they say too much.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from against import checkout

ROOT = Path(__file__).resolve().parents[1]

# Only names that every commit has.
TURN = """
import asyncio, gc, json, random, resource, sys, time
from collections import Counter
import numpy as np
from sims.live.subscriber import report_of
from sims.live.swarm import completeness
from sub2sub.live import Limits, Node, run
from sub2sub.live.wire.framing import Protocol

peers, period, kinds = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3] == "True"
spent, times = Counter(), Counter()

def timed(owner, name, label):
    inner = getattr(owner, name)
    def outer(*given):
        began = time.perf_counter()
        result = inner(*given)
        spent[label(given, result)] += 1e6 * (time.perf_counter() - began)
        times[label(given, result)] += 1
        return result
    setattr(owner, name, outer)

async def main():
    gc.set_threshold(20_000, 20, 20)
    rng, dice = np.random.default_rng(1), random.Random(1)
    low = rng.random((peers, 2)) * 0.8
    high, points = np.minimum(low + rng.random((peers, 2)) * 0.5, 1.0), rng.random((500, 2))
    limits = Limits(
        connect=10, answer=max(10.0, 3 * period), idle=max(60.0, 20 * period), most_back_off=2.0,
    )
    nodes = []
    for k in range(peers):
        node = Node(2, period=period, limits=limits, seed=dice.getrandbits(62), reply=10)
        await node.__aenter__()
        node.contact = dice.choice(nodes).address if nodes else None
        await node.subscribe(low[k], high[k], lambda event: None)
        nodes.append(node)
    while completeness([report_of(node) for node in nodes], points)[1] < 1.0:
        await asyncio.sleep(period)
    await asyncio.sleep(12 * period)
    if kinds:
        timed(Protocol, "encode", lambda given, result: "write " + type(given[1].message).__name__)
        timed(Protocol, "decode", lambda given, result: "read " + type(result.message).__name__)
        timed(Node, "receive_at", lambda given, result: "take " + type(given[2].message).__name__)
        timed(Node, "tick_core", lambda given, result: "tick")

    def look():
        used = resource.getrusage(resource.RUSAGE_SELF)
        counts = sum((node.connections.counts for node in nodes), Counter())
        turns = sum(core.turn for node in nodes for core in node.cores.values())
        sent = counts["frames out"], counts["bytes out"], counts["opened"]
        return np.array([used.ru_utime, used.ru_stime, *sent, turns])

    before = look()
    await asyncio.sleep(10 * period)
    spent_since = look() - before
    each = spent_since / spent_since[-1]
    found = {
        "ms": 1000 * (each[0] + each[1]), "ms in the kernel": 1000 * each[1], "frames": each[2],
        "kB": each[3] / 1000, "connections opened": each[4],
        "connections held": sum(node.connections.open for node in nodes) / peers,
        "ring links": np.mean([len(core.ring.view) for node in nodes for core in node.cores.values()]),
    }
    found |= {name: times[name] / spent_since[-1] for name in times}
    found |= {name + ", us each": spent[name] / times[name] for name in times}
    print(json.dumps({name: round(float(value), 2) for name, value in found.items()}), flush=True)
    for node in nodes:
        await node.leave()

run(main())
"""


def turn(tree: Path, arguments: list[str]) -> dict[str, Any]:
    """What a peer and cycle cost in a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    command = [sys.executable, "-c", TURN, *arguments]
    told = subprocess.run(command, cwd=tree, env=environment, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(told.stdout)
    return found


def main() -> None:
    """Measure, and print a line for each turn."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", type=int, default=60)
    parser.add_argument("--period", type=float, default=1.5, help="seconds of a cycle")
    parser.add_argument("--against", help="a commit, or a folder that holds a checkout")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", action="store_true", help="messages of each kind")
    given = parser.parse_args()
    arguments = [str(given.peers), str(given.period), str(given.kinds)]
    if not given.against:
        for name, value in turn(ROOT, arguments).items():
            print(f"{name:32} {value}")
        return
    least: dict[str, float] = {}
    with checkout(given.against) as other:
        for _ in range(given.rounds):
            for name, tree in (("other", other), ("this", ROOT)):
                found = turn(tree, arguments)
                least[name] = min(found["ms"], least.get(name, found["ms"]))
                print(name, json.dumps(found), flush=True)
    print(f"{least['this']:.2f} ms and {least['other']:.2f} ms: {least['this'] / least['other']:.2f}")


if __name__ == "__main__":
    main()
