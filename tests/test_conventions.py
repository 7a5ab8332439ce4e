"""Rules of the repository that no linter knows."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
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
COMPILED = ("apart", "jitted", "kernel", "hot", "part", "rule", "intrinsic")  # decorators of what numba types

MODULES = [path for package in MAY_IMPORT for path in sorted((ROOT / package).rglob("*.py"))]
TREES = {path: ast.parse(path.read_text()) for path in MODULES}


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


def _everywhere(rule: Callable[[Path, ast.Module], Iterable[str]]) -> list[str]:
    """What a rule finds in all modules, with the module's name before it."""
    return [f"{_name(path)}: {found}" for path, tree in TREES.items() for found in rule(path, tree)]


def _room(path: Path) -> str:
    """The package of a module, and the room in it, such as `sub2sub/peers`."""
    return "/".join(path.relative_to(ROOT).parts[:2])


def test_imports_go_one_way_only() -> None:
    def forbidden(path: Path, tree: ast.Module) -> Iterable[str]:
        others = MAY_IMPORT.keys() - MAY_IMPORT[path.relative_to(ROOT).parts[0]]
        return [name for name in _imports(tree) if name.split(".")[0] in others]

    assert _everywhere(forbidden) == []


def test_kernels_and_live_peers_import_peers_and_never_the_other_way() -> None:
    """`peers/` is read first: it imports itself, exact boxes and Figure 3; kernels import no live peer."""

    def against_the_arrow(path: Path, tree: ast.Module) -> Iterable[str]:
        allowed = {
            "peers": ("peers", "errors", "geometry.boxes", "rings"),
            "compiled": (
                "peers",
                "compiled",
                "errors",
                "progress",
                "plain_numba",
                "geometry",
                "rings",
                "topics",
                "camcast",
                "overlay",
                "shared.shared_overlay",
            ),
        }.get(_room(path).split("/")[1])
        ours = [name.split(".", 1)[1] for name in _imports(tree) if re.match(r"(sub2sub|hierarchy)\.", name)]
        return [name for name in ours if allowed and not name.startswith(allowed)]

    assert _everywhere(against_the_arrow) == []


PEERS = [path for path in MODULES if _room(path).endswith("/peers") and path.stem != "__init__"]


def test_a_peer_loads_no_compiler_no_kernel_and_no_socket() -> None:
    """Each in a fresh interpreter, which says what it has loaded."""
    script = "import sys, {}; print(*sys.modules)"
    names = [_name(path)[:-3].replace("/", ".") for path in PEERS]
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", script.format(name)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for name in names
    ]
    loaded = {name: run.communicate()[0].split() for name, run in zip(names, runs, strict=True)}
    heavy = re.compile(
        r"(numba|llvmlite|networkx|scipy|asyncio|socket)$|(sub2sub|hierarchy)\.(compiled|live)"
    )
    assert {name: [each for each in found if heavy.match(each)] for name, found in loaded.items()} == {
        name: [] for name in names
    }
    assert all(name in found for name, found in loaded.items())


def test_no_room_has_more_than_a_dozen_files() -> None:
    rooms = Counter(path.parent for path in MODULES if path.stem != "__init__")
    assert {_name(room): size for room, size in rooms.items() if size > 12} == {}


def test_every_function_but_a_kernel_is_annotated() -> None:
    assert _everywhere(lambda _, tree: _unannotated(tree)) == []


def test_no_kernel_has_more_than_ten_parameters() -> None:
    """What travels together (faults, scratch space, settings of a step) is bundled in a NamedTuple."""

    def too_many(_: Path, tree: ast.Module) -> Iterable[str]:
        functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
        return [each.name for each in functions if _is_kernel(each) and len(each.args.args) > 10]

    assert _everywhere(too_many) == []


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

    A command is named after the room it opens, a peer after the protocol, which its kernels may be, too.
    """
    by_name: dict[str, list[str]] = {}
    for path in (ROOT / package).rglob("*.py"):
        if path.stem not in PARTS and path.parent.name not in ("commands", "peers"):
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
