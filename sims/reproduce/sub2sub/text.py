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

from sims.figures.style import COLOURS, figure
from sims.reproduce.claims import Claims, observed, rounded, span, stated
from sims.reproduce.reproduction import Figures, Tables, register
from sims.reproduce.sub2sub.converged_events import converged_events
from sub2sub.compiled.events.outcome import gini

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


def draw(tables: Tables) -> Figures:
    """Distributions over deliveries, and what each peer does per event."""
    fig, (left, middle, right) = figure(1, 3, figsize=(12.6, 4.2))
    kinds = {"copies": "copies of an event that a match receives", "messages": "messages it forwards"}
    for axes, name, (key, label) in zip((left, middle), ("copies", "sent"), kinds.items(), strict=True):
        table = _one(tables, name)
        table = table.assign(share=100 * table.deliveries / table.groupby("seed").deliveries.transform("sum"))
        shares = table.pivot_table(index=key, columns="seed", values="share", fill_value=0.0)
        mean = shares.mean(axis=1)
        error = [mean - shares.min(axis=1), shares.max(axis=1) - mean]
        axes.bar(mean.index, mean, color=COLOURS[0], yerr=error, capsize=2)
        axes.set(xlabel=label, ylabel="deliveries (%)")
    left.axvspan(0.5, FEW + 0.5, color="#eeeeee", zorder=0)
    left.set_title('paper: "once or a few more times"', fontsize=10)
    middle.set(xticks=sorted(_one(tables, "sent").messages.unique()))
    middle.set_title("paper: two adjacent and a few random ones", fontsize=10)
    busy = _one(tables, "peers")
    busy = busy[(busy.taken > 0) & (busy.seed == busy.seed.min())]
    right.scatter(busy.taken, busy.received / busy.taken, s=3, color="#999999", label="copies received")
    right.scatter(busy.taken, busy.forwarded / busy.taken, s=3, color=COLOURS[1], label="messages forwarded")
    right.set(xscale="log", xlabel="events a peer matches (first seed)", ylabel="per event", ylim=(0, None))
    right.set_title("paper: load is evenly balanced", fontsize=10)
    fig.legend(
        *right.get_legend_handles_labels(), loc="outside upper right", ncols=2, fontsize=9, markerscale=4
    )
    return {"": fig}


register("sub2sub-text", "Spam and load of dissemination", converged_events, judge, draw)
