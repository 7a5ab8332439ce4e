"""What an experiment hands back: claims beside measurements, and the tables and figures behind them.

Every file is written atomically, so an interrupted run leaves complete files or none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from workloads.files.atomic import atomic_write, write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Claim", "save_figure", "save_table", "write_claims"]


@dataclass(frozen=True)
class Claim:
    """One statement of a paper beside what was measured.

    Attributes
    ----------
    id : str
        The experiment it belongs to, such as `camcast-fig13`.
    claim : str
        The paper's statement, in a sentence.
    paper : str, float or list
        The paper's value.
    measured : str, float or list
        The value found here, in the same form.
    holds : bool
        Whether the statement holds for what was measured; computed, never written by hand.
    """

    id: str
    claim: str
    paper: Any
    measured: Any
    holds: bool


def write_claims(folder: Path, claims: Iterable[Claim]) -> Path:
    """Write `claims.json` into `folder` and return its path.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = write_claims(Path(folder), [Claim("x", "one is one", 1, 1, holds=True)])
    ...     json.loads(path.read_text())[0]["holds"]
    True
    """
    text = json.dumps([asdict(claim) for claim in claims], indent=2, default=_plain) + "\n"
    return write_text(folder / "claims.json", text)


def save_table(folder: Path, name: str, columns: Mapping[str, Any]) -> Path:
    """Write equally long columns as `<name>.parquet` and return its path.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = save_table(Path(folder), "rounds", {"run": [0, 1], "rounds": [8, 9]})
    ...     pq.read_table(path).column_names
    ['run', 'rounds']
    """
    table = pa.table({column: pa.array(values) for column, values in columns.items()})
    path = folder / f"{name}.parquet"
    with atomic_write(path) as draft:
        pq.write_table(table, draft)
    return path


def save_figure(folder: Path, id: str, figure: Figure) -> Path:
    """Write a figure as `<id>.png`, close it, and return its path."""
    from matplotlib import pyplot as plt

    path = folder / f"{id}.png"
    with atomic_write(path) as draft:
        figure.savefig(draft, format="png")
    plt.close(figure)
    return path


def _plain(value: Any) -> Any:
    """NumPy scalars and arrays as the plain values json knows."""
    return value.tolist()
