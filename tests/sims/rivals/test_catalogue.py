"""A rival is one file, found by walking the rooms; a run loads the one it names, and no other."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from sims.rivals.base.catalogue import PLACES, RUNNABLE, entrant, entrants_of, system
from sims.rivals.base.entrants import Compared
from sub2sub.errors import InputError
from workloads.charts.drawing import NAMED


@pytest.mark.parametrize("name", PLACES)
def test_the_file_of_a_rival_holds_it_whole(name: str) -> None:
    found = system(name)
    assert found.__module__ == PLACES[name]
    assert found.name == name
    if not issubclass(found, Compared):
        assert name == "protocols"
        return
    for each in (name, *(f"{name}, {variant}" for variant in found.variants)):
        entered = entrant(each)
        assert entered.look.colour in NAMED
        assert entered.knobs[0] == {}
        settings = [entered.at(knob) for knob in (*entered.knobs, entered.probe)]  # names of real settings
        assert len({repr(each) for each in settings[:-1]}) == len(entered.knobs)


def test_a_system_is_loaded_alone() -> None:
    code = (
        "import sys; from sims.rivals import RUNNABLE, system; system('gossipsub');"
        "print(*(m for m in sys.modules if m.startswith('sims.rivals.') and m.count('.') == 3))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    rivals = [
        each for each in loaded.split() if each.split(".")[2] in ("papers", "others", "encodings", "below")
    ]
    assert rivals == ["sims.rivals.others.gossipsub"]


def test_variants_enter_the_worlds_of_their_system() -> None:
    assert {"gossipsub, D 3", "gossipsub, D 8", "plumtree, view 4"} <= set(entrants_of("ranges"))
    assert "exact cover, gossipsub" not in entrants_of("ranges")  # only where it is asked for
    assert "ranges" in entrant("exact cover, gossipsub").able


def test_unknown_names_are_refused_in_one_line() -> None:
    for name in ("kademlia", "gossipsub, D 99", "protocols"):
        with pytest.raises(InputError, match="expected"):
            entrant(name)
    with pytest.raises(InputError, match="mine: expected no layer"):
        entrant(json.dumps({"name": "mine", "system": "gossipsub", "layer": {}}))


def test_what_runs_needs_no_grid() -> None:
    assert set(PLACES) - set(RUNNABLE) == {
        "matching tree", "enclosing topic", "exact cover", "flat grid", "own topic",
    }  # fmt: skip
