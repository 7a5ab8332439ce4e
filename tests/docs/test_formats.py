"""docs/formats.md has the keys that the code reads and writes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def page_writer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("formats_page", DOCS / "formats_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current() -> None:
    """Else: python docs/formats_page.py."""
    text = (DOCS / "formats.md").read_text(encoding="utf-8")
    assert page_writer().current(text) == text


def test_a_page_without_a_part_is_refused() -> None:
    with pytest.raises(ValueError, match="expected one part 'claims', found 0"):
        page_writer().current("# File formats")
