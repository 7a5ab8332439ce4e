"""All reproductions by their id: what `sub2sub reproduce` lists and runs.

They are found by walking the rooms of this folder. Listing them reads files, and loads no module; an id loads
one module, the one beside its file.

A module measures. The file beside it, of the same name, has a table for each id (its title, plan and charts),
and one of the words of all claims:

    [sub2sub-fig6]
    title = "Hit ratio and complete disseminations, per cycle"
    scale = "{size:,} peers, {size:,} events, {seeds} seeds"
    table = "delivery"
    grid = [{ reading = ["least recent partner", "random partner"], seed = "seeds" }]
    fixed = ["size"]
    full = { size = 10_000, seeds = 3 }
    quick = { size = 1_000, seeds = 2 }

    [[sub2sub-fig6.charts]]
    each = "reading"
    x = "cycle"
    y = { complete = "complete disseminations", rings_complete = "complete rings" }

    [claims.earlier]
    claim = "first cycle from which on every event is delivered to everybody, ..."

`full` and `quick` are the numbers of the two forms, `both` those of either; a table `every` holds what all
ids of the file have alike. `grid` has the settings of units, as lists or by the name of a number or list;
"seeds" stands for so many seeds from the first on, `{ range = "runs" }` for all numbers below one. `fixed`
names numbers that all units get. The functions are `unit`, `judge` and, where there is no table of charts,
`charts`, if the file names no others.
"""

from __future__ import annotations

import difflib
import importlib
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from sims.reproduce.claims import Claim
from sims.reproduce.reproduction import Plan, Reproduction, Tables, grid
from sub2sub.errors import InputError
from workloads.charts.chart import Chart, Reference, Series, Sheet, columns, curves

File = Mapping[str, Any]
CLAIMS, EVERY = "claims", "every"  # the tables that are no reproductions
SERIES = ("label", "over", "times", "across", "first", "shape", "style")  # what `curves` is given


@cache
def described(path: Path) -> File:
    """The contents of a file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def reproduction(id: str, path: Path, module: ModuleType) -> Reproduction:
    """The reproduction of an id, of a file and its module."""
    file = described(path)
    every, own = file.get(EVERY, {}), {"id": id, **file[id]}
    own = {**every, **own, "both": _merged(every.get("both", {}), own.get("both", {}))}

    also = described(path.parents[1] / f"{file['also']}.toml")[CLAIMS] if "also" in file else {}
    claims = {**also, **file[CLAIMS]}

    def judge(tables: Tables) -> Iterator[Claim]:
        for each in getattr(module, own.get("judge", "judge"))(tables):
            yield each.claim(claims)

    def charts(tables: Tables) -> Sheet | Mapping[str, Sheet]:
        given = own.get("charts", "charts")
        if isinstance(given, list):
            drawn = own.get("draw", {})  # what the charts of this id have beside those of every id
            found = [chart for panel in given for chart in panels({**panel, **drawn}, tables, module)]
            return Sheet(found, min(own.get("columns", 0), len(found)), own.get("note", ""))
        sheet: Sheet | Mapping[str, Sheet] = getattr(module, given)(tables)
        return sheet

    def plan(quick: bool, seed: int) -> Plan:
        return plan_of(own, getattr(module, own.get("unit", "unit")), quick, seed)

    return Reproduction(id, own["title"], plan, judge, charts, alone=own.get("alone", False))


def plan_of(own: File, unit: Callable[..., Any], quick: bool, seed: int) -> Plan:
    """The plan that a file describes, with a first seed.

    Examples
    --------
    >>> own = {"scale": "{size:,} peers", "grid": [{"seed": "seeds"}], "fixed": ["size"]}
    >>> plan = plan_of({**own, "full": {"size": 1000, "seeds": 2}}, print, False, 5)
    >>> plan.scale, plan.settings, plan.fixed
    ('1,000 peers', [{'seed': 5}, {'seed': 6}], {'size': 1000})
    """
    form = own.get("quick" if quick else "full", {})
    numbers = {"id": own.get("id"), "seed": seed, **own.get("both", {}), **form}
    lists = {**numbers, "seeds": range(seed, seed + numbers.get("seeds", 1))}

    def values(given: Any) -> Any:
        found = lists.get(given, given) if isinstance(given, str) else given
        if isinstance(found, dict) and "range" in found:
            return range(0, numbers[found["range"]], found.get("step", 1))
        return found if isinstance(found, list | range | dict) else [found]

    parts = [{name: values(given) for name, given in part.items()} for part in own.get("grid", [{}])]
    settings = [each for part in parts for each in grid(**part)]
    fixed = {name: numbers[name] for name in own.get("fixed", ())}
    scale = str(numbers.get("scale", own["scale"]))
    return Plan(scale.format(**numbers), unit, settings, fixed, own.get("table", "rows"))


def _merged(usual: File, own: File) -> dict[str, Any]:
    """Tables of numbers, those in them merged as well."""
    tables = {name: {**usual[name], **own[name]} for name in usual if isinstance(own.get(name), dict)}
    return {**usual, **own, **tables}


def panels(panel: File, tables: Tables, module: ModuleType) -> list[Chart]:
    """The charts that a table describes: one, or one for each kind of rows.

    `series` names a function of the module that draws them, `table` the rows, `where` which of them, `derive`
    columns that are computed, `each` columns that tell charts apart, `prepare` a function of the module that
    is applied to the rows of each. The other keys are those of `workloads.charts.chart.curves` (`x`, `y`,
    `by`, ...) and of `Chart`; `labels` are the titles of the axes, and `ticks` a list, or "x" for one at
    every x. Words on the x axis are places in the order of the rows. With `close` shares are shown on the
    part of the y axis that their means are on.
    """
    given = dict(panel)
    own = {name: given.pop(name) for name in (*SERIES, "x", "y", "by") if name in given}
    function, each = given.pop("series", ""), given.pop("each", [])
    prepare = given.pop("prepare", "")
    x, y = given.pop("labels", (own.get("x", ""), own.get("y", "")))
    title = given.pop("title", "" if not each else "{0}")
    at_x = given.get("ticks") == "x"
    if isinstance(given.get("ticks"), list):
        given["ticks"] = {float(place): f"{place:g}" for place in given["ticks"]}
    given["references"] = [Reference(**line) for line in given.pop("references", ())]
    rows, close, found = _rows(given, tables), given.pop("close", False), []
    for key, part in rows.groupby(each, sort=False) if each else [((), rows)]:
        part = getattr(module, prepare)(part) if prepare else part
        if "x" in own and not pd.api.types.is_numeric_dtype(part[x_column := own["x"]]):
            words = list(dict.fromkeys(part[x_column]))  # places, in the order of the rows
            part = part.assign(**{x_column: part[x_column].map(words.index)})
            given["ticks"] = dict(enumerate(words))
        elif at_x:
            given["ticks"] = {float(value): f"{value:g}" for value in sorted(part[own["x"]].unique())}
        series = getattr(module, function)(part) if function else _series(own, part)
        found.append(Chart(title.format(*key), x, y, series, **given))
    if not close:
        return found
    least = min(float(np.min(series.y)) for chart in found for series in chart.series)
    bottom, top = least - 0.05 * (1 - least) - 1e-4, 1 + 0.02 * (1 - least)
    return [replace(chart, bottom=bottom, top=top) for chart in found]


def _rows(given: dict[str, Any], tables: Tables) -> pd.DataFrame:
    """The rows that are drawn."""
    rows = tables[given.pop("table", next(iter(tables)))]
    for name, rule in given.pop("derive", {}).items():
        rows = rows.assign(**{name: rows.eval(rule)})
    if where := given.pop("where", ""):
        rows = rows.query(where)
    return rows


def _series(own: Mapping[str, Any], rows: pd.DataFrame) -> Sequence[Series]:
    options = {name: own[name] for name in SERIES if name in own}
    if isinstance(own["y"], Mapping):
        return columns(rows, own["x"], own["y"], **options)
    return curves(rows, own["x"], own["y"], own.get("by", ()), **options)


PAPERS = {
    "sub2sub": "Sub-2-Sub",
    "camcast": "CAMCAST and Data-Aware Multicast",
    "hpmcast": "rfpbcast, pmcast, hpmcast",
    "live": "Live peers",
}
"""Headings, by room."""


@cache
def files() -> dict[str, Path]:
    """The file that describes each reproduction, room by room."""
    paths = [path for room in PAPERS for path in sorted((Path(__file__).parent / room).glob("*.toml"))]
    return {id: path for path in paths for id in described(path) if id not in (CLAIMS, EVERY, "also")}


def titles() -> dict[str, str]:
    """The title of each reproduction.

    Examples
    --------
    >>> titles()["sub2sub-fig7a"]
    'Distribution of ring lengths'
    """
    return {id: described(path)[id]["title"] for id, path in files().items()}


def module_of(id: str) -> str:
    """The module of a reproduction."""
    path = files()[id]
    return f"sims.reproduce.{path.parent.name}.{path.stem}"


def find(id: str) -> Reproduction:
    """The reproduction of that id; an unknown one is refused with the nearest known id."""
    known = files()
    if id not in known:
        near = difflib.get_close_matches(id, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(known)}"
        raise InputError(f"reproduction: {id!r} is unknown; {hint}")
    return reproduction(id, known[id], importlib.import_module(module_of(id)))


def by_paper() -> dict[str, list[str]]:
    """All ids, by room."""
    return {room: [id for id, path in files().items() if path.parent.name == room] for room in PAPERS}
