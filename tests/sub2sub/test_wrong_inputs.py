"""What a program passes by mistake is refused in one line, which names the argument and what was expected."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from sub2sub import (
    AttributeSpace,
    Enum,
    Float,
    InputError,
    Int,
    Overlay,
    OverlaySettings,
    Population,
    RingIndex,
    RingView,
    Stack,
    Timestamp,
    match,
    minimal_regions,
    normalise,
    ring_neighbours,
    select_ring,
    true_rings,
    typical_widths,
)

RANGE = [[0.0]], [[1.0]]
MASKED = np.ma.array([[1.0], [2.0]], mask=[[False], [True]])
PRICE = AttributeSpace({"price": Float(0, 10)})


def chosen(
    lows: Any = RANGE[0], highs: Any = RANGE[1], ids: Any = (7,), low: Any = (0,), high: Any = (1,)
) -> Any:
    return select_ring(low, high, 5, lows, highs, ids)


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: chosen(MASKED, [[3.0], [3.0]], [7, 8]), "lows row 1: expected a value, it is masked"),
    (lambda: chosen(ids=np.ma.array([7], mask=[True])), "ids row 0: expected a value, it is masked"),
    (lambda: match(*RANGE, MASKED), "events row 1: expected a value, it is masked"),
    (
        lambda: chosen(np.empty((0, 3)), np.empty((0, 3)), []),
        "lows: expected 1 attributes, as `low` has, got 3",
    ),
    (lambda: chosen([[0.0, 0.0]], [[1.0, 1.0]]), "lows: expected 1 attributes, as `low` has, got 2"),
    (lambda: chosen(ids=[5]), "ids row 0: expected others than the node's own ID, got 5"),
    (lambda: chosen(ids=[-1]), "ids row 0: expected an integer from 0"),
    (lambda: chosen(ids=[2**64]), "ids row 0: expected an integer from 0"),
    (lambda: chosen(ids=[1.5]), "ids"),
    (lambda: chosen(ids=[1, 2]), "ids: expected shape"),
    (lambda: chosen([[0.0], [0.0]], [[1.0], [1.0]], [7, 7]), "ids row 1: expected distinct IDs, got 7"),
    (lambda: chosen(low=0, high=1), "low, high: expected shape"),
    (lambda: chosen(low=[1], high=[0]), "low row 0, attribute 0: expected a low not above"),
    (lambda: chosen([[np.nan]]), "lows row 0, attribute 0: expected a number, got nan"),
    (lambda: chosen([["a"]]), "lows: expected floats or integers"),
    (lambda: chosen([[0.0], [1.0, 2.0]]), "lows: expected rows of equal length"),
    (lambda: chosen([[2**60]], [[2**60]]), "lows row 0, attribute 0: expected an integer within"),
    (
        lambda: normalise(np.array([["2024-01-01"]], "M8[D]"), [[1.0]]),
        "integers, got datetime64",
    ),
    (lambda: normalise(np.zeros((1, 17)), np.ones((1, 17))), "d from 1 to 16"),
    (lambda: normalise([0.0], [1.0]), "expected shape"),
    (lambda: RingView([0], [1], True), "ring_id: expected an integer from 0"),
    (lambda: RingView([0], [1], 5).add([[0, 0]], [[1, 1]], [6]), "lows: expected 1 attributes, got 2"),
    (lambda: RingIndex(*RANGE, [7]).add(*RANGE, [7]), "ids row 0: expected a new ID, got 7 again"),
    (lambda: RingIndex(*RANGE, [7]).remove([8]), "ids row 0: expected the ID of a subscription, got 8"),
    (lambda: RingIndex(*RANGE, [7]).match([[0.5, 0.5]]), "events: expected 1 attributes, got 2"),
    (lambda: RingIndex.load("nowhere"), "nowhere: expected a saved RingIndex"),
    (lambda: true_rings(*RANGE, [7], [[np.inf]]), "events row 0, attribute 0: expected a finite number"),
    (lambda: ring_neighbours(7, *RANGE, [7], [[0.5]]), "ids row 0: expected others than the node's own ID"),
    (
        lambda: minimal_regions(np.zeros((9, 3)), np.ones((9, 3)), max_bytes=10),
        "lows: expected subscriptions",
    ),
    (lambda: typical_widths([[0.0]], [[np.nan]]), "highs row 0"),
    (lambda: AttributeSpace({}), "attributes: expected 1 to 16, got 0"),
    (lambda: AttributeSpace({"a": "float"}), "attribute 'a': expected Float, Int"),
    (lambda: AttributeSpace({"a": np.dtype("complex128")}), "attribute 'a': expected Float, Int"),
    (lambda: AttributeSpace({"a": Float(), "a_low": Float()}), "expected no attribute named a_low"),
    (lambda: Float(1, 0), "low"),
    (lambda: Int(0.5, 2), "low"),
    (lambda: Enum([]), "expected"),
    (
        lambda: PRICE.events([{"price": 11}]),
        "events row 0, attribute 'price': expected a finite number from 0 to 10",
    ),
    (lambda: PRICE.events([{"prise": 1}]), "did you mean 'price'"),
    (lambda: PRICE.events([{}]), "events row 0, attribute 'price'"),
    (lambda: PRICE.events({"price": np.ma.array([1.0], mask=[True])}), "events row 0, attribute 'price'"),
    (lambda: PRICE.subscriptions([{"price": (1, 2, 3)}]), "expected a pair"),
    (lambda: PRICE.subscriptions({"price": [1]}), "columns that are arrays"),
    (lambda: AttributeSpace({"t": Timestamp()}).events([{"t": "yesterday"}]), "expected a moment such as"),
    (lambda: Overlay.of(*RANGE), "population: expected at least 2 live peers"),
    (lambda: Overlay.of(MASKED, MASKED), "lows row 1: expected a value, it is masked"),
    (lambda: Overlay.of([[0.0]] * 2, [[1.0]] * 2, hosts=[0]), "hosts: expected 2 integers"),
    (lambda: Overlay.of([[0.0]] * 2, [[1.0]] * 2, spare=-1), "spare: expected a whole number"),
    (
        lambda: Overlay.of([[0.0]] * 2, [[1.0]] * 2, labels=["a", "a"]),
        "labels row 1: expected a new text",
    ),
    (lambda: Overlay.of([[0.0]] * 2, [[1.0]] * 2, settings=OverlaySettings(axes=(1, 2))), "axes: expected 1"),
    (lambda: Population.of_size(0), "population: expected 1 or more"),
    (lambda: Stack("ten"), "population: expected a Population or a number"),
    (lambda: Stack(5).run("1"), "cycles: expected a whole number"),
    (lambda: Stack(5)["ring"], "layer 'ring': expected one of"),
]


@pytest.mark.parametrize(("call", "said"), WRONG, ids=range(len(WRONG)))
def test_a_mistake_is_one_line(call: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError) as found:
        call()
    text = str(found.value)
    assert said in text
    assert "\n" not in text
    assert len(text) < 220


def test_a_notebook_shows_the_wrong_line_and_the_message(capsys: pytest.CaptureFixture[str]) -> None:
    shell = InteractiveShell()
    shell.run_cell("from sub2sub import Overlay\noverlay = Overlay.of([[0.0]] * 2, [[1.0]] * 2)\n")
    shell.run_cell("cycles = 1.5\noverlay.run(cycles)")
    shown = capsys.readouterr().out.strip().splitlines()
    assert shown == [
        "line 2: overlay.run(cycles)",
        "InputError: cycles: expected a whole number from 0 on, got 1.5",
    ]


def test_what_lies_under_a_mask_counts_as_missing_in_tables() -> None:
    lows, highs = PRICE.subscriptions({"price_low": np.ma.array([3.0, 4.0], mask=[True, False])})
    assert (lows.ravel().tolist(), highs.ravel().tolist()) == ([0.0, 4.0], [10.0, 10.0])


def test_datetime64_columns_and_types_are_timestamps() -> None:
    moments = np.array(["2024-01-01", "2024-01-02T03:04:05"], "M8[s]")
    spaces = [AttributeSpace({"t": kind}) for kind in (datetime, np.datetime64, moments.dtype)]
    found = [space.events({"t": moments}).ravel().tolist() for space in spaces]
    assert found[0] == found[1] == found[2] == (moments.astype("M8[us]").astype(int)).tolist()


def test_a_host_counts_once_among_those_that_have_an_event() -> None:
    overlay = Overlay.of([[0.0]] * 4, [[1.0]] * 4, hosts=[0, 0, 0, 1], seed=1).run(5)
    events = overlay.publish([[0.5]]).events
    assert [int(events[name][0]) for name in ("matches", "hosts", "delivered")] == [4, 2, 2]


def test_events_outside_of_all_ranges_are_counted_and_said() -> None:
    overlay = Overlay.of([[0.0]] * 4, [[1.0]] * 4, seed=1).run(5)
    published = overlay.publish([[0.5], [7.0], [-3.0]])
    assert published.events["matches"].tolist() == [4, 0, 0]
    assert "<Published 3 events (2 without a match): 4 received, 0 missed" in repr(published)
    assert "without a match" not in repr(overlay.publish([[0.5]]))


FOOTPRINTS = """
import sys, types
import numba, numba.core.dispatcher, numba.core.compiler, numba.core.types, numba.core.typing.builtins
from numba.core import ir, cpu, lowering, typeinfer, untyped_passes, typed_passes, registry, target_extension

def footprints():
    found = {}
    for name, module in sorted(sys.modules.items()):
        if name.split(".")[0] in ("numba", "llvmlite") and module is not None:
            for key, value in list(vars(module).items()):
                if isinstance(value, types.FunctionType):
                    found[name, key] = id(value), id(value.__code__)
                elif isinstance(value, type) and value.__module__ == name:
                    for part, each in list(vars(value).items()):
                        found[name, key, part] = id(each) if callable(each) else 0
    return found

before = footprints()
import numpy as np
from sub2sub.rings.selection import select_ring
from sub2sub import RingIndex, RingView, match, minimal_regions, true_rings
rng = np.random.default_rng(1)
lows = rng.random((200, 2)) * 0.5
ring = select_ring([0, 0], [1, 1], 5, lows, lows + 0.4, np.arange(10, 210))
RingIndex(lows, lows + 0.4, np.arange(200)).ring_links()
minimal_regions(lows[:20], lows[:20] + 0.4)
after = footprints()
print([place for place in before if after.get(place) != before[place]])
print([name for name in sys.modules if name.startswith("sub2sub.compiled.machinery")])
"""


def test_numba_is_as_it_was_after_rings_were_selected() -> None:
    shown = subprocess.run([sys.executable, "-c", FOOTPRINTS], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n[]\n"
