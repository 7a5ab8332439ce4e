"""An overlay under continuous churn, measured cycle by cycle.

3 attributes, power law; publishers search for a matching peer. In every cycle a share of the peers leaves, as
many newcomers join with their subscriptions, new IDs and one random contact each, and then all peers take
their turn. Measured, after some cycles of churn:

- `hit_ratio` at the end of a cycle, after the first turn of newcomers; `once` is the same if events are not
  repeated to neighbours that do not acknowledge them;
- `meanwhile`, right after peers left and before any peer can react: the share of their events that the
  remaining peers receive, without the newcomers of this cycle;
- `upkeep`, the messages of all layers per peer, joins and probes included; `recovery`, those of digests;
- by age: the share of its events that a peer receives in its first cycle, its second, and so on;
- by waiting: the share of events that peers that were present and remain have after a number of cycles, with
  recovery.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sims.engine import Schedule, Simulation
from sims.engine.faults import Churn
from sims.observers import RingCompleteness
from sims.reproduce.sub2sub.setting import PAPER, RINGS, observed_events
from sims.runs.runner import start
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.audience import half_open
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.events.publishing import find_entry
from sub2sub.compiled.events.recovery import Recovery
from sub2sub.geometry.matching import match_boxes
from sub2sub.overlay.overlay import Overlay
from sub2sub.peers.settings import DisseminationSettings

DEFAULT, EARLIER, PUBLISHED = "default", "earlier default", "as published"
SHARES, LOSS = (0.01, 0.02, 0.05), 0.05
BUILT, SETTLED, MEASURED = 30, 12, 12  # cycles before churn, with churn before it is measured, measured
WAIT, AFTER = 10, 30  # cycles in which missed events are recovered, and in which the end is followed
AGES = 12  # cycles; greater ages are counted together


ABLATIONS: dict[str, dict[str, Any]] = {
    "without verify": {"layers.ring.verify": False},
    "without join": {"layers.ring.join": False},
    "without tries": {"layers.ring.tries": 1, "layers.ring.most_tries": 1},
    "without drop_failed": {"layers.ring.drop_failed": False},
}
_WITHOUT = {key: value for changes in ABLATIONS.values() for key, value in changes.items()}
FORMS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    EARLIER: {**_WITHOUT, "layers.suspect_age": 6, "dissemination.tries": 1, "dissemination.max_age": 0},
    PUBLISHED: PAPER,
    **ABLATIONS,
}


class Run(NamedTuple):
    """One overlay under one kind of churn."""

    form: str
    share: float
    loss: float
    seed: int


def follow(form: str, seed: int, levels: list[list[float]], size: int, built: int) -> dict[str, pd.DataFrame]:
    """Build the overlay of `sub2sub run sub2sub-churn`, and churn a copy of it for every share and loss."""
    tables: dict[str, list[dict[str, Any]]] = {"churn": [], "ages": [], "waiting": [], "after": []}
    changes: dict[str, Any] = {
        "population.size": size,
        "population.spare": 2 * size,
        "workload.events": size // 10,
    }
    changes |= {"layers.recovery.history": 0, "faults": [], **RINGS, **FORMS[form]}
    begun: Any = start("sub2sub-churn", seed, Path("unused"), changes)
    experiment, whole = begun
    events = observed_events(whole)
    whole.observers.clear()
    whole.run(built)
    for share, loss in levels:
        run = Run(form, share, loss, seed)
        Churned(copy.deepcopy(whole), events, run, experiment.dissemination, tables).follow()
    return {name: pd.DataFrame(rows) for name, rows in tables.items() if rows}


class Churned:
    """A simulation under churn, and the rows that it adds to the tables."""

    def __init__(
        self,
        simulation: Simulation[Overlay],
        events: NDArray[np.float64],
        run: Run,
        settings: DisseminationSettings,
        tables: dict[str, list[dict[str, object]]],
    ) -> None:
        self.simulation, self.overlay, self.events, self.run = simulation, simulation.overlay, events, run
        self.tables, self.settings = tables, settings
        self.row = self.overlay.population.row.copy()
        self.joined = np.full(self.row.size, -AGES)
        self.recovery = Recovery(seed=run.seed) if run.form == DEFAULT else None
        self.waiting: list[tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []

    def follow(self) -> None:
        """Churn until there is enough to be measured, and a while without it."""
        simulation, first = self.simulation, self.simulation.cycle
        end = first + SETTLED + MEASURED
        simulation.faults = [(Schedule(start=first, until=end), Churn(self.run.share))]
        simulation.tables = {}
        self.overlay.network.loss = self.run.loss
        while simulation.cycle < end:
            measured = simulation.cycle >= first + SETTLED
            simulation.act()
            self._note_newcomers()
            row: dict[str, object] = {"cycle": simulation.cycle - first}
            if measured:
                stay = (self.overlay.network.alive == 1) & (self.joined < simulation.cycle)
                taken, wanted, _ = self._by_peer(self._publish(self.settings))
                row["meanwhile"] = taken[stay].sum() / wanted[stay].sum()
            simulation.step()
            row |= self._cost()
            if measured:
                row |= self._observe()
                self._write("churn", row)
        if self.run.form == DEFAULT and not self.run.loss:
            self._follow_the_end()

    def _write(self, table: str, row: dict[str, object]) -> None:
        self.tables[table].append({**self.run._asdict(), **row})

    def _note_newcomers(self) -> None:
        row = self.overlay.population.row
        changed = np.flatnonzero(row != self.row)
        self.row = row.copy()
        self.joined[changed] = self.simulation.cycle
        if self.recovery:
            self.recovery.forget(changed)

    def _publish(self, settings: DisseminationSettings) -> Outcome:
        links, network, cycle = Links.of(self.overlay), self.overlay.network, self.simulation.cycle
        seed = self.run.seed
        walks = find_entry(links, network, self.events, seed=seed, cycle=cycle)
        return disseminate(
            links, network, self.events, entry=walks.entry, settings=settings, seed=seed, cycle=cycle,
            record=True,
        )  # fmt: skip

    def _by_peer(self, outcome: Outcome) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Events that each peer has and wants; and (event, peer) of all that are wanted."""
        offsets, members = match_boxes(*half_open(Links.of(self.overlay)), self.events)
        event = np.repeat(np.arange(len(self.events)), np.diff(offsets))
        alive = self.overlay.network.alive[members] == 1
        pairs = np.stack([event[alive], members[alive].astype(np.int64)])
        return outcome.taken, np.bincount(pairs[1], minlength=self.row.size), pairs

    def _cost(self) -> dict[str, object]:
        """Messages of this cycle per peer."""
        simulation, peers = self.simulation, int(self.overlay.network.alive.sum())
        sent = sum(
            row["messages"] for row in simulation.tables["traffic"] if row["cycle"] == simulation.cycle
        )
        cost: dict[str, object] = {"upkeep": sent / peers, "recovery": 0.0}
        if self.recovery and self.waiting:
            links, network = Links.of(self.overlay), self.overlay.network
            found = self.recovery.step(links, network, simulation.cycle)
            cost["recovery"] = found["messages"] / peers
            for cycle, numbers, events, peers_then in self.waiting:
                self._write_waiting(simulation.cycle - cycle, numbers[events], peers_then)
        return cost

    def _write_waiting(self, waited: int, events: NDArray[np.int64], peers: NDArray[np.int64]) -> None:
        """Count the events among peers that were present at their publication and still are."""
        assert self.recovery is not None
        published = self.simulation.cycle - waited
        stay = (self.overlay.network.alive[peers] == 1) & (self.joined[peers] < published)
        has = self.recovery.has(events[stay], peers[stay])
        if waited <= WAIT:
            self._write("waiting", {"waited": waited, "wanted": int(has.size), "has": int(has.sum())})

    def _observe(self) -> dict[str, object]:
        outcome, cycle = self._publish(self.settings), self.simulation.cycle
        once = self._publish(replace(self.settings, tries=1))
        taken, wanted, pairs = self._by_peer(outcome)
        age = np.minimum(cycle - self.joined, AGES)
        for each in range(1, AGES + 1):
            own = age == each
            self._write("ages", {"age": each, "wanted": wanted[own].sum(), "taken": taken[own].sum()})
        if self.recovery and len(self.waiting) < MEASURED - WAIT:
            links, network = Links.of(self.overlay), self.overlay.network
            numbers = self.recovery.publish(links, network, self.events, outcome, cycle)
            self.waiting.append((cycle, numbers, *pairs))
            self._write_waiting(0, numbers[pairs[0]], pairs[1])
        return {
            "hit_ratio": outcome.hit_ratio,
            "once": once.hit_ratio,
            "entered": float((outcome.entry >= 0).mean()),
            "per_delivery": outcome.messages_per_delivery,
        }

    def _follow_the_end(self) -> None:
        """Observe how rings and deliveries become complete after churn has ended."""
        simulation, rings = self.simulation, RingCompleteness(self.events)
        for cycle in range(1, AFTER + 1):
            simulation.step()
            complete = float(self._publish(self.settings).complete_share)
            share = rings.execute(simulation)["complete"]
            self._write("after", {"cycle": cycle, "complete": complete, "rings": share})
