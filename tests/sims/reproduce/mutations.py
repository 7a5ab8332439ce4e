"""Other data for the same claims: tables changed in one column, for all rows or for one kind of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from sims.reproduce.claims import Claim
from sims.reproduce.reproduction import Reproduction, Tables

KINDS = 8  # a column with at most so many values, or of words, tells kinds of rows apart


def _columns(table: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Columns that tell kinds of rows apart, and columns of numbers."""
    words = [name for name in table if not pd.api.types.is_numeric_dtype(table[name])]
    few = [name for name in table if name not in words and table[name].nunique() <= KINDS]
    numbers = [name for name in table if name not in words]
    return [*words, *few], numbers


def _kinds_of_rows(table: pd.DataFrame, kinds: list[str]) -> Iterator[np.ndarray]:
    for name in kinds:
        for value in table[name].unique():
            yield (table[name] == value).to_numpy()


def _changes(values: pd.Series) -> Iterator[np.ndarray]:
    numbers = values.to_numpy(float)
    for factor in (0.0, 0.5, 1.5, 10.0, 1000.0):
        yield numbers * factor
    yield np.ones(len(numbers))
    yield numbers[::-1]
    yield np.where(np.arange(len(numbers)) % 2, 2 * numbers, 0.0)  # the same in all, unevenly
    yield -numbers


def mutants(tables: Tables) -> Iterator[Tables]:
    """Tables that differ from the given ones in one column: in all rows first, then in one kind of them."""
    for whole in (True, False):
        for name, table in tables.items():
            kinds, numbers = _columns(table)
            for column in numbers:
                for rows in [np.ones(len(table), bool)] if whole else _kinds_of_rows(table, kinds):
                    for changed in _changes(table.loc[rows, column]):
                        other = table.astype({column: float})
                        other.loc[rows, column] = changed
                        yield {**tables, name: other}


def never_false(reproduction: Reproduction, tables: Tables) -> list[str]:
    """The claims with a verdict that are false neither for these tables nor for any mutant of them."""

    def key(claim: Claim) -> str:
        return f"{claim.claim} [{claim.reading}]"

    left = {key(claim) for claim in reproduction.judge(tables) if claim.holds}
    for mutant in mutants(tables):
        if not left:
            break
        try:
            with np.errstate(all="ignore"):
                claims = list(reproduction.judge(mutant))
        except (ArithmeticError, IndexError, KeyError, ValueError):
            continue  # data that no run could give
        left -= {key(claim) for claim in claims if claim.holds is False}
    return sorted(left)
