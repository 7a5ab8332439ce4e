"""The findings of a run in a few sentences, from its tables."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sims.report.cells import plain_number, share_text
from sims.report.sources import Source

Columns = dict[str, NDArray[Any]]


def run_finding(run: Source) -> list[str]:
    """Return sentences in Markdown; none if the run recorded neither rings nor deliveries."""
    sentences = []
    rings = run.columns("rings", "cycle", "complete", "links") if run.has_table("rings") else None
    if rings is not None and rings["cycle"].size:
        sentences += _rings(run, rings)
    final = run.manifest.get("final")
    if isinstance(final, Mapping):
        sentences += _deliveries(run, final)
    return sentences


def _rings(run: Source, rings: Columns) -> list[str]:
    """Say when all rings were complete, at first and after each sudden fault."""
    cycle, complete, links = (rings[name] for name in ("cycle", "complete", "links"))
    sudden = [
        fault for fault in run.faults() if isinstance(fault.get("at"), int) and fault["at"] <= cycle[-1]
    ]
    sudden.sort(key=lambda fault: fault["at"])
    borders = [*(fault["at"] for fault in sudden), int(cycle[-1]) + 1]
    sentences = [_closing("", cycle, complete, links, cycle < borders[0])] if borders[0] > cycle[0] else []
    for fault, (start, end) in zip(sudden, pairwise(borders), strict=True):
        during = (cycle >= start) & (cycle < end)
        if during.any():
            what = f"When {fault_label(fault)} at cycle {start}, "
            sentences.append(_closing(what, cycle, complete, links, during))
    return sentences


def _closing(before: str, cycle: Any, complete: Any, links: Any, during: NDArray[np.bool_]) -> str:
    """Return the lowest share of complete rings in some cycles, and since when all are complete."""
    cycle, complete, links = cycle[during], complete[during], links[during]
    fell = f"complete rings fell to {share_text(float(complete.min()))} and " if before else ""
    short = np.flatnonzero(complete < 1)
    if short.size == 0:
        return f"{before}all rings **stayed complete**." if before else "All rings were complete throughout."
    if short[-1] == complete.size - 1:
        state = f"{share_text(float(complete[-1]))} of the rings were complete by cycle {cycle[-1]}"
        return f"{before}{fell}{state} ({share_text(float(links[-1]))} of the ring links in place)."
    since = f"from **cycle {cycle[short[-1] + 1]}** on"
    return (
        f"{before}{fell}were all complete again {since}." if before else f"All rings were complete {since}."
    )


def _deliveries(run: Source, final: Mapping[str, Any]) -> list[str]:
    sentences = []
    if isinstance(hit := final.get("hit_ratio"), int | float):
        text = f"In the end an event reached **{share_text(hit)}** of its subscribers"
        details = {"messages_per_delivery": "messages per delivery", "hops_mean": "hops"}
        if isinstance(final.get("last_ms_median"), int | float):
            text += f" ({final['last_ms_median']:.0f} ms to the last of them at the median)"
        parts = [f"{plain_number(float(f'{final[key]:.3g}'))} {what}" for key, what in details.items()
                 if isinstance(final.get(key), int | float)]  # fmt: skip
        sentences.append(text + (f", with {' and '.join(parts)} in the mean." if parts else "."))
    if isinstance(messages := final.get("messages_per_peer_and_cycle"), int | float):
        size = final.get("bytes_per_peer_and_cycle")
        kilo = f" ({size / 1000:.3g} kB)" if isinstance(size, int | float) else ""
        sentences.append(f"Upkeep takes {messages:.3g} messages{kilo} per peer and cycle.")
    return sentences


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
