"""Watch and change an overlay live, in a browser on this machine."""

from __future__ import annotations

import json
import socket
import webbrowser
from pathlib import Path

import click

from sub2sub.errors import InputError
from workloads.cli.common import EXISTING_FILE, OUT_FOLDER, allow_option
from workloads.cli.own_tables import OwnTable, table_options

LOOPBACK = "127.0.0.1"


@click.command("lab")
@click.argument("source", metavar="[FILE|NAME]", required=False)
@click.option("--peers", type=click.IntRange(2), help="Subscribers.  [default: 10,000, or the experiment's]")
@click.option("--topics", is_flag=True, help="Interests are topics; events can be routed as CAMCAST does.")
@click.option("--seed", type=click.IntRange(0), help="Random seed.")
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change a setting, as `run` does.")
@click.option("--table", type=EXISTING_FILE, help="Subscriptions: a table of your own, every row of it.")
@table_options
@click.option("--out", type=OUT_FOLDER, default=Path("lab"), help="Folder for saved experiments.")
@allow_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; 0 takes any free one.")
@click.option("--open/--no-open", "show", default=True, help="Open the page in a browser.")
@click.option("--json", "as_json", is_flag=True, help="Print the address and more as a line of JSON.")
def command(
    source: str | None,
    peers: int | None,
    topics: bool,
    seed: int | None,
    changes: tuple[str, ...],
    table: Path | None,
    own: OwnTable,
    out: Path,
    port: int,
    show: bool,
    as_json: bool,
) -> None:
    """Watch an overlay while it runs; publish events, crash regions, and see the rings recover.

    Only this machine can open the page. All actions can be saved as an experiment file, which `sub2sub run`
    repeats.

    \b
    Examples:
      sub2sub lab                                 10,000 subscribers, two attributes
      sub2sub lab --topics --peers 2000           topics; CAMCAST's routing beside rings
      sub2sub lab demo --set layers.ring.cap=20   an experiment, with a setting changed
    """
    import uvicorn

    from sims.lab.laboratory import Laboratory, experiment_for
    from sims.lab.server import LabServer

    experiment = experiment_for(source, peers, topics, (*own.changes(table), *changes))
    lab = Laboratory(experiment, seed, out)
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((LOOPBACK, port))
        except OSError as error:
            raise InputError(f"--port {port}: expected a free port, {error.strerror}") from None
        address = f"http://{LOOPBACK}:{listening.getsockname()[1]}/"
        facts = {
            "address": address,
            "peers": len(lab.simulation.overlay.population.present.nonzero()[0]),
            "attributes": lab.attributes,
            "seed": lab.seed,
            "out": str(out),
        }
        click.echo(json.dumps(facts) if as_json else f"{address} (Ctrl-C ends it)")
        if show:
            webbrowser.open(address)
        config = uvicorn.Config(
            LabServer(lab, start=True).app, log_level="warning", ws="websockets-sansio", access_log=False
        )
        uvicorn.Server(config).run(sockets=[listening])
