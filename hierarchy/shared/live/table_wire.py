"""The wire format of the shared overlay: that of `sub2sub.live.wire.format`, and a few kinds more."""

from __future__ import annotations

from typing import Any

from hierarchy.shared.live import table_messages as t
from sub2sub.live.wire.format import CHECKS, KINDS, VERSION, plain
from sub2sub.live.wire.framing import Check, Protocol, WireError, finite, shown

FIRST = 64  # kinds below are Sub-2-Sub's
OURS = (t.Alike, t.AlikeBack, t.Greet, t.Greeted, t.Inquire, t.Ways, t.Tables, t.TablesBack, t.Routed)
MOST = 1e6


def _at_least(least: float) -> Check:
    def check(value: Any, where: str) -> float:
        if type(value) is not float:
            raise WireError(f"{where}: expected a float, got {shown(value)}")
        (given,) = finite((value,), where)
        if not least <= given <= MOST:
            raise WireError(f"{where}: expected {least:g} to {MOST:g}, got {given}")
        return given

    return check


PROTOCOL = Protocol(
    VERSION,
    {**KINDS, **{FIRST + k: kind for k, kind in enumerate(OURS)}},
    {
        **CHECKS,
        **dict.fromkeys(("equals", "above", "below"), CHECKS["links"]),
        "c": _at_least(0.0),
        "g": _at_least(1.0),
        "a": _at_least(1.0),
    },
    plain,
)
