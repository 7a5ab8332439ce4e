"""Churn, beyond the paper: in every cycle a share of the peers leaves and as many newcomers join.

At 5 % a peer lives for 20 cycles, about as long as gossip takes to find all of its ring neighbours. How it is
measured is in `sims.reproduce.sub2sub.under_churn`. Three forms: the default; the default without what was
added for churn (*earlier default*: candidates accepted without a probe, newcomers wait for gossip, one try,
nobody dropped at once, probes from age 6 on, events sent once); and as published. Each addition is also left
out by itself.

The paper says nothing of churn: verdicts are about absolute bounds of ours, in the worst seed.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from sims.figures.style import band, figure, legend_below, line
from sims.reproduce.claims import OURS, Claim, last_cycle, observed, span, stated, within
from sims.reproduce.registry import register
from sims.reproduce.reproduction import Figures, Tables
from sims.reproduce.sub2sub.under_churn import ABLATIONS, DEFAULT, EARLIER, LOSS, PUBLISHED, WAIT, follow

HITS = {0.01: 0.999, 0.02: 0.995, 0.05: 0.99}  # least hit ratio by share replaced a cycle
UPKEEP, LESS_UNDER_LOSS, AFTER = 1.3, 0.005, 24
SECOND, YOUNG = 2, 0.95  # from which cycle on a newcomer gets this share of its events
RECOVERED = 0.9995  # 1.000, as rounded


def _own(table: pd.DataFrame, form: str, share: float, loss: float = 0.0) -> pd.DataFrame:
    return table[(table.form == form) & (table.share == share) & (table.loss == loss)]


def _by_seed(table: pd.DataFrame, form: str, share: float, column: str, loss: float = 0.0) -> Any:
    """The mean of a column over cycles, seed by seed."""
    return _own(table, form, share, loss).groupby("seed")[column].mean().to_numpy()


def judge(tables: Tables) -> list[Claim]:
    """Deliveries and upkeep for each share, with loss and recovery; then what each part brings."""
    churn = tables["churn"]
    shares = sorted(churn.share[churn.form == DEFAULT].unique())
    claims = [claim for share in shares for claim in _judge_share(tables, share)]
    worst = shares[-1]
    parts = {
        name: round(float(_by_seed(churn, name, worst, "hit_ratio")[0]), 4) for name in (DEFAULT, *ABLATIONS)
    }
    cost = {
        name: round(float(_by_seed(churn, name, worst, "upkeep")[0]), 1) for name in (DEFAULT, *ABLATIONS)
    }
    name = f"{worst:.0%} per cycle"
    claims += [
        stated(
            f"{name}: hit ratio lost without verification, or without immediate joins, the lesser of the "
            "two, first seed", OURS, "more than 0.005",
            round(parts[DEFAULT] - max(parts["without verify"], parts["without join"]), 4),
            parts[DEFAULT] - max(parts["without verify"], parts["without join"]) > 0.005,
        ),
        observed(f"{name}: hit ratio without one of the parts, first seed", "not in the paper", parts),
        observed(f"{name}: upkeep messages per peer and cycle without it", "not in the paper", cost),
        observed(
            f"{name}: hit ratio as published, first seed", "not in the paper",
            round(float(_by_seed(churn, PUBLISHED, worst, "hit_ratio")[0]), 4),
        ),
    ]  # fmt: skip
    return claims


def _judge_share(tables: Tables, share: float) -> list[Claim]:
    churn, name = tables["churn"], f"{share:.0%} per cycle"
    hits, earlier = (_by_seed(churn, form, share, "hit_ratio") for form in (DEFAULT, EARLIER))
    lossy = _by_seed(churn, DEFAULT, share, "hit_ratio", LOSS)
    once = _by_seed(churn, DEFAULT, share, "once", LOSS)
    ratio = _by_seed(churn, DEFAULT, share, "upkeep") / _by_seed(churn, EARLIER, share, "upkeep")
    ages = _own(tables["ages"], DEFAULT, share)
    young = ages[ages.age >= SECOND].groupby("age")[["taken", "wanted"]].sum()
    young_hits = (young.taken / young.wanted).to_numpy()
    claims = [
        stated(
            f"{name}: hit ratio, worst seed", OURS, f"at least {HITS[share]}", round(float(hits.min()), 4),
            hits.min() >= HITS[share], interval=span(hits),
        ),
        stated(
            f"{name}: upkeep messages beside those of the earlier default, worst seed", OURS,
            f"at most {UPKEEP}", round(float(ratio.max()), 3), ratio.max() <= UPKEEP, interval=span(ratio),
        ),
        stated(
            f"{name}: hit ratio lost when {LOSS:.0%} of all messages are lost, worst seed", OURS,
            f"at most {LESS_UNDER_LOSS}", round(float((hits - lossy).max()), 4),
            (hits - lossy).max() <= LESS_UNDER_LOSS, interval=span(hits - lossy),
        ),
        stated(
            f"{name}: share of its events that a newcomer gets in its second cycle or a later one, worst age",
            OURS, f"at least {YOUNG}", round(float(young_hits.min()), 4), young_hits.min() >= YOUNG,
        ),
    ]  # fmt: skip
    for loss in (0.0, LOSS):
        waiting = _own(tables["waiting"], DEFAULT, share, loss)
        late = waiting[waiting.waited == WAIT].groupby("seed")[["has", "wanted"]].sum()
        found = (late.has / late.wanted).to_numpy()
        cost = _own(churn, DEFAULT, share, loss).recovery
        claims += [
            stated(
                f"{name}, {loss:.0%} loss: share of events that those who stay have {WAIT} cycles later, "
                "with recovery, worst seed", OURS, "1.000", round(float(found.min()), 5),
                found.min() >= RECOVERED, interval=span(found, 5),
            ),
            observed(
                f"{name}, {loss:.0%} loss: messages of recovery per peer and cycle, for two cycles' events",
                "not in the paper", round(float(cost[cost > 0].mean()), 2),
            ),
        ]  # fmt: skip
    after = _own(tables["after"], DEFAULT, share)
    for column, what in (("complete", "every event reaches everybody"), ("rings", "all rings are complete")):
        cycles = [last_cycle(run.cycle, run[column] < 1.0) for _, run in after.groupby("seed")]
        claims.append(within(f"{name}: cycles after its end until {what}, worst seed", cycles, AFTER))
    first = ages[ages.age == 1]
    claims += [
        observed(f"{name}: hit ratio, earlier default, worst seed", "not in the paper",
                 round(float(earlier.min()), 4), interval=span(earlier)),
        observed(f"{name}, {LOSS:.0%} loss: hit ratio if events are sent once, worst seed",
                 "not in the paper", round(float(once.min()), 4), interval=span(once)),
        observed(f"{name}: share of its events that a newcomer gets in its first cycle", "not in the paper",
                 round(float(first.taken.sum() / first.wanted.sum()), 4)),
        observed(f"{name}: share of their events that those who stay get right after others left, before "
                 "anybody noticed", "not in the paper",
                 round(float(_by_seed(churn, DEFAULT, share, "meanwhile").min()), 4)),
        observed(f"{name}: messages per delivery, acknowledgements included", "not in the paper",
                 round(float(_by_seed(churn, DEFAULT, share, "per_delivery").mean()), 3)),
    ]  # fmt: skip
    return claims


def draw(tables: Tables) -> Figures:
    """Hit ratio by form, by age, and by waiting."""
    churn = tables["churn"]
    shares = sorted(churn.share[churn.form == DEFAULT].unique())
    fig, (left, middle, right) = figure(1, 3, figsize=(13.6, 4.2))
    for number, (form, loss, label) in enumerate(
        ((DEFAULT, 0.0, DEFAULT), (DEFAULT, LOSS, f"default, {LOSS:.0%} loss"), (EARLIER, 0.0, EARLIER))
    ):
        hits = [100 * _by_seed(churn, form, share, "hit_ratio", loss) for share in shares]
        at = [100 * share for share in shares]
        line(left, number, at, [each.mean() for each in hits], label)
        band(left, number, at, [each.min() for each in hits], [each.max() for each in hits])
    bounds = [100 * HITS[share] for share in shares]
    left.plot(at, bounds, "_", color="black", markersize=14, label="bound of ours, at least")
    left.set(xlabel="peers replaced a cycle (%)", ylabel="%", title="Hit ratio")
    for number, share in enumerate(shares):
        ages = _own(tables["ages"], DEFAULT, share).groupby("age")[["taken", "wanted"]].sum()
        line(middle, number, ages.index, 100 * ages.taken / ages.wanted, f"{share:.0%} per cycle")
        waiting = _own(tables["waiting"], DEFAULT, share).groupby("waited")[["has", "wanted"]].sum()
        line(right, number, waiting.index, 100 * (1 - waiting.has / waiting.wanted), f"{share:.0%} per cycle")
    middle.set(xlabel="age of a peer (cycles)", ylabel="%", title="Share of its events that a peer gets")
    right.set(
        xlabel="cycles after publication", ylabel="%", ylim=(0, None),
        title="Missed by peers that stay, with recovery",
    )  # fmt: skip
    right.set_yscale("symlog", linthresh=0.001)
    for panel in (left, middle, right):
        panel.title.set_fontsize(11)
        legend_below(panel, 2)
    return {"": fig}


register(
    "sub2sub-churn", "Deliveries, upkeep and recovery under continuous churn",
    measure=follow, judge=judge, draw=draw,
)  # fmt: skip
