"""Swarms of live peers on loopback, to measure."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workloads.cli.common import NumberRange, json_option, print_result

if TYPE_CHECKING:
    from sims.live.swarm import Delivery, Watch


CALM = 10  # cycles over which a swarm's upkeep is measured, and that pass before
SECONDS = NumberRange(0, min_open=True)


@click.command()
@click.option("--peers", type=click.IntRange(2, 2000), default=40, help="Number of peers.")
@click.option("--attributes", type=click.IntRange(1, 16), default=2, help="Number of attributes.")
@click.option("--per-process", type=click.IntRange(1), default=1, help="Peers that share a process.")
@click.option("--period", type=SECONDS, help="Seconds of a cycle.  [default: by the number of peers]")
@click.option("--events", type=click.IntRange(1), default=100, help="Events to publish each time.")
@click.option("--kill", "share", type=NumberRange(0, 0.9), default=0.0, help="Share of processes to kill.")
@click.option("--most", type=SECONDS, default=120.0, help="Seconds to wait for rings.")
@click.option("--seed", type=click.IntRange(0), default=1, help="Random seed.")
@click.option("--tls", is_flag=True, help="With an authority, and a certificate for each peer.")
@json_option
def swarm(
    peers: int,
    attributes: int,
    per_process: int,
    period: float | None,
    events: int,
    share: float,
    most: float,
    seed: int,
    tls: bool,
    as_json: bool,
) -> None:
    """Run a swarm on loopback: build the rings, publish, kill some, heal, publish again.

    Each peer subscribes to a random range. A cycle takes a peer 1 to 2 ms of processor time; the period
    leaves room for that. What a peer costs is measured over ten cycles, ten after all rings are complete.
    """
    import numpy as np

    from sims.live.swarm import Swarm
    from sub2sub.live.authority import Authority

    rng = np.random.default_rng(seed)
    low = rng.random((peers, attributes)) * 0.8
    high = np.minimum(low + rng.random((peers, attributes)) * 0.5, 1.0)
    points = rng.random((max(events, 500), attributes))
    outcome: list[dict[str, Any]] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        Swarm(
            low, high, period or max(0.5, peers / 250), per_process, seed,
            authority=Authority.create(Path(folder) / "swarm") if tls else None,
        ) as live,
    ):  # fmt: skip
        live.join()
        for stage in ("built", "healed") if share else ("built",):
            if stage == "healed":
                live.kill(share)

            def show(watch: Watch, stage: str = stage) -> None:
                rings = f"{100 * watch.links:5.1f} % of ring links, {100 * watch.complete:5.1f} % of rings"
                click.echo(f"{stage}: {watch.seconds:6.1f} s, {watch.peers} peers, {rings}", err=True)

            watch = live.wait_for_rings(points, most, None if as_json else show)[-1]
            cost, delivery = live.rest(CALM, pause=CALM), live.publish(points[:events])
            outcome.append({"stage": stage, **_stage_row(watch, delivery, cost)})
    print_result(as_json, outcome, *(", ".join(f"{k} {v}" for k, v in row.items()) for row in outcome))


def _stage_row(watch: Watch, delivery: Delivery, cost: dict[str, float]) -> dict[str, Any]:
    counts = ("events", "exact", "wanted", "delivered", "twice", "unwanted")
    return {
        "peers": watch.peers,
        "seconds": round(watch.seconds, 1),
        "ring links in place": watch.links,
        "complete rings": watch.complete,
        **{name: getattr(delivery, name) for name in counts},
        "hops": max(delivery.hops, default=0),
        "ring links": round(sum(len(each.ring) for each in watch.reports) / watch.peers, 1),
        **{name: round(value, 2) for name, value in cost.items()},
    }
