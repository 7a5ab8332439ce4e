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
from workloads.files.atomic import file_name
from workloads.files.checked import read_parquet, write_parquet
from workloads.folder.tables import Rows
from workloads.statistics.run_folders import rows_of


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
        with pytest.raises(InputError, match=r"numbers\.parquet.*damaged"):
            read_parquet(file)
    parquet.write_table(table, file)  # of somebody else
    assert read_parquet(file).equals(table)


def test_tables_of_runs_are_verified(tmp_path: Path) -> None:
    file = tmp_path / "rings.parquet"
    members = np.arange(4000)
    write_parquet(pa.table({"subscriber": members}), file, compression="none", use_dictionary=False)
    whole = file.read_bytes()
    assert rows_of(tmp_path, "rings", {"subscriber": "int64"})["subscriber"].to_pylist() == members.tolist()
    file.write_bytes(flipped(whole, len(whole) // 2))
    for text in (file.read_bytes(), b"no table"):
        file.write_bytes(text)
        for read in (read_parquet, lambda path: rows_of(path.parent, path.stem, {"subscriber": "int64"})):
            with pytest.raises(InputError, match=r"rings\.parquet.*damaged"):
                read(file)


def test_tables_of_others_are_verified(tmp_path: Path) -> None:
    file = tmp_path / "orders" / "orders.parquet"
    file.parent.mkdir()
    write_parquet(pa.table({"x": np.arange(4000.0)}), file, compression="none", use_dictionary=False)
    file.write_bytes(flipped(file.read_bytes(), file.stat().st_size // 2))
    for source in (file, file.parent):
        with pytest.raises(InputError, match=r"orders"):
            _ = Rows(source).table


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
