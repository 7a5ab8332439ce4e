"""Figures 13 to 18 of CAMCAST: messages and reception against the share of failed processes.

The paper does not say how large tables are, and whether messages are sent to dead processes. All readings are
run (see `sweep`). Further readings, each with its own verdict:

- "Degraded by only 5 % despite the crash of 30 %, with respect to a gossip-based approach" (Section 1.4): the
  reception of CAMCAST beside that of gossip broadcast, both with 30 % crashed; over all live processes, of
  which g has nine in ten, or in the community that has it worst.
- Figure 15 is said to be lower for a than for d than for g; no order is stated for Figure 16.
- "At least one event" (Figure 14): on average, or in every run.
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pandas as pd

from hierarchy.camcast import TopicSettings
from sims.reproduce.camcast.sweep import GOSSIP, IDEAL, LEVELS, REPORT, SIZES, chosen, unit
from sims.reproduce.claims import Claims, claim, means, rounded, share_interval
from sims.reproduce.reproduction import Tables
from workloads.charts.chart import Chart, Reference, Series, Sheet, curves
from workloads.statistics.intervals import below

__all__ = ["unit"]

FAILED = "processes failed (%)"
CRASHES = {
    f"{IDEAL}, messages go to the dead": (IDEAL, "crashed"),
    f"{REPORT}, messages go to the dead": (REPORT, "crashed"),
    f"{REPORT}, chosen among the living": (REPORT, "avoided"),
}
THIRD, HALF = 0.3, 0.45  # "30 %", "almost half"
DEGRADED, MUCH, ROOM = 0.05, 0.05, 0.95


SEEMING = {  # readings of Figures 17 and 18: seeming crashed, and what it is compared with
    IDEAL: (IDEAL, "crashed"),
    f"{REPORT}, crashed ones sent to": (REPORT, "crashed"),
    f"{REPORT}, crashed ones avoided": (REPORT, "avoided"),
}
BOUNDS = {level: n * (log(n) + TopicSettings().c) for level, n in zip(LEVELS, SIZES, strict=True)}


def _at(own: pd.DataFrame, share: float) -> pd.DataFrame:
    """The rows whose failed share is nearest to one."""
    shares = own.failed.unique()
    return own[own.failed == shares[np.abs(shares - share).argmin()]]


def _by(own: pd.DataFrame, column: str) -> dict[str, pd.Series[float]]:
    """Samples of a column, by community."""
    return {level: own[column][own.community == level] for level in LEVELS}


def judge_fig13(tables: Tables) -> Claims:
    """Messages sent within a community beside N (ln N + c)."""
    sent = _by(_at(chosen(tables["sweep"], IDEAL, "crashed"), 0.0), "sent")
    shares = {level: own / BOUNDS[level] for level, own in sent.items()}
    mean = [own.mean() for own in shares.values()]
    yield means("within_community", shares, bool(max(mean) <= 1 and min(mean) >= 0.8), digits=3)


def judge_fig14(tables: Tables) -> Claims:
    """Upward messages with almost half failed."""
    own = _by(_at(chosen(tables["sweep"], IDEAL, "crashed"), HALF), "upward")
    upward = {level: own[level] for level in ("d", "g")}
    some = {level: values >= 1 for level, values in upward.items()}
    shares = {level: values.mean() for level, values in some.items()}
    ends = {level: share_interval(values.sum(), len(values), 3) for level, values in some.items()}
    yield means("upward", upward, [values.mean() for values in upward.values()], digits=3)
    yield claim("some", rounded(shares, 3), min(shares.values()) == 1.0, interval=ends)


def judge_fig15(tables: Tables) -> Claims:
    """Reception with 30 % crashed, beside gossip broadcast, and its order."""
    gossip, *others = (
        _at(chosen(tables["sweep"], kind, model), THIRD)
        for kind, model in ((GOSSIP, "crashed"), *CRASHES.values())
    )
    whole = _overall(gossip)
    for name, own in zip(CRASHES, others, strict=True):
        by, all_live = _by(own, "reception"), _overall(own)
        worst = min(by, key=lambda level: by[level].mean())
        found = {"CAMCAST": all_live, "gossip broadcast": whole}
        lacks = whole.mean() - all_live.mean(), whole.mean() - by[worst].mean()
        order = below(by["a"], by["d"]) and below(by["d"], by["g"])
        yield means("overall", found, lacks[0], reading=f"{name}; over all live processes")
        lowest = {f"CAMCAST, {worst}": by[worst], "gossip broadcast": whole}
        yield means("lowest", lowest, lacks[1], reading=f"{name}; in each community")
        yield means("order", by, order, digits=3, reading=name)


def _overall(own: pd.DataFrame) -> pd.Series[float]:
    """Per run: the share of all live processes that receive."""
    runs = own.groupby("run")[["received", "alive"]].sum()
    return runs.received / runs.alive


def judge_fig16(tables: Tables) -> Claims:
    """How fast the share of runs that reach all processes rises as fewer are crashed."""
    for name, (kind, model) in CRASHES.items():
        own = chosen(tables["sweep"], kind, model)
        third, none = (_by(_at(own, share), "everybody") for share in (THIRD, 0.0))
        rise = {level: none[level].mean() - third[level].mean() for level in ("a", "d")}
        yield claim("rise", rounded(rise, 3), list(rise.values()), reading=name)
        yield means("all_receive", third, digits=3, reading=name)


def _seeming(tables: Tables, quantity: str, figure: int) -> Claims:
    """Whether seeming crashed does much less harm than being crashed, wherever there is room for it."""
    for name, (kind, model) in SEEMING.items():
        seeming, crashed = (
            own[(own.failed > 0.05) & (own.failed < 0.75)].groupby(["community", "failed"])[quantity].mean()
            for own in (chosen(tables["sweep"], kind, how) for how in ("seeming", model))
        )
        harmed, better = (
            each.groupby("community").mean().reindex(list(LEVELS)) for each in (crashed, seeming)
        )
        gain = better - harmed
        room = gain[harmed <= ROOM]
        much = bool(len(room) and room.min() > MUCH)
        yield claim("seeming", rounded(gain, 3), much, reading=name, quantity=quantity, figure=figure)


def judge_fig17(tables: Tables) -> Claims:
    """The probability of reception."""
    yield from _seeming(tables, "reception", 17)


def judge_fig18(tables: Tables) -> Claims:
    """The probability that everybody receives."""
    yield from _seeming(tables, "everybody", 18)


def _curves(own: pd.DataFrame, column: str, levels: tuple[str, ...] = LEVELS, **options: Any) -> list[Series]:
    """A curve for each community, that of g first."""
    found = []
    for level in reversed(levels):
        number = LEVELS.index(level)
        rows = own[own.community == level]
        label = "" if "style" in options else f"{level} ({SIZES[number]} processes)"
        found += curves(rows, "failed", column, label=label, across=100, first=number, **options)
    return found


def charts_fig13(tables: Tables) -> Sheet:
    """Events within each community beside N (ln N + c)."""
    series = _curves(chosen(tables["sweep"], IDEAL, "crashed"), "sent")
    bounds = [Reference("N (ln N + c)", y=bound) for bound in BOUNDS.values()]
    title = "Events within a community (paper: of order N ln N)"
    return Sheet(
        [Chart(title, FAILED, "events sent (mean)", series, log_y=True, bottom=1, references=bounds)]
    )


def charts_fig14(tables: Tables) -> Sheet:
    """Upward messages that are sent, and those that arrive."""
    own = chosen(tables["sweep"], IDEAL, "crashed")
    series = _curves(own, "upward", ("d", "g"))
    for number, level in ((1, "d"), (2, "g")):
        rows = own[own.community == level]
        how: dict[str, Any] = {"over": "", "across": 100, "first": number, "style": "thin"}
        series += curves(rows, "failed", "upward_arrived", label=f"{level}, arrived", **how)
    stated = [Reference("paper: at least 1 ...", y=1), Reference("... up to here", x=100 * HALF)]
    return Sheet([Chart("", FAILED, "upward messages (mean)", series, references=stated)])


def charts_fig15(tables: Tables) -> Sheet:
    """Reception in each reading, and that of gossip broadcast."""
    gossip = chosen(tables["sweep"], GOSSIP, "crashed")
    level = float(_at(gossip, THIRD).reception.mean())
    how: dict[str, Any] = {"label": "gossip broadcast", "over": "", "across": 100, "style": "plain"}
    more = curves(gossip, "failed", "reception", first=6, **how)
    stated = [Reference("paper: above, at 30 %", y=level - DEGRADED), Reference("30 %", x=100 * THIRD)]
    return _crashed(tables, "reception", "probability of reception", more, stated)


def charts_fig16(tables: Tables) -> Sheet:
    """The probability that everybody receives, in each reading."""
    return _crashed(tables, "everybody", "probability that all receive", [], [])


def _crashed(tables: Tables, column: str, label: str, more: list[Series], stated: list[Reference]) -> Sheet:
    found = []
    for name, (kind, model) in CRASHES.items():
        series = [*_curves(chosen(tables["sweep"], kind, model), column), *more]
        found.append(Chart(name, FAILED, label, series, top=1.03, bottom=0, references=stated))
    return Sheet(found)


def charts_fig17(tables: Tables) -> Sheet:
    """The probability of reception, seeming crashed and crashed."""
    return _charts_seeming(tables, "reception", "probability of reception")


def charts_fig18(tables: Tables) -> Sheet:
    """The probability that everybody receives, seeming crashed and crashed."""
    return _charts_seeming(tables, "everybody", "probability that all receive")


def _charts_seeming(tables: Tables, column: str, label: str) -> Sheet:
    found = []
    for name, (kind, model) in SEEMING.items():
        series = _curves(chosen(tables["sweep"], kind, "seeming"), column)
        series += _curves(chosen(tables["sweep"], kind, model), column, over="", style="thin")
        found.append(Chart(name, FAILED, label, series, top=1.03, bottom=0))
    note = "Seeming crashed to some; thin lines: crashed (paper: marks far above thin lines)"
    return Sheet(found, note=note)


_RECEPTION, _ALL = "probability of reception", "probability that all receive"
