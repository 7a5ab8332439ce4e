"""The wire format of the shared overlay: that of `sub2sub.live.wire.format`, and a few kinds more."""

from __future__ import annotations

from hierarchy.shared.live import table_messages as t
from sub2sub.live.wire.format import CHECKS, KINDS, VERSION, plain
from sub2sub.live.wire.framing import Protocol, number, real

FIRST = 64  # kinds below are Sub-2-Sub's
OURS = (t.Alike, t.AlikeBack, t.Greet, t.Greeted, t.Inquire, t.Ways, t.Tables, t.TablesBack, t.Routed,
        t.Count, t.Counted)  # fmt: skip
MOST = 1e6


PROTOCOL = Protocol(
    VERSION,
    {**KINDS, **{FIRST + k: kind for k, kind in enumerate(OURS)}},
    {
        **CHECKS,
        **dict.fromkeys(("equals", "above", "below"), CHECKS["links"]),
        "c": real(0.0, MOST),
        "g": real(1.0, MOST),
        "a": real(1.0, MOST),
        "size": real(1.0, 2.0**64),
        "ranges": number,
        "matching": number,
    },
    plain,
)
