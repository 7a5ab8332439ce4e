"""All keys of an experiment file and their meaning, read from the settings classes and their docstrings."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from sims.config.entries import FAULTS, Kinds, loaded
from sims.config.experiment import Experiment
from sims.rivals import system
from sub2sub.compiled.timing.settings import Timing
from workloads.settings.parameters import REQUIRED, Parameter, documented, parameters, plain
from workloads.settings.toml import value_as_toml

WIDTH = 100


def describe(name: str = "sub2sub") -> str:
    """Return an experiment file of a system with every key, its default, and its meaning as a comment.

    Examples
    --------
    >>> print(describe()[:83])
    # Title of the experiment, in one line.
    title = ""
    <BLANKLINE>
    # Number of cycles.
    cycles = 40
    """
    chosen = system(name)
    tables = {"workload": chosen.workload, "layers": chosen.layers, "dissemination": chosen.dissemination}
    lines = list(_keys(Experiment, (), Experiment(system=name)))
    for table, settings in {"population": parameters(Experiment)["population"].hint, **tables}.items():
        lines += _table(settings, (table,), settings())
    lines += _left_out(_table(Timing, ("network",), Timing()))
    lines += _kinds("faults", FAULTS, chosen.supplied)
    lines += _kinds("observers", chosen.observers, chosen.supplied)
    return "\n".join(lines) + "\n"


def _left_out(lines: Iterator[str]) -> Iterator[str]:
    """A table as a comment, because an experiment without it is not the one with its defaults."""
    yield "# Milliseconds that messages with events take; without this table every message takes a hop."
    yield from (line if line.startswith("#") or not line else f"# {line}" for line in lines)


def _table(settings: Any, key: tuple[str, ...], values: Any) -> Iterator[str]:
    yield f"[{'.'.join(key)}]"
    if hasattr(settings, "paper"):
        yield from (
            '# Settings that are not given here: "paper" as published, or "default".',
            '# base = "default"',
            "",
        )
    yield from _keys(settings, key, values)


def _keys(settings: Any, key: tuple[str, ...], values: Any) -> Iterator[str]:
    """The keys of a table that have a plain value, then the tables in it."""
    meaning, known = documented(settings), parameters(settings)
    tables = {name for name, found in known.items() if dataclasses.is_dataclass(found.hint)}
    for name, found in known.items():
        if name not in tables and (key or name in ("title", "cycles", "seeds", "checkpoint_every", "system")):
            yield from textwrap.wrap(meaning.get(name, "") + _options(found), WIDTH, **_COMMENT)
            value = getattr(values, name)
            yield from (f"{'# ' if value is None else ''}{name} = {_shown(value)}", "")
    for name in known if key else ():
        if name in tables:
            yield from _table(known[name].hint, (*key, name), getattr(values, name))


_COMMENT: dict[str, Any] = {"initial_indent": "# ", "subsequent_indent": "# "}


def _kinds(table: str, kinds: Kinds, supplied: tuple[str, ...]) -> Iterator[str]:
    yield f"# [[{table}]], each with at = CYCLE, or with from, until (exclusive) and every"
    for kind, place in kinds.items():
        make = loaded(place)
        settings = {k: found for k, found in parameters(make).items() if k not in supplied}
        words = [f"{name} = {_shown(found.default)}" for name, found in settings.items()]
        summary = (inspect.getdoc(make) or "").partition("\n")[0]
        yield from textwrap.wrap(f'kind = "{kind}": {summary}', WIDTH, **_COMMENT)
        if words:
            yield from textwrap.wrap(
                ", ".join(words), WIDTH, initial_indent="#     ", subsequent_indent="#     "
            )
    yield ""


def _options(parameter: Parameter) -> str:
    hint = parameter.hint
    if get_origin(hint) is Literal:
        return f" One of {', '.join(get_args(hint))}."
    if inspect.isclass(hint) and issubclass(hint, enum.Enum):
        return f" One of {', '.join(plain(member) for member in hint)}."
    return ""


def _shown(value: Any) -> str:
    if value is None:
        return "..."
    return "?" if value is REQUIRED else value_as_toml(plain(value))
