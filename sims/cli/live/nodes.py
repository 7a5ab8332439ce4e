"""A live node: `sub2sub live peer`, `topic`, `shared` run one; `status`, `members`, `monitor` ask it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from workloads.cli.common import FILE, always_json_option, print_json

KINDS = {
    "peer": "a Sub-2-Sub node: subscribe to ranges",
    "topic": "a CAMCAST process: subscribe to topics",
    "shared": "a node of the shared overlay: subscribe to topics, ranges or both",
}
OPTIONS = [
    click.option("--config", type=FILE, help="TOML file; `sub2sub schema node` has all keys."),
    click.option("--listen", help="HOST:PORT; port 0 takes a free one."),
    click.option("--contact", "contacts", multiple=True, help="HOST:PORT of a node of the overlay."),
    click.option("--subscribe", multiple=True, help="LOW:HIGH,LOW:HIGH,... or a topic."),
    click.option("--tls", type=click.Path(), help="The member's folder, by `sub2sub live ca issue`."),
    click.option("--insecure", is_flag=True, help="Listen anywhere without TLS: everybody can take part."),
    click.option(
        "--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change any key, such as period=0.5."
    ),
    click.option("--publish", is_flag=True, help="Publish events from standard input, a JSON object a line."),
    always_json_option,
]


def node_command(kind: str) -> click.Command:
    """Return the command that runs a node of a kind."""

    def command(config: Path | None, changes: tuple[str, ...], publish: bool, **given: Any) -> None:
        from sims.live.json_logs import log_to_standard_error
        from sims.live.node_file import TABLES
        from sims.live.serving import serve
        from sub2sub.live import run
        from workloads.settings.documents import Document, changed_setting, typed_change

        own = [changed_setting(key, value, f"--{key}") for key, value in given.items() if value]
        every = [*own, *map(typed_change, changes)]
        settings = Document.open(config or Path(os.devnull), every).read(TABLES[kind])
        log_to_standard_error(settings.log)
        run(serve(settings, publish))

    command.__doc__ = f"""Run {KINDS[kind]}.

    Events are printed as JSON lines, and the log on standard error. Options replace keys of the file. On
    SIGTERM or an interrupt the node leaves in good order.
    """
    made: Any = command
    for option in reversed(OPTIONS):
        made = option(made)
    return click.command(kind)(made)


WATCHED = {
    "status": "Print what a running node is and has done, behind its socket (`control` of its file).",
    "members": "Print the members that a running node knows, a JSON object a line.",
    "monitor": "Print the log of a running node, deliveries included, as JSON lines from now on.",
}


def watch_command(page: str) -> click.Command:
    """Return the command that asks a running node for a page."""

    def command(node: Path) -> None:
        from sims.live.status_pages import ask

        for line in ask(node, f"/{page}"):
            if page == "status":
                print_json(json.loads(line))
            else:
                rows = json.loads(line)
                for row in rows if isinstance(rows, list) else [rows]:
                    click.echo(json.dumps(row))

    command.__doc__ = WATCHED[page]
    made: Any = click.argument("node", type=FILE, metavar="SOCKET")(always_json_option(command))
    return click.command(page)(made)
