"""Specs in TOML: they are read as written, and mistakes are refused with their file and line."""

from __future__ import annotations

import tomllib
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from sub2sub.errors import InputError
from workloads import Attribute, Spec
from workloads.generate.churn import Churn
from workloads.settings.reading import read
from workloads.spec.catalogue import resolve
from workloads.spec.distributions import Constant, Empirical, Mixture, Normal, PowerLaw, Uniform, Zipf
from workloads.spec.files import WORKLOAD, load

STOCKS = """
events_follow = "interest"
correlation = [[1.0, 0.5], [0.5, 1.0]]

[[attributes]]
name = "price"
high = 1000.0
wildcard = 0.1
interest = { kind = "mixture", parts = [{ kind = "normal", mean = 0.3 }, "uniform"], weights = [3, 1] }
width = { kind = "power-law", alpha = 4 }

[[attributes]]
name = "symbol"
interest = { kind = "zipf", count = 50 }
width = "constant"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "stocks.toml"
    path.write_text(text)
    return path


def test_a_file_gives_the_spec_it_describes(tmp_path: Path) -> None:
    assert resolve(str(write(tmp_path, STOCKS))) == Spec(
        "stocks",
        (
            Attribute(
                "price", Mixture((Normal(0.3), Uniform()), (3, 1)), PowerLaw(4), wildcard=0.1, high=1000.0
            ),
            Attribute("symbol", Zipf(50), Constant(0.0)),
        ),
        correlation=((1.0, 0.5), (0.5, 1.0)),
        events_follow="interest",
    )


def test_tables_beside_the_file_are_read_on_the_axis(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("p,q\n10,1\n20,2\n")
    spec = load(
        write(
            tmp_path,
            'events_follow = "table"\nevent_table = { file = "prices.csv", columns = ["p"] }\n'
            '[[attributes]]\nname = "price"\nhigh = 40.0\n'
            'interest = { kind = "empirical", file = "prices.csv", column = "p" }\nwidth = "constant"\n',
        )
    )
    assert spec.attributes[0].interest == Empirical((0.25, 0.5))
    lows, highs = spec.subscriptions(100, seed=1)
    assert set(np.unique(lows)) == {10.0, 20.0}
    assert set(np.unique(spec.events(100, 1, lows, highs))) == {10.0, 20.0}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "wildcard = 0.1",
            "wildcart = 0.1",
            r"toml:8: .*price\.wildcart: unknown key, did you mean 'wildcard'",
        ),
        ("alpha = 4", "aplha = 4", r"toml:10: .*price\.width\.aplha: unknown key, did you mean 'alpha'"),
        ("events_follow", "correlations", r"toml:2: .*did you mean 'correlation'"),
        ("alpha = 4", 'alpha = "4"', r'toml:10: .*price\.width\.alpha: expected a number, got "4"'),
        ("alpha = 4", "alpha = -4", r"toml:10: power law alpha = -4\.0"),
        ("alpha = 4", "alpha = nan", r"toml:10: .*price\.width\.alpha: expected a number, got nan"),
        ("alpha = 4", "alpha = true", r"toml:10: .*price\.width\.alpha: expected a number, got true"),
        ("wildcard = 0.1", "wildcard = 2", r"toml:8: price\.wildcard = 2\.0: expected a probability"),
        (
            "weights = [3, 1]",
            "weights = 3",
            r"toml:9: .*price\.interest\.weights: expected a list of",
        ),
        ('"uniform"]', '"unifrom"]', r"toml:9: .*price\.interest\.parts\.1\.kind: .* did you mean 'uniform'"),
        ('"uniform"]', "3]", r"toml:9: .*price\.interest\.parts\.1: expected a table with a kind, got 3"),
        ("count = 50", "count = 5.5", r"symbol\.interest\.count: expected a whole number, got 5\.5"),
        ("count = 50", "exponent = 1", r"symbol\.interest\.count: expected a value"),
        (
            'kind = "zipf"',
            'kind = "zip"',
            r"toml:14: .*interest\.kind: expected one of constant, .*'zipf'",
        ),
        ('name = "symbol"', 'name = "price"', "distinct attribute names"),
        ('name = "symbol"', 'name = "a b"', "letters, digits"),
        ("0.5], [0.5", "0.5], [0.4", "symmetric"),
        ("[[attributes]]", "[[attributs]]", "did you mean 'attributes'"),
        ("high = 1000.0", "high = ", "Invalid value"),
    ],
)
def test_mistakes_are_refused_with_their_place(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in STOCKS
    with pytest.raises(InputError, match=message):
        load(write(tmp_path, STOCKS.replace(old, new)))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.toml"):
        resolve(str(tmp_path / "absent.toml"))


def test_everything_wrong_with_a_spec_is_said_at_once(tmp_path: Path) -> None:
    text = (
        STOCKS.replace("alpha = 4", "alhpa = 4").replace("count = 50", "count = true").replace("0.1", "'x'")
    )
    with pytest.raises(InputError) as found:
        load(write(tmp_path, text))
    lines = str(found.value).splitlines()
    assert [line.rpartition(".toml:")[2].partition(":")[0] for line in lines] == ["8", "10", "10", "14"]


FLOATS = st.floats(0, 1)
SIMPLE = st.one_of(
    st.builds(Constant, FLOATS),
    st.builds(lambda ends: Uniform(*sorted(ends)), st.tuples(FLOATS, FLOATS)),
    st.builds(PowerLaw, st.floats(0, 9), FLOATS),
    st.builds(Normal, FLOATS, st.floats(0.01, 2)),
    st.builds(
        Zipf, st.integers(1, 99), st.floats(0, 3), st.sampled_from(["shuffled", "rising"]), st.booleans()
    ),
    st.builds(Empirical, st.lists(FLOATS, min_size=1, max_size=3).map(tuple)),
)
WEIGHT = st.floats(0.1, 9)
DISTRIBUTION = st.recursive(
    SIMPLE,
    lambda parts: st.lists(st.tuples(parts, WEIGHT), min_size=1, max_size=3).map(
        lambda pairs: Mixture(*zip(*pairs, strict=True))
    ),
    max_leaves=4,
)
CHURN = st.builds(
    Churn, st.floats(1, 99), st.floats(1, 99), st.sampled_from(["exponential", "pareto"]), st.floats(1.5, 4),
    FLOATS, st.none() | FLOATS,
)  # fmt: skip
ATTRIBUTE = st.builds(Attribute, st.just("a"), DISTRIBUTION, DISTRIBUTION, FLOATS)
SPECS = st.builds(
    lambda found, churn: Spec(
        "drawn", tuple(replace(each, name=f"a{k}") for k, each in enumerate(found)), churn=churn
    ),
    st.lists(ATTRIBUTE, min_size=1, max_size=3),
    st.none() | CHURN,
)


KINDS = {
    Constant: "constant", Empirical: "empirical", Mixture: "mixture", Normal: "normal", PowerLaw: "power-law",
    Uniform: "uniform", Zipf: "zipf",
}  # fmt: skip


def written(value: Any) -> Any:
    """A spec as its file has it, without what is not given."""
    if isinstance(value, tuple):
        return [written(item) for item in value]
    if not is_dataclass(value):
        return value
    kind = {"kind": KINDS[type(value)]} if type(value) in KINDS else {}
    items = ((one.name, getattr(value, one.name)) for one in fields(value))
    return kind | {name: written(item) for name, item in items if item is not None}


@given(SPECS)
def test_any_spec_is_read_as_it_is_written(spec: Spec) -> None:
    assert read(WORKLOAD, tomllib.loads(tomlkit.dumps(written(spec)))) == spec
