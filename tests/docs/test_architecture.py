"""The architecture page shows every room (`test_links.py` checks that the files it names exist)."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "architecture.md").read_text()
PACKAGES = ("sub2sub", "hierarchy", "workloads", "sims")


@pytest.mark.parametrize("package", PACKAGES)
def test_the_picture_shows_every_room(package: str) -> None:
    rooms = {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}
    picture = TEXT.split("```")[3]
    part = picture.split(f"{package}/ ", 1)[1].split("\ntests/", 1)[0]
    shown = set(re.findall(r"(\w+)/", re.split(r"\n(?=\w)", part)[0]))
    assert rooms <= shown


ROWS = [row.split(" | ") for row in re.findall(r"^\| (.*) \|$", TEXT.split("## Rooms")[0], re.M)][1:]


def _files(cell: str) -> list[Path]:
    return [ROOT / name for name in re.findall(r"`([^`]+\.py)`", cell)]


def test_every_peer_has_a_row_with_its_kernels_and_the_test_that_compares_them() -> None:
    shown = {path for row in ROWS for path in _files(row[1])}
    peers = {path for package in ("sub2sub", "hierarchy") for path in (ROOT / package / "peers").glob("*.py")}
    parts = {"__init__", "contacts", "scamp_messages", "settings"}  # of several peers, or beside one
    assert {path for path in peers if path.stem not in parts} <= shown


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_kernels_say_which_peer_they_agree_with_or_import_it(row: list[str]) -> None:
    peers = [str(path.relative_to(ROOT))[:-3].replace("/", ".") for path in _files(row[1])]
    for kernel in _files(row[2]):
        text = "".join(path.read_text() for path in [kernel, *kernel.parent.glob("*.py")])
        assert any(peer in text for peer in peers), kernel
    for test in _files(row[3]):
        assert test.exists(), test


WALKS = dict(re.findall(r"^\*\*(.*?)\*\*.*\n\n((?:.+\n)+)", TEXT.split("## How data flows")[1], re.M))


def _places(step: str) -> list[Path]:
    """The files of a step; of a folder, all of its files."""
    named = [ROOT / name for name in re.findall(r"`((?:sub2sub|hierarchy|workloads|sims)/[\w/.]+)`", step)]
    return [file for path in named for file in ([path] if path.is_file() else sorted(path.rglob("*.py")))]


_tree = cache(lambda path: ast.parse(path.read_text()))


def _names_used(caller: Path, module: str) -> set[str]:
    """The names that a file takes from a module, and uses: calls, hands on, or asks for a part."""
    tree = _tree(caller)
    package, _, last = module.rpartition(".")
    taken = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if node.module == module or (node.module == package and alias.name == last)
    }
    return taken & {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _uses(callers: list[Path], called: list[Path]) -> bool:
    modules = [
        str(path.relative_to(ROOT).with_suffix("")).replace("/", ".").removesuffix(".__init__")
        for path in called
    ]
    return any(_names_used(caller, module) for caller in callers for module in modules)


def test_there_is_a_walk_for_each_way_that_data_takes() -> None:
    assert len(WALKS) >= 7
    assert all(len(re.findall(r"^\d\. ", walk, re.M)) >= 3 for walk in WALKS.values())


@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
def test_every_step_of_a_walk_is_called_by_one_before_it(walk: str) -> None:
    """A file that the step names is called from a file that the walk has come by already."""
    steps = [_places(step) for step in re.split(r"^\d\. ", walk, flags=re.M)[1:]]
    passed = list(steps[0])
    for number, places in enumerate(steps[1:], 2):
        assert not places or _uses(passed, places), number
        passed += places
