"""Measure the speed of simulations on this machine."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from sub2sub.errors import InputError
from workloads.cli.common import OUT_FILE, json_option, print_json, print_result


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from sims.bench import MEASUREMENTS

    found = MEASUREMENTS.items()
    return [CompletionItem(name, help=each.title) for name, each in found if name.startswith(incomplete)]


@click.command("bench")
@click.argument("names", nargs=-1, shell_complete=_complete)
@click.option(
    "--size", "sizes", type=click.IntRange(100), multiple=True, default=(10_000,),
    metavar="N", help="Subscribers; may be repeated.",
)  # fmt: skip
@click.option("--append", type=OUT_FILE, metavar="FILE", help="Add the results to a CSV table.")
@click.option("--list", "only_list", is_flag=True, help="List what is measured.")
@json_option
def command(
    names: tuple[str, ...], sizes: tuple[int, ...], append: Path | None, only_list: bool, as_json: bool
) -> None:
    """Measure the speed of the main steps of a simulation: the best of three tries on one core.

    \b
    Examples:
      sub2sub bench                                          everything, 10,000 subscribers
      sub2sub bench cycle --size 10000 --size 1000000        one of them, two sizes
      sub2sub bench --append benchmarks/results.csv          keep the results
    """
    from sims.bench import MEASUREMENTS, append_results, as_rows, measure

    if only_list:
        titles = {name: each.title for name, each in MEASUREMENTS.items()}
        lines = [f"{name:12} {each.title} ({each.unit})" for name, each in MEASUREMENTS.items()]
        print_result(as_json, titles, *lines)
        return
    for name in names:
        if name not in MEASUREMENTS:
            raise InputError(f"{name}: expected one of {', '.join(MEASUREMENTS)}")
    results = []
    for size in sizes:
        for name in names or MEASUREMENTS:
            rate = measure(MEASUREMENTS[name], size)
            results.append((name, size, rate, MEASUREMENTS[name].unit))
            if not as_json:
                click.echo(f"{name:12} {size:>10,} {rate:>14,.0f} {MEASUREMENTS[name].unit}")
    if append is not None:
        append_results(append, as_rows(results))
    if as_json:
        print_json(as_rows(results))
