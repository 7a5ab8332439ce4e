"""The findings of a run in a few sentences, from its tables."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sims.report.cells import plain_number, share_text
from sims.report.fault_words import fault_label
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
