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
from sims.reproduce.camcast.sweep import GOSSIP, IDEAL, LEVELS, REPORT, SIZES, chosen, sweep
from sims.reproduce.claims import (
    Claims,
    intervals,
    mean_interval,
    observed,
    rounded,
    share_interval,
    stated,
)
from sims.reproduce.reproduction import Tables
from workloads.charts.chart import Chart, Reference, Series, Sheet, curves
from workloads.statistics.intervals import below

FAILED = "processes failed (%)"
CRASHES = {
    f"{IDEAL}, messages go to the dead": (IDEAL, "crashed"),
    f"{REPORT}, messages go to the dead": (REPORT, "crashed"),
    f"{REPORT}, chosen among the living": (REPORT, "avoided"),
}
THIRD, HALF = 0.3, 0.45  # "30 %", "almost half"
DEGRADED, STEEP, MUCH, ROOM = 0.05, 0.2, 0.05, 0.95


def _at(own: pd.DataFrame, share: float) -> pd.DataFrame:
    """The rows whose failed share is nearest to one."""
    shares = own.failed.unique()
    return own[own.failed == shares[np.abs(shares - share).argmin()]]


def _means(own: pd.DataFrame, column: str) -> pd.Series[float]:
    return own.groupby("community")[column].mean().reindex(list(LEVELS))


def _intervals(own: pd.DataFrame, column: str) -> dict[str, list[float]]:
    return intervals(own.groupby("community")[column], 3)


def judge_fig13(tables: Tables) -> Claims:
    """Messages sent within a community beside N (ln N + c)."""
    bounds = pd.Series(
        {level: n * (log(n) + TopicSettings().c) for level, n in zip(LEVELS, SIZES, strict=True)}
    )
    own = _at(chosen(tables["sweep"], IDEAL, "crashed"), 0.0)
    shares = _means(own, "sent") / bounds
    yield stated(
        "events sent within a community with nobody failed, as a share of N (ln N + c): between 0.8 and 1 "
        "in all", "CAMCAST, Section 6.1.2 and Figure 13: of an order of N ln N; the bounds are ours",
        "a constant share", rounded(shares, 3), bool(shares.max() <= 1 and shares.min() >= 0.8),
        interval={k: [round(x / bounds[k], 3) for x in v] for k, v in _intervals(own, "sent").items()},
    )  # fmt: skip


def judge_fig14(tables: Tables) -> Claims:
    """Upward messages with almost half failed."""
    own = _at(chosen(tables["sweep"], IDEAL, "crashed"), HALF)
    upward = own[own.community != "a"]
    means = _means(upward, "upward").drop("a")
    some = upward.assign(some=upward.upward >= 1).groupby("community").some
    source = (
        "CAMCAST, Section 6.1.2 and Figure 14: at least one is sent even if almost half of the processes fail"
    )
    yield stated(
        "upward messages sent with 45 % failed, mean of the runs, from d and from g", source, "at least 1",
        rounded(means, 3), means.min() >= 1, interval=_intervals(upward, "upward"), reading="on average",
    )  # fmt: skip
    yield stated(
        "share of the runs in which at least one upward message is sent with 45 % failed, from d and from g",
        source, 1.0, rounded(some.mean(), 3), some.mean().min() == 1.0,
        interval={str(k): share_interval(v.sum(), len(v), 3) for k, v in some}, reading="in every run",
    )  # fmt: skip


def _overall(own: pd.DataFrame) -> pd.Series[float]:
    """Per run: the share of all live processes that receive."""
    runs = own.groupby("run")[["received", "alive"]].sum()
    return runs.received / runs.alive


def judge_fig15(tables: Tables) -> Claims:
    """Reception with 30 % crashed, beside gossip broadcast, and its order."""
    gossip = _overall(_at(chosen(tables["sweep"], GOSSIP, "crashed"), THIRD))
    source = (
        "CAMCAST, Section 1.4: reception is degraded by only 5 % with 30 % crashed, with respect to a "
        "gossip-based approach"
    )
    for name, (kind, model) in CRASHES.items():
        own = _at(chosen(tables["sweep"], kind, model), THIRD)
        overall, means = _overall(own), _means(own, "reception")
        worst, found = str(means.idxmin()), dict(iter(own.groupby("community").reception))
        yield stated(
            "reception with 30 % crashed, over all live processes: CAMCAST, gossip broadcast (at most 0.05 "
            "less)", source, "0.05 less",
            {"CAMCAST": round(overall.mean(), 4), "gossip broadcast": round(gossip.mean(), 4)},
            gossip.mean() - overall.mean() <= DEGRADED,
            interval=[mean_interval(overall), mean_interval(gossip)],
            reading=f"{name}; over all live processes",
        )  # fmt: skip
        yield stated(
            "reception with 30 % crashed, in the community with the lowest: CAMCAST, gossip broadcast (at "
            "most 0.05 less)", source, "0.05 less",
            {f"CAMCAST, {worst}": round(means.min(), 4), "gossip broadcast": round(gossip.mean(), 4)},
            gossip.mean() - means.min() <= DEGRADED,
            interval=mean_interval(own[own.community == worst].reception),
            reading=f"{name}; in each community",
        )  # fmt: skip
        yield stated(
            "reception with 30 % crashed is lower for a than for d than for g, beyond chance",
            "CAMCAST, Section 6.1.2 and Figure 15: smaller for a, and a gap between g and d", "a < d < g",
            rounded(means, 3), below(found["a"], found["d"]) and below(found["d"], found["g"]),
            interval=_intervals(own, "reception"), reading=name,
        )  # fmt: skip


def judge_fig16(tables: Tables) -> Claims:
    """How fast the share of runs that reach all processes rises as fewer are crashed."""
    for name, (kind, model) in CRASHES.items():
        own = chosen(tables["sweep"], kind, model)
        third, none = (_means(_at(own, share), "everybody") for share in (THIRD, 0.0))
        gain = none - third
        yield stated(
            "share of runs in which all live processes receive: rise from 30 % crashed to none, in a and d "
            f"(above {STEEP} in both)",
            "CAMCAST, Section 6.1.2 and Figure 16: reliability increases rapidly with the share alive in d "
            "and a; the bound is ours", "a steep rise", rounded(gain[["a", "d"]], 3),
            gain[["a", "d"]].min() > STEEP, reading=name,
        )  # fmt: skip
        yield observed(
            "share of runs in which all live processes receive with 30 % crashed", rounded(third, 3),
            source="CAMCAST, Figure 16: a plot whose numbers are lost; no order of a, d and g is stated",
            interval=_intervals(_at(own, THIRD), "everybody"), reading=name,
        )  # fmt: skip


SEEMING = {  # readings of Figures 17 and 18: seeming crashed, and what it is compared with
    IDEAL: (IDEAL, "crashed"),
    f"{REPORT}, crashed ones sent to": (REPORT, "crashed"),
    f"{REPORT}, crashed ones avoided": (REPORT, "avoided"),
}


def _gains(tables: Tables, quantity: str, kind: str, model: str) -> pd.DataFrame:
    """Means from 10 to 70 % failed by community: seeming crashed, crashed, and the gain."""
    means = {}
    for name, how in (("seeming", "seeming"), ("crashed", model)):
        own = chosen(tables["sweep"], kind, how)
        own = own[(own.failed > 0.05) & (own.failed < 0.75)]
        means[name] = own.groupby(["community", "failed"])[quantity].mean().groupby("community").mean()
    frame = pd.DataFrame(means).reindex(list(LEVELS))
    return frame.assign(gain=frame.seeming - frame.crashed)


def judge_seeming(tables: Tables, quantity: str, figure: int) -> Claims:
    """Whether seeming crashed does much less harm than being crashed, wherever there is room for it."""
    for name, (kind, model) in SEEMING.items():
        gains = _gains(tables, quantity, kind, model)
        room = gains[gains.crashed <= ROOM]
        yield stated(
            f"{quantity}: mean gain over crashed processes from 10 to 70 % failed, above {MUCH} in every "
            f"community where crashes leave at most {ROOM}",
            f"CAMCAST, Section 6.1.2 and Figure {figure}: much better than with crashed processes; the "
            "bound is ours", "much better", rounded(gains.gain, 3),
            bool(len(room) and room.gain.min() > MUCH), reading=name,
        )  # fmt: skip


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
    bounds = [Reference("N (ln N + c)", y=n * (log(n) + TopicSettings().c)) for n in SIZES]
    title = "Events within a community (paper: of order N ln N)"
    return Sheet(
        [Chart(title, FAILED, "events sent (mean)", series, log_y=True, bottom=1, references=bounds)]
    )


def charts_fig14(tables: Tables) -> Sheet:
    """Upward messages that are sent, and those that arrive."""
    own = chosen(tables["sweep"], IDEAL, "crashed")
    series = _curves(own, "upward", ("d", "g"))
    for level in ("d", "g"):
        rows, number = own[own.community == level], LEVELS.index(level)
        arrived: dict[str, Any] = {
            "label": f"{level}, arrived",
            "over": "",
            "across": 100,
            "first": number,
            "style": "thin",
        }
        series += curves(rows, "failed", "upward_arrived", **arrived)
    stated = [Reference("paper: at least 1 ...", y=1), Reference("... up to here", x=100 * HALF)]
    return Sheet([Chart("", FAILED, "upward messages (mean)", series, references=stated)])


def _charts_crashed(tables: Tables, column: str, label: str) -> Sheet:
    found = []
    gossip = chosen(tables["sweep"], GOSSIP, "crashed")
    level = float(_at(gossip, THIRD)[column].mean())
    for name, (kind, model) in CRASHES.items():
        series, stated = _curves(chosen(tables["sweep"], kind, model), column), []
        if column == "reception":
            how: dict[str, Any] = {
                "label": "gossip broadcast",
                "over": "",
                "across": 100,
                "first": 6,
                "style": "plain",
            }
            series += curves(gossip, "failed", column, **how)
            stated = [
                Reference("paper: above, at 30 %", y=level - DEGRADED),
                Reference("30 %", x=100 * THIRD),
            ]
        found.append(Chart(name, FAILED, label, series, top=1.03, bottom=0, references=stated))
    return Sheet(found)


def _charts_seeming(tables: Tables, column: str, label: str) -> Sheet:
    found = []
    for name, (kind, model) in SEEMING.items():
        series = _curves(chosen(tables["sweep"], kind, "seeming"), column)
        series += _curves(chosen(tables["sweep"], kind, model), column, over="", style="thin")
        found.append(Chart(name, FAILED, label, series, top=1.03, bottom=0))
    note = "Seeming crashed to some; thin lines: crashed (paper: marks far above thin lines)"
    return Sheet(found, note=note)


_RECEPTION, _ALL = "probability of reception", "probability that all receive"


REPRODUCTIONS = {
    "camcast-fig13": (sweep, judge_fig13, charts_fig13),
    "camcast-fig14": (sweep, judge_fig14, charts_fig14),
    "camcast-fig15": (sweep, judge_fig15, lambda tables: _charts_crashed(tables, "reception", _RECEPTION)),
    "camcast-fig16": (sweep, judge_fig16, lambda tables: _charts_crashed(tables, "everybody", _ALL)),
    "camcast-fig17": (
        sweep, lambda tables: judge_seeming(tables, "reception", 17),
        lambda tables: _charts_seeming(tables, "reception", _RECEPTION),
    ),
    "camcast-fig18": (
        sweep, lambda tables: judge_seeming(tables, "everybody", 18),
        lambda tables: _charts_seeming(tables, "everybody", _ALL),
    ),
}  # fmt: skip
