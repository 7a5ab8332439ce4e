"""Statements about spam and load in Sub-2-Sub, Section 4.2, on a converged overlay with one shortcut.

- Spam: no message reaches a node that does not match. On a converged overlay in which every host has one
  subscription this cannot fail, because a sender knows the subscription of the receiver. So spam is reported
  without a verdict; it can fail in `sub2sub-change`.
- By the forwarding rule no peer forwards an event more than three times; whether it is *the same small
  number* for all peers is measured.
- "Once or a few more times" is taken as: nine in ten deliveries come with at most four copies in all. "Even"
  is taken as a Gini coefficient below 0.2. Both bounds are ours.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from sims.reproduce.claims import Claims, observed, rounded, span, stated
from sims.reproduce.reproduction import Tables
from sims.reproduce.sub2sub.converged_events import converged_events
from sub2sub.compiled.events.outcome import gini
from workloads.charts.chart import Chart, Reference, Series, Sheet, curves

FEW, EVEN = 4, 0.2
BALANCE = "Sub-2-Sub, Section 4.2: load is evenly balanced across matching subscribers; the bound is ours"


def _one(tables: Tables, name: str) -> pd.DataFrame:
    return tables[name][tables[name].shortcuts == 1]


def judge(tables: Tables) -> Claims:
    """Copies received and messages forwarded by a match."""
    copies, sent, peers, events = (_one(tables, name) for name in ("copies", "sent", "peers", "events"))
    few = [
        float(own.deliveries[own.copies <= FEW].sum() / own.deliveries.sum())
        for _, own in copies.groupby("seed")
    ]
    mean = [float(own.deliveries @ own.copies / own.deliveries.sum()) for _, own in copies.groupby("seed")]
    busy = peers[peers.taken > 0]
    balance = {
        name: [gini(own[name] / own.taken) for _, own in busy.groupby("seed")]
        for name in ("forwarded", "received")
    }
    share = sent.groupby("messages").deliveries.sum() / sent.deliveries.sum()
    yield stated(
        f"a match receives an event once or a few more times: share of deliveries with at most {FEW} copies "
        "(at least 0.9), worst seed",
        "Sub-2-Sub, Section 4.2: each receives an event once or a few more times; the bounds are ours",
        "once or a few", round(min(few), 4), min(few) >= 0.9, interval=span(few),
    )  # fmt: skip
    yield observed(
        "copies of an event that a match receives: mean, most",
        {"mean": round(float(np.mean(mean)), 3), "most": int(copies.copies[copies.deliveries > 0].max())},
        source="Sub-2-Sub, Section 4.2: a few", interval=span(mean),
    )  # fmt: skip
    for name, values in balance.items():
        yield stated(
            f"Gini coefficient over peers of messages {name} per event taken (below {EVEN}), worst seed",
            BALANCE, "even", round(max(values), 4), max(values) < EVEN, interval=span(values),
        )  # fmt: skip
    yield observed(
        "share of deliveries by the number of messages forwarded (the rule allows two adjacent ones and one "
        "random one)", rounded(share),
        source="Sub-2-Sub, Section 4.2: up to two adjacent neighbours and a few random ones",
        paper="the same small number",
    )  # fmt: skip
    yield observed(
        "messages to nodes that do not match (0 by construction here)", int(events.spam.sum()),
        source="Sub-2-Sub, Section 4.2: spam is out of the question", paper=0,
    )  # fmt: skip


def charts(tables: Tables) -> Sheet:
    """Distributions over deliveries, and what each peer does per event."""
    found = []
    kinds = {
        "copies": ("copies", "copies of an event that a match receives", 'paper: "once or a few more times"'),
        "sent": ("messages", "messages it forwards", "paper: two adjacent and a few random ones"),
    }
    for name, (key, label, title) in kinds.items():
        table = _one(tables, name)
        share = 100 * table.deliveries / table.groupby("seed").deliveries.transform("sum")
        series = curves(table.assign(share=share), key, "share", label="", over="seeds", shape="bars")
        few = [Reference("", x=0.5, to=FEW + 0.5)] if name == "copies" else []
        found.append(Chart(title, label, "deliveries (%)", series, references=few))
    busy = _one(tables, "peers")
    busy = busy[(busy.taken > 0) & (busy.seed == busy.seed.min())]
    series = [
        Series(
            f"{label} (first seed)", busy.taken, busy[name] / busy.taken, "points", look=look, style="faint"
        )
        for look, (name, label) in enumerate(
            {"received": "copies received", "forwarded": "messages forwarded"}.items()
        )
    ]
    title = "paper: load is evenly balanced"
    return Sheet(
        [*found, Chart(title, "events a peer matches (first seed)", "per event", series, log_x=True)]
    )


REPRODUCTIONS = {"sub2sub-text": (converged_events, judge, charts)}
