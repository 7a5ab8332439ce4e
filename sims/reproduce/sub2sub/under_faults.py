"""Faults, beyond the paper: an overlay is observed before, during and after each.

The experiment is the one of the same name that `sub2sub run` runs (3 attributes, power law), with its faults
and observers. There are two forms: as published, in which dead ring neighbours are never dropped and rings do
not heal; and extended, the default of this project, with ages, probes, hello, repeated requests and the
rendezvous (see `sub2sub.compiled.ring.probing`, `sub2sub.compiled.ring.layer`,
`sub2sub.compiled.cyclon.layer`, `sub2sub.compiled.cyclon.rendezvous`). The overlay is built once per form and
seed; each level of a fault happens to a copy of it. Rings of live peers and deliveries of test events are
observed first before the fault, and then after peers had their turns.

The paper does not mention faults: verdicts are about absolute bounds of ours, in the worst seed. But it says
that spam ends after a changed subscription has spread, so this is judged for all forms.

- `sub2sub-crash`: the live peers have to close their rings. An oracle that removes every dead link at once
  needs about 20 cycles after a crash of 20 % of 10,000 peers.
- `sub2sub-return`: peers recover with their old links after all others have dropped them, like peers that
  were suspected wrongly; the others have to accept them again. As published no peer is dropped, so a peer
  that recovers finds all links in place: the only fault that dropping peers makes worse.
- `sub2sub-partition`: long before the merge each part has dropped the peers of the others, and closed its
  rings without them. As published no peer is dropped, and all links are in place when the parts merge. Rings
  and hit ratio always count the subscribers of all parts, so during the partition an event reaches at most
  those of its publisher's part.
- `sub2sub-loss`: an overlay is built while messages of gossip and of events are lost, until cycle 60. As
  published, young views lose links faster than they gain them, and the overlay falls into pieces that gossip
  does not reconnect. A third form sends every message at most five times, whatever the loss
  (`sub2sub.compiled.ring.probes`). The first version, which did not drop silent neighbours, took up to 54
  cycles.
- `sub2sub-traffic`: half of the peers crash while events are published, or without events. A peer whose
  message along a ring link fails probes that neighbour, and drops it if it does not answer
  (`sims.engine.publish`), instead of waiting until the link is too old. Dropping alone does not heal the
  protocol as published, because peers keep sending each other links to dead peers.
- `sub2sub-change`: the only source of spam that the paper mentions (Sub-2-Sub, Section 4.2) is a node that
  has recently modified its subscription. A share of the peers exchange subscriptions, at once or a few in
  every cycle. *Spam* is messages to hosts that no longer subscribe to the event; *misses* are deliveries to
  current subscriptions that do not take place. A changed subscription is a new peer on the same host
  (`sub2sub.overlay.population`); the paper does not say how links to the old peer are removed. In the
  extended form the host sends its new subscription to the old peer's ring neighbours
  (`RingSettings.tell_changes`), and old links are not used as shortcuts (`DisseminationSettings.max_age`).
  The third form has neither, so links to the old peer age out like links to dead peers.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sims.engine import Schedule
from sims.engine.publish import Publish
from sims.reproduce.claims import Claims, claim, in_words, last_cycle, rounded, worst_seed
from sims.reproduce.reproduction import Tables
from sims.runs.runner import start
from workloads import named

PUBLISHED, EXTENDED = "as published", "extended"
FIVE_TIMES, UNTOLD = "extended, sent five times at most", "extended, nobody told"
TRICKLE = "1 % in every cycle"  # for 20 cycles
AWAY, MERGED, LOST = 25, 50, 60  # cycles after the fault at which peers return, parts merge, loss ends
KINDS = ("rings", "delivery")
Level = float | str
Levels = Sequence[float] | dict[Any, Mapping[str, Any]]


def follow(
    form: str, seed: int, id: str, size: int, setting: str, levels: Levels, forms: Mapping[str, Any]
) -> pd.DataFrame:
    """Build the overlay, and run it on with every level of the fault: a row per observed cycle.

    A level is a value of a setting, or names several settings that it changes, as forms do. "publish" is a
    number of events a peer and cycle.
    """
    own = {"population.size": size, "workload.events": size // 5, **forms[form]}
    settings, whole = start(id, seed, Path("unused"), own)
    built = min(schedule.start if schedule.at is None else schedule.at for schedule, _ in whole.faults)
    whole.faults = []
    whole.observers = [
        (Schedule(start=built, every=schedule.every), observer)
        for schedule, observer in whole.observers
        if observer.name in KINDS
    ]
    whole.run(built)
    frames = []
    for level in levels:
        simulation = copy.deepcopy(whole)
        changes: dict[str, Any] = dict(levels[level]) if isinstance(levels, dict) else {setting: level}
        rate = float(changes.pop("publish", 0))
        simulation.faults = start(id, seed, Path("unused"), own | changes)[1].faults
        if rate:
            events = named("power-law-3").candidates(seed + 1, 0, size)
            simulation.add(Publish(events, count=round(rate * size)), start=built)
        simulation.run(settings.cycles)
        rings, delivery = (pd.DataFrame(simulation.tables[name]).set_index("cycle") for name in KINDS)
        rows = delivery[["hit_ratio", "complete"]].assign(
            level=level, rings=rings.complete, links=rings.links, spam=delivery.spam / delivery.events,
            failed=delivery.failed / delivery.events,
        )  # fmt: skip
        rows.index -= built
        frames.append(rows.reset_index())
    return pd.concat(frames, ignore_index=True)


class Seen:
    """The observations of a fault, and queries of them."""

    def __init__(self, tables: Tables) -> None:
        self.table = tables["faults"]
        self.levels: list[Any] = list(dict.fromkeys(self.table.level))

    def runs(self, form: str, level: Level) -> list[pd.DataFrame]:
        """The rows of one form and level, seed by seed, in the order of cycles."""
        own = self.table[(self.table.form == form) & (self.table.level == level)]
        return [run.sort_values("cycle") for _, run in own.groupby("seed")]

    def recoveries(
        self, level: Level, column: str, since: int = 0, *, form: str = EXTENDED, full: float = 1.0
    ) -> list[float]:
        """Per seed: cycles after `since` from which on a column stays at a value; infinite if it does not."""
        return [_recovery(run, column, since, full) for run in self.runs(form, level)]

    def means(self, level: Level, column: str, start: int, end: int) -> list[float]:
        """Per seed: the mean of a column from cycle `start` to before cycle `end`, extended."""
        runs = self.runs(EXTENDED, level)
        return [float(run[column][(run.cycle >= start) & (run.cycle < end)].mean()) for run in runs]

    def recovered(self, column: str, since: int = 0, form: str = PUBLISHED) -> dict[str, float | str]:
        """When a form recovers, by level, in the worst seed."""
        cycles = {level: max(self.recoveries(level, column, since, form=form)) for level in self.levels}
        return {str(level): in_words(most) for level, most in cycles.items()}


def _recovery(run: pd.DataFrame, column: str, since: int, full: float) -> float:
    cycles = run.cycle.to_numpy()
    every = int(cycles[1] - cycles[0]) if len(cycles) > 1 else 1
    wrong = (run[column].to_numpy() != full) & (cycles >= since)
    return last_cycle(cycles, wrong, since - every) + every - since


def judge_crash(tables: Tables) -> Claims:
    """Rings and deliveries are whole again within a bound."""
    seen = Seen(tables)
    for share in seen.levels:
        most = 30 if share < 0.5 else 60
        yield worst_seed("crash_rings", seen.recoveries(share, "rings"), share=share, at_most=most)
        yield worst_seed("crash_complete", seen.recoveries(share, "complete"), share=share, at_most=most)
    yield claim("crash_published", seen.recovered("rings"))
    yield claim("crash_spam", float(seen.table.spam.mean()))


def judge_return(tables: Tables) -> Claims:
    """Rings are whole again after the return within a bound."""
    seen = Seen(tables)
    for share in seen.levels:
        yield worst_seed("returned", seen.recoveries(share, "rings", AWAY), share=share)
    yield claim("return_published", seen.recovered("rings", AWAY))


def judge_partition(tables: Tables) -> Claims:
    """Parts merge within a bound."""
    seen = Seen(tables)
    for parts in seen.levels:
        yield worst_seed("merge_complete", seen.recoveries(parts, "complete", MERGED), parts=parts)
        yield worst_seed("merge_rings", seen.recoveries(parts, "rings", MERGED), parts=parts)
    yield claim("merge_published", seen.recovered("rings", MERGED))


def judge_loss(tables: Tables) -> Claims:
    """Rings are built, and events delivered, despite the loss."""
    seen = Seen(tables)
    for p in seen.levels:
        yield worst_seed("loss_rings", seen.recoveries(p, "rings"), p=p)
        yield worst_seed("loss_hits", seen.means(p, "hit_ratio", LOST // 2, LOST), p=p)
        yield worst_seed("loss_complete", seen.recoveries(p, "complete", LOST), p=p)
    fixed = seen.recovered("rings", form=FIVE_TIMES)
    yield claim("five_times", {f"{p:.0%}": fixed[str(p)] for p in seen.levels})
    ends = {p: max(run.rings.iloc[-1] for run in seen.runs(PUBLISHED, p)) for p in seen.levels}
    yield claim("loss_ends", rounded(ends, 4, "{:.0%}"))


def judge_traffic(tables: Tables) -> Claims:
    """Traffic helps to find dead peers, and rings heal with it and without."""
    seen = Seen(tables)
    hits, failed = (
        {rate: float(np.mean(seen.means(rate, name, 1, 11))) for rate in seen.levels}
        for name in ("hit_ratio", "failed")
    )
    rates = ", ".join(f"{rate:g}" for rate in seen.levels)
    rises = all(a < b for a, b in pairwise(hits.values()))
    falls = all(a > b for a, b in pairwise(failed.values()))
    yield claim("traffic_hits", rounded(hits, 4, "{:g} events"), rises, rates=rates)
    yield claim("traffic_failed", rounded(failed, 3, "{:g} events"), falls, rates=rates)
    for rate in seen.levels:
        yield worst_seed("traffic_rings", seen.recoveries(rate, "rings"), rate=rate)
    yield claim("traffic_published", seen.recovered("rings"))


def judge_change(tables: Tables) -> Claims:
    """Spam and misses end soon after the last change."""
    seen = Seen(tables)
    for level in seen.levels:
        since = 20 if level == TRICKLE else 0
        for form, most in ((PUBLISHED, 30), (UNTOLD, 6), (EXTENDED, 6)):
            spam = seen.recoveries(level, "spam", since, form=form, full=0.0)
            yield worst_seed("spam", spam, level=level, reading=form, at_most=most)
        missed = [1 - hit for hit in seen.means(level, "hit_ratio", since + 10, since + 11)]
        yield worst_seed("change_complete", seen.recoveries(level, "complete", since), level=level)
        yield worst_seed("missed", missed, level=level)
        most_spam = {f: max(run.spam.max() for run in seen.runs(f, level)) for f in (UNTOLD, EXTENDED)}
        yield claim("most_spam", rounded(most_spam), level=level)
