"""Invalid rows of foreign tables, with their row numbers and the reasons."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sub2sub.errors import InputError
from workloads.arrays import Integers
from workloads.files.atomic import atomic_write

OnBad = Literal["refuse", "set aside"]


@dataclass(frozen=True)
class Rejected:
    """Invalid rows: their numbers, from 0, and one reason each."""

    rows: Integers
    reasons: list[str]

    @classmethod
    def of(cls, against: Mapping[int, str]) -> Rejected:
        """The rows with these reasons, in order."""
        rows = sorted(against)
        return cls(np.array(rows, np.int64), [against[row] for row in rows])

    def __len__(self) -> int:
        return len(self.rows)

    def refuse(self, what: str) -> None:
        """Raise if there are any, naming the first."""
        if len(self):
            raise _refusal(what, int(self.rows[0]), self.reasons[0], len(self))


def _refusal(what: str, row: int, reason: str, count: int) -> InputError:
    more = f" ({count - 1} more rows cannot be used)" if count > 1 else ""
    return InputError(f"{what}, row {row}: {reason}{more}")


def _temporary_file() -> Any:
    """A file that is deleted when it is closed."""
    return tempfile.TemporaryFile("w+", newline="", encoding="utf-8")


@dataclass
class RejectedFile:
    """Rejected rows, kept in a temporary file until they are written to `rejected/` of a folder."""

    kind: str
    on_bad: OnBad
    count: int = 0
    first: tuple[int, str] = (0, "")
    file: Any = field(default_factory=_temporary_file)

    def add(self, against: Mapping[int, str]) -> None:
        """Add rows with their reasons."""
        for row in sorted(against):
            if not self.count or row < self.first[0]:
                self.first = (row, against[row])
            self.count += 1
            csv.writer(self.file).writerow((row, against[row]))

    def refuse_if_bad(self, used: int) -> None:
        """Raise if rejected rows are to be refused, or if no row is valid."""
        if self.count and self.on_bad == "refuse":
            raise _refusal(self.kind, *self.first, self.count)
        if self.count and not used:
            row, reason = self.first
            raise InputError(f"{self.kind}: none of {self.count} rows can be used, row {row}: {reason}")

    def close(self) -> None:
        """Delete the temporary file."""
        self.file.close()

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
            sink.writelines(self.file)
