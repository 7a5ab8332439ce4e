"""One mechanism of communities at a time: with it a history of trials holds, without it some do not."""

from __future__ import annotations

from typing import Any

import pytest

from hierarchy.live.failures import Unsent
from hierarchy.peers.scamp import ScampPeer
from tests.hierarchy.live.trials import TrialHistory


@pytest.mark.parametrize("seed", range(20))
def test_all_is_well_after_every_trial(seed: int) -> None:
    assert not TrialHistory(seed).run().violations


@pytest.mark.parametrize(
    ("of", "method", "broken"),
    [
        (Unsent, "note", lambda unsent, to, event, cycle: None),
        (ScampPeer, "renew", lambda peer, cycle, dice: iter(())),
    ],
    ids=["nothing is sent again", "leases are not renewed"],
)
def test_each_mechanism_of_a_community_is_missed_alone(
    monkeypatch: pytest.MonkeyPatch, of: type, method: str, broken: Any
) -> None:
    monkeypatch.setattr(of, method, broken)
    assert any(TrialHistory(seed).run().violations for seed in range(3))
