"""Code that settings name runs only with consent."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sub2sub.errors import InputError
from workloads.settings.plugins import VARIABLE, allow, allowed, plugin


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')\n")
    (tmp_path / "kind_one.py").write_text("class Storm:\n    pass\n")


def test_without_consent_a_module_is_not_even_imported() -> None:
    with pytest.raises(InputError, match=r"run: trap:go is code .* --allow trap, if you trust it"):
        plugin("trap:go", "run")


def test_consent_to_a_package_covers_what_is_in_it_and_nothing_else() -> None:
    allow(["mine"])
    assert allowed("mine.protocols.gossip")
    assert not allowed("mining")
    assert not allowed("yours")


def test_allowed_code_is_found_where_one_is() -> None:
    allow(["kind_one"])
    assert plugin("kind_one:Storm").__name__ == "Storm"
    with pytest.raises(InputError, match="kind_one has no Calm"):
        plugin("kind_one:Calm")


def test_code_of_ours_lets_nothing_be_imported_from_where_one_is(tmp_path: Path) -> None:
    sys.path = [folder for folder in sys.path if folder not in ("", str(tmp_path))]
    plugin("sims.engine:Schedule")
    assert str(tmp_path) not in sys.path


@pytest.mark.parametrize("name", ["os:", ":system", "a b:c", "os.:x", "../x:y"])
def test_what_is_no_name_of_code_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="expected module:name"):
        plugin(name)
