"""Values and tables as text and HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup


def plain_number(value: Any) -> str:
    """Format a cell: integers in groups of three digits, other numbers with four digits.

    Examples
    --------
    >>> plain_number(1234567), plain_number(0.123456), plain_number(True), plain_number([1, 2.5])
    ('1,234,567', '0.1235', 'yes', '1, 2.5')
    """
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        value = value.tolist()
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {plain_number(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(plain_number(item) for item in value)
    return str(value)


def share_text(share: float) -> str:
    """Format a share as a percentage; 100 % only for all, and 0 % only for none.

    Examples
    --------
    >>> share_text(1.0), share_text(0.99997), share_text(0.25), share_text(1e-5)
    ('100 %', '99.997 %', '25 %', '0.001 %')
    """
    for digits in range(3, 12):
        shown = f"{100 * share:.{digits}g}"
        if (float(shown) < 100 or share >= 1) and (float(shown) > 0 or share <= 0):
            break
    return f"{shown} %"


class Cell(NamedTuple):
    """A table cell whose text differs from its value, which is used for sorting and downloading."""

    shown: str
    value: float | None


def table_html(
    content: Mapping[str, Sequence[Any]] | Iterable[Mapping[str, Any]],
    caption: str = "",
    *,
    fit: bool = False,
    name: str = "table",
) -> Markup:
    """Return a table as HTML, see `Page.table`."""
    if isinstance(content, Mapping):
        names = list(content)
        rows = list(zip(*(content[name] for name in names), strict=True))
    else:
        listed = list(content)
        names = list(dict.fromkeys(name for row in listed for name in row))
        rows = [tuple(row.get(name) for name in names) for row in listed]
    numeric = [_all_numbers(row[k] for row in rows) for k in range(len(names))]
    cells = [[_cell(cell) for cell in row] for row in rows]
    return Markup(
        template("table.html").render(
            names=names, rows=cells, numeric=numeric, caption=caption, fit=fit, name=name
        )
    )


def _cell(cell: Any) -> tuple[str, float | None]:
    """Return the text of a cell and, if it is more exact, the value."""
    if isinstance(cell, Cell):
        return cell
    if isinstance(cell, Markup):
        return cell, None
    shown = plain_number(cell)
    exact = isinstance(cell, Real) and not isinstance(cell, bool) and shown != str(cell)
    return shown, float(cell) if exact and np.isfinite(float(cell)) else None


def _all_numbers(cells: Iterable[Any]) -> bool:
    """Whether a column contains only numbers, which are aligned to the right."""
    given = [cell.value if isinstance(cell, Cell) else cell for cell in cells if cell is not None]
    given = [cell for cell in given if cell is not None]
    return bool(given) and all(isinstance(cell, Real) and not isinstance(cell, bool) for cell in given)


@cache
def asset(name: str, package: str = "sims.report") -> Markup:
    """Read a file of a package's `assets`, to be included in a page unchanged."""
    return Markup((files(package) / "assets" / name).read_text(encoding="utf-8"))


@cache
def _environment(package: str) -> Environment:
    return Environment(
        loader=PackageLoader(package, "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def template(name: str, package: str = "sims.report") -> Template:
    """Return a template of a package's `assets`; the values filled in are escaped."""
    return _environment(package).get_template(name)
