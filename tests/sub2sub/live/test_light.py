"""A live node is light, and runs the very peers that the kernels are compared with."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ROOMS = ("sub2sub/live", "hierarchy/live", "hierarchy/shared/live")
HEAVY = re.compile(r"(numba|llvmlite|scipy|pandas)$|(sub2sub|hierarchy)\.compiled")


@pytest.mark.parametrize("package", ["sub2sub.live", "hierarchy.live", "hierarchy.shared.live"])
def test_a_live_package_loads_neither_compiler_nor_kernels(package: str) -> None:
    code = f"import sys, {package}; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = ran.stdout.split()
    assert package in loaded
    assert [name for name in loaded if HEAVY.match(name)] == []


def _classes(folder: str) -> dict[str, set[str]]:
    """The classes of a folder's modules, with the names of their bases."""
    trees = [ast.parse(path.read_text()) for path in sorted((ROOT / folder).rglob("*.py"))]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return {node.name: set(map(_last_name, node.bases)) for node in nodes}


def _last_name(base: ast.expr) -> str:
    base = base.value if isinstance(base, ast.Subscript) else base
    return base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")


def test_no_live_room_has_a_subclass_of_a_protocols_peer() -> None:
    peers = {*_classes("sub2sub/peers"), *_classes("hierarchy/peers")}
    assert {"RingPeer", "Need", "ScampPeer", "SuperTable", "TablePeer", "GridPeer", "Walk"} <= peers
    live = {name: bases for room in ROOMS for name, bases in _classes(room).items()}
    assert {"Core", "Member", "SharedCore", "Grid"} <= live.keys()
    peers -= live.keys()  # `History` is also a run of nodes
    assert {name: bases & peers for name, bases in live.items() if bases & peers} == {}
