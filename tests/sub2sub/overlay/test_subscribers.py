"""Subscriptions come, change and go by their rows and labels, in a program without a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sub2sub import AttributeSpace, InputError, Overlay
from sub2sub.geometry.matching import match
from sub2sub.peers.settings import OverlaySettings

EVENTS = np.linspace(0.05, 0.95, 10)[:, None]


def overlay_of(n: int = 30, **given: Any) -> Overlay:
    lows = np.random.default_rng(1).random((n, 1)) * 0.5
    return Overlay.of(lows, lows + 0.4, seed=1, **given).run(15)


def receivers(overlay: Overlay, event: float = 0.5) -> set[int]:
    return set(overlay.publish([[event]]).received["subscription"].tolist())


ACTS = ("join", "subscribe", "resubscribe", "unsubscribe", "leave", "crash", "recover")


@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from(ACTS), min_size=1, max_size=12), st.integers(0, 1000))
def test_after_any_changes_events_reach_exactly_who_is_up_and_wants_them(acts: list[str], seed: int) -> None:
    """A model of rows says who that is: it knows neither peers nor hosts' numbers."""
    rng = np.random.default_rng(seed)
    overlay = overlay_of(12)
    lows, highs = (side[np.argsort(overlay.population.row)] for side in overlay.population.ranges())
    box = {row: (lows[row, 0], highs[row, 0]) for row in range(12)}
    host, down = {row: row for row in range(12)}, set[int]()
    for act in acts:
        up = [row for row in box if host[row] not in down]
        row, low = int(rng.choice(up)), float(rng.random() * 0.5)
        new = [[low]], [[low + 0.4]]
        if act in ("join", "subscribe", "resubscribe"):
            if act == "join":
                (made,) = overlay.join(*new).tolist()
            elif act == "subscribe":
                (made,) = overlay.subscribe(*new, by=row).tolist()
            else:
                (made,) = overlay.resubscribe(row, *new).tolist()
            host[made] = made + 1000 if act == "join" else host[row]
            box[made] = low, low + 0.4
            if act == "resubscribe":
                del box[row], host[row]
        elif act == "recover":
            overlay.recover(list(box))
            down.clear()
        elif len({host[row] for row in up}) > 4:
            mine = [other for other in box if host[other] == host[row]]
            if act == "unsubscribe":
                overlay.unsubscribe(row)
                mine = [row]
            else:
                assert getattr(overlay, act)(row).tolist() == sorted(mine)
            if act == "crash":
                down.add(host[row])
            else:
                for gone in mine:
                    del box[gone], host[gone]
        overlay.run(2)
    overlay.run(40)
    published = overlay.publish(EVENTS)
    rows = np.array([row for row in box if host[row] not in down])
    wanted = match([[box[row][0]] for row in rows], [[box[row][1]] for row in rows], EVENTS)
    for event in range(len(EVENTS)):
        got = published.received["subscription"][published.received["event"] == event]
        assert set(got.tolist()) == set(rows[wanted.of(event)].tolist())


def test_a_population_grows_when_there_is_no_room_and_rows_stay() -> None:
    overlay = overlay_of(10)
    before = receivers(overlay)
    rows = overlay.join(np.full((15, 1), 0.45), np.full((15, 1), 0.55))
    assert rows.tolist() == list(range(10, 25))
    assert len(overlay.population) >= 25
    assert receivers(overlay.run(10)) == before | set(rows.tolist())


def test_labels_name_subscriptions_as_they_come_change_and_go() -> None:
    overlay = overlay_of(5, labels=["a", "b", "c", "d", "e"])
    assert overlay.publish([[0.5]], at=["c"]).events["entered"].tolist() == [2]
    assert overlay.join([[0.4]], [[0.6]], labels=["f"]).tolist() == [5]
    (changed,) = overlay.resubscribe("a", [[0.9]], [[1.0]]).tolist()
    assert overlay.labels["a"] == changed
    overlay.unsubscribe(["f", "b"])
    assert set(overlay.labels) == {"a", "c", "d", "e"}
    assert overlay.join([[0.4]], [[0.6]], labels=["b"]).tolist() == [overlay.labels["b"]]
    assert overlay.crash(["c", "d"]).tolist() == [2, 3]
    assert overlay.recover("d").tolist() == [3]


def test_attributes_by_name_are_understood() -> None:
    space = AttributeSpace({"price": float, "side": ["buy", "sell"]})
    overlay = Overlay.of([{"price": (0, 10)}, {"price": (5, 20), "side": "buy"}], space=space, seed=1).run(5)
    overlay.join([{"side": "buy"}])
    overlay.resubscribe(0, [{"price": (100, 200)}])
    event = [{"price": 7.5, "side": "buy"}]
    assert set(overlay.run(5).publish(event).received["subscription"].tolist()) == {1, 2}


def test_newcomers_of_an_overlay_that_has_not_started_start_it() -> None:
    overlay = Overlay(overlay_of(4).population, seed=1)
    overlay.join([[0.4]], [[0.6]])
    assert 4 in receivers(overlay.run(10))


WRONG = {
    "an unknown row": (lambda o: o.crash(99), r"rows row 0: expected a subscription, got 99"),
    "a negative row": (lambda o: o.leave([1, -1]), r"rows row 1: expected a subscription, got -1"),
    "a fraction": (lambda o: o.unsubscribe(1.5), r"expected rows or labels of subscriptions, got float64"),
    "an unknown label": (lambda o: o.recover("z"), r"expected a row or label of a subscription, got 'z'"),
    "a label twice": (
        lambda o: o.join([[0]], [[1]], labels=["a"]),
        r"labels row 0: .*, got 'a'",
    ),
    "too few labels": (lambda o: o.join([[0], [0]], [[1], [1]], labels=["y"]), r"labels: expected 2"),
    "a label that is no text": (lambda o: o.join([[0]], [[1]], labels=[3]), r"expected a new text, got 3"),
    "another number of attributes": (
        lambda o: o.join([[0, 0]], [[1, 1]]),
        r"expected 1 attributes, got 2",
    ),
    "no highs": (lambda o: o.join([[0]]), r"highs: expected the upper ends"),
    "a range upside down": (lambda o: o.join([[1]], [[0]]), r"lows row 0.*: expected a low not above"),
    "several hosts": (
        lambda o: o.subscribe([[0]], [[1]], by=[0, 1]),
        r"expected one subscription, got 2",
    ),
    "a host that is down": (lambda o: (o.crash(0), o.subscribe([[0]], [[1]], by=0)), r"by row 0: .* is down"),
    "one range for two": (lambda o: o.resubscribe([0, 1], [[0]], [[1]]), r"lows: expected 2 subscriptions"),
    "one subscription twice": (
        lambda o: o.resubscribe([3, 3], [[0], [0]], [[1], [1]]),
        r"rows: expected each subscription once, got 3 twice",
    ),
    "one that is gone": (lambda o: (o.leave(0), o.crash(0)), r"rows row 0: expected a subscription, got 0"),
}


@pytest.mark.parametrize("case", WRONG, ids=WRONG)
def test_a_wrong_argument_is_one_line_and_changes_nothing(case: str) -> None:
    call, message = WRONG[case]
    overlay = overlay_of(5, labels=["a", "b", "c", "d", "e"])
    with pytest.raises(InputError, match=message) as found:
        call(overlay)
    assert "\n" not in str(found.value)
    assert int(overlay.population.row.max()) == 4


def test_progress_is_shown_and_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    quiet, told = overlay_of(40), overlay_of(40)
    assert capsys.readouterr().err == ""
    told.run(5, progress=True)
    events = np.random.default_rng(3).random((600, 1))
    published = told.publish(events, progress=True)
    shown = capsys.readouterr().err
    assert "cycles" in shown
    assert "events" in shown
    expected = quiet.run(5).publish(events)
    for name in expected.received:
        assert np.array_equal(expected.received[name], published.received[name])


def test_further_subscriptions_are_on_the_host_of_the_first() -> None:
    overlay = overlay_of(6)
    (further,) = overlay.subscribe([[0.4]], [[0.6]], by=2).tolist()
    (changed,) = overlay.resubscribe(2, [[0.1]], [[0.2]]).tolist()
    assert overlay.crash(further).tolist() == [further, changed]
    assert overlay.recover(changed).tolist() == [further, changed]
    assert overlay.leave(changed).tolist() == [further, changed]


def test_who_changes_joins_by_others_than_those_that_change_and_is_named_to_the_overlay() -> None:
    overlay, seen = overlay_of(8), dict[str, Any]()
    admit, change = overlay.admit, overlay.change

    def admitting(peers: Any, contacts: Any, cycle: int) -> None:
        seen["contacts"] = overlay.population.row[contacts].tolist()
        admit(peers, contacts, cycle)

    def changing(old: Any, new: Any) -> None:
        seen["hosts"] = [overlay.population.host[side].tolist() for side in (old, new)]
        change(old, new)

    overlay.admit, overlay.change = admitting, changing  # type: ignore[method-assign]
    rows = overlay.resubscribe(range(1, 8), np.full((7, 1), 0.4), np.full((7, 1), 0.6))
    assert seen["contacts"] == [0] * 7
    assert seen["hosts"][0] == seen["hosts"][1]
    assert sorted(seen["hosts"][0]) == list(range(1, 8))
    assert sorted(rows.tolist()) == list(range(8, 15))


@pytest.mark.parametrize("seed", range(3))
def test_all_may_change_at_once_and_are_one_overlay_again(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lows = rng.random((200, 2)) * 0.8
    overlay = Overlay.of(lows, lows + 0.2, seed=seed, settings=OverlaySettings(patience=0)).run(20)
    changed = rng.random((200, 2)) * 0.8
    rows = overlay.resubscribe(range(200), changed, changed + 0.2)
    published = overlay.run(15).publish(rng.random((50, 2)))
    assert published.missed["subscription"].size == 0
    assert set(published.received["subscription"].tolist()) <= set(rows.tolist())
