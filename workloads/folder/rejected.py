"""Invalid rows of foreign tables, with their row numbers and the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sub2sub.errors import InputError
from workloads.arrays import Integers

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
