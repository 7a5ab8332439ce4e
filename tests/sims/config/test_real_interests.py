"""Real interests in runs and comparisons: every row is a subscriber, with its sequence ID, key and types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from sims.compare.plan import Unit
from sims.compare.worlds import build_world, world_options
from sims.compare.worlds.build import interests_digest
from sims.compare.worlds.ranges import rounding_effect
from sims.config.experiment import experiment_from
from sims.runs.folder import RunFolder
from sims.runs.runner import run_experiment, simulation_of
from sub2sub.errors import InputError
from workloads.spec.table_files import open_stored

DEBIAN = Path(__file__).parents[3] / "sims" / "examples" / "debian"


def experiment(table: Path, **more: Any) -> Any:
    return experiment_from({"cycles": 2, "workload": {"table": str(table), "events": 20}, **more})


def test_a_run_takes_a_described_table_with_its_names_and_types(tmp_path: Path) -> None:
    run_experiment(experiment(DEBIAN / "ranges.toml", population={"size": 60}), 1, tmp_path / "r")
    run = RunFolder.open(tmp_path / "r")
    assert run.manifest["attributes"] == ["package", "version"]
    assert run.manifest["types"]["version"] == {"type": "int"}
    keys = run.table("subscribers").to_pydict()["key"]
    assert len(keys) == 60
    assert set(keys) <= set(open_stored(DEBIAN / "ranges.toml").keys or ())


def test_a_run_uses_the_sequence_ids_of_a_workload(tmp_path: Path) -> None:
    written = pa.table(
        {"subscriber": [1, 0, 2], "ring_id": [70, 5, 9], "x_low": [0.0] * 3, "x_high": [1.0, 2.0, 3.0]}
    )
    kept = {"fields": [{"name": name, "metadata": {}} for name in written.column_names]}
    metadata = {"org.apache.spark.sql.parquet.row.metadata": json.dumps(kept)}
    (tmp_path / "w" / "subscriptions").mkdir(parents=True)
    parquet.write_table(
        written.replace_schema_metadata(metadata), tmp_path / "w" / "subscriptions" / "part-0.parquet"
    )
    with pytest.raises(InputError, match="w: expected a complete workload, with subscriptions/_SUCCESS"):
        open_stored(tmp_path / "w")
    (tmp_path / "w" / "subscriptions" / "_SUCCESS").touch()
    found = simulation_of(experiment(tmp_path / "w"), 1, tmp_path).overlay.population.ids
    own = open_stored(tmp_path / "w").ring_ids
    assert own is not None
    assert found.tolist() == sorted(2 * int(each) for each in own)


def test_no_row_is_used_twice(tmp_path: Path) -> None:
    assert len(simulation_of(experiment(DEBIAN / "ranges.toml"), 1, tmp_path).overlay.population) == 2000
    with pytest.raises(InputError, match="ranges has 2000 subscriptions"):
        simulation_of(experiment(DEBIAN / "ranges.toml", population={"size": 2001}), 1, tmp_path)


@pytest.mark.parametrize("system", ["camcast", "camcast on rings"])
def test_topics_of_a_table_run_with_camcast(tmp_path: Path, system: str) -> None:
    made = experiment(DEBIAN / "topics.toml", system=system, population={"size": 80})
    run_experiment(made, 1, tmp_path / "r")
    assert RunFolder.open(tmp_path / "r").manifest["attributes"] == ["topic"]
    with pytest.raises(InputError, match="table: expected topics, got ranges of package, version"):
        simulation_of(experiment(DEBIAN / "ranges.toml", system=system), 1, tmp_path)


def test_topics_of_a_spec_run_with_camcast(tmp_path: Path) -> None:
    (tmp_path / "news.toml").write_text("[topics]\nfanout = [2, 3]\n")
    given = {"cycles": 1, "system": "camcast", "population": {"size": 50}}
    made = experiment_from({**given, "workload": {"spec": str(tmp_path / "news.toml"), "events": 5}})
    assert len(simulation_of(made, 1, tmp_path).overlay.population) == 50


def test_worlds_of_real_interests_are_compared_on_all_rows_or_on_as_many_as_asked() -> None:
    for kind, name in (("ranges", "ranges"), ("topics", "topics")):
        world = f"{kind} {DEBIAN / name}.toml"
        assert build_world(world + " rows=all", 100, 10, 5, 1).n == 2000
        assert build_world(world, 100, 10, 5, 1).n == 100


def test_the_grid_is_a_setting_and_its_effect_is_told() -> None:
    name = f"ranges {DEBIAN / 'ranges.toml'} bits=5"
    assert build_world(name, 200, 10, 5, 1).highs.max() == 31
    coarse, fine = (rounding_effect(str(DEBIAN / "ranges.toml"), 200, 1, bits) for bits in (3, 16))
    added = [float(text.rpartition("adds ")[2].partition(" %")[0]) for text in (coarse, fine)]
    assert added[0] > 100 > added[1] >= 0
    assert world_options("a b.csv bits=12 rows=all") == ("a b.csv", {"bits": "12", "rows": "all"})


def test_a_unit_of_another_table_is_another_unit(tmp_path: Path) -> None:
    keys = []
    for text in ("1,2\n2,3\n", "1,2\n2,4\n"):
        (tmp_path / "t.csv").write_text("x_low,x_high\n" + text)
        interests_digest.cache_clear()
        keys.append(Unit(f"ranges {tmp_path / 't.csv'}", "sub2sub", 1, 10, 1, 1, 1.0).key)
    assert keys[0] != keys[1]
    assert np.unique(keys).size == 2
