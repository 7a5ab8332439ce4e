"""One mechanism of a ring at a time: with it a history of trials holds, without it some do not."""

from __future__ import annotations

from typing import Any

import pytest

from sub2sub.live.core.event_passing import EventPassing
from sub2sub.live.core.ring_exchanges import RingExchanges
from tests.sub2sub.live.trials import TrialRings


@pytest.mark.parametrize("seed", range(6))
def test_all_is_well_after_every_trial(seed: int) -> None:
    assert not TrialRings(seed).run().violations


@pytest.mark.parametrize(
    ("of", "method", "broken"),
    [
        (RingExchanges, "doubt", lambda exchanges, id, age: None),
        (RingExchanges, "enter", lambda exchanges, contacts: []),
        (EventPassing, "instead", lambda passing, name, id: []),
    ],
    ids=["nobody hears a goodbye", "newcomers wait for gossip", "no event goes past a neighbour"],
)
def test_each_mechanism_of_a_ring_is_missed_alone(
    monkeypatch: pytest.MonkeyPatch, of: type, method: str, broken: Any
) -> None:
    monkeypatch.setattr(of, method, broken)
    assert any(TrialRings(seed).run().violations for seed in range(6))
