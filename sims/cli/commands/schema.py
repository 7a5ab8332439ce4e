"""Print a JSON Schema of experiments, sweeps, workload specs or live nodes, for editors."""

from __future__ import annotations

import json

import click

from workloads.cli.common import json_option, print_result

KINDS = {
    "experiment": "a file of `sub2sub run`",
    "sweep": "a file of `sub2sub sweep`",
    "workload": "a file of `sub2sub workload generate --spec`",
    "node": "a file of `sub2sub live peer|topic|shared --config`",
}


@click.command("schema")
@click.argument("kind", type=click.Choice(tuple(KINDS)), required=False)
@json_option
def command(kind: str | None, as_json: bool) -> None:
    """Print a JSON Schema with which editors complete and check files as they are written.

    Without an argument the kinds of files are listed. A schema is JSON with or without --json. Editors that
    use Taplo, such as VS Code with Even Better TOML, take the schema that the first line of a file names.

    \b
    Examples:
      sub2sub schema experiment > experiment.schema.json
      #:schema ./experiment.schema.json                      the first line of an experiment
    """
    if kind is None:
        print_result(as_json, KINDS, *(f"{name:12} {what}" for name, what in KINDS.items()))
        return
    from sims.config.json_schemas import SCHEMAS

    click.echo(json.dumps(SCHEMAS[kind](), indent=2, ensure_ascii=False))
