"""List the examples that come with the package, or copy one here."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import click

from sims.config.shipped import EXAMPLES, examples
from sub2sub.errors import InputError
from workloads.cli.common import json_option, print_result


@click.command("example")
@click.argument("name", required=False)
@json_option
def command(name: str | None, as_json: bool) -> None:
    """Copy the example NAME (data, specs, experiments) into a folder of that name, and print its commands.

    Without an argument the examples are listed.

    \b
    Examples:
      sub2sub example
      sub2sub example debian
    """
    known = examples()
    if name is None:
        print_result(as_json, known, *(f"{each:12} {title}" for each, title in known.items()))
        return
    if name not in known:
        raise InputError(f"{name}: expected one of {', '.join(known)}")
    if Path(name).exists():
        raise InputError(f"{name}: exists already; expected a folder where it does not")
    shutil.copytree(EXAMPLES / name, name)
    text = (EXAMPLES / name / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    (sub2sub .*)$", text, re.MULTILINE)
    print_result(as_json, {"folder": name, "commands": commands}, f"copied to {name}/; now try:", *commands)
