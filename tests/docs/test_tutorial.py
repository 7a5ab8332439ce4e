"""The tutorial runs from top to bottom; what it says is asserted in it."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.py"


def test_the_tutorial_runs_and_its_claims_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "argv", [str(TUTORIAL), str(tmp_path / "t")])
    runpy.run_path(str(TUTORIAL), run_name="__main__")
    assert capsys.readouterr().out.endswith("done\n")
    assert (tmp_path / "t" / "run" / "rings.png").exists()
