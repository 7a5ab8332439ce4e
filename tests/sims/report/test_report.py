"""Reports: what folders hold is shown, what they lack is said, and nothing stops a page."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from sims.cli.app import main
from sims.observers.snapshots import Snapshots
from sims.report.overlay import encode
from sims.report.report import report
from sims.report.sources import find_sources
from sims.reproduce.claims import Claim, write_claims
from sims.runs.folder import RunWriter
from sub2sub.errors import InputError
from tests.sims.report.overlays import simulation
from tests.sims.report.tables import save_table

RINGS = {"cycle": [0, 1, 2], "complete": [0.0, 0.5, 1.0], "links": [0.1, 0.7, 1.0], "rings": [9, 9, 9]}
SETTINGS = """
[dissemination]
shortcuts = {shortcuts}
[[faults]]
kind = "own <b>"
at = 1
[[faults]]
kind = "crash"
share = 0.2
at = 2
"""


def _run(path: Path, name: str = "one", seed: int = 1, shortcuts: int = 1) -> Path:
    with RunWriter.create(path, kind="run", name=name, seed=seed, cycles=2) as writer:
        writer.write_settings(SETTINGS.format(shortcuts=shortcuts))
        writer.write_table("rings", RINGS)
        writer.write_table(
            "traffic",
            {
                "cycle": [1, 1],
                "layer": ["ring", "cyclon"],
                "peers": [1, 1],
                "messages": [40, 20],
                "failed": [0, 0],
                "bytes": [9, 8],
            },
        )
        writer.write_table(
            "events",
            {"cycle": [0, 2, 2, 2], "matches": [9, 4, 0, 2], "hops": [9, 2, -1, 1], "reached": [9, 4, 0, 2]},
        )
        writer.write_table(
            "load", {"cycle": [2, 2], "peer": [0, 1], "received": [4, 6], "sent": [8, 8], "taken": [2, 4]}
        )
        writer.write_table(
            "delivery",
            {
                "cycle": [0, 2], "hit_ratio": [0.1, 1.0], "complete": [0.0, 1.0], "hops_mean": [1.0, 2.0],
                "messages_per_delivery": [1.0, 2.0], "duplicates_per_delivery": [0.0, 1.0],
            },
        )  # fmt: skip
    return path


def _charts(html: str) -> dict[str, dict[str, list[tuple[float, float | None]]]]:
    """The points of each chart of a page, by title and series."""
    texts = re.findall(r'<figure class="chart">.*?<script type="application/json">(.*?)</script>', html, re.S)
    found = [json.loads(text) for text in texts]
    return {
        chart["title"]: {s["label"]: list(zip(s["x"], s["y"], strict=True)) for s in chart["series"]}
        for chart in found
    }


def test_curves_are_those_of_the_tables(tmp_path: Path) -> None:
    charts = _charts(report([_run(tmp_path / "a")]).html())
    assert charts["Rings, per cycle"] == {
        "complete rings": [(0, 0), (1, 50), (2, 100)], "ring links in place": [(0, 10), (1, 70), (2, 100)],
    }  # fmt: skip
    assert charts["Hops against ring length"] == {"mean hops": [(2, 1), (4, 2)]}  # of the last cycle
    assert charts["Subscribers per event"] == {"events": [(2, 1), (4, 1)]}
    assert charts["Upkeep: messages per peer and cycle"] == {"ring": [(1, 40)], "cyclon": [(1, 20)]}
    at = {label: [x for x, share in points if share] for label, points in charts["Load per event"].items()}
    assert [round(x, 1) for x in at["copies received"]] == [1.5, 2.0]
    assert at["messages sent"] == pytest.approx([2.0, 4.0], abs=0.06)


def test_several_runs_share_their_charts_and_tell_how_they_differ(tmp_path: Path) -> None:
    _run(tmp_path / "a", seed=1)
    _run(tmp_path / "b", seed=2, shortcuts=3)
    html = report([tmp_path]).html()
    assert list(_charts(html)["Complete rings"]) == ["one, seed 1", "one, seed 2"]
    assert html.index("Settings in which the runs differ") < html.index("Ring construction</h2>")
    assert re.search(r"dissemination\.shortcuts</td><td[^>]*>1</td><td[^>]*>3<", html)


def test_faults_are_listed_marked_and_escaped(tmp_path: Path) -> None:
    html = report([_run(tmp_path / "a")]).html()
    assert "own &lt;b&gt;" in html
    assert "own <b>" not in html
    assert '"marks":[[1.0,"own \\u003cb>"],[2.0,"20 % of the peers crash"]]' in html
    assert "<td>20 % of the peers crash</td><td>at cycle 2</td>" in html


def test_claims_are_counted_by_their_verdicts(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "sub2sub-x"
    write_claims(
        folder, [Claim("sub2sub-x", "a < b", "40", 38, True), Claim("sub2sub-x", "none", 0, [3, 1.5], False)]
    )
    save_table(folder, "numbers", {"n": [1, 2]})
    html = report([tmp_path / "out"]).html()
    assert "<strong>1 of 2</strong> claims hold" in html
    assert "a &lt; b" in html
    assert "3, 1.5" in html
    assert "numbers.parquet" in html


def test_statistics_are_shown_with_their_ring_lengths(tmp_path: Path) -> None:
    (tmp_path / "statistics.md").write_text(
        "# Workload statistics\n\n| quantity | mean |\n|--|--|\n| links | 39 |\n"
    )
    save_table(tmp_path, "ring-lengths", {"length": [2, 3], "events": [10, 5]})
    html = report([tmp_path]).html()
    assert _charts(html)["Subscribers per event"] == {"events": [(2, 10), (3, 5)]}
    assert "<td>links</td>" in html


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda folder: (folder / "load.parquet").unlink(), "No table load was recorded by one"),
        (lambda folder: (folder / "load.parquet").write_bytes(b"PAR1"), "one: load.parquet cannot be read"),
        (lambda folder: (folder / "rings.parquet").write_bytes(b""), "one: rings.parquet cannot be read"),
        (lambda folder: save_table(folder, "rings", {"x": [1]}), "rings.parquet has no column"),
        (lambda folder: (folder / "experiment.toml").write_text("a = = 1"), "experiment.toml cannot be read"),
        (lambda folder: (folder / "claims.json").write_text("["), "claims.json cannot be read"),
        (lambda folder: (folder / "claims.json").write_text('[{"id": 1}]'), "1 entries without a claim"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "manifest.json cannot be read"),
        (lambda folder: save_table(folder, "links", {"cycle": [1]}), "no table peers"),
    ],
)  # fmt: skip
def test_what_is_missing_or_damaged_is_said_in_the_page(tmp_path: Path, damage: object, said: str) -> None:
    folder = _run(tmp_path / "one")
    assert callable(damage)
    damage(folder)
    html = report([folder]).html()
    assert said in html
    assert "Delivery, per cycle" in html  # the rest is there


def test_what_could_not_be_read_is_printed_too(tmp_path: Path) -> None:
    """A damaged table of a sweep was left out of the page, and the command said nothing."""
    folder = _run(tmp_path / "one")
    assert CliRunner().invoke(main, ["report", str(folder)]).stderr == ""
    (folder / "load.parquet").write_bytes(b"PAR1")
    ran = CliRunner().invoke(main, ["report", str(folder), "--quiet"])
    assert ran.exit_code == 0
    assert ran.stderr.startswith("left out: one: load.parquet cannot be read")


def test_a_run_that_is_not_done_is_shown_as_far_as_it_came(tmp_path: Path) -> None:
    with suppress(KeyboardInterrupt), RunWriter.create(tmp_path / "r", kind="run", name="r") as writer:
        writer.write_table("rings", RINGS)
        raise KeyboardInterrupt
    html = report([tmp_path / "r"]).html()
    assert "r is interrupted" in html
    assert "Rings, per cycle" in _charts(html)


def test_folders_are_found_once_and_only_if_there_is_something_in_them(tmp_path: Path) -> None:
    folder = _run(tmp_path / "deep" / "a")
    assert [source.path for source in find_sources([tmp_path, folder])] == [folder]
    (tmp_path / "empty").mkdir()
    for bad in ("empty", "nowhere"):
        with pytest.raises(InputError, match=r"expected a (run )?folder"):
            find_sources([tmp_path / bad])


@pytest.mark.parametrize("what", ["nothing", "workload"])
def test_the_command_refuses_other_folders_in_one_line(tmp_path: Path, what: str) -> None:
    if what == "workload":  # has a manifest, of another kind
        (tmp_path / "manifest.json").write_text('{"format": 1, "spec": {}}')
    done = CliRunner().invoke(main, ["report", str(tmp_path)])
    assert done.exit_code == 2
    assert done.output.count("\n") == 1
    assert str(tmp_path) in done.output


def test_the_command_writes_one_page(tmp_path: Path) -> None:
    folder = _run(tmp_path / "a")
    done = CliRunner().invoke(main, ["report", str(folder)])
    assert done.exit_code == 0, done.output
    assert done.output.startswith(str(folder / "report.html"))
    elsewhere = tmp_path / "x" / "y.html"
    CliRunner().invoke(main, ["report", str(folder), "--out", str(elsewhere), "--title", "A & B"])
    assert "<title>A &amp; B</title>" in elsewhere.read_text()


def test_recorded_cycles_that_do_not_fit_are_left_out(tmp_path: Path) -> None:
    run = simulation(n=80, cycles=0)
    for cycle in (1, 2, 6, 10):
        run.run(cycle)
        Snapshots(tmp_path).execute(run)
    peers, links = (parquet.read_table(tmp_path / f"{name}.parquet") for name in ("peers", "links"))
    whole = encode(peers, links)
    assert [shot["cycle"] for shot in whole.head["snapshots"]] == [1, 2, 6, 10]
    size = whole.packer.bytes_of(whole.arrays) / 1e6
    tight = encode(peers, links, megabytes=0.9 * size)
    assert [shot["cycle"] for shot in tight.head["snapshots"]] == [1, 6, 10]
    assert tight.left_out == [2]
    assert tight.packer.bytes_of(tight.arrays) <= 0.9e6 * size
    with pytest.raises(InputError, match=r"one recorded cycle takes .* \(--megabytes\)"):
        encode(peers, links, megabytes=0.001)


@pytest.mark.parametrize(
    ("table", "column", "values", "said"),
    [
        ("links", "target", [5, 99], "links row 1 of cycle 3: expected peers below 6"),
        ("peers", "peer", [0, 1, 2, 3, 4, 4], "each of the peers 0 to 5 once"),
        ("links", "kind", None, "expected a column 'kind'"),
        ("peers", "cycle", [9] * 6, "expected rows for cycle 3"),
    ],
)
def test_tables_that_make_no_overlay_are_refused(
    table: str, column: str, values: list[int] | None, said: str
) -> None:
    columns = {
        "peers": {"peer": np.arange(6), "low_0": np.zeros(6), "high_0": np.ones(6)},
        "links": {"cycle": [3, 3], "kind": ["ring", "ring"], "source": [0, 1], "target": [1, 2]},
    }
    if values is None:
        del columns[table][column]
    else:
        columns[table][column] = values
    with pytest.raises(InputError, match=said):
        encode(pa.table(columns["peers"]), pa.table(columns["links"]))
