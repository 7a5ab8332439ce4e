"""A simulation that the user steps and changes, with a record of all actions.

Each action takes effect at once, like a control that is due in the current cycle; churn is a control with its
own schedule. `sims.lab.saving` writes the actions as an experiment file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierarchy.shared import CamcastRoute, SharedOverlay, SharedSettings
from sims.config.experiment import Experiment, experiment_from, load_experiment
from sims.config.shipped import find_file
from sims.engine import Schedule, Simulation
from sims.engine.faults import Churn, Crash, Loss, Recover
from sims.lab.peer_completeness import PeerCompleteness
from sims.lab.saving import save_experiment
from sims.runs.runner import simulation_of
from sub2sub.errors import InputError
from sub2sub.overlay.explorer import VIEWS, members_of, views_of
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.stack import Stack
from sub2sub.peers.settings import OverlaySettings
from workloads.arrays import Floats, Integers
from workloads.generate.topic_ranges import TopicRanges
from workloads.settings.toml import override, parse_override
from workloads.spec.catalogue import resolve

TOPIC_WORLD = Path(__file__).with_name("topic_world.toml")
EVENTS = 500  # test events whose rings are measured
SPARE = 4  # subscribers per place for newcomers


def experiment_for(
    source: str | None, peers: int | None = None, topics: bool = False, changes: Sequence[str] = ()
) -> Experiment:
    """Return the experiment to start from: a file, a name, or a number of peers with ranges or topics.

    Examples
    --------
    >>> experiment_for(None, peers=100).workload.spec
    'power-law-2'
    """
    if source is not None:
        sized = [f"population.size={peers}"] if peers else []
        experiment = load_experiment(find_file(source), [*changes, *sized])
        if experiment.system != "sub2sub":
            raise InputError(f"{source}: expected an experiment of sub2sub, got {experiment.system}")
        return experiment
    size = peers or 10_000
    spec = str(TOPIC_WORLD) if topics else "power-law-2"
    data: dict[str, Any] = {
        "population": {"size": size, "spare": size // SPARE},
        "workload": {"spec": spec, "events": EVENTS},
    }
    for change in changes:
        key, value = parse_override(change)
        override(data, key, value)
    return experiment_from(data)


class Laboratory:
    """An overlay that the user steps and changes.

    Parameters
    ----------
    experiment : Experiment
        The experiment to start from; its faults happen as scheduled.
    seed : int, optional
        Random seed; the first one of the experiment if not given.
    out : Path
        Folder in which experiments are saved.

    Examples
    --------
    >>> lab = Laboratory(experiment_for(None, peers=60))
    >>> lab.step()
    >>> lab.crash_region(0, 1, [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
    60
    """

    def __init__(self, experiment: Experiment, seed: int | None = None, out: Path = Path("lab")) -> None:
        self.experiment, self.out = experiment, out
        self.seed = experiment.seeds[0] if seed is None else seed
        self.lock = RLock()
        self.simulation = simulation_of(experiment, self.seed, out)
        if self.topics:
            self.simulation = self._shared()
        self.simulation.observers.clear()  # the page measures by itself
        wanted = experiment.workload.load(experiment.population.size, self.seed)
        self.completeness = PeerCompleteness(wanted.points[:EVENTS])
        self.simulation.overlay.bootstrap()
        self.shortcuts = int(experiment.dissemination.shortcuts)
        self.churn = 0.0
        self.done: list[dict[str, Any]] = []
        self.churned: list[dict[str, Any]] = []
        self.published: list[tuple[int, NDArray[Any]]] = []
        self.look()

    @property
    def overlay(self) -> Stack:
        """The overlay that runs."""
        assert isinstance(self.simulation.overlay, Stack)
        return self.simulation.overlay

    @property
    def topics(self) -> tuple[str, ...]:
        """Names of the topics in the order of their numbers; empty if subscriptions are not topics."""
        workload = self.experiment.workload
        spec = None if workload.table else resolve(workload.spec)
        return spec.topics.topics if isinstance(spec, TopicRanges) else ()

    @property
    def attributes(self) -> list[str]:
        """Names of the attributes."""
        workload, d = self.experiment.workload, self.simulation.overlay.population.d
        names = [] if workload.table else list(resolve(workload.spec).names)
        return names if len(names) == d else [f"attribute {k}" for k in range(d)]

    def _shared(self) -> Simulation:
        """The same on the shared overlay, which carries topics by CAMCAST's routing too."""
        simulation, overlay = self.simulation, self.simulation.overlay
        assert isinstance(overlay, Overlay)
        own = {field.name: getattr(overlay.settings, field.name) for field in fields(OverlaySettings)}
        shared = SharedOverlay(overlay.population, SharedSettings(**own), overlay.seed, overlay.network)
        return Simulation(shared, simulation.faults)

    def look(self) -> None:
        """Measure how complete the rings are."""
        with self.lock:
            self.closed, self.links, self.rings = self.completeness.measure(self.simulation)

    def step(self) -> None:
        """Run one cycle. If there is no place left for newcomers, churn ends with an error.

        A simulation would grow, but that changes the numbers of peers, by which the page knows them.
        """
        with self.lock:
            coming = round(self.churn * int(self._alive().sum()))
            if coming and coming > (left := self._places()):
                self.set_churn(0.0)
                raise InputError(f"churn: expected {coming} spare peers, got {left}: set population.spare")
            self.simulation.step()
            self.look()

    def crash_region(self, x: int, y: int, outline: Sequence[Sequence[float]]) -> int:
        """Crash the live peers whose box has its middle inside a polygon of two attributes; return how many.

        With y = -1 the second coordinate is the number of the peer.
        """
        with self.lock:
            hit = np.flatnonzero(self._alive() & _within(self._middles(x, y), outline))
            if hit.size:
                self._do({"kind": "crash", "peers": hit.tolist()}, Crash(peers=tuple(hit.tolist())))
            return int(hit.size)

    def recover(self) -> None:
        """Let all crashed peers recover."""
        self._do({"kind": "recover", "share": 1.0}, Recover(1.0))

    def set_loss(self, probability: float) -> None:
        """Set the probability that a message is lost, from now on."""
        self._do({"kind": "loss", "probability": probability}, Loss(probability))

    def set_churn(self, share: float) -> None:
        """Set the share of the live peers that is replaced in every cycle, from now on."""
        with self.lock:
            control = Churn(share)
            cycle, controls = self.simulation.cycle, self.simulation.faults
            if self.churn:
                current = self.churned[-1]
                controls.pop()
                if current["from"] == cycle:
                    self.churned.pop()
                else:
                    current["until"] = cycle
            self.churn = share
            if share:
                self.churned.append({"kind": "churn", "from": cycle, "share": share})
                controls.append((Schedule(start=cycle), control))

    def set_shortcuts(self, shortcuts: int) -> None:
        """Set to how many random matching links a peer forwards an event, from now on."""
        if not 0 <= shortcuts <= 63:
            raise InputError(f"k: expected 0 to 63, got {shortcuts}")
        self.shortcuts = shortcuts

    def event(
        self, point: Sequence[float], views: Sequence[str] = VIEWS
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the subscribers of an event, and their links of some kinds."""
        with self.lock:
            members = members_of(self.overlay, self._point(point))
            held = views_of(self.overlay, members, self.experiment.dissemination.max_age, views)
            arrays = {"members": members.astype(np.uint32), **held}
            return {"point": list(point), "cycle": self.simulation.cycle}, arrays

    def publish(
        self, point: Sequence[float], routing: str = "rings"
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Publish an event; return what `event` does, its number and, with CAMCAST's routing, its outcome."""
        with self.lock:
            head, arrays = self.event(point)
            self.published.append((self.simulation.cycle, self._point(point)))
            head |= {"number": len(self.published) - 1, "routing": routing}
            members = arrays["members"].astype(np.int64)
            if routing == "camcast" and members.size:
                if not self.topics:
                    raise InputError("routing: expected a world of topics for CAMCAST")
                at = self._point(point)
                publisher, rounds, counts = _camcast_rounds(self.simulation, members, at, head["number"])
                head |= {"entry": publisher, "counts": counts}
                arrays = {**arrays, "rounds": rounds}
            return head, arrays

    def save(self) -> Path:
        """Write all actions as an experiment file; return its path."""
        with self.lock:
            scheduled = [entry.to_table() for entry in self.experiment.faults]
            return save_experiment(
                self.out, self.experiment, seed=self.seed, cycles=self.simulation.cycle,
                shortcuts=self.shortcuts, faults=[*scheduled, *self.done, *self.churned],
                published=self.published, attributes=self.attributes,
            )  # fmt: skip

    def _do(self, table: Mapping[str, Any], control: Any) -> None:
        with self.lock:
            control.execute(self.simulation)
            self.done.append({**table, "at": self.simulation.cycle})
            self.look()

    def _alive(self) -> NDArray[np.bool_]:
        overlay = self.simulation.overlay
        alive: NDArray[np.bool_] = (overlay.network.alive == 1) & overlay.population.present
        return alive

    def _places(self) -> int:
        """Places for newcomers: unused ones, and those of departed peers to which no links are left."""
        overlay = self.simulation.overlay
        gone = ~(overlay.population.present | overlay.population.dormant)
        return int((overlay.population.dormant | (gone & ~overlay.referenced())).sum())

    def _middles(self, x: int, y: int) -> NDArray[np.float64]:
        lows, highs = self.simulation.overlay.population.ranges()
        d = lows.shape[1]
        if not (0 <= x < d and -1 <= y < d):
            raise InputError(f"axes: expected attributes below {d}, got {x} and {y}")
        middle = (lows + highs) / 2
        return np.column_stack([middle[:, x], np.arange(len(lows)) + 0.5 if y < 0 else middle[:, y]])

    def _point(self, point: Sequence[float]) -> NDArray[np.float64]:
        at = np.asarray(point, float)
        d = self.simulation.overlay.population.d
        if at.shape != (d,) or not np.isfinite(at).all():
            raise InputError(f"event: expected {d} finite numbers, got {list(point)}")
        return at


def _within(points: NDArray[np.float64], outline: Sequence[Sequence[float]]) -> NDArray[np.bool_]:
    """Return which points are inside a polygon: a ray from one crosses the outline an odd number of times."""
    corners = np.asarray(outline, float)
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 3 or not np.isfinite(corners).all():
        raise InputError("outline: expected three or more points of two numbers")
    x, y = points[:, :1], points[:, 1:]
    (x0, y0), (x1, y1) = corners.T, np.roll(corners, -1, axis=0).T
    with np.errstate(divide="ignore", invalid="ignore"):
        crosses = ((y0 > y) != (y1 > y)) & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
    return np.asarray(crosses.sum(axis=1) % 2 == 1)


def _camcast_rounds(
    simulation: Simulation, members: Integers, point: Floats, event: int
) -> tuple[int, NDArray[np.int32], dict[str, int]]:
    """Return the publisher, the round in which each member gets the event (-1: never), and the counts.

    In CAMCAST a publisher is a member of the event's own community: the smallest range that contains it.
    """
    overlay = simulation.overlay
    assert isinstance(overlay, SharedOverlay)
    lows, highs = overlay.population.ranges()
    width = (highs - lows)[members, 0]
    own = members[width == width.min()]
    publisher = int(own[event % own.size])
    outcome = overlay.spread(point[None, :], [publisher], CamcastRoute(c=4, g=20), event, record=True)
    assert outcome.receptions is not None
    first = np.full(len(overlay.population), -1, np.int32)
    first[outcome.receptions.peer] = outcome.receptions.hop
    rounds = first[members]
    counts = {
        "reached": int((rounds >= 0).sum()), "hops": int(rounds.max(initial=-1)),
        "messages": int(outcome.messages[0]), "local": 0, "duplicates": int(outcome.duplicates[0]),
        "spam": int(outcome.spam[0]), "failed": int(outcome.failed[0]),
    }  # fmt: skip
    return publisher, rounds, counts
