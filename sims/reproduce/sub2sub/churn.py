"""Churn, beyond the paper: in every cycle a share of the peers leaves and as many newcomers join.

At 5 % a peer lives for 20 cycles, about as long as gossip takes to find all of its ring neighbours.
`sims.reproduce.sub2sub.under_churn` describes the measurement. There are three forms: the default; the
default without the additions for churn (*earlier default*: candidates accepted without a probe, newcomers
wait for gossip, one try, no peer dropped at once, probes from age 6 on, events sent once); and as published.
Each addition is also left out by itself.

The paper does not mention churn: verdicts are about absolute bounds of ours, in the worst seed.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from sims.reproduce.claims import OURS, Claims, at_least, last_cycle, observed, rounded, span, stated, within
from sims.reproduce.reproduction import Tables
from sims.reproduce.sub2sub.under_churn import ABLATIONS, DEFAULT, EARLIER, LOSS, PUBLISHED, WAIT, plan
from workloads.charts.chart import Chart, Series, Sheet, curves

HITS = {0.01: 0.999, 0.02: 0.995, 0.05: 0.99}  # least hit ratio by share replaced a cycle
UPKEEP, LESS_UNDER_LOSS, AFTER = 1.3, 0.005, 24
SECOND, YOUNG = 2, 0.95  # from which cycle on a newcomer gets this share of its events
RECOVERED = 0.9995  # 1.000, as rounded


def _own(table: pd.DataFrame, form: str, share: float, loss: float = 0.0) -> pd.DataFrame:
    return table[(table.form == form) & (table.share == share) & (table.loss == loss)]


def _by_seed(table: pd.DataFrame, form: str, share: float, column: str, loss: float = 0.0) -> Any:
    """The mean of a column over cycles, seed by seed."""
    return _own(table, form, share, loss).groupby("seed")[column].mean().to_numpy()


def judge(tables: Tables) -> Claims:
    """Deliveries and upkeep for each share, with loss and recovery; then what each part brings."""
    churn = tables["churn"]
    shares = sorted(churn.share[churn.form == DEFAULT].unique())
    for share in shares:
        yield from _judge_share(tables, share)
    worst = shares[-1]
    names, published = (DEFAULT, *ABLATIONS), _by_seed(churn, PUBLISHED, worst, "hit_ratio")[0]
    parts = rounded({name: _by_seed(churn, name, worst, "hit_ratio")[0] for name in names})
    cost = rounded({name: _by_seed(churn, name, worst, "upkeep")[0] for name in names}, 1)
    lost = parts[DEFAULT] - max(parts["without verify"], parts["without join"])
    name = f"{worst:.0%} per cycle"
    yield stated(
        f"{name}: hit ratio lost without verification, or without immediate joins, the lesser of the two, "
        "first seed", OURS, "more than 0.005", round(lost, 4), lost > 0.005,
    )  # fmt: skip
    yield observed(f"{name}: hit ratio without one of the parts, first seed", parts)
    yield observed(f"{name}: upkeep messages per peer and cycle without it", cost)
    yield observed(f"{name}: hit ratio as published, first seed", round(float(published), 4))


def _judge_share(tables: Tables, share: float) -> Claims:
    churn, name = tables["churn"], f"{share:.0%} per cycle"
    hits, lossy = (_by_seed(churn, DEFAULT, share, "hit_ratio", loss) for loss in (0.0, LOSS))
    ratio = _by_seed(churn, DEFAULT, share, "upkeep") / _by_seed(churn, EARLIER, share, "upkeep")
    ages = _own(tables["ages"], DEFAULT, share)
    young = ages[ages.age >= SECOND].groupby("age")[["taken", "wanted"]].sum()
    young_hits = (young.taken / young.wanted).to_numpy()
    yield at_least(f"{name}: hit ratio, worst seed", hits, HITS[share])
    yield stated(
        f"{name}: upkeep messages beside those of the earlier default, worst seed", OURS, f"at most {UPKEEP}",
        round(float(ratio.max()), 3), ratio.max() <= UPKEEP, interval=span(ratio),
    )  # fmt: skip
    yield stated(
        f"{name}: hit ratio lost when {LOSS:.0%} of all messages are lost, worst seed", OURS,
        f"at most {LESS_UNDER_LOSS}", round(float((hits - lossy).max()), 4),
        (hits - lossy).max() <= LESS_UNDER_LOSS, interval=span(hits - lossy),
    )  # fmt: skip
    yield stated(
        f"{name}: share of its events that a newcomer gets in its second cycle or a later one, worst age",
        OURS, f"at least {YOUNG}", round(float(young_hits.min()), 4), young_hits.min() >= YOUNG,
    )  # fmt: skip
    for loss in (0.0, LOSS):
        waiting = _own(tables["waiting"], DEFAULT, share, loss)
        late = waiting[waiting.waited == WAIT].groupby("seed")[["has", "wanted"]].sum()
        found = (late.has / late.wanted).to_numpy()
        cost = _own(churn, DEFAULT, share, loss).recovery
        yield stated(
            f"{name}, {loss:.0%} loss: share of events that those who stay have {WAIT} cycles later, with "
            "recovery, worst seed", OURS, "1.000", round(float(found.min()), 5), found.min() >= RECOVERED,
            interval=span(found, 5),
        )  # fmt: skip
        yield observed(
            f"{name}, {loss:.0%} loss: messages of recovery per peer and cycle, for two cycles' events",
            round(float(cost[cost > 0].mean()), 2),
        )  # fmt: skip
    after = _own(tables["after"], DEFAULT, share)
    for column, what in (("complete", "every event reaches everybody"), ("rings", "all rings are complete")):
        cycles = [last_cycle(run.cycle, run[column] < 1.0) for _, run in after.groupby("seed")]
        yield within(f"{name}: cycles after its end until {what}, worst seed", cycles, AFTER)
    yield from _observe_share(tables, share)


def _observe_share(tables: Tables, share: float) -> Claims:
    churn, ages, name = tables["churn"], _own(tables["ages"], DEFAULT, share), f"{share:.0%} per cycle"
    worst = {
        f"{name}: hit ratio, earlier default, worst seed": _by_seed(churn, EARLIER, share, "hit_ratio"),
        f"{name}, {LOSS:.0%} loss: hit ratio if events are sent once, worst seed": _by_seed(
            churn, DEFAULT, share, "once", LOSS
        ),
    }
    for text, values in worst.items():
        yield observed(text, round(float(values.min()), 4), interval=span(values))
    first, meanwhile = ages[ages.age == 1], _by_seed(churn, DEFAULT, share, "meanwhile").min()
    text = "share of its events that a newcomer gets in its first cycle"
    yield observed(f"{name}: {text}", round(float(first.taken.sum() / first.wanted.sum()), 4))
    text = "share of their events that those who stay get right after others left, before anybody noticed"
    yield observed(f"{name}: {text}", round(float(meanwhile), 4))
    cost = _by_seed(churn, DEFAULT, share, "per_delivery").mean()
    yield observed(f"{name}: messages per delivery, acknowledgements included", round(float(cost), 3))


def charts(tables: Tables) -> Sheet:
    """Hit ratio by form, by age, and by waiting."""
    churn, ages, waiting = (tables[name] for name in ("churn", "ages", "waiting"))
    shares = sorted(churn.share[churn.form == DEFAULT].unique())
    hits: list[Series] = []
    forms = ((DEFAULT, 0.0, DEFAULT), (DEFAULT, LOSS, f"default, {LOSS:.0%} loss"), (EARLIER, 0.0, EARLIER))
    for form, loss, label in forms:
        own = churn[(churn.form == form) & (churn.loss == loss)].groupby(["share", "seed"]).hit_ratio.mean()
        how: dict[str, Any] = {"label": label, "over": "seeds", "first": len(hits)}
        hits += curves(own.reset_index(), "share", "hit_ratio", times=100, across=100, **how)
    bounds = [100 * HITS[share] for share in shares]
    at = [100 * share for share in shares]
    hits.append(Series("bound of ours, at least", at, bounds, "points", style="black"))
    aged, waited = (
        [
            Series(f"{share:.0%} per cycle", sums.index, 100 * of(sums[part] / sums.wanted))
            for share in shares
            for sums in [_own(table, DEFAULT, share).groupby(by)[[part, "wanted"]].sum()]
        ]
        for table, by, part, of in (
            (ages, "age", "taken", lambda got: got), (waiting, "waited", "has", lambda got: 1 - got),
        )
    )  # fmt: skip
    return Sheet(
        [
            Chart("Hit ratio", "peers replaced a cycle (%)", "events received (%)", hits, top=100),
            Chart("Share of its events that a peer gets", "age of a peer (cycles)", "%", aged),
            Chart(
                "Missed by peers that stay, with recovery", "cycles after publication", "missed (%)", waited,
                linear=0.001,
            ),
        ]
    )  # fmt: skip


REPRODUCTIONS = {"sub2sub-churn": (plan, judge, charts)}
