"""Readable labels of faults: what happens, and when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sims.report.cells import plain_number, share_text

Fault = Mapping[str, Any]


def fault_label(fault: Fault) -> str:
    """Return what happens.

    Examples
    --------
    >>> fault_label({"kind": "crash", "share": 0.1}), fault_label({"kind": "crash", "peers": [3, 4]})
    ('10 % of the peers crash', '2 peers crash')
    >>> fault_label({"kind": "loss", "probability": 0.05}), fault_label({"kind": "my-own"})
    ('5 % of the messages are lost', 'my-own')
    """
    kind = str(fault.get("kind", "fault"))
    share = fault.get("share")
    some = share_text(share) if isinstance(share, int | float) else "some"
    peers = fault.get("peers") or fault.get("count")
    number = len(peers) if isinstance(peers, list | tuple) else peers
    who = f"{plain_number(number)} peers" if number else f"{some} of the peers"
    loss, groups = fault.get("probability"), fault.get("groups", 2)
    known = {
        "crash": f"{who} crash",
        "leave": f"{who} leave for good",
        "recover": "all that are down recover" if share in (1, None) else f"{some} of those down recover",
        "loss": f"{share_text(loss)} of the messages are lost" if loss else "no message is lost any more",
        "partition": "the parts merge" if groups == 1 else f"the network splits into {groups} parts",
        "join": f"{who} join" if number else "peers join",
        "churn": f"{some} of the peers are replaced",
        "sessions": "subscribers come and go by their sessions",
        "resubscribe": f"{some} of the peers change their subscriptions",
    }
    return known.get(kind, kind)


def fault_when(fault: Fault) -> str:
    """Return when it happens.

    Examples
    --------
    >>> fault_when({"at": 35}), fault_when({"from": 10, "until": 20, "every": 2}), fault_when({})
    ('at cycle 35', 'every 2 cycles from 10 to 19', 'every cycle')
    """
    if isinstance(fault.get("at"), int):
        return f"at cycle {fault['at']}"
    every = fault.get("every", 1)
    often = "every cycle" if every == 1 else f"every {every} cycles"
    start, until = fault.get("from", 0), fault.get("until")
    if until is not None:
        return f"{often} from {start} to {until - 1}"
    return f"{often} from {start} on" if start else often


def fault_marks(fault: Fault) -> list[tuple[float, str]]:
    """Return the cycles to mark in a chart, with labels.

    Examples
    --------
    >>> fault_marks({"kind": "churn", "share": 0.01, "from": 5, "until": 9})
    [(5.0, '1 % of the peers are replaced every cycle'), (9.0, 'churn ends')]
    """
    at, until = fault.get("at"), fault.get("until")
    if isinstance(at, int | float):
        return [(float(at), fault_label(fault))]
    start = fault.get("from", 0)
    if not isinstance(start, int | float):
        return []
    often = fault_when({"every": fault.get("every", 1)})
    marks = [(float(start), f"{fault_label(fault)} {often}")]
    return marks + ([(float(until), f"{fault.get('kind')} ends")] if isinstance(until, int | float) else [])
