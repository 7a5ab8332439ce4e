"""The examples run, and show what they say they show."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOWN = {
    "ring_selection": "is among them: True",
    "custom_proximity": "distance of random links 0.52, of VICINITY's 0.06",
    "custom_observer": "100% of the ring links are known at both ends",
    "custom_layer": "a resumed run gives the same table: True",
    "push_sum": "cycle 50: mean",
    "communities": "live:  .soccer.italy goal  .soccer.italy kick-off",
    "topics_by_name": "<news.soccer.cup by rings: received by alice, bob; missed by nobody>",
    "overlay_as_graph": "ring      connected: True",
    "workload_from_table": "hit ratio 100%, 0 messages to peers that do not match",
}


@pytest.mark.parametrize("name", SHOWN)
def test_an_example_shows_what_it_says(name: str, capsys: pytest.CaptureFixture[str]):
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert SHOWN[name] in capsys.readouterr().out


def test_every_example_is_tested_and_listed():
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    assert names == SHOWN.keys()
    listed = (EXAMPLES / "README.md").read_text()
    assert all(f"`{name}.py`" in listed for name in names)
