"""Rows of foreign tables that cannot be used: refused, or kept with their number and the reason."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.files.atomic import atomic_write

OnBad = Literal["refuse", "set aside"]


@dataclass(frozen=True)
class Rejected:
    """The rows that could not be used: their numbers (from 0) and one reason each."""

    rows: NDArray[np.int64]
    reasons: list[str]

    def __len__(self) -> int:
        return len(self.rows)

    def refuse(self, what: str) -> None:
        """Raise if there are any, naming the first."""
        if len(self):
            more = f" ({len(self) - 1} more rows cannot be used)" if len(self) > 1 else ""
            raise InputError(f"{what}, row {self.rows[0]}: {self.reasons[0]}{more}")


def _temporary_file() -> Any:
    """A file that is deleted when it is closed."""
    return tempfile.TemporaryFile("w+", newline="", encoding="utf-8")


@dataclass
class Aside:
    """Rejected rows, kept in a temporary file until they are written to `rejected/` of a folder."""

    kind: str
    on_bad: OnBad
    count: int = 0
    first: tuple[int, str] = (0, "")
    file: Any = field(default_factory=_temporary_file)

    def add(self, against: Mapping[int, str]) -> None:
        """Note rows with the reasons against them."""
        for row in sorted(against):
            if not self.count or row < self.first[0]:
                self.first = (row, against[row])
            self.count += 1
            csv.writer(self.file).writerow((row, against[row]))

    def refuse_if_bad(self, used: int) -> None:
        """Raise if rejected rows are to be refused, or if no row is valid."""
        row, reason = self.first
        if self.count and self.on_bad == "refuse":
            more = f" ({self.count - 1} more rows cannot be used)" if self.count > 1 else ""
            raise InputError(f"{self.kind}, row {row}: {reason}{more}")
        if self.count and not used:
            raise InputError(f"{self.kind}: none of {self.count} rows can be used, row {row}: {reason}")

    def write(self, out: Path) -> None:
        """Write them to the folder, if there are any."""
        if not self.count:
            return
        self.file.seek(0)
        with (
            atomic_write(out / "rejected" / f"{self.kind}.csv") as draft,
            draft.open("w", newline="") as sink,
        ):
            sink.write("row,reason\n")
            for line in self.file:
                sink.write(line)
