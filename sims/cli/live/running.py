"""`sub2sub live status`, `members` and `monitor`: what a running node tells its owner."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from workloads.cli.common import FILE, always_json_option, print_json

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
