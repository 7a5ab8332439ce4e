"""Claims, experiments and their folders; and verdicts that an audit found could not fail."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind

from sims.figures.style import figure, line
from sims.reproduce import registry
from sims.reproduce.camcast.memberships import chance_of_all
from sims.reproduce.claims import (
    OURS,
    Claim,
    below,
    interval_of_mean,
    interval_of_share,
    observed,
    read_claims,
    span,
    stated,
    write_claims,
)
from sims.reproduce.reproduction import Experiment, Measured, Progress, Tables, register
from sims.reproduce.reproductions_page import _experiment, _summary, write_page
from sims.reproduce.sub2sub.crash import judge_crash
from sims.reproduce.sub2sub.fig5 import judge as judge_fig5
from sims.reproduce.sub2sub.fig6 import judge as judge_fig6
from sims.reproduce.sub2sub.following import EXTENDED, PUBLISHED, Seen
from sims.runs.folder import RunFolder
from sub2sub.errors import InputError


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    return Measured({"numbers": pd.DataFrame({"x": [seed, 2.0]})}, "two numbers")


def judge(tables: Tables) -> list[Claim]:
    least = float(tables["numbers"].x.min())
    return [stated("the least is one", "a paper, Section 1", 1, least, least == 1)]


def draw(tables: Tables) -> dict[str, object]:
    fig, axes = figure()
    line(axes, 0, [0, 1], tables["numbers"].x, "numbers")
    return {"": fig, "again": figure()[0]}


TINY = Experiment("tiny-fig1", "Numbers", measure, judge, draw)


def test_claims_become_a_list_of_plain_objects(tmp_path: Path) -> None:
    measured = {"a": np.float64(0.5), "b": np.array([1, 2]), "c": np.int64(3)}
    claims = [
        Claim("x-fig1", "half", "0.5", measured, True, source="a paper, Section 1", interval=(0.4, 0.6))
    ]
    write_claims(tmp_path, claims)
    assert json.loads((tmp_path / "claims.json").read_text()) == [
        {
            "id": "x-fig1",
            "claim": "half",
            "paper": "0.5",
            "measured": {"a": 0.5, "b": [1, 2], "c": 3},
            "holds": True,
            "source": "a paper, Section 1",
            "interval": [0.4, 0.6],
            "reading": "",
            "scale": "",
        }
    ]


def test_an_observation_has_no_verdict() -> None:
    assert observed("x", 3).holds is None
    assert stated("x", "nowhere", 3, 3, np.bool_(False)).holds is False


def test_intervals_hold_what_they_are_of() -> None:
    assert span([3, 1, 2]) == [1, 3]
    low, high = interval_of_mean(np.random.default_rng(1).normal(5, 1, 400))
    assert low < 5 < high < low + 0.25
    assert interval_of_share(0, 10)[0] == 0 < interval_of_share(0, 10)[1]


def test_below_is_welchs_test() -> None:
    """On both sides of the border, and not where the difference may be chance."""
    rng, verdicts = np.random.default_rng(2), []
    for shift in np.linspace(-1.5, 0.5, 40):
        less, more = rng.normal(shift, 1.0, 9), rng.normal(0.0, 2.0, 30)
        found = ttest_ind(less, more, equal_var=False).confidence_interval(0.95)
        assert below(less, more) == (found.high < 0)
        verdicts.append(below(less, more))
    assert 0 < sum(verdicts) < len(verdicts)
    assert below([1.0], [2.0])
    assert not below([2.0, 2.0], [2.0])


def test_an_experiment_leaves_claims_figures_tables_and_its_scale(tmp_path: Path) -> None:
    claims = TINY.reproduce(tmp_path, quick=True, formats=("png", "svg", "pdf"))
    names = {path.name for path in (tmp_path / "tiny-fig1").iterdir()}
    assert {"claims.json", "numbers.parquet", "manifest.json"} <= names
    assert {f"tiny-fig1{name}.{kind}" for name in ("", "-again") for kind in ("png", "svg", "pdf")} <= names
    assert (tmp_path / "tiny-fig1" / "tiny-fig1.png").read_bytes()[:4] == b"\x89PNG"
    assert [(claim.id, claim.scale, claim.holds) for claim in claims] == [
        ("tiny-fig1", "two numbers (quick form)", True)
    ]


def test_nothing_is_overwritten_unasked_and_a_full_run_by_no_quick_one(tmp_path: Path) -> None:
    TINY.reproduce(tmp_path)
    with pytest.raises(InputError, match="expected a new or empty folder"):
        TINY.reproduce(tmp_path)
    with pytest.raises(InputError, match="has a full run, which a quick one does not replace"):
        TINY.reproduce(tmp_path, quick=True, overwrite=True)
    assert TINY.reproduce(tmp_path, seed=3, overwrite=True)[0].holds is False
    assert read_claims(tmp_path / "tiny-fig1")[0].measured == 2


def test_the_page_has_every_experiment_and_says_which_were_not_run_in_full(tmp_path: Path) -> None:
    for id, folder in (("hpmcast-fig9", "full"), ("camcast-memory", "quick")):
        registry.find(id).reproduce(tmp_path / folder, quick=folder == "quick")
    assert write_page(tmp_path / "page.md", tmp_path / "full") == 2
    text = (tmp_path / "page.md").read_text()
    assert all(f"### {id}: " in text for id in registry.experiments())
    assert "In quick form only: camcast-memory." in text
    assert "Not run: " in text
    assert "| **does not hold** |" in text
    assert "| camcast-fig13 | | | | not run | |" in text
    assert text.count("| quick | ") == 1
    assert text.count("| full | ") == 1
    shutil.rmtree(tmp_path / "full" / "hpmcast-fig9")  # what was run before is kept, and counted
    assert write_page(tmp_path / "page.md", tmp_path / "full") == 1
    assert (tmp_path / "page.md").read_text() == text


def test_the_page_counts_by_reading_and_keeps_our_bounds_apart() -> None:
    claims = [
        stated("x", "a paper, Section 1", 1, 1, True, reading="one"),
        stated("x", "a paper, Section 1", 1, 2, False, reading="another"),
        stated("y", "a paper, Section 2", 1, 1, True, reading="another"),
        stated("z", OURS, "at most 3", {"a": {"b": 1.0}}, True),
    ]
    run = RunFolder(Path("nowhere"), {"quick": False, "scale": "two numbers", "seed": 1})
    text = _experiment(TINY, run, claims, "About it.\n")
    assert "by reading: *one* 1 of 1; *another* 1 of 2." in text
    assert "| ours: at most 3 | a: (b: 1) | **holds** |" in text
    assert "About it." in text
    summary = _summary({"tiny": claims}, {}, {})
    assert "for each reading: 2 hold, 1 do not. Bounds of ours: 1 hold, 0 do not." in summary


def test_every_figure_and_table_of_the_papers_is_registered() -> None:
    known = registry.experiments()
    expected = {f"camcast-fig{k}" for k in range(13, 29)} | {f"sub2sub-fig{k}" for k in (5, 6, "7a", "7b", 8)}
    expected |= {f"hpmcast-fig{k}" for k in (7, 8, 9, 11, 12, 13)}
    expected |= {"camcast-table1", "camcast-table2", "camcast-analysis", "pmcast-chain", "hpmcast-views"}
    assert expected <= known.keys()
    assert all(each.title for each in known.values())


def test_an_unknown_experiment_is_refused_with_the_nearest_id() -> None:
    with pytest.raises(InputError, match="did you mean 'camcast-fig13'"):
        registry.find("camcast-fg13")


def test_an_id_belongs_to_one_module() -> None:
    known = registry.find("camcast-fig13")
    with pytest.raises(ValueError, match="registered in"):
        register("camcast-fig13", "again", measure, judge, draw)
    assert registry.find("camcast-fig13") is known


def rings(cycles: int) -> pd.DataFrame:
    """Rings of all workloads, complete at one cycle."""
    keys = [
        (reading, f"{kind}-{d}")
        for reading in ("least recent partner", "random partner")
        for kind in ("uniform", "power-law")
        for d in (1, 2, 3, 5)
    ]
    frames = [
        pd.DataFrame({"cycle": [0, cycles], "links": [0.1, 1.0], "complete": [0.0, 1.0]}).assign(
            reading=reading, workload=workload, seed=1
        )
        for reading, workload in keys
    ]
    return pd.concat(frames, ignore_index=True)


def test_figure_5_holds_at_40_cycles_and_not_at_41() -> None:
    for cycles, holds in ((40, True), (41, False)):
        verdicts = [c.holds for c in judge_fig5({"rings": rings(cycles)}) if c.holds is not None]
        assert verdicts == [holds] * 8


def test_rings_that_are_never_complete_do_not_make_deliveries_early() -> None:
    run = {"cycle": [0, 1, 2], "complete": [0.0, 0.5, 0.9], "rings_complete": [0.0, 0.1, 0.2]}
    table = pd.DataFrame(run).assign(reading="x", seed=1)
    assert next(judge_fig6({"delivery": table})).holds is False


def test_deliveries_that_never_recover_do_not_hold_because_rings_do_not_either() -> None:
    cycles = np.arange(0, 62, 2)
    frames = [
        pd.DataFrame({"cycle": cycles, "rings": 0.5, "complete": 0.5, "spam": 0.0}).assign(
            form=form, level=0.2, seed=1
        )
        for form in (PUBLISHED, EXTENDED)
    ]
    verdicts = [claim.holds for claim in judge_crash(Seen(pd.concat(frames))) if claim.holds is not None]
    assert verdicts == [False, False]


def test_ten_perfect_runs_are_likely_by_chance() -> None:
    assert 0.6 < chance_of_all({"unstructured": 0.84, "semi-structured": 0.84, "structured": 0.84}) < 0.75
