"""Load, beyond the paper's text: messages that each peer receives and forwards, and events that it matches.

On a converged overlay, with 0 to 4 shortcuts; verdicts are for one and two, which the paper calls typical.
The paper (Sub-2-Sub, Section 4.2) calls load "evenly balanced across matching subscribers". Two readings are
measured as Gini coefficients over peers: load *per event taken*, which should be even; and load *in all*. A
peer with a wide subscription takes more events, so load in all should be no less even than events taken.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from sims.reproduce.claims import Claims, observed, rounded, span, stated
from sims.reproduce.reproduction import Tables
from sims.reproduce.sub2sub.converged_events import SHORTCUTS, converged_events
from sub2sub.compiled.events.outcome import gini
from workloads.charts.chart import Chart, Series, Sheet, columns, shares

SHOWN, TYPICAL = (4, 1, 0), (1, 2)
EVEN, FOLLOWS, NO_LESS_EVEN = 0.2, 0.95, 0.05
SOURCE = "Sub-2-Sub, Section 4.2: load is evenly balanced across matching subscribers; the bound is ours"


def balance(peers: pd.DataFrame) -> pd.DataFrame:
    """Gini coefficients, and the correlation of load and interest, by seed and number of shortcuts."""
    rows = []
    for (seed, shortcuts), own in peers.groupby(["seed", "shortcuts"]):
        busy = own[own.taken > 0]
        numbers = {
            "per event, forwarded": gini(busy.forwarded / busy.taken),
            "per event, received": gini(busy.received / busy.taken),
            "in all, forwarded": gini(own.forwarded),
            "events taken": gini(own.taken),
            "correlation": float(np.corrcoef(own.taken, own.forwarded)[0, 1]),
        }
        rows.append({"seed": seed, "shortcuts": shortcuts, **numbers})
    return pd.DataFrame(rows)


def judge(tables: Tables) -> Claims:
    """Per event, and in all, with one and two shortcuts; coefficients of the others as observations."""
    found = balance(tables["peers"])
    typical = found[found.shortcuts.isin(TYPICAL)]
    excess = typical["in all, forwarded"] - typical["events taken"]
    per_event, follows = typical["per event, forwarded"], typical["correlation"]
    each = "with 1 and 2 shortcuts, worst seed"
    yield stated(
        f"Gini coefficient of messages forwarded per event taken, {each} (below {EVEN})", SOURCE, "even",
        round(float(per_event.max()), 4), per_event.max() < EVEN, interval=span(per_event),
        reading="load per event taken",
    )  # fmt: skip
    yield stated(
        f"correlation of messages forwarded with events taken, {each} (above {FOLLOWS})", SOURCE,
        "load follows interest", round(float(follows.min()), 4), follows.min() > FOLLOWS,
        interval=span(follows), reading="load in all",
    )  # fmt: skip
    yield stated(
        f"Gini coefficient of messages forwarded in all beyond that of events taken, {each} (at most "
        f"{NO_LESS_EVEN})", SOURCE, "no less even than interest", round(float(excess.max()), 4),
        excess.max() <= NO_LESS_EVEN, interval=span(excess), reading="load in all",
    )  # fmt: skip
    yield observed(
        f"Gini coefficient of messages forwarded per event taken, with 0 to {SHORTCUTS[-1]} shortcuts, mean "
        "of seeds", rounded(found.groupby("shortcuts")["per event, forwarded"].mean(), 4, "{} shortcuts"),
    )  # fmt: skip


def charts(tables: Tables) -> Sheet:
    """Load in all against interest, per event, and the coefficients."""
    peers, found = tables["peers"], balance(tables["peers"])
    first = peers[(peers.seed == peers.seed.min()) & (peers.taken > 0)]
    by = {int(k): own for k, own in first.groupby("shortcuts")}
    in_all = [
        Series(f"{k} shortcuts", by[k].taken, by[k].forwarded, "points", look=k, style="faint") for k in SHOWN
    ]
    per_event = [
        shares(own.forwarded / own.taken, f"{k} shortcuts", look=k, style="plain") for k, own in by.items()
    ]
    names = ("per event, forwarded", "per event, received", "in all, forwarded", "events taken")
    even = columns(found, "shortcuts", {name: name for name in names}, first=5, over="seeds")
    return Sheet(
        [
            Chart(
                "In all (first seed)", "events a peer matches", "messages it forwards", in_all, log_x=True,
                log_y=True,
            ),
            Chart("Per event", "messages forwarded per event", "peers with at most that (%)", per_event),
            Chart("Balance (paper: even, with 1 or 2)", "shortcuts", "Gini coefficient", even, top=1),
        ]
    )  # fmt: skip


REPRODUCTIONS = {"sub2sub-load": (converged_events, judge, charts)}
