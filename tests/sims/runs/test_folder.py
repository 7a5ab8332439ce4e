"""Run folders: what is written is whole, and the manifest tells how it ended."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from sims.runs.folder import RunFolder, RunWriter, is_run_folder
from sub2sub.errors import InputError
from workloads.files import manifest as manifests


def begin(path: Path) -> RunWriter:
    return RunWriter.create(path, kind="run", name="test", seed=7, cycles=3)


def test_a_run_that_ends_is_done_and_can_be_read(tmp_path: Path):
    with begin(tmp_path / "r") as writer:
        assert RunFolder.open(tmp_path / "r").manifest["state"] == "running"
        writer.write_settings("cycles = 3\n")
        writer.write_table("rings", {"cycle": [0, 1], "complete": [0.5, 1.0]})
        writer.note("halfway")
    run = RunFolder.open(tmp_path / "r")
    assert run.manifest["state"] == "done"
    assert (run.manifest["seed"], run.manifest["cycles"], run.settings) == (7, 3, {"cycles": 3})
    assert run.table("rings")["complete"].to_pylist() == [0.5, 1.0]
    assert "halfway" in (run.path / "log.txt").read_text()
    assert {"python", "numpy", "numba", "sub2sub"} <= run.manifest["versions"].keys()


def test_a_run_shows_its_tables_and_a_comparison_its_finding_in_a_notebook(tmp_path: Path):
    with RunWriter.create(tmp_path / "r", kind="compare", name="costs") as writer:
        writer.write_table("cells", {"system": ["ours", "theirs"], "bytes": [1, 2]})
        writer.write_text("finding.txt", "Rings <take> less.\n")
    run = RunFolder.open(tmp_path / "r")
    assert repr(run) == f"<compare 'costs' in {tmp_path / 'r'}: done>"
    assert "<td>cells</td><td>2</td><td>system, bytes</td>" in run._repr_html_()
    assert run._repr_html_().endswith("<p>Rings &lt;take&gt; less.</p>")


def test_a_run_that_is_interrupted_while_it_begins_is_not_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write = manifests.write_manifest

    def interrupted(*arguments: Any) -> None:
        write(*arguments)
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(manifests, "write_manifest", interrupted)
    with pytest.raises(KeyboardInterrupt):
        begin(tmp_path / "r")
    assert RunFolder.open(tmp_path / "r").manifest["state"] == "interrupted"


def test_a_kill_between_settings_and_their_digest_leaves_no_digest_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with begin(tmp_path / "r") as writer:
        writer.write_settings("cycles = 3\n")
    assert "settings" in RunFolder.open(tmp_path / "r").manifest
    write = RunWriter.write_text

    def killed(self: RunWriter, name: str, text: str) -> Path:
        write(self, name, text)
        assert "settings" not in RunFolder.open(tmp_path / "r").manifest
        raise SystemExit

    monkeypatch.setattr(RunWriter, "write_text", killed)
    with pytest.raises(SystemExit), RunWriter.resume(tmp_path / "r", 5) as writer:
        writer.write_settings("cycles = 5\n")


@pytest.mark.parametrize(("error", "state"), [(KeyboardInterrupt, "interrupted"), (RuntimeError, "failed")])
def test_the_manifest_tells_how_a_run_was_stopped(tmp_path: Path, error: type, state: str):
    with pytest.raises(error), begin(tmp_path / "r"):
        raise error("why")
    assert RunFolder.open(tmp_path / "r").manifest["state"] == state
    with RunWriter.resume(tmp_path / "r"):
        pass
    manifest = RunFolder.open(tmp_path / "r").manifest
    assert manifest["state"] == "done"
    assert "error" not in manifest


def test_a_full_disk_leaves_the_old_table_and_no_other_file(tmp_path: Path, monkeypatch):
    def fill_up(table, path, **options):
        Path(path).write_bytes(b"PAR1 half of a tab")
        raise OSError(errno.ENOSPC, "No space left on device")

    with begin(tmp_path / "r") as writer:
        writer.write_table("rings", {"cycle": [0]})
        before = sorted(path.name for path in writer.path.iterdir())
        with monkeypatch.context() as patch:
            patch.setattr(parquet, "write_table", fill_up)
            with pytest.raises(OSError, match="No space left"):
                writer.write_table("rings", {"cycle": [0, 1]})
        assert sorted(path.name for path in writer.path.iterdir()) == before
        assert writer.table("rings").num_rows == 1


WRITES_FOR_EVER = """
import sys
from pathlib import Path
import numpy as np
from sims.runs.folder import RunWriter
with RunWriter.create(Path(sys.argv[1]), kind="run", name="test") as writer:
    for rows in range(100_000, 10_000_000):
        writer.write_table("rings", {"cycle": np.arange(rows)})
        print(rows, flush=True)
"""


def test_a_killed_process_leaves_whole_tables_and_a_folder_to_resume(tmp_path: Path):
    process = subprocess.Popen(
        [sys.executable, "-c", WRITES_FOR_EVER, str(tmp_path / "r")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    with pytest.raises(InputError, match="another process is writing to it"):
        RunWriter.resume(tmp_path / "r")
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    run = RunFolder.open(tmp_path / "r")
    assert run.manifest["state"] == "running"
    assert run.table("rings").num_rows >= 100_000
    with RunWriter.resume(tmp_path / "r"):
        assert not list((tmp_path / "r").glob(".*"))


def test_a_folder_in_use_is_not_written_over_unless_asked(tmp_path: Path):
    with begin(tmp_path / "r") as writer:
        writer.write_table("rings", {"cycle": [0]})
    with pytest.raises(InputError, match="expected a new or empty folder, it has a run that is done"):
        begin(tmp_path / "r")
    with pytest.raises(InputError, match="expected a run that is not done"):
        RunWriter.resume(tmp_path / "r")
    with RunWriter.create(tmp_path / "r", kind="run", name="again", replace=True):
        pass
    assert RunFolder.open(tmp_path / "r").tables() == []
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="expected a new or empty folder, it has files"):
        begin(tmp_path / "other")


def test_what_is_no_run_folder_is_refused(tmp_path: Path):
    assert not is_run_folder(tmp_path)
    with pytest.raises(InputError, match=r"expected a run folder with a manifest\.json"):
        RunFolder.open(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": 99}')
    with pytest.raises(InputError, match="expected the manifest of a run, format 1"):
        RunFolder.open(tmp_path)
