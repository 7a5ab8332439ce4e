"""Churn, beyond the paper: in every cycle a share of the peers leaves and as many newcomers join.

At 5 % a peer lives for 20 cycles, about as long as gossip takes to find all of its ring neighbours.
`sims.reproduce.sub2sub.under_churn` describes the measurement. There are three forms: the default; the
default without the additions for churn (*earlier default*: candidates accepted without a probe, newcomers
wait for gossip, one try, no peer dropped at once, probes from age 6 on, events sent once); and as published.
Each addition is also left out by itself.

The paper does not mention churn: verdicts are about absolute bounds of ours, in the worst seed.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sims.reproduce.claims import Claims, claim, last_cycle, rounded, worst_seed
from sims.reproduce.reproduction import Tables
from sims.reproduce.sub2sub.under_churn import ABLATIONS, DEFAULT, EARLIER, LOSS, PUBLISHED, WAIT, follow
from workloads.charts.chart import Series, curves

__all__ = ["by_age", "by_waiting", "follow", "judge", "missed"]

HITS = {0.01: 0.999, 0.02: 0.995, 0.05: 0.99}  # least hit ratio by share replaced a cycle


def _own(table: pd.DataFrame, form: str, share: float, loss: float = 0.0) -> pd.DataFrame:
    return table[(table.form == form) & (table.share == share) & (table.loss == loss)]


def _by_seed(own: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """The mean of a column over cycles, seed by seed."""
    return np.asarray(own.groupby("seed")[column].mean())


def judge(tables: Tables) -> Claims:
    """Deliveries and upkeep for each share, with loss and recovery; then what each part brings."""
    churn = tables["churn"]
    shares = sorted(churn.share[churn.form == DEFAULT].unique())
    for share in shares:
        yield from _judge_share(tables, share, f"{share:.0%} per cycle")
    greatest = {name: _own(churn, name, shares[-1]) for name in (DEFAULT, *ABLATIONS, PUBLISHED)}
    hits = rounded({name: _by_seed(own, "hit_ratio")[0] for name, own in greatest.items()})
    cost = rounded({name: _by_seed(own, "upkeep")[0] for name, own in greatest.items()}, 1)
    name, published = f"{shares[-1]:.0%} per cycle", hits.pop(PUBLISHED)
    cost.pop(PUBLISHED)
    lost = hits[DEFAULT] - max(hits["without verify"], hits["without join"])
    yield claim("parts", round(lost, 4), lost, name=name)
    yield claim("without", hits, name=name)
    yield claim("upkeep_without", cost, name=name)
    yield claim("published", published, name=name)


def _judge_share(tables: Tables, share: float, name: str) -> Claims:
    whole, lossy, before = (
        _own(tables["churn"], form, share, loss)
        for form, loss in ((DEFAULT, 0.0), (DEFAULT, LOSS), (EARLIER, 0.0))
    )
    hits = _by_seed(whole, "hit_ratio")
    ages = _own(tables["ages"], DEFAULT, share).groupby("age")[["taken", "wanted"]].sum()
    young = ages.taken / ages.wanted
    yield worst_seed("hit_ratio", hits, at_least=HITS[share], name=name)
    yield worst_seed("upkeep", _by_seed(whole, "upkeep") / _by_seed(before, "upkeep"), name=name)
    yield worst_seed("lossy", hits - _by_seed(lossy, "hit_ratio"), name=name)
    yield claim("newcomers", round(float(young[2:].min()), 4), young[2:], name=name)
    for loss, own in ((0.0, whole), (LOSS, lossy)):
        waiting = _own(tables["waiting"], DEFAULT, share, loss)
        late = waiting[waiting.waited == WAIT].groupby("seed")[["has", "wanted"]].sum()
        yield worst_seed("recovered", late.has / late.wanted, name=name, loss=loss)
        cost = round(float(own.recovery[own.recovery > 0].mean()), 2)
        yield claim("recovery_cost", cost, name=name, loss=loss)
    after = _own(tables["after"], DEFAULT, share)
    for column, what in (("complete", "every event reaches everybody"), ("rings", "all rings are complete")):
        cycles = [last_cycle(run.cycle, run[column] < 1.0) for _, run in after.groupby("seed")]
        yield worst_seed("after", cycles, name=name, what=what)
    yield worst_seed("earlier", _by_seed(before, "hit_ratio"), name=name)
    yield worst_seed("once", _by_seed(lossy, "once"), name=name)
    yield claim("first", round(float(young[1]), 4), name=name)
    yield claim("meanwhile", round(float(_by_seed(whole, "meanwhile").min()), 4), name=name)
    yield claim("cost", round(float(_by_seed(whole, "per_delivery").mean()), 3), name=name)


def missed(churn: pd.DataFrame) -> list[Series]:
    """The share of events that is missed, by form, and the bound."""
    found: list[Series] = []
    for form, loss, label in (
        (DEFAULT, 0.0, DEFAULT),
        (DEFAULT, LOSS, "default, 5% loss"),
        (EARLIER, 0.0, EARLIER),
    ):
        own = churn[(churn.form == form) & (churn.loss == loss)].groupby(["share", "seed"]).hit_ratio.mean()
        rows, first = (1 - own).reset_index(), len(found)
        found += curves(
            rows, "share", "hit_ratio", label=label, over="seeds", first=first, times=100, across=100
        )
    bounds = {100 * share: 100 * (1 - least) for share, least in HITS.items() if share in set(churn.share)}
    return [*found, Series("bound of ours, at most", [*bounds], [*bounds.values()], style="black")]


def by_age(ages: pd.DataFrame) -> list[Series]:
    """The share of its events that a peer misses, by its age."""
    sums = ages.groupby(["share", "age"])[["taken", "wanted"]].sum()
    rows = sums.assign(missed=1 - sums.taken / sums.wanted).reset_index()
    return curves(rows, "age", "missed", "share", label="{:.0%} per cycle", over="", times=100)


def by_waiting(waiting: pd.DataFrame) -> list[Series]:
    """The share of events that are still missed, by cycles since they were published."""
    sums = waiting.groupby(["share", "waited"])[["has", "wanted"]].sum()
    rows = sums.assign(missed=1 - sums.has / sums.wanted).reset_index()
    return curves(rows, "waited", "missed", "share", label="{:.0%} per cycle", over="", times=100)
