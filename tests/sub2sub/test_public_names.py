"""The public names of `sub2sub`, and the cost of importing it."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import sub2sub


@pytest.mark.parametrize("name", sub2sub.__all__)
def test_every_public_name_is_that_of_its_module(name: str) -> None:
    module = import_module(f"sub2sub.{sub2sub._MODULE_OF[name]}")
    assert getattr(sub2sub, name) is getattr(module, name)


def test_all_that_is_found_on_first_use_is_listed() -> None:
    assert sorted(sub2sub._MODULE_OF) == sorted(sub2sub.__all__) == dir(sub2sub)


def test_every_public_name_is_in_the_reference() -> None:
    pages = (Path(__file__).parents[2] / "docs" / "api").glob("*.md")
    listed = {name for page in pages for name in re.findall(r"^::: (\S+)$", page.read_text(), re.MULTILINE)}
    modules = {name: f"sub2sub.{sub2sub._MODULE_OF[name]}" for name in sub2sub.__all__}
    assert [name for name in modules if not {modules[name], f"{modules[name]}.{name}"} & listed] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'select_rings'"):
        sub2sub.select_rings  # noqa: B018


def test_importing_the_library_does_not_wait_for_numba() -> None:
    code = "import sys, sub2sub; print([name for name in ('numba', 'numpy') if name in sys.modules])"
    root = Path(sub2sub.__file__).parent.parent
    run = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
