"""Results as tables: columns of NumPy arrays, which can be converted to pandas or Arrow.

The library needs neither; they are imported when a table is converted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from sub2sub.version import DISTRIBUTION

SHOWN = 3  # rows at the beginning, and at the end, that a long table prints


class Table(Mapping[str, NDArray[Any]]):
    """Columns of equal length, by name.

    Polars, DuckDB and others read it directly, through the Arrow C stream interface.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table({"event": np.array([0, 1]), "hops": np.array([3, 5])})
    >>> table["hops"].max(), table.rows, list(table)
    (np.int64(5), 2, ['event', 'hops'])
    >>> table.to_pandas().hops.mean()
    np.float64(4.0)
    >>> table
    event  hops
        0     3
        1     5
    2 rows
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]]) -> None:
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """One of the columns."""
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """The number of columns."""
        return len(self._columns)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self._columns.values()), ()))

    def to_pandas(self) -> Any:
        """As a pandas DataFrame."""
        return optional_library("pandas").DataFrame(self._columns)

    def to_arrow(self) -> Any:
        """As an Arrow table."""
        return optional_library("pyarrow").table(self._columns)

    def to_polars(self) -> Any:
        """As a polars DataFrame."""
        return optional_library("polars").DataFrame(self._columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """For libraries that read Arrow data."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        """Names, the first and the last rows, and the number of rows."""
        columns = []
        for cells in self._shown():
            width = max(map(len, cells))
            columns.append([cell.rjust(width) for cell in cells])
        lines = ["  ".join(row) for row in zip(*columns, strict=True)]
        return "\n".join([*lines, self._size()])

    def _repr_html_(self) -> str:
        """The same for a notebook, in the notebook's own colours."""
        head, *rows = zip(*self._shown(), strict=True) if self else [()]
        lines = [_row("td", row) for row in rows]
        return f"<table>{_row('th', head)}{''.join(lines)}</table><p>{self._size()}</p>"

    def _size(self) -> str:
        return f"{self.rows} row{'' if self.rows == 1 else 's'}"

    def _shown(self) -> list[list[str]]:
        """The cells of each column that are shown, its name first."""
        places = [*range(self.rows)]
        first, last = (places, []) if self.rows <= 2 * SHOWN else (places[:SHOWN], places[-SHOWN:])
        columns = []
        for name, column in self._columns.items():
            head, tail = ([_text(column[place]) for place in part] for part in (first, last))
            columns.append([name, *head, *(["..."] if tail else []), *tail])
        return columns


class Rows(list[dict[str, Any]]):
    """Rows that are written one after the other; a `Table` of them shows itself and is converted.

    Rows need not have the same columns: `table` leaves a cell that a row lacks empty (None).

    Examples
    --------
    >>> rows = Rows([{"cycle": 0, "complete": 0.25}, {"cycle": 1, "complete": 1.0}])
    >>> rows[1]["complete"], rows.table["cycle"].max()
    (1.0, np.int64(1))
    >>> rows
    cycle  complete
        0      0.25
        1         1
    2 rows
    """

    @property
    def table(self) -> Table:
        """The rows as columns."""
        names = dict.fromkeys(name for row in self for name in row)
        return Table({name: np.array([row.get(name) for row in self]) for name in names})

    def to_pandas(self) -> Any:
        """As a pandas DataFrame."""
        return self.table.to_pandas()

    def to_arrow(self) -> Any:
        """As an Arrow table."""
        return self.table.to_arrow()

    def to_polars(self) -> Any:
        """As a polars DataFrame."""
        return self.table.to_polars()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """For libraries that read Arrow data."""
        return self.table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        """As the table prints."""
        return repr(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def shown(line: str, table: Table) -> str:
    """For a notebook: what `repr` says, without its angle brackets, and a table.

    Examples
    --------
    >>> import numpy as np
    >>> shown("<3 & more>", Table({"a": np.array([1])}))
    '<p>3 &amp; more</p><table><tr><th>a</th></tr><tr><td>1</td></tr></table><p>1 row</p>'
    """
    return f"<p>{escape(line.strip('<>'))}</p>{table._repr_html_()}"


def _row(tag: str, cells: tuple[str, ...]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def optional_library(name: str, extra: str = "sims") -> Any:
    """A library that the base install does not have; one line if it is not there."""
    try:
        return import_module(name)
    except ImportError:
        raise InputError(f'{name}: not installed here; pip install "{DISTRIBUTION}[{extra}]"') from None
