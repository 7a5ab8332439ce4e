"""Settings outside their domain cause an error of one line."""

from __future__ import annotations

from typing import Any

import pytest

from sub2sub.errors import InputError
from sub2sub.overlay.overlay import Overlay
from sub2sub.peers.settings import CyclonSettings, RingSettings


@pytest.mark.parametrize(
    ("settings", "changes", "message"),
    [
        (RingSettings, {"tries": 0}, "ring.tries: expected 1 to 255, got 0"),
        (RingSettings, {"tries": 2.5}, "ring.tries: expected a whole number, 1 to 255, got 2.5"),
        (RingSettings, {"most_tries": "3"}, "ring.most_tries: expected a whole number, 0 to 255, got '3'"),
        (RingSettings, {"tries": True}, "ring.tries: expected a whole number, 1 to 255, got True"),
        (RingSettings, {"hello": "no"}, "ring.hello: expected True or False, got 'no'"),
        (RingSettings, {"verify": 0}, "ring.verify: expected True or False, got 0"),
        (CyclonSettings, {"tries": None}, "cyclon.tries: expected a whole number, 1 or more, got None"),
    ],
)
def test_a_setting_outside_its_domain_is_refused(
    settings: Any, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as refused:
        settings(**changes)
    assert message in str(refused.value)


def test_two_seeds_never_mean_the_same() -> None:
    """Draws depend on 64 bits of a seed, so larger ones would repeat the runs of smaller ones."""
    with pytest.raises(InputError, match="seed: expected a whole number below 18446744073709551616"):
        Overlay.of([[0.0], [0.5]], [[0.6], [1.0]], seed=2**64)
