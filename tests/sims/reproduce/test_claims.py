"""Claims, reproductions and their folders; and verdicts that an audit found could not fail."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind

from sims.reproduce import registry
from sims.reproduce.camcast.memberships import chance_of_all
from sims.reproduce.claims import OURS, Claim, claim, read_claims, span, worst_seed, write_claims
from sims.reproduce.reproduction import Plan, Reproduction, Tables, reproduce
from sims.reproduce.reproductions_page import statements, verdict, write_pages
from sims.reproduce.sub2sub.under_faults import EXTENDED, PUBLISHED
from sims.runs.folder import RunFolder
from sub2sub.errors import InputError
from workloads.charts.chart import Chart, Series, Sheet
from workloads.statistics.intervals import below, interval_of_mean, interval_of_share


def numbers(seed: int) -> pd.DataFrame:
    if seed == 13:
        raise ValueError("thirteen")
    return pd.DataFrame({"x": [seed, 2.0]})


def stated(
    text: str, source: str, paper: object, measured: object, holds: object, reading: str = ""
) -> Claim:
    words = {"x": {"claim": text, "source": source, "paper": paper, "reading": reading}}
    return claim("x", measured, holds).claim(words)


def plan(quick: bool, seed: int) -> Plan:
    return Plan("two numbers", numbers, [{"seed": seed}, {"seed": seed + 1}], table="numbers")


def judge(tables: Tables) -> list[Claim]:
    least = float(tables["numbers"].x.min())
    return [stated("the least is one", "a paper, Section 1", 1, least, least == 1)]


def charts(tables: Tables) -> dict[str, Sheet]:
    chart = Chart("", "x", "y", [Series("numbers", [0, 1], tables["numbers"].x[:2])])
    return {"": Sheet([chart]), "again": Sheet([chart, chart])}


TINY = Reproduction("tiny-fig1", "Numbers", plan, judge, charts)


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
    assert claim("x", 3).claim({"x": {"claim": "x"}}).holds is None
    assert stated("x", "nowhere", 3, 3, np.bool_(False)).holds is False


@pytest.mark.parametrize(
    ("bound", "values", "measured", "holds"),
    [
        ("at_least", [0.5, 0.75], 0.5, True), ("above", [0.5, 0.75], 0.5, False),
        ("at_most", [0.5, 0.25], 0.5, True), ("below", [0.5, 0.25], 0.5, False),
        ("at_most", [0.25, np.inf], "never", False), ("at_least", [0.5, np.nan], np.nan, False),
    ],
)  # fmt: skip
def test_a_bound_of_the_file_is_one_that_every_seed_must_keep(
    bound: str, values: list[float], measured: object, holds: bool
) -> None:
    file = {"x": {"claim": "worst seed ({" + bound + "})", bound: 0.5}}
    found = worst_seed("x", values).claim(file)
    assert (found.claim, found.paper) == ("worst seed (0.5)", f"{bound.replace('_', ' ')} 0.5")
    assert found.holds is holds
    assert found.measured == measured or measured is np.nan
    assert found.source == OURS
    assert claim("x", "in words", values).claim(file).holds is holds


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


def test_a_reproduction_leaves_claims_figures_tables_and_its_scale(tmp_path: Path) -> None:
    found = reproduce([TINY], tmp_path, quick=True, formats=("png", "svg", "pdf"))
    names = {path.name for path in (tmp_path / "tiny-fig1").iterdir()}
    assert {"claims.json", "numbers.parquet", "manifest.json"} <= names
    assert {f"tiny-fig1{name}.{kind}" for name in ("", "-again") for kind in ("png", "svg", "pdf")} <= names
    assert (tmp_path / "tiny-fig1" / "tiny-fig1.png").read_bytes()[:4] == b"\x89PNG"
    assert [(claim.id, claim.scale, claim.holds) for claim in found["tiny-fig1"]] == [
        ("tiny-fig1", "two numbers (quick form)", True)
    ]
    table = RunFolder.open(tmp_path / "tiny-fig1").table("numbers")
    assert table.to_pydict() == {"seed": [1, 1, 2, 2], "x": [1.0, 2.0, 2.0, 2.0]}


def test_nothing_is_overwritten_unasked_and_a_full_run_by_no_quick_one(tmp_path: Path) -> None:
    reproduce([TINY], tmp_path)
    assert "expected a new or empty folder" in reproduce([TINY], tmp_path)["tiny-fig1"]
    refused = reproduce([TINY], tmp_path, quick=True, overwrite=True)["tiny-fig1"]
    assert "has a full run, which a quick one does not replace" in refused
    assert reproduce([TINY], tmp_path, seed=3, overwrite=True)["tiny-fig1"][0].holds is False
    assert read_claims(tmp_path / "tiny-fig1")[0].measured == 2


def test_a_run_that_cannot_be_judged_again_stays_as_it_was(tmp_path: Path) -> None:
    reproduce([TINY], tmp_path)

    def broken(tables: Tables) -> Sheet:
        raise KeyError("x")

    with pytest.raises(KeyError):
        replace(TINY, charts=broken).again(tmp_path)
    assert RunFolder.open(tmp_path / "tiny-fig1").manifest["state"] == "done"
    assert TINY.again(tmp_path)[0].holds


def test_a_unit_that_fails_is_told_and_resuming_runs_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two reproductions one has a unit that fails; only that unit runs again, and what is done stays."""
    other = replace(TINY, id="tiny-fig2", plan=lambda quick, seed: plan(quick, seed + 11))
    found = reproduce([TINY, other], tmp_path, processes=2)
    assert found["tiny-fig1"][0].holds
    assert found["tiny-fig2"] == "1 of 2 units have no result: ValueError: thirteen"
    assert RunFolder.open(tmp_path / "tiny-fig2").manifest["state"] == "failed"
    times = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "units").glob("*.parquet")}

    def mended(seed: int) -> pd.DataFrame:
        return pd.DataFrame({"x": [float(seed)]})

    mended.__name__ = "numbers"
    monkeypatch.setattr(sys.modules[__name__], "numbers", mended)
    before = (tmp_path / "tiny-fig1" / "claims.json").stat().st_mtime_ns
    again = reproduce([TINY, other], tmp_path, resume=True)
    assert again["tiny-fig2"][0].holds is False
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "units").glob("*.parquet")}
    assert times.items() <= after.items()
    assert len(after) == len(times) + 1
    assert (tmp_path / "tiny-fig1" / "claims.json").stat().st_mtime_ns == before


def test_the_pages_have_every_reproduction_and_say_which_were_not_run_in_full(tmp_path: Path) -> None:
    for id, folder in (("hpmcast-fig9", "full"), ("camcast-memory", "quick")):
        reproduce([registry.find(id)], tmp_path / folder, quick=folder == "quick")
    assert write_pages(tmp_path / "page.md", tmp_path / "full") == 2
    text, hpmcast, camcast = (
        (tmp_path / name).read_text() for name in ("page.md", "page/hpmcast.md", "page/camcast.md")
    )
    assert "In quick form only: camcast-memory." in text
    assert "Not run: sub2sub-fig5, " in text
    assert f"[hpmcast-fig9](page/hpmcast.md#hpmcast-fig9) {registry.titles()['hpmcast-fig9']}" in text
    assert "![Expected rounds against" in hpmcast
    assert (tmp_path / "page" / "hpmcast-fig9.png").exists()
    assert camcast.count("**Quick form only.**") == 1
    assert "## camcast-fig13\n\n**Events sent within each community**" in camcast
    assert "Not run." in camcast
    shutil.rmtree(tmp_path / "full" / "hpmcast-fig9")  # what was run before is kept, and counted
    assert write_pages(tmp_path / "page.md", tmp_path / "full") == 2
    assert (tmp_path / "page.md").read_text() == text


def test_a_statement_counts_once_whatever_its_readings() -> None:
    claims = [
        stated("x", "a paper, Section 1", 1, 1, True, "one"),
        stated("x", "a paper, Section 1", 1, 2, False, reading="another"),
        stated("y", "a paper, Section 2", 1, 1, False, reading="one"),
        stated("y", "a paper, Section 2", 1, 1, False, reading="another"),
        stated("z", OURS, "at most 3", {"a": {"b": 1.0}}, True),
        stated("w", "a paper, Section 3", 1, 2, False),
        claim("v", 3).claim({"v": {"claim": "v"}}),
    ]
    found = [{**vars(claim), "verdict": claim.verdict} for claim in claims]
    assert [verdict(each) for each in statements(found)] == [
        "holds in some reading", "holds in no reading", "holds", "does not hold", "observation",
    ]  # fmt: skip


def loaded(*words: str, before: str = "pass") -> list[str]:
    """Our modules that a command has loaded in a process of its own."""
    script = (
        f"import sys; from sims.cli.app import main; {before}; main(sys.argv[1:], standalone_mode=False); "
        "ours = ('sub2sub', 'hierarchy', 'workloads', 'sims'); "
        "print(*(name for name in sys.modules if name.split('.')[0] in ours))"
    )
    run = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=True)
    return run.stdout.split()


def test_one_id_loads_one_module_of_reproductions_and_not_the_whole_project(tmp_path: Path) -> None:
    for id, most, parts in (
        ("hpmcast-fig9", 125, {"rounds", "trials"}), ("camcast-fig13", 100, {"failures", "sweep"}),
        ("sub2sub-fig7a", 125, {"fig7a"}),
    ):  # fmt: skip
        found = loaded("reproduce", id, "--quick", "--quiet", "--out", str(tmp_path))
        assert len(found) <= most, id
        parted = [name.split(".") for name in found if name.startswith("sims.reproduce.")]
        assert {names[3] for names in parted if len(names) == 4} == parts


def test_the_longest_reproduction_of_rings_loads_no_more_than_rings_need(tmp_path: Path) -> None:
    """With few peers: neither events nor networks, of which it has none."""
    few = (
        "from sims.reproduce.registry import described, files; id = 'sub2sub-fig5'; "
        "described(files()[id])[id]['quick'] |= {'size': 100, 'seeds': 1}"
    )
    words = ("reproduce", "sub2sub-fig5", "--quick", "--quiet", "--out", str(tmp_path))
    found = loaded(*words, before=few)
    assert len(found) <= 160
    assert "sims.reproduce.sub2sub.building" in found
    assert "sub2sub.compiled.events.dissemination" not in found


def test_a_run_loads_one_system_and_the_observers_it_has(tmp_path: Path) -> None:
    small = ["--set", "population.size=50", "--set", "cycles=1", "--set", "workload.events=5"]
    found = loaded("run", "sub2sub-fig5", *small, "--quiet", "--out", str(tmp_path / "run"))
    assert len(found) <= 169
    assert {name for name in found if name.startswith("sims.rivals.papers.")} == {
        "sims.rivals.papers.sub2sub"
    }
    unused = (
        "sims.engine.sessions",
        "sims.engine.topic_changes",
        "sims.observers.graph",
        "workloads.folder.stored",
    )
    assert not set(unused) & set(found)


def test_every_figure_and_table_of_the_papers_is_listed() -> None:
    expected = {f"camcast-fig{k}" for k in range(13, 19)} | {f"sub2sub-fig{k}" for k in (5, 6, "7a", "7b", 8)}
    expected |= {f"hpmcast-fig{k}" for k in (7, 8, 9, 11, 12, 13)} | {"camcast-memberships", "live-camcast"}
    expected |= {"camcast-table1", "camcast-table2", "camcast-analysis", "pmcast-chain", "hpmcast-views"}
    assert expected <= registry.files().keys()
    assert {id for ids in registry.by_paper().values() for id in ids} == registry.files().keys()


def test_an_unknown_id_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(InputError, match="did you mean 'camcast-fig13'"):
        registry.find("camcast-fg13")


@pytest.mark.parametrize("id", registry.files())
def test_a_file_names_what_its_module_has(id: str) -> None:
    """Plans of both forms have units with the arguments of their function, all different."""
    for quick in (True, False):
        plan = registry.find(id).plan(quick, 3)
        given = [{**own, **plan.fixed} for own in plan.settings]
        assert all(inspect.signature(plan.unit).bind(**each) for each in given)
        assert len({unit.key for unit in plan.units()}) == len(given) > 0
        assert not re.search(r"[{}]", plan.scale)


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
        verdicts = [
            c.holds
            for c in registry.find("sub2sub-fig5").judge({"rings": rings(cycles)})
            if c.holds is not None
        ]
        assert verdicts == [holds] * 8


def test_rings_that_are_never_complete_do_not_make_deliveries_early() -> None:
    run = {"cycle": [0, 1, 2], "complete": [0.0, 0.5, 0.9], "rings_complete": [0.0, 0.1, 0.2]}
    table = pd.DataFrame(run).assign(reading="x", seed=1)
    assert next(iter(registry.find("sub2sub-fig6").judge({"delivery": table}))).holds is False


def test_deliveries_that_never_recover_do_not_hold_because_rings_do_not_either() -> None:
    cycles = np.arange(0, 62, 2)
    frames = [
        pd.DataFrame({"cycle": cycles, "rings": 0.5, "complete": 0.5, "spam": 0.0}).assign(
            form=form, level=0.2, seed=1
        )
        for form in (PUBLISHED, EXTENDED)
    ]
    verdicts = [
        claim.holds
        for claim in registry.find("sub2sub-crash").judge({"faults": pd.concat(frames)})
        if claim.holds is not None
    ]
    assert verdicts == [False, False]


def test_ten_perfect_runs_are_likely_by_chance() -> None:
    assert 0.6 < chance_of_all({"unstructured": 0.84, "semi-structured": 0.84, "structured": 0.84}) < 0.75
