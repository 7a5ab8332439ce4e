"""Claims: a statement, its source, the measured value, and a verdict.

A claim compares two values that could differ. Its verdict is computed from measured tables: it holds or it
does not hold. An observation has no verdict: no paper states it, or its value could not have been another. If
a paper can be read in two ways, there is a claim for each reading.

A module measures (`claim`, `worst_seed`); what the paper says, its words, source and bound, is in the TOML
file beside it, by the claim's key:

    [claims.gini]
    claim = "Gini coefficient of messages {name} per event (below {below}), worst seed"
    source = "Sub-2-Sub, Section 4.2: load is evenly balanced; the bound is ours"
    paper = "even"
    below = 0.2
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from workloads.files.atomic import write_text

OURS = "not in the paper; a bound of ours"
BOUNDS = {"at_least": np.greater_equal, "above": np.greater, "at_most": np.less_equal, "below": np.less}


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


@dataclass(frozen=True)
class Found:
    """What was measured for a claim, without the claim's words.

    Attributes
    ----------
    key : str
        The claim's key in the file beside the module.
    measured, interval
        As in `Claim`; with `by_seed` those of the judged values.
    judged : bool, array_like or None
        The verdict; or the values that must all be within the bound in the file; None for an observation.
    words : mapping
        What fills the places `{name}` in the claim's words; `reading`, `paper` and a bound replace those of
        the file.
    """

    key: str
    measured: Any
    judged: Any = None
    interval: Any = None
    by_seed: Literal["", "worst", "mean"] = ""
    words: Mapping[str, Any] = field(default_factory=dict)

    def claim(self, file: Mapping[str, Mapping[str, Any]]) -> Claim:
        """The claim, with its words from the table `claims` of a file."""
        words = {"reading": "", "digits": 4, "never": "never", **file[self.key], **self.words}
        name = next((name for name in BOUNDS if name in words), "")
        measured, holds, interval, bound = self.measured, self.judged, self.interval, words.get(name)
        if self.by_seed and not name:
            holds = None
        elif name and holds is not None and not isinstance(holds, bool | np.bool_):
            holds = np.all(BOUNDS[name](np.asarray(self.judged, float), np.asarray(bound)))
        if self.by_seed:
            interval = [in_words(end, words["never"]) for end in span(self.judged, words["digits"])]
            measured = interval[1 if name in ("at_most", "below") or words.get("worst") == "most" else 0]
        if self.by_seed == "mean":
            measured = round(float(np.mean(self.judged)), words["digits"])
        usual = (
            ("not in the paper", "not stated")
            if holds is None
            else (OURS, f"{name.replace('_', ' ')} {bound}")
        )
        source, paper = words.get("source", usual[0]), words.get("paper", usual[1])
        return Claim(
            id="",
            claim=words["claim"].format(**words),
            paper=paper.format(**words) if isinstance(paper, str) else _plain(paper),
            measured=_plain(measured),
            holds=None if holds is None else bool(holds),
            source=source.format(**words),
            interval=_plain(interval),
            reading=str(words["reading"]),
        )


Claims = Iterator[Found]


def claim(key: str, measured: Any, judged: Any = None, *, interval: Any = None, **words: Any) -> Found:
    """What was measured for a claim: an observation, unless something is judged.

    Examples
    --------
    >>> file = {"one": {"claim": "{what} is one", "source": "Peano, Section 1", "paper": 1}}
    >>> claim("one", 1, np.bool_(True), what="this").claim(file).holds
    True
    >>> claim("one", 1, what="this").claim(file).verdict
    'observation'
    """
    return Found(key, measured, judged, interval, words=words)


def worst_seed(key: str, values: ArrayLike, **words: Any) -> Found:
    """The worst of several seeds, all of which must be within the bound, if there is one.

    Infinite stands for never.

    Examples
    --------
    >>> file = {"soon": {"claim": "cycles until all rings are complete, worst seed", "at_most": 30}}
    >>> found = worst_seed("soon", [12.0, np.inf]).claim(file)
    >>> found.holds, found.paper, found.measured, found.interval
    (False, 'at most 30', 'never', [12.0, 'never'])
    """
    return Found(key, None, np.asarray(values, float), by_seed="worst", words=words)


def mean_seed(key: str, values: ArrayLike, **words: Any) -> Found:
    """The mean of several seeds, from the least to the greatest.

    Examples
    --------
    >>> found = mean_seed("x", [0.25, 0.5]).claim({"x": {"claim": "hit ratio, mean of seeds"}})
    >>> found.verdict, found.measured, found.interval
    ('observation', 0.375, [0.25, 0.5])
    """
    return Found(key, None, np.asarray(values, float), by_seed="mean", words=words)


def means(
    key: str, samples: Any, judged: Any = None, *, digits: int = 4, name: str = "{}", **words: Any
) -> Found:
    """The means of samples, a mapping or the groups of a Series, by their names, with confidence intervals.

    Examples
    --------
    >>> samples = {1: [1.0, 2.0, 3.0, 2.0]}
    >>> found = means("x", samples, digits=2, name="level {}").claim({"x": {"claim": "messages by level"}})
    >>> found.measured, found.interval
    ({'level 1': 2.0}, {'level 1': [0.7, 3.3]})
    """
    pairs = dict(samples.items() if isinstance(samples, Mapping) else iter(samples))
    measured = rounded({key: np.mean(values) for key, values in pairs.items()}, digits, name)
    return Found(key, measured, judged, intervals(pairs, digits, name), words=words)


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
    from workloads.statistics.intervals import interval_of_mean

    return [round(end, digits) for end in interval_of_mean(values)]


def share_interval(successes: float, trials: int, digits: int = 4) -> list[float]:
    """Wilson's interval of a share, rounded."""
    from workloads.statistics.intervals import interval_of_share

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
