"""The scheduler: a unit that fails or is killed loses its own result only, and says why it has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from workloads.sweeps.scheduler import KILLED, Unit, key_of, read_unit, run_units

FATAL = "tests.workloads.sweeps.sweep_runs:fatal"


@pytest.fixture(autouse=True)
def _consent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUB2SUB_ALLOW", "tests")


def units(**more: object) -> list[Unit]:
    settings = [{"seed": seed, **more} for seed in range(5)]
    return [Unit(FATAL, each, key_of(FATAL, each["seed"])) for each in settings]


def test_a_killed_process_and_a_full_disk_keep_no_other_unit_from_running(tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    plan = units()
    reasons = run_units(plan, tmp_path, processes=2, progress=lambda *step: steps.append(step))
    assert reasons == {plan[2].key: KILLED, plan[3].key: "OSError: [Errno 28] No space left on device"}
    assert "No space left" in (tmp_path / f"{plan[3].key}.error.txt").read_text()
    found = [read_unit(tmp_path, unit)["found"].to_pylist() for unit in plan if unit.key not in reasons]
    assert found == [[0], [1], [4]]
    assert steps == [(done, 5) for done in range(6)]


def test_only_units_without_a_result_run_again(tmp_path: Path) -> None:
    run_units(units(), tmp_path, processes=2)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.parquet")}
    plan, steps = units(mended=True), list[tuple[int, int]]()
    reasons = run_units(plan, tmp_path, progress=lambda *step: steps.append(step))
    assert list(reasons) == [plan[3].key]
    assert read_unit(tmp_path, plan[2])["found"].to_pylist() == [2]
    assert steps == [(3, 5), (4, 5), (5, 5)]
    after = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.parquet")}
    assert before.items() < after.items()
