"""A million peers build their rings on one machine and receive 100,000 events; ten million shuffle links.

    python benchmarks/million.py                          rings, then events
    python benchmarks/million.py --settings published     ... as published; or "default"
    python benchmarks/million.py --peers 100000           fewer
    python benchmarks/million.py --keep out/million       keep the state now and then, and go on from it
    python benchmarks/million.py --cyclon 10000000        CYCLON alone

Three attributes, power law; as published, but for one thing: a peer says hello to a new neighbour that has
lasted six cycles (`RingSettings.hello_after`). After each cycle: seconds by the clock and of processor,
complete rings of 2,000 test events, ring links a peer, and the most memory taken so far. It ends with what
was asked for and what was measured, side by side. The cost per peer is compared with that of 10,000 peers,
over the cycles until 99.9 % of the rings are complete.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sims.engine.checkpoint import load_checkpoint, save_checkpoint
from sims.observers.rings import rings_in_place
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.threads import threads
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.geometry.matching import Members, match
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.peers.settings import OverlaySettings, RingSettings
from workloads import named

TEST_EVENTS, ENOUGH, SMALL, EVERY = 2_000, 0.999, 10_000, 10
MOST_SECONDS, MOST_GIB, MOST_CYCLES, MOST_TIMES = 5.0, 4.0, 55, 1.5
Row = dict[str, float]


def peak() -> float:
    """The most memory this process has taken, in GiB."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines["VmHWM"].split()[0]) / 2**20


def forget_peak() -> None:
    """Measure the most memory from now on."""
    Path("/proc/self/clear_refs").write_text("5")


SETTINGS = {
    "lasting": replace(OverlaySettings.paper(), ring=RingSettings.paper(hello=True, hello_after=6)),
    "published": OverlaySettings.paper(),
    "default": OverlaySettings(),
}


def new_overlay(peers: int, settings: str) -> tuple[Overlay, Members]:
    """An overlay, and who matches the test events."""
    workload = named("power-law-3")
    lows, highs = workload.subscriptions(peers, 1)
    overlay = Overlay(Population.of(lows, highs, seed=1), SETTINGS[settings], seed=1)
    overlay.bootstrap()
    return overlay, match(*overlay.population.ranges(), workload.events(TEST_EVENTS, 1, lows, highs))


def one_cycle(overlay: Overlay, true: Members, cycle: int) -> Row:
    """Step once, and measure."""
    clock, processor = time.perf_counter(), time.process_time()
    overlay.step(cycle)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    looked = time.perf_counter()
    links, needed = rings_in_place(true, overlay.network.alive == 1, overlay.ring.pool)
    return {
        "cycle": cycle, "clock": clock, "processor": processor, "looking": time.perf_counter() - looked,
        "rings": float((links == needed)[needed > 0].mean()), "links": float(overlay.ring.pool.size.mean()),
        "peak": peak(),
    }  # fmt: skip


def until_complete(rows: list[Row]) -> list[Row]:
    """The cycles up to the first after which enough rings are complete."""
    done = next((k for k, row in enumerate(rows) if row["rings"] >= ENOUGH), len(rows) - 1)
    return rows[: done + 1]


def cost(rows: list[Row], peers: int) -> float:
    """Microseconds of processor a peer and cycle while rings form."""
    return 1e6 * float(np.mean([row["processor"] for row in until_complete(rows)])) / peers


def verdict(what: str, found: float, most: float, unit: str) -> None:
    """Print a bound, and whether it holds."""
    print(
        f"  {what:44} {found:8.2f} {unit:8} at most {most:g}: {'holds' if found <= most else 'does NOT hold'}"
    )


def build_rings(asked: argparse.Namespace) -> Overlay:
    """Let the peers build their rings, and print what that took."""
    one_cycle(*new_overlay(500, asked.settings), cycle=1)  # compiles
    small, true = new_overlay(SMALL, asked.settings)
    small_rows = [one_cycle(small, true, cycle) for cycle in range(1, 31)]
    overlay, true = new_overlay(asked.peers, asked.settings)
    rows: list[Row] = []
    path = asked.keep / f"{asked.peers}-{asked.settings}" if asked.keep else None
    if path and path.exists():
        rows = restore(path, overlay)
        print(f"goes on after cycle {len(rows)}, from {path}")
    forget_peak()
    for cycle in range(len(rows) + 1, asked.cycles + 1):
        row = one_cycle(overlay, true, cycle)
        rows.append(row)
        print(f"cycle {cycle:3} {row['clock']:7.2f} s ({row['processor']:6.2f} s of processor) "
              f"{row['rings']:8.3%} of the rings (looked at in {row['looking']:.2f} s) "
              f"{row['links']:5.1f} links a peer  peak {row['peak']:.2f} GiB", flush=True)  # fmt: skip
        if path and cycle % EVERY == 0:
            keep(path, overlay, rows)
    clocks = [row["clock"] for row in rows]
    print(
        f"\n{asked.peers:,} peers, {len(rows)} cycles on {threads()} threads, worst cycle {max(clocks):.2f} s"
    )
    verdict("mean cycle, by the clock", float(np.mean(clocks)), MOST_SECONDS, "s")
    verdict("most memory", max(row["peak"] for row in rows), MOST_GIB, "GiB")
    complete = len(until_complete(rows)) if rows[-1]["rings"] >= ENOUGH else np.inf
    verdict(f"cycles until {ENOUGH:.1%} of the rings are complete", complete, MOST_CYCLES, "cycles")
    here, there = cost(rows, asked.peers), cost(small_rows, SMALL)
    verdict(f"cost per peer ({here:.2f} us), of {SMALL:,} ({there:.2f})", here / there, MOST_TIMES, "times")
    return overlay


def keep(path: Path, overlay: Overlay, rows: list[Row]) -> None:
    """Write the state down."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {
        f"{layer.name}/{key}": value for layer in overlay.layers for key, value in layer.arrays().items()
    }
    save_checkpoint(path, arrays, {"rows": rows})


def restore(path: Path, overlay: Overlay) -> list[Row]:
    """Read the state back; the cycles until then."""
    arrays, notes = load_checkpoint(path)
    for layer in overlay.layers:
        own = [key for key in arrays if key.startswith(f"{layer.name}/")]
        layer.load({key.split("/", 1)[1]: arrays.pop(key) for key in own})
    rows: list[Row] = notes["rows"]
    return rows


def spread_events(overlay: Overlay, events: int) -> None:
    """Let the overlay deliver events, all of them, and print what that took."""
    workload, population = named("power-law-3"), overlay.population
    points = workload.events(events, 2, *population.ranges(), at_least=2)
    before: dict[str, Any] = {"clock": time.perf_counter(), "processor": time.process_time()}
    outcome = disseminate(Links.of(overlay), overlay.network, points, cycle=MOST_CYCLES)
    clock, processor = time.perf_counter() - before["clock"], time.process_time() - before["processor"]
    reached = int(outcome.reached.sum())
    print(f"\n{events:,} events over {len(population):,} peers: {reached:,} deliveries in {clock:.1f} s "
          f"by the clock ({processor:.1f} s of processor), {reached / clock / 1e6:.1f} M a second\n"
          f"  hit ratio {outcome.hit_ratio:.5f}, {outcome.complete_share:.2%} of the events reach everybody, "
          f"peak {peak():.2f} GiB")  # fmt: skip


def shuffle_links(peers: int, cycles: int) -> None:
    """Let CYCLON shuffle, nothing else."""
    layer, network = Cyclon(peers, seed=1), Network.whole(peers)
    everybody = np.arange(peers)
    layer.join(everybody, (everybody + 1) % peers, cycle=0)
    del everybody
    clocks = []
    for cycle in range(1, cycles + 1):
        before = time.perf_counter()
        layer.step(cycle, network)
        clocks.append(time.perf_counter() - before)
        print(f"cycle {cycle:3} {clocks[-1]:7.2f} s  {layer.size.mean():.1f} links a peer  "
              f"peak {peak():.2f} GiB", flush=True)  # fmt: skip
    print(
        f"\n{peers:,} peers with CYCLON, {cycles} cycles on {threads()} threads, "
        f"{np.mean(clocks):.2f} s a cycle"
    )
    verdict("most memory", peak(), MOST_GIB, "GiB")


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--peers", type=int, default=1_000_000)
    parser.add_argument("--cycles", type=int, default=MOST_CYCLES)
    parser.add_argument("--events", type=int, default=100_000, help="events to spread in the end, 0 for none")
    parser.add_argument("--settings", choices=SETTINGS, default="lasting", help="of the overlay")
    parser.add_argument("--keep", type=Path, help="folder to keep the state in, and to go on from")
    parser.add_argument(
        "--cyclon", type=int, default=0, metavar="PEERS", help="only CYCLON, with so many peers"
    )
    asked = parser.parse_args()
    if asked.cyclon:
        shuffle_links(asked.cyclon, min(asked.cycles, 20))
        return
    overlay = build_rings(asked)
    if asked.events:
        spread_events(overlay, asked.events)


if __name__ == "__main__":
    main()
