"""Claims: a statement, its source, the measured value, and a verdict.

A claim compares two values that could differ. Its verdict is computed from measured tables: it holds or it
does not hold. An observation has no verdict: no paper states it, or its value could not have been another. If
a paper can be read in two ways, there is a claim for each reading.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workloads.files.atomic import write_text
from workloads.statistics.intervals import interval_of_mean, interval_of_share

OURS = "not in the paper; a bound of ours"


@dataclass(frozen=True)
class Claim:
    """One statement beside what was measured.

    Attributes
    ----------
    id : str
        The experiment it belongs to, such as `camcast-fig13`.
    claim : str
        The statement, in a sentence that does not depend on the measured values.
    paper : str, float, list or dict
        The paper's value.
    measured : str, float, list or dict
        The value found here, in the same form.
    holds : bool or None
        Whether the statement holds for what was measured; None for an observation.
    source : str
        Paper, section, and what it says there, in short.
    interval : list, dict or None
        The interval of `measured`: least and greatest over seeds, or a 95 % confidence interval.
    reading : str
        Which of several readings of the paper was measured; empty where there is only one.
    scale : str
        How much was measured: peers, events, seeds, and whether in the quick form.
    """

    id: str
    claim: str
    paper: Any
    measured: Any
    holds: bool | None
    source: str = ""
    interval: Any = None
    reading: str = ""
    scale: str = ""

    @property
    def verdict(self) -> str:
        """The verdict in words.

        Examples
        --------
        >>> Claim("x", "one is two", 1, 2, holds=False).verdict
        'does not hold'
        """
        return {None: "observation", True: "holds", False: "does not hold"}[self.holds]

    @property
    def is_ours(self) -> bool:
        """Whether the verdict is about a bound of ours and not about a statement of a paper."""
        return self.holds is not None and OURS in self.source


Claims = Iterator[Claim]


def stated(
    claim: str, source: str, paper: Any, measured: Any, holds: Any, *, interval: Any = None, reading: Any = ""
) -> Claim:
    """A claim with a verdict; its experiment and scale are filled in when it is run.

    Examples
    --------
    >>> stated("one is one", "Peano, Section 1: one equals one", 1, 1, np.bool_(True)).holds
    True
    """
    return Claim("", claim, paper, _plain(measured), bool(holds), source, _plain(interval), str(reading))


def observed(
    claim: str, measured: Any, *, source: str = "not in the paper", paper: Any = "not stated",
    interval: Any = None, reading: Any = "",
) -> Claim:  # fmt: skip
    """A claim without a verdict.

    Examples
    --------
    >>> observed("peers", 3).verdict
    'observation'
    """
    return Claim("", claim, paper, _plain(measured), None, source, _plain(interval), str(reading))


def within(
    claim: str, cycles: Sequence[float], most: float, *, source: str = OURS, reading: str = "",
    never: str = "never",
) -> Claim:  # fmt: skip
    """A claim that something takes at most `most` cycles in every seed; `never` stands for infinitely many.

    Examples
    --------
    >>> within("cycles until all rings are complete, worst seed", [12.0, np.inf], 30).measured
    'never'
    """
    ends = [in_words(min(cycles), never), in_words(max(cycles), never)]
    holds = max(cycles) <= most
    return stated(claim, source, f"at most {most}", ends[1], holds, interval=ends, reading=reading)


def in_words(cycles: float, never: str = "never") -> float | str:
    """A number of cycles, or a word for infinitely many, which JSON does not have."""
    return cycles if np.isfinite(cycles) else never


def last_cycle(cycles: ArrayLike, wrong: ArrayLike, otherwise: float = 0.0) -> float:
    """The last cycle in which something is wrong; infinite if it still is in the last one observed.

    Examples
    --------
    >>> last_cycle([1, 2, 3, 4], [True, False, True, False]), last_cycle([1, 2], [False, True])
    (3.0, inf)
    """
    observed_cycles = np.asarray(cycles)
    found = observed_cycles[np.asarray(wrong, bool)]
    if not found.size:
        return otherwise
    return np.inf if found.max() == observed_cycles.max() else float(found.max())


def span(values: ArrayLike, digits: int = 4) -> list[float]:
    """Least and greatest of the values of several seeds.

    Examples
    --------
    >>> span([0.51, 0.5, 0.53])
    [0.5, 0.53]
    """
    found = np.asarray(values, float)
    return [round(float(found.min()), digits), round(float(found.max()), digits)]


def at_least(
    claim: str, values: ArrayLike, least: float, *, source: str = OURS, digits: int = 4, reading: str = ""
) -> Claim:
    """A claim that a value is at least `least` in every seed.

    Examples
    --------
    >>> at_least("hit ratio, worst seed", [0.9991, 0.9985], 0.999).holds
    False
    """
    ends = span(values, digits)
    holds = np.min(values) >= least
    return stated(claim, source, f"at least {least}", ends[0], holds, interval=ends, reading=reading)


def rounded(values: Any, digits: int = 4, name: str = "{}") -> dict[str, float]:
    """The values of a mapping or Series, rounded, under their names in a claim.

    Examples
    --------
    >>> rounded({0.1: 0.12345, 1.0: 1}, 3, "p = {:g}")
    {'p = 0.1': 0.123, 'p = 1': 1.0}
    """
    return {name.format(key): round(float(value), digits) for key, value in values.items()}


def intervals(samples: Any, digits: int = 4, name: str = "{}") -> dict[str, list[float]]:
    """Confidence intervals of the means of samples, a mapping or the groups of a Series, under their names.

    Examples
    --------
    >>> intervals({1: [1.0, 2.0, 3.0, 2.0]}, 2, "level {}")
    {'level 1': [0.7, 3.3]}
    """
    pairs = samples.items() if isinstance(samples, Mapping) else samples
    return {name.format(key): mean_interval(values, digits) for key, values in pairs}


def mean_interval(values: ArrayLike, digits: int = 4) -> list[float]:
    """Student's interval of the mean, rounded."""
    return [round(end, digits) for end in interval_of_mean(values)]


def share_interval(successes: float, trials: int, digits: int = 4) -> list[float]:
    """Wilson's interval of a share, rounded."""
    return [round(end, digits) for end in interval_of_share(successes, trials)]


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
    text = json.dumps([_plain(asdict(claim)) for claim in claims], indent=2) + "\n"
    return write_text(folder / "claims.json", text)


def read_claims(folder: Path) -> list[Claim]:
    """The claims that `write_claims` wrote."""
    return [Claim(**entry) for entry in json.loads((folder / "claims.json").read_text(encoding="utf-8"))]


def _plain(value: Any) -> Any:
    """NumPy scalars and arrays, in lists and dicts too, as the plain values json knows."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value
