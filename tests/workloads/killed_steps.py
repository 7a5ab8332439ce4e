"""Every step, killed at some of its changes of the file system; test_kills.py runs it as a script.

A step runs in a fork, which kills itself (SIGKILL) right before its k-th change: a folder or file made,
opened for writing, renamed or removed. Then what it has written must be whole or not there, and the same
step, started again, must give the same files as one that was never killed.

    python killed_steps.py FOLDER SEED KILLS
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

import workloads
from sub2sub.errors import InputError
from workloads.files.manifest import read_manifest
from workloads.folder.importing import import_workload
from workloads.folder.layout import open_workload
from workloads.folder.steps import completed
from workloads.generate.generate import generate
from workloads.match.rings import list_rings
from workloads.match.tiles import count_rings
from workloads.statistics.workload import write_statistics
from workloads.sweeps.sweep import Sweep, sweep

CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir"}
FINISHED, KILLED = 0, -signal.SIGKILL

Files = dict[str, str]
Step = Callable[[Path], object]


def in_fork(step: Step, folder: Path, kill_at: int) -> tuple[int, int]:
    """How a fork that runs the step ended, and how many changes it made, if it came to its end."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        count = 0

        def watch(event: str, arguments: tuple[Any, ...]) -> None:
            nonlocal count
            if event in CHANGES or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)):
                count += 1
                if count == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(watch)
            step(folder)
            os.write(writing, str(count).encode())
            os._exit(FINISHED)
        finally:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading) as result:
        return os.waitstatus_to_exitcode(status), int(result.read() or 0)


def files_of(folder: Path) -> Files:
    """Digests of the files of a folder, without manifests (they have dates) and hidden files."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    names = {path: path.relative_to(folder) for path in found}
    return {
        str(name): hashlib.sha256(path.read_bytes()).hexdigest()
        for path, name in names.items()
        if not any(part.startswith(".") for part in name.parts) and name.name != "manifest.json"
    }


def is_workload(folder: Path) -> bool:
    try:
        open_workload(folder)
    except InputError:
        return False
    return True


def generate_one(folder: Path, seed: int = 1, overwrite: bool = False) -> None:
    spec = workloads.named("uniform-2")
    generate(spec, 400, 20, seed=seed, out=folder / "w", at_least=1, overwrite=overwrite)


def match_old(folder: Path) -> None:
    generate_one(folder, seed=2)
    count_rings(open_workload(folder / "w"))
    list_rings(open_workload(folder / "w"))


def import_one(folder: Path) -> None:
    rows = [k / 100 for k in range(100)]
    boxes = pa.table({"x_low": rows, "x_high": [row + 0.1 for row in rows]})
    import_workload(boxes, pa.table({"x": rows}), folder / "w")


def describe(folder: Path) -> None:
    write_statistics(open_workload(folder / "w"), folder / "w" / "statistics", peers=3)


def sweep_one(folder: Path) -> None:
    sys.path.insert(0, str(Path(__file__).parent / "sweeps"))
    settings = {"b": 2, "log": str(folder / "log")}
    found = sweep(Sweep("sweep_runs:product", {"a": [1, 2, 3]}, [1], settings), folder / "w")
    assert sorted(found["product"].to_pylist()) == [3, 5, 7]


def count(folder: Path) -> None:
    count_rings(open_workload(folder / "w"))


def ring(folder: Path) -> None:
    list_rings(open_workload(folder / "w"))


# Name: what is there before, the step, where its files are, whether they count as whole.
STEPS: dict[str, tuple[list[Step], Step, str, Callable[[Path], bool]]] = {
    "generate": ([], generate_one, "w", is_workload),
    "overwrite": ([match_old], lambda folder: generate_one(folder, overwrite=True), "w", is_workload),
    "import": ([], import_one, "w", is_workload),
    "match": ([match_old], count, "w/matches", lambda folder: completed(folder) is not None),
    "rings": ([match_old, count], ring, "w/rings", lambda folder: completed(folder) is not None),
    "sweep": (
        [], sweep_one, "w", lambda folder: (read_manifest(folder) or {}).get("state") == "done"
    ),
    "statistics": ([match_old], describe, "w/statistics", lambda folder: read_manifest(folder) is not None),
}  # fmt: skip


def prepare(folder: Path, before: list[Step]) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for step in before:
        step(folder)
    return folder


def comparable(name: str, files: Files) -> Files | set[str]:
    """What is the same in every run: a sweep's files have seconds in them."""
    return set(files) if name == "sweep" else files


def check(name: str, root: Path, rng: random.Random, kills: int) -> list[str]:
    before, step, place, whole = STEPS[name]
    folder = prepare(root / name, before)
    there_before = comparable(name, files_of(folder / place)) if whole(folder / place) else None
    status, changes = in_fork(step, folder, kill_at=0)
    expected = comparable(name, files_of(folder / place))
    if status != FINISHED or not expected:
        return [f"{name}: did not come to its end: {status}"]
    problems = []
    # The first changes of a folder that is replaced are the ones at which the old workload ends.
    always = range(1, 7) if name == "overwrite" else range(0)
    for kill_at in sorted({*always, *rng.sample(range(1, changes + 1), min(kills, changes))}):
        folder = prepare(root / name, before)
        status, _ = in_fork(step, folder, kill_at)
        where = f"{name}, killed at change {kill_at} of {changes}"
        found = comparable(name, files_of(folder / place))
        if status not in (KILLED, FINISHED):  # figures are drawn with fewer changes the second time
            problems.append(f"{where}: ended with {status}")
        if whole(folder / place) and found not in (expected, there_before):
            problems.append(f"{where}: counts as whole, with {sorted(found)}")
        if name in ("generate", "import") and is_workload(folder / place):
            continue  # only the mark `.unfinished` was still to be removed; a second workload is refused
        status, _ = in_fork(step, folder, kill_at=0)
        if status != FINISHED or comparable(name, files_of(folder / place)) != expected:
            problems.append(f"{where}: started again it ended with {status}")
        if hidden := [path.name for path in (folder / "w").rglob(".*")]:
            problems.append(f"{where}: left behind {hidden}")
    print(f"{name}: {min(kills, changes)} of {changes} changes")
    return problems


def main() -> None:
    root, seed, kills = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    problems = []
    for name in STEPS:
        problems += check(name, root, rng, 1 if name == "statistics" else kills)  # it draws figures
    print("\n".join(problems) or "no problem")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
