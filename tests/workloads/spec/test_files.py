"""Specs in TOML: what is written is what is meant, and what cannot be meant is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sub2sub.errors import InputError
from workloads import Attribute, Spec
from workloads.spec.distributions import Constant, Empirical, Mixture, Normal, PowerLaw, Uniform, Zipf
from workloads.spec.files import from_dict, load, resolve, to_dict

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


def test_a_spec_survives_a_manifest(tmp_path: Path) -> None:
    spec = load(write(tmp_path, STOCKS))
    assert from_dict(json.loads(json.dumps(to_dict(spec)))) == spec


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
        ("wildcard = 0.1", "wildcart = 0.1", r"toml:8: .*unknown key 'wildcart', did you mean 'wildcard'"),
        ("alpha = 4", "aplha = 4", r"toml:10: price.width: unknown key 'aplha', did you mean 'alpha'"),
        ("events_follow", "correlations", r"toml:2: .*did you mean 'correlation'"),
        ("alpha = 4", 'alpha = "4"', r"price.width.alpha = '4': expected a number"),
        ("alpha = 4", "alpha = -4", "power law alpha = -4"),
        ("count = 50", "count = 5.5", r"symbol.interest.count = 5.5: expected a number"),
        ("count = 50", "exponent = 1", r"symbol.interest: expected 'count'"),
        ('kind = "zipf"', 'kind = "zip"', "expected a kind of constant"),
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
