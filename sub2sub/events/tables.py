"""Results as tables: columns of NumPy arrays, which can be converted to pandas or Arrow.

The library needs neither; they are imported when a table is converted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from numpy.typing import NDArray

from sub2sub.errors import InputError


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
        return _library("pandas").DataFrame(self._columns)

    def to_arrow(self) -> Any:
        """As an Arrow table."""
        return _library("pyarrow").table(self._columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """For libraries that read Arrow data."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        """Names and the first rows."""
        first = {name: column[:3].tolist() for name, column in self._columns.items()}
        return f"<Table of {self.rows} rows: {first}>"


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise InputError(f'{name}: not installed here; pip install "sub2sub-overlays[sims]"') from None
