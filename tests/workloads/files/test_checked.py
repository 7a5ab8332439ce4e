"""Damage on disk is an error that names the file, never another number."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from sims.config.experiment import experiment_from, load_experiment
from sims.engine.checkpoint import load_checkpoint, save_checkpoint
from sims.runs.folder import RunFolder, RunWriter
from sims.runs.runner import run_experiment
from sub2sub.errors import InputError
from workloads.files.checked import read_groups, read_parquet, read_schema, write_parquet
from workloads.files.places import file_name
from workloads.folder.layout import open_workload, read_rows
from workloads.folder.steps import completed
from workloads.folder.tables import Rows
from workloads.generate.generate import generate
from workloads.match.rings import _write_rings
from workloads.spec.catalogue import named
from workloads.statistics.per_run import values_of_tables


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]


def test_a_flipped_bit_in_a_page_is_found_wherever_it_is(tmp_path: Path) -> None:
    file = tmp_path / "numbers.parquet"
    table = pa.table({"x": np.random.default_rng(1).random(20_000)})
    write_parquet(table, file, compression="none", use_dictionary=False)
    whole = file.read_bytes()
    for at in random.Random(1).sample(range(100, 150_000), 20):
        file.write_bytes(flipped(whole, at))
        with pytest.raises(InputError, match=r"numbers\.parquet.*damaged"):
            read_parquet(file)
    file.write_bytes(whole)
    assert read_parquet(file).equals(table)


def test_a_flipped_bit_in_the_footer_is_found_wherever_it_is(tmp_path: Path) -> None:
    """Parquet has no checksum there: one byte in a thousand gave other numbers, others tracebacks."""
    file, dice = tmp_path / "numbers.parquet", random.Random(1)
    table = pa.table({"subscriber": np.arange(30), "x_low": np.random.default_rng(1).random(30)})
    write_parquet(table, file)
    whole = file.read_bytes()
    length = int.from_bytes(whole[-8:-4], "little")
    for at in range(len(whole) - 8 - length, len(whole)):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << dice.randrange(8)]) + whole[at + 1 :])
        for read in (read_parquet, read_schema):
            with pytest.raises(InputError, match=r"numbers\.parquet.*damaged"):
                read(file)
    parquet.write_table(table, file)  # of somebody else
    assert read_parquet(file).equals(table)


def test_links_in_a_folder_lead_nowhere_else(tmp_path: Path) -> None:
    out, elsewhere, spec = tmp_path / "w", tmp_path / "elsewhere", named("uniform-2")
    generate(spec, 100, 0, seed=1, out=out)
    elsewhere.mkdir()
    (elsewhere / "mine.txt").write_text("mine")
    shutil.rmtree(out / "subscriptions")
    (out / "subscriptions").symlink_to(elsewhere)
    generate(spec, 100, 0, seed=1, out=out, overwrite=True)
    assert [each.name for each in elsewhere.iterdir()] == ["mine.txt"]
    run = tmp_path / "run"
    with RunWriter.create(run, kind="run", name="test", seed=1):
        pass
    (run / "log.txt").unlink()
    (run / "log.txt").symlink_to(elsewhere / "mine.txt")
    with pytest.raises(InputError, match="expected a file, got a link"):
        RunWriter.create(run, kind="run", name="test", seed=1, replace=True)
    assert (elsewhere / "mine.txt").read_text() == "mine"


def test_the_rows_of_a_workload_are_verified(tmp_path: Path) -> None:
    generate(named("uniform-2"), 3000, 0, seed=1, out=tmp_path / "w")
    (file,) = (tmp_path / "w" / "subscriptions").glob("*.parquet")
    names = read_parquet(file).column_names
    file.write_bytes(flipped(file.read_bytes(), file.stat().st_size // 2))
    with pytest.raises(InputError, match="damaged"):
        read_rows(file.parent, names, 0, 3000)


def test_rings_and_tables_of_runs_are_verified(tmp_path: Path) -> None:
    file = tmp_path / "rings.parquet"
    members = np.arange(4000)
    _write_rings(file, range(2), np.array([1500, 2500]), members, members)
    whole = file.read_bytes()
    assert values_of_tables(None, [file], [], ["subscriber"])["value"].tolist() == [members.mean()]
    file.write_bytes(flipped(whole, len(whole) // 2))
    for text in (file.read_bytes(), b"no table"):
        file.write_bytes(text)
        for read in (read_parquet, lambda path: values_of_tables(None, [path], [], ["subscriber"])):
            with pytest.raises(InputError, match=r"rings\.parquet.*damaged"):
                read(file)


def test_tables_of_others_are_verified(tmp_path: Path) -> None:
    file = tmp_path / "orders" / "orders.parquet"
    file.parent.mkdir()
    write_parquet(pa.table({"x": np.arange(4000.0)}), file, compression="none", use_dictionary=False)
    file.write_bytes(flipped(file.read_bytes(), file.stat().st_size // 2))
    for source in (file, file.parent):
        with pytest.raises(InputError, match=r"orders"):
            list(Rows(source))


def test_nothing_reads_parquet_unverified() -> None:
    root = Path(__file__).parents[3]
    files = [file for name in ("sims", "workloads") for file in (root / name).rglob("*.py")]
    readers = ("parquet.read_table(", "ParquetFile(")
    found = [
        f"{file.name}: {line.strip()}"
        for file in files
        for line in file.read_text().splitlines()
        if any(reader in line for reader in readers) and "page_checksum_verification=True" not in line
    ]
    assert not found


def test_a_checkpoint_is_whole_or_one_line_says_that_it_is_not(tmp_path: Path) -> None:
    file = tmp_path / "checkpoint.npz"
    save_checkpoint(file, {"view": np.arange(1000), "size": np.ones(7)}, {"cycle": 3})
    arrays, notes = load_checkpoint(file)
    assert notes == {"cycle": 3}
    assert (arrays["view"] == np.arange(1000)).all()
    whole = file.read_bytes()
    wrong = [flipped(whole, at) for at in range(0, len(whole), 37)]
    wrong += [b"", whole[:-1], whole[: len(whole) // 2], whole + b"x", bytes(100)]
    for data in wrong:
        file.write_bytes(data)
        with pytest.raises(InputError, match="expected a checkpoint") as caught:
            load_checkpoint(file)
        assert "\n" not in str(caught.value)


def test_names_in_files_lead_nowhere_else(tmp_path: Path) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text('cycles = 3\n[[faults]]\nkind = "crash"\nshare = 0.1\nat = 1\nname = "../../x"\n')
    with pytest.raises(InputError, match="without slashes"):
        load_experiment(file)
    writer = RunWriter.create(tmp_path / "run", kind="run", name="test", seed=1)
    with writer, pytest.raises(InputError, match="without slashes"):
        writer.write_table("../x", {"a": [1]})
    for name in ("..", "/x", "a\\b", "a\0b", "\u202ex", "\ud800", "x" * 201, "\U0001f600" * 60, ""):
        with pytest.raises(InputError, match="name: expected"):
            file_name(name)
    assert not list(tmp_path.glob("*.parquet"))


def test_what_a_killed_process_left_is_overwritten_when_that_is_wanted(tmp_path: Path) -> None:
    out, spec = tmp_path / "w", named("uniform-2")
    first = generate(spec, 1000, 10, seed=1, out=out)
    (out / "manifest.json").unlink()  # as if it had been killed before the last step
    with pytest.raises(InputError, match="--overwrite"):
        generate(spec, 1000, 10, seed=1, out=out)
    assert generate(spec, 500, 10, seed=1, out=out, overwrite=True).subscribers == 500
    (out / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"notes\.txt"):
        generate(spec, 500, 10, seed=1, out=out, overwrite=True)
    assert first.folder == out


def test_more_than_the_disk_holds_is_refused_with_the_estimate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=10**9)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(InputError, match=r"about 6\.4 GB, 1\.0 GB are free"):
        generate(named("uniform-3"), 100_000_000, 0, seed=1, out=tmp_path / "w")
    assert not (tmp_path / "w").exists()
    generate(named("uniform-2"), 100, 0, seed=1, out=tmp_path / "w")
    with pytest.raises(InputError, match="GB are free"):
        generate(named("uniform-3"), 100_000_000, 0, seed=1, out=tmp_path / "w", overwrite=True)
    assert open_workload(tmp_path / "w").subscribers == 100  # it is as it was


def test_a_manifest_that_lacks_a_field_is_one_line(tmp_path: Path) -> None:
    """To resume a run of somebody else ended in a KeyError."""
    experiment, out = experiment_from({"cycles": 2, "population": {"size": 20}}), tmp_path / "r"
    run_experiment(experiment, 1, out)
    manifest = json.loads((out / "manifest.json").read_text())
    for field in ("cycles", "seconds", "final"):
        lacking = {key: value for key, value in manifest.items() if key != field}
        (out / "manifest.json").write_text(json.dumps(lacking))
        with pytest.raises(InputError, match=f"{field}: expected"):
            run_experiment(experiment, 1, out, resume=True)


def test_a_table_in_the_place_of_another_is_named(tmp_path: Path) -> None:
    """Statistics of a run took the traffic for the deliveries, and said nothing."""
    with RunWriter.create(tmp_path / "run", kind="run", name="test", seed=1) as writer:
        files = [
            writer.write_table(name, {"cycle": [1], "mean": [value]}) for name, value in (("a", 1), ("b", 2))
        ]
    run = RunFolder.open(tmp_path / "run")
    assert run.table("a")["mean"].to_pylist() == [1]
    shutil.copy(files[1], files[0])
    with pytest.raises(InputError, match=r"a\.parquet: expected the table 'a', it is 'b'"):
        run.table("a")


def test_a_file_without_the_expected_columns_is_named(tmp_path: Path) -> None:
    write_parquet(pa.table({"ring_id": [1]}), tmp_path / "part.parquet")
    with pytest.raises(InputError, match=r"part\.parquet: expected the columns event, matches"):
        read_groups(tmp_path / "part.parquet", [0], ["event", "matches"])


@pytest.mark.parametrize(
    "mark",
    ["", "{", "[]", '{"rows": 1}', '{"rows": 1, "files": []}', '{"rows": 1, "files": {"part": 2}}',
     '{"rows": 1, "files": {"part": "1"}}', '{"rows": 1, "files": {"../part": 1}}', "\xff"],
)  # fmt: skip
def test_a_damaged_mark_of_a_step_is_named(tmp_path: Path, mark: str) -> None:
    (tmp_path / "_complete.json").write_text(mark, encoding="latin-1")
    with pytest.raises(InputError, match=r"_complete\.json: expected the files of a step"):
        completed(tmp_path)
