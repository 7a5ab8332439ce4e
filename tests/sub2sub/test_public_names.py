"""The public names of `sub2sub`, and the cost of importing it."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import sub2sub

ROOT = Path(sub2sub.__file__).parent.parent


def _modules(stub: Path) -> dict[str, str]:
    found = re.findall(r"^from (\S+) import \w+ as (\w+)$", stub.read_text(), re.MULTILINE)
    return {name: module for module, name in found}


MODULE_OF = _modules(ROOT / "sub2sub" / "__init__.pyi")


@pytest.mark.parametrize("name", sub2sub.__all__)
def test_every_public_name_is_that_of_its_module(name: str) -> None:
    assert getattr(sub2sub, name) is getattr(import_module(MODULE_OF[name]), name)


def test_all_that_is_found_on_first_use_is_listed() -> None:
    assert sorted({*MODULE_OF} - {"__version__"}) == sub2sub.__all__ == dir(sub2sub)


@pytest.mark.parametrize("stub", [*ROOT.glob("*/__init__.pyi"), *ROOT.glob("*/*/__init__.pyi")], ids=str)
def test_what_a_package_passes_on_is_what_its_list_for_type_checkers_says(stub: Path) -> None:
    package = import_module(".".join(stub.parent.relative_to(ROOT).parts))
    listed = _modules(stub)
    assert sorted({*listed} - {"__version__"}) == package.__all__
    assert [n for n, module in listed.items() if n in package.__all__
            and getattr(package, n) is not getattr(import_module(module), n)] == []  # fmt: skip


def test_every_public_name_is_in_the_reference() -> None:
    pages = (ROOT / "docs" / "api").glob("*.md")
    listed = {name for page in pages for name in re.findall(r"^::: (\S+)$", page.read_text(), re.MULTILINE)}
    found = {name for name in sub2sub.__all__ if {MODULE_OF[name], f"{MODULE_OF[name]}.{name}"} & listed}
    assert [name for name in sub2sub.__all__ if name not in found] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'select_rings'"):
        sub2sub.select_rings  # noqa: B018


def test_importing_the_library_does_not_wait_for_numba() -> None:
    code = "import sys, sub2sub; print([name for name in ('numba', 'numpy') if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
