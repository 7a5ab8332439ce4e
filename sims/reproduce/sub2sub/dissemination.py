"""Events on a converged overlay: Figure 7b of Sub-2-Sub, the cost of shortcuts, spam and load (Section 4.2).

The overlay is as published, 3 attributes, power law. Each event is published by a random subscriber of it,
with 0 to 4 shortcuts; the figure and the statements of `sub2sub-text` are about one.

- `sub2sub-fig7b`: hops count from the publisher. "Logarithmic" means here: a log2(length) + b fits the mean
  hops of each length better than a straight line in the length, and explains at least 0.9 of their variance.
  `sub2sub-shortcuts` goes beyond the figure: 0 to 4 shortcuts with the same fit, and their cost in messages,
  as `sub2sub.compiled.events.outcome` defines it.
- Spam: no message reaches a node that does not match. On a converged overlay in which every host has one
  subscription this cannot fail, because a sender knows the subscription of the receiver. So spam is reported
  without a verdict; it can fail in `sub2sub-change`.
- By the forwarding rule no peer forwards an event more than three times; whether it is *the same small
  number* for all peers is measured.
- "Once or a few more times" is taken as: nine in ten deliveries come with at most four copies in all. "Even"
  is taken as a Gini coefficient below 0.2. Both bounds are ours.
- `sub2sub-load` goes beyond the text: verdicts are for one and two shortcuts, which the paper calls typical.
  Two readings of "evenly balanced across matching subscribers" are Gini coefficients over peers: load *per
  event taken*, which should be even; and load *in all*. A peer with a wide subscription takes more events, so
  load in all should be no less even than events taken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sims.observers.delivery import deliver
from sims.reproduce.claims import Claims, claim, rounded, span, worst_seed
from sims.reproduce.reproduction import Tables
from sims.reproduce.sub2sub.setting import converged
from sub2sub.compiled.events.outcome import Outcome, gini
from sub2sub.peers.settings import DisseminationSettings
from workloads.charts.chart import Chart, Series, Sheet, columns, shares

SHORTCUTS = range(5)
FEW = 4  # copies
BOUND = 0.9  # least share of the variance that a logarithm explains


def unit(seed: int, size: int) -> dict[str, pd.DataFrame]:
    """One overlay: outcomes by event, by peer, and deliveries by copies received and by messages sent."""
    found: dict[str, list[pd.DataFrame]] = {name: [] for name in ("events", "peers", "copies", "sent")}
    simulation, events = converged("sub2sub-fig7", seed, size, {})
    for shortcuts in SHORTCUTS:
        outcome = deliver(simulation, events, DisseminationSettings.paper(shortcuts=shortcuts))
        for name, frame in _frames(outcome).items():
            found[name].append(frame.assign(shortcuts=shortcuts))
    return {name: pd.concat(frames, ignore_index=True) for name, frames in found.items()}


def _frames(outcome: Outcome) -> dict[str, pd.DataFrame]:
    """Outcome by event, by peer, and deliveries by copies received and by messages sent."""
    events = pd.DataFrame(outcome.as_table()).drop(columns=["applications", "delivered", "local"])
    return {
        "events": events.assign(billed=outcome.billed, deliveries=outcome.deliveries),
        "peers": pd.DataFrame(outcome.load_table()),
        "copies": pd.DataFrame({"copies": np.arange(outcome.copies.size), "deliveries": outcome.copies}),
        "sent": pd.DataFrame({"messages": np.arange(outcome.sent.size), "deliveries": outcome.sent}),
    }


class Fit(NamedTuple):
    """y = slope x + offset by least squares, and the share of the variance it explains (R squared)."""

    slope: float
    offset: float
    explained: float


def fit(x: NDArray[np.float64], y: NDArray[np.float64]) -> Fit:
    """A straight line through points.

    Examples
    --------
    >>> [round(value, 6) for value in fit(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]))]
    [2.0, 1.0, 1.0]
    """
    slope, offset = np.polyfit(x, y, 1)
    left, variance = ((y - slope * x - offset) ** 2).sum(), ((y - y.mean()) ** 2).sum()
    return Fit(float(slope), float(offset), float(1 - left / variance) if variance > 0 else 0.0)


def _by_length(events: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ring lengths, and the mean hops of the events with each."""
    means = events.groupby("matches").hops.mean()
    return means.index.to_numpy(float), means.to_numpy(float)


def _log(events: pd.DataFrame) -> Fit:
    """Hops against the logarithm of the length."""
    lengths, hops = _by_length(events)
    return fit(np.log2(lengths), hops)


def _one(tables: Tables, name: str) -> pd.DataFrame:
    return tables[name][tables[name].shortcuts == 1]


def judge_hops(tables: Tables) -> Claims:
    """Whether hops grow logarithmically with one shortcut, and all events are complete."""
    events = _one(tables, "events")
    seeds = [own for _, own in events.groupby("seed")]
    log, line = (np.array([each(own) for own in seeds]) for each in (_log, lambda own: fit(*_by_length(own))))
    r2 = {"R2 log": log[:, 2], "R2 line": line[:, 2]}
    ends = {name: span(values) for name, values in r2.items()}
    grows = bool((log[:, 2] >= BOUND).all() and (log[:, 2] > line[:, 2]).all())
    measured = rounded({"slope": log[:, 0].mean(), "offset": log[:, 1].mean()}, 3)
    slopes = {"slope": span(log[:, 0]), "offset": span(log[:, 1])}
    yield worst_seed("complete", [(own.reached == own.matches).mean() for own in seeds])
    yield claim("logarithmic", rounded({k: v.mean() for k, v in r2.items()}), grows, interval=ends)
    yield claim("slope", {**measured, "most hops": int(events.hops.max())}, interval=slopes)


def judge_shortcuts(tables: Tables) -> Claims:
    """Linear time without shortcuts, close to logarithmic with them; what they cost."""
    events = tables["events"]
    explained = {
        k: [_log(own).explained for _, own in rows.groupby("seed")] for k, rows in events.groupby("shortcuts")
    }
    alone = events[events.shortcuts == 0]
    half = float((alone.hops == alone.matches // 2).mean())
    cost = events.groupby("shortcuts")[["billed", "deliveries"]].sum()
    yield claim("linear", half, half == 1.0)
    yield worst_seed("one_shortcut", explained[1])
    yield claim("explained", rounded({k: min(values) for k, values in explained.items()}, 4, "{} shortcuts"))
    yield claim("cost", rounded(cost.billed / cost.deliveries, 3, "{} shortcuts"))


def judge_text(tables: Tables) -> Claims:
    """Copies received and messages forwarded by a match."""
    copies, sent, peers, events = (_one(tables, name) for name in ("copies", "sent", "peers", "events"))
    by = [own for _, own in copies.groupby("seed")]
    means = [float(own.deliveries @ own.copies / own.deliveries.sum()) for own in by]
    most = int(copies.copies[copies.deliveries > 0].max())
    busy = peers[peers.taken > 0]
    yield worst_seed("copies", [own.deliveries[own.copies <= FEW].sum() / own.deliveries.sum() for own in by])
    yield claim("mean_copies", {"mean": round(float(np.mean(means)), 3), "most": most}, interval=span(means))
    for name in ("forwarded", "received"):
        yield worst_seed("gini", [gini(own[name] / own.taken) for _, own in busy.groupby("seed")], name=name)
    yield claim("sent", rounded(sent.groupby("messages").deliveries.sum() / sent.deliveries.sum()))
    yield claim("spam", int(events.spam.sum()))


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


def judge_load(tables: Tables) -> Claims:
    """Per event, and in all, with one and two shortcuts; coefficients of the others as observations."""
    found = balance(tables["peers"])
    typical = found[found.shortcuts.isin((1, 2))]
    yield worst_seed("per_event", typical["per event, forwarded"])
    yield worst_seed("follows", typical["correlation"])
    yield worst_seed("in_all", typical["in all, forwarded"] - typical["events taken"])
    means = found.groupby("shortcuts")["per event, forwarded"].mean()
    yield claim("by_shortcuts", rounded(means, 4, "{} shortcuts"))


def hops_of_events(events: pd.DataFrame) -> list[Series]:
    """Hops of each event, their mean by length, and the logarithm that fits them."""
    lengths, hops = _by_length(events)
    jitter = np.random.default_rng(0).uniform(-0.3, 0.3, len(events))
    series = [
        Series("an event", events.matches, events.hops + jitter, "points", look=5, style="faint"),
        Series("mean per ring length", lengths, hops, "points", look=0),
    ]
    log = _log(events)
    label = f"{log.slope:.2f} log2(length) {log.offset:+.2f} (R² = {log.explained:.3f})"
    fitted = log.slope * np.log2(lengths) + log.offset
    series.append(Series(label, lengths, fitted, look=1, style="plain"))
    for number, (_, own) in enumerate(events.groupby("seed")):
        one, label = _log(own), "" if number else "each seed"
        fitted = one.slope * np.log2(lengths) + one.offset
        series.append(Series(label, lengths, fitted, look=1, style="thin"))
    return series


def hops_by_shortcuts(events: pd.DataFrame) -> list[Series]:
    """Mean hops by length for each number of shortcuts."""
    return [
        Series(f"{k} shortcuts, R² {_log(own).explained:.2f}", *_by_length(own), look=int(k))
        for k, own in events.groupby("shortcuts")
    ]


def messages(events: pd.DataFrame) -> list[Series]:
    """Messages per delivery by shortcuts, and those that are duplicates."""
    cost = events.groupby(["seed", "shortcuts"])[["billed", "duplicates", "deliveries"]].sum()
    sums = cost.div(cost.deliveries, axis=0).reset_index()
    names = {"billed": "messages", "duplicates": "of which duplicates"}
    return columns(sums, "shortcuts", names, first=5, over="seeds")


def percent(rows: pd.DataFrame) -> pd.DataFrame:
    """The same rows, with the percentage of its seed's deliveries that each has."""
    return rows.assign(share=100 * rows.deliveries / rows.groupby("seed").deliveries.transform("sum"))


def per_event(peers: pd.DataFrame) -> list[Series]:
    """Load per event of the first seed's peers, against the events that they match."""
    busy = peers[(peers.taken > 0) & (peers.seed == peers.seed.min())]
    names = {"received": "copies received", "forwarded": "messages forwarded"}
    return [
        Series(
            f"{label} (first seed)", busy.taken, busy[name] / busy.taken, "points", look=look, style="faint"
        )
        for look, (name, label) in enumerate(names.items())
    ]


def charts_load(tables: Tables) -> Sheet:
    """Load in all against interest, per event, and the coefficients."""
    peers, found = tables["peers"], balance(tables["peers"])
    first = peers[(peers.seed == peers.seed.min()) & (peers.taken > 0)]
    by = {int(k): own for k, own in first.groupby("shortcuts")}
    in_all = [
        Series(f"{k} shortcuts", by[k].taken, by[k].forwarded, "points", look=k, style="faint")
        for k in (4, 1, 0)
    ]
    each = [
        shares(own.forwarded / own.taken, f"{k} shortcuts", look=k, style="plain") for k, own in by.items()
    ]
    names = {name: name for name in found.columns[2:6]}
    even = columns(found, "shortcuts", names, first=5, over="seeds")
    x, y = "events a peer matches", "messages it forwards"
    return Sheet(
        [
            Chart("In all (first seed)", x, y, in_all, log_x=True, log_y=True),
            Chart("Per event", "messages forwarded per event", "peers with at most that (%)", each),
            Chart("Balance (paper: even, with 1 or 2)", "shortcuts", "Gini coefficient", even, top=1),
        ]
    )
