"""The flood of `benchmarks/handshakes.py` in small: what is true of it whatever the speed of the machine."""

from __future__ import annotations

from typing import Any

from benchmarks.handshakes import ALONE, KINDS, measure

STRANGERS = 150


def test_members_join_and_publish_during_a_flood_of_which_nothing_is_parsed() -> None:
    found: dict[str, Any] = measure(STRANGERS)
    assert found["strangers"] == dict.fromkeys(KINDS, STRANGERS // len(KINDS))
    assert found["failed"] == 0
    counts, members = found["counts"], found["members joined and published"]
    assert members > 0
    assert counts["frames in"] == 2 * (ALONE + members), (
        "a question and an event of each member, and nothing else"
    )
    assert counts["handshakes failed"] + counts.get("refused", 0) == STRANGERS
    assert counts.get("malformed", 0) == counts.get("forged", 0) == 0
