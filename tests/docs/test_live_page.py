"""Every limit and every claim of docs/live-hostile.md names tests, and these exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_what_a_limit_or_a_claim_is_tested_by_is_there() -> None:
    code = "".join(file.read_text() for file in (ROOT / "tests").rglob("test_*.py"))
    tests = re.findall(r"^def test_(\w+)", code, re.MULTILINE)
    named, is_table = [], False
    for line in (ROOT / "docs" / "live-hostile.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        is_table = line.startswith("|") and (is_table or cells[-1] == "tested:")
        if is_table and cells[-1] not in ("tested:", "---"):
            named += [phrase.strip() for phrase in cells[-1].split(";")]
    assert len(named) > 30
    words = [phrase.replace("'", "").replace(" ", "_") for phrase in named]
    assert not [each for each in words if not any(each in test for test in tests)]
