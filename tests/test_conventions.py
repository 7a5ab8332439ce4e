"""Rules of the repository that no linter knows."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAY_IMPORT = {
    "sub2sub": {"sub2sub"},
    "hierarchy": {"hierarchy", "sub2sub"},
    "workloads": {"workloads", "sub2sub"},
    "sims": {"sims", "hierarchy", "workloads", "sub2sub"},
}
PARTS = {
    "__init__",
    "dissemination",
    "figures",
    "layer",
    "overlay",
    "peer",
    "rules",
    "settings",
    "steps",
    "tables",
}
COMPILED = ("apart", "kernel", "hot", "part", "rule", "intrinsic")  # decorators of what numba types

MODULES = [path for package in MAY_IMPORT for path in sorted((ROOT / package).rglob("*.py"))]


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def _is_kernel(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id in COMPILED for d in function.decorator_list)


def _is_annotated(function: ast.FunctionDef | ast.AsyncFunctionDef, is_method: bool) -> bool:
    arguments = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
    if is_method and arguments and arguments[0].arg in ("self", "cls"):
        arguments = arguments[1:]
    if any(argument.annotation is None for argument in arguments):
        return False
    return function.returns is not None or function.name == "__init__"


def _unannotated(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if _is_kernel(child):
                continue  # typed by numba, with everything inside it
            if not _is_annotated(child, isinstance(node, ast.ClassDef)):
                yield f"{child.name} (line {child.lineno})"
        yield from _unannotated(child)


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_imports_go_one_way_only(path: Path) -> None:
    package = path.relative_to(ROOT).parts[0]
    forbidden = MAY_IMPORT.keys() - MAY_IMPORT[package]
    found = [name for name in _imports(ast.parse(path.read_text())) if name.split(".")[0] in forbidden]
    assert not found


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_every_function_but_a_kernel_is_annotated(path: Path) -> None:
    assert list(_unannotated(ast.parse(path.read_text()))) == []


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_no_kernel_has_more_than_ten_parameters(path: Path) -> None:
    """What travels together (faults, scratch space, settings of a step) is bundled in a NamedTuple."""
    functions = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef))
    assert [each.name for each in functions if _is_kernel(each) and len(each.args.args) > 10] == []


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_importing_a_package_loads_neither_spark_nor_plotting(package: str) -> None:
    code = (
        f"import sys, {package}; print([m for m in ('pyspark', 'matplotlib', 'pandas') if m in sys.modules])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "[]"


def test_the_library_needs_numpy_and_numba_only() -> None:
    # llvmlite is numba's own and comes with it; live peers have an extra of their own.
    allowed = set(sys.stdlib_module_names) | {"numpy", "numba", "llvmlite", "sub2sub"}
    for path in (ROOT / "sub2sub").rglob("*.py"):
        roots = {name.split(".")[0] for name in _imports(ast.parse(path.read_text()))}
        extra = {"msgpack", "uvloop", "cryptography"} if "live" in path.parts else set()
        assert roots <= allowed | extra, _name(path)


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_file_name_is_used_twice_only_for_the_same_part_in_sibling_rooms(package: str) -> None:
    """`cyclon/layer.py` and `ring/layer.py` are the same part of two protocols; others have their own names.

    A command is named after the room it opens.
    """
    by_name: dict[str, list[str]] = {}
    for path in (ROOT / package).rglob("*.py"):
        if path.stem not in PARTS and path.parent.name != "commands":
            by_name.setdefault(path.stem, []).append(_name(path))
    assert {name: paths for name, paths in by_name.items() if len(paths) > 1} == {}


def test_a_file_can_be_read_in_one_sitting() -> None:
    paths = [*MODULES, *sorted((ROOT / "tests").rglob("*.py"))]
    assert [_name(path) for path in paths if len(path.read_text().splitlines()) > 400] == []


def test_a_module_lists_its_names_only_where_it_passes_on_names_of_others() -> None:
    """Elsewhere a name without a leading underscore is public, and a list would only repeat that."""
    repeated = []
    for path in MODULES:
        body = ast.parse(path.read_text()).body
        imported = {
            (alias.asname or alias.name).partition(".")[0]
            for node in ast.walk(ast.Module(body, []))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        listed = [
            set(ast.literal_eval(node.value))
            for node in body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id == "__all__" and path.name != "__init__.py"
        ]  # fmt: skip
        repeated += [_name(path) for names in listed if not names & imported]
    assert repeated == []


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_every_room_says_what_it_is_for(package: str) -> None:
    rooms = {path.parent for path in (ROOT / package).rglob("*.py")}
    assert [_name(room) for room in sorted(rooms) if not ast.get_docstring(_init(room))] == []


def _init(room: Path) -> ast.Module:
    init = room / "__init__.py"
    return ast.parse(init.read_text() if init.exists() else "")
