"""Live peers over TCP: one in this process, or a swarm of processes on this machine."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sub2sub.errors import InputError
from workloads.cli.common import FOLDER, NumberRange, always_json_option, json_option, numbers, print_json
from workloads.cli.suggestions import Suggesting

if TYPE_CHECKING:
    from sims.live.swarm import Delivery, Watch
    from sub2sub.live import Tls


@click.group("live", cls=Suggesting)
def command() -> None:
    """Run Sub-2-Sub and CAMCAST over real sockets (needs the extra `live`).

    \b
    Examples:
      sub2sub live swarm --peers 40 --kill 0.2
      sub2sub live communities --sizes 7,27,84 --upward 0.01,0.1,1
      sub2sub live fuzz --seeds 1000
      sub2sub live peer --listen 127.0.0.1:7000 --subscribe 0:0.5,0:1
      sub2sub live peer --contact 127.0.0.1:7000 --attributes 2 --publish 0.25,0.5 --data hello
    """


CALM = 10  # cycles over which a swarm's upkeep is measured, and that pass before
SECONDS = NumberRange(0, min_open=True)

with_seed = click.option("--seed", type=click.IntRange(0), default=1, help="Random seed.")
with_tls = click.option("--tls", type=FOLDER, help="Folder with authority.pem, certificate.pem, key.pem.")


def _address(text: str, field: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise InputError(f"{field}: expected HOST:PORT, got {text!r}")
    return host.strip("[]"), int(port)


def _ranges(text: str) -> tuple[list[float], list[float]]:
    ends = [part.split(":") for part in text.split(",")]
    try:
        return [float(low) for low, _ in ends], [float(high) for _, high in ends]
    except ValueError:
        raise InputError(f"subscribe: expected LOW:HIGH,LOW:HIGH,..., got {text!r}") from None


def _public_key(text: str) -> bytes:
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != 32:
        raise InputError(f"trust: expected a public key of 64 hexadecimal digits, got {text!r}")
    return key


def _tls(folder: Path | None, bind: bool = True) -> Tls | None:
    from sub2sub.live import Tls

    if folder is None:
        return None
    return Tls(folder / "authority.pem", folder / "certificate.pem", folder / "key.pem", bind=bind)


def _print_rows(rows: list[dict[str, Any]], as_json: bool) -> None:
    lines = (", ".join(f"{name} {value}" for name, value in row.items()) for row in rows)
    for line in [json.dumps(rows)] if as_json else lines:
        click.echo(line)


@command.command()
@click.option("--listen", default="127.0.0.1:0", help="HOST:PORT; 0 takes a free port.")
@click.option(
    "--contact",
    multiple=True,
    help="HOST:PORT of a node of the overlay; of several all are asked; without, a new overlay begins.",
)
@click.option(
    "--attributes", type=click.IntRange(1, 16), help="Number of attributes, if nothing is subscribed to."
)
@click.option("--subscribe", "ranges", multiple=True, help="LOW:HIGH,LOW:HIGH,... one range per attribute.")
@click.option("--publish", "point", help="An event to publish, X,X,...; the peer then leaves.")
@click.option("--data", default="", show_default=False, help="Payload of the event.")
@click.option("--period", type=SECONDS, default=1.0, help="Seconds of a cycle.")
@click.option("--seconds", type=SECONDS, help="Leave after so many seconds; without it, on an interrupt.")
@click.option(
    "--sign", type=click.Path(path_type=Path), help="PEM file of an Ed25519 key to sign events with."
)
@click.option("--trust", multiple=True, help="Public key (hex) of a publisher to accept; all if not given.")
@with_tls
@always_json_option
def peer(
    listen: str,
    contact: tuple[str, ...],
    attributes: int | None,
    ranges: tuple[str, ...],
    point: str | None,
    data: str,
    period: float,
    seconds: float | None,
    sign: Path | None,
    trust: tuple[str, ...],
    tls: Path | None,
) -> None:
    """Run one node: print the events it subscribes to as JSON lines, or publish one."""
    from sub2sub.live import Node, Received, Signer, run

    boxes = [_ranges(text) for text in ranges]
    event = None if point is None else numbers(point, "publish", float, "numbers such as 0.25,0.5")
    d = attributes or (len(boxes[0][0]) if boxes else len(event) if event else 0)
    at = [_address(text, "contact") for text in contact] or None
    signer = Signer.load(sign) if sign else None
    trusted = [_public_key(text) for text in trust] or None

    def show(received: Received) -> None:
        text = received.data.decode(errors="replace")
        click.echo(json.dumps({"point": received.point, "data": text, "hops": received.hops}))

    async def serve() -> None:
        listening = _address(listen, "listen")
        node = Node(d, at, listening, period, tls=_tls(tls), signer=signer, trusted=trusted)
        async with node:
            click.echo(f"listening at {node.address[0]}:{node.address[1]}", err=True)
            if signer:
                click.echo(f"signing as {signer.public.hex()}", err=True)
            for low, high in boxes:
                await node.subscribe(low, high, show)
            if event is not None:
                published = await node.publish(event, data.encode())
                said = {"nobody": "nobody wants it", "unknown": "not known whether anybody wants it"}
                taken = said.get(published.outcome) or f"taken by {published.entry:#018x}"
                click.echo(f"published: {taken}", err=True)
            if event is None or seconds is not None:
                await asyncio.sleep(seconds if seconds is not None else 10**9)

    try:
        run(serve())
    except OSError as error:
        raise InputError(str(error)) from None


@command.command()
@click.option("--peers", type=click.IntRange(2, 2000), default=40, help="Number of peers.")
@click.option("--attributes", type=click.IntRange(1, 16), default=2, help="Number of attributes.")
@click.option("--per-process", type=click.IntRange(1), default=1, help="Peers that share a process.")
@click.option("--period", type=SECONDS, help="Seconds of a cycle.  [default: by the number of peers]")
@click.option("--events", type=click.IntRange(1), default=100, help="Events to publish each time.")
@click.option("--kill", "share", type=NumberRange(0, 0.9), default=0.0, help="Share of processes to kill.")
@click.option("--most", type=SECONDS, default=120.0, help="Seconds to wait for rings.")
@with_seed
@with_tls
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
    tls: Path | None,
    as_json: bool,
) -> None:
    """Run a swarm on loopback: build the rings, publish, kill some, heal, publish again.

    Each peer subscribes to a random range. A cycle takes a peer 1 to 2 ms of processor time; the period
    leaves room for that. What a peer costs is measured over ten cycles, ten after all rings are complete.
    """
    import numpy as np

    from sims.live.progress import watching
    from sims.live.swarm import Swarm

    rng = np.random.default_rng(seed)
    low = rng.random((peers, attributes)) * 0.8
    high = np.minimum(low + rng.random((peers, attributes)) * 0.5, 1.0)
    points = rng.random((max(events, 500), attributes))
    outcome: list[dict[str, Any]] = []
    with Swarm(
        low, high, period or max(0.5, peers / 250), per_process, seed, tls=_tls(tls, bind=False)
    ) as live:
        live.join()
        for stage in ("built", "healed"):
            if stage == "healed":
                if not share:
                    break
                live.kill(share)
            with watching(stage, quiet=as_json) as show:
                watch = live.wait_for_rings(points, most, show)[-1]
            cost, delivery = live.rest(CALM, pause=CALM), live.publish(points[:events])
            outcome.append({"stage": stage, **_stage_row(watch, delivery, cost)})
    _print_rows(outcome, as_json)


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


@command.command()
@click.option("--sizes", default="7,27,84", help="Members of each community, root first.")
@click.option(
    "--membership",
    type=click.Choice(["unstructured", "semi-structured", "structured"]),
    default="unstructured",
    help="Where tables come from; the last two keep a P-Grid, which takes some 40 cycles more.",
)
@click.option("--upward", default="0.1,1", help="Values of p_sel, one for each event to publish.")
@click.option("--per-process", type=click.IntRange(1), default=1, help="Members that share a process.")
@click.option("--period", type=SECONDS, default=2.0, help="Seconds of a cycle.")
@with_seed
@json_option
def communities(
    sizes: str, membership: str, upward: str, per_process: int, period: float, seed: int, as_json: bool
) -> None:
    """Run CAMCAST communities on loopback and publish events in the lowest one."""
    from hierarchy.camcast import TopicSettings
    from hierarchy.live import MemberSettings
    from sims.live.communities import Communities

    chances = numbers(upward, "upward", float, "probabilities such as 0.1,1")
    members = numbers(sizes, "sizes", int, "whole numbers such as 7,27,84")
    if min(members) < 1 or not all(0 <= chance <= 1 for chance in chances):
        raise InputError(f"sizes, upward: expected members and probabilities, got {sizes!r}, {upward!r}")
    settings = MemberSettings(TopicSettings(c=0.0, a=2.0, z=4))
    with Communities(members, settings, period, per_process, seed, membership) as live:
        live.enter_first()
        live.enter()
        live.wait_for_tables(most=60.0)
        outcomes = live.publish(chances)
    rows = [
        {"p_sel": chance, "community": topic, **counts._asdict()}
        for chance, own in zip(chances, outcomes, strict=True)
        for topic, counts in own.items()
    ]
    _print_rows(rows, as_json)


@command.command()
@click.option("--seeds", type=click.IntRange(1), default=100, help="Histories to run.")
@click.option("--first", type=int, default=1, help="The first seed.")
@click.option(
    "--protocol",
    type=click.Choice(
        ["sub2sub", "ring-trials", "camcast", "trials", "semi-structured", "structured", "shared", "all"]
    ),
    default="all",
    help="CAMCAST is unstructured unless its membership is named; shared: topics and ranges on one overlay; "
    "trials: one thing goes wrong at a time, for CAMCAST or for Sub-2-Sub (ring-trials).",
)
@click.option(
    "--plan",
    type=click.Choice(["short", "long"]),
    default="short",
    help="4 to 7 nodes and a few faults, or 8 to 20 nodes and many.",
)
@click.option("--jobs", type=click.IntRange(1), default=1, help="Processes at the same time.")
@json_option
def fuzz(seeds: int, first: int, protocol: str, plan: str, jobs: int, as_json: bool) -> None:
    """Run histories of simulated networks with every fault, one per seed.

    Whole live nodes run under virtual time. No node may deliver an event twice, or one it did not subscribe
    to; nothing may grow beyond its limit; no task may die; and within 40 cycles after the faults each node
    gets every event it wants. A seed that breaks a rule is printed with the command that replays it; the
    exit code is then 1.
    """
    import logging

    from sims.live.fuzz import PROTOCOLS, FuzzTotals, histories

    logging.getLogger("sub2sub.live").setLevel(logging.CRITICAL)
    totals: dict[str, FuzzTotals] = {}
    for name in PROTOCOLS if protocol == "all" else [protocol]:
        total = totals[name] = FuzzTotals()
        for outcome, processor in histories(name, range(first, first + seeds), plan, jobs):
            total.add(outcome, processor)
            if outcome.violations:
                again = f"sub2sub live fuzz --protocol {name} --plan {plan} --first {outcome.seed} --seeds 1"
                click.echo(f"seed {outcome.seed} broke a rule; again: {again}", err=True)
                for line in dict.fromkeys(outcome.violations):
                    click.echo(f"  {line}", err=True)
            elif seeds == 1 and not as_json:
                click.echo(f"seed {outcome.seed}: digest {outcome.digest}")
        if not as_json:
            click.echo(f"{name}: " + "\n  ".join(total.lines()))
    if as_json:
        print_json(
            {
                name: vars(total) | {"failed": [vars(each) for each in total.failed]}
                for name, total in totals.items()
            }
        )
    if any(total.failed for total in totals.values()):
        click.get_current_context().exit(1)
