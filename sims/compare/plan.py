"""The plan of a comparison: worlds, systems, seeds and sizes."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from sims.compare.network import network_digest
from sims.compare.worlds import build_world, interests_digest
from sims.compare.worlds.between import STEPS
from sims.rivals.base.catalogue import entrant, entrants_of
from sub2sub.errors import InputError
from workloads.files.checked import file_digest
from workloads.settings.plugins import is_plugin
from workloads.spec.table_files import is_stored
from workloads.sweeps.scheduler import key_of

RUN = "sims.compare.run:measured"
WORKLOADS, QUICK_STEPS = ("power-law-1", "power-law-3"), (0.0, 0.3, 1.0)
USUAL = "usual"  # topics and the first of these workloads: what fits into a quarter of an hour
CHOOSING_EVENTS = 1_000  # events by which a working point is chosen, over all seeds
LEAST_SEEDS = 2  # below that there is no confidence interval


@dataclass(frozen=True)
class Unit:
    """One system in one world with one seed."""

    world: str
    system: str
    seed: int
    subscribers: int
    events: int
    probes: int
    seconds: float
    choosing: int = 0
    network: str = ""
    rule: str = ""
    brief: bool = False
    rate: float = 0.0

    @property
    def key(self) -> str:
        """Name of its file, the same for the same unit and code in any plan.

        It contains digests of the code and of the tables of interests, so results of other code or other
        tables are not used.

        Examples
        --------
        >>> Unit("topics", "sub2sub", 1, 100, 10, 5, 60.0).key[:17]
        'topics-sub2sub-1-'
        """
        files = [interests_digest(self.world), network_digest(self.network)]
        digest = key_of(RUN, _own_code(self.system) if is_plugin(self.system) else "", files, asdict(self))
        name = "-".join(
            "".join(c if c.isalnum() else "_" for c in text)
            for text in (self.world, entrant(self.system).name)
        )
        return f"{name}-{self.seed}-{digest[:8]}"


def _own_code(name: str) -> str:
    """Digest of the file that defines a user's own system."""
    file = getattr(sys.modules[entrant(name).system.__module__], "__file__", None)
    return file_digest(Path(file)) if file else ""


def _entrants(world: str, only: tuple[str, ...]) -> tuple[str, ...]:
    """Those that enter a world, or those asked for that can: an encoding on another engine has to be."""
    kind = world.partition(" ")[0]
    return tuple(name for name in only if kind in entrant(name).able) if only else entrants_of(kind)


def worlds_of(
    kind: str, tree: str | None, workloads: tuple[str, ...], quick: bool = False, options: str = ""
) -> list[str]:
    """Names of the worlds of a kind: "topics", "ranges", "between", "usual" or "all"; fewer if `quick`.

    Options stand behind the worlds that are made of something named.

    Examples
    --------
    >>> worlds_of("ranges", None, ("uniform-2",))
    ['ranges uniform-2']
    """
    worlds = []
    if kind in ("topics", "all", USUAL):
        worlds.append(f"topics {tree}{options}" if tree else "topics")
    if kind in ("ranges", "all", USUAL):
        drawn = WORKLOADS[:1] if kind == USUAL else WORKLOADS
        for workload in workloads or drawn:
            rows = is_stored(Path(workload))  # what is drawn has no rows to take
            worlds.append(f"ranges {workload}{options if rows else options.replace(' rows=all', '')}")
    if kind in ("between", "all"):
        worlds += [f"between {t:g}" for t in (QUICK_STEPS if quick else STEPS)]
    return worlds


@dataclass(frozen=True)
class Plan:
    """A comparison.

    Attributes
    ----------
    worlds : tuple of str
        Their names, see `sims.compare.worlds.build_world`.
    subscribers, events, probes : int
        Of each world.
    seeds, seed : int
        The number of seeds, for each of which worlds and systems are drawn, and the first one.
    choosing : int
        Events of each seed by which working points are chosen; 0 for a thousand over all seeds.
    own : tuple of str
        Your own systems, `module:Class`, which take part in every world besides the built-in ones.
    network : str
        How long messages take, see `sims.compare.network`; hops are counted if empty.
    rule : str
        Which setting a system is shown with (`Rule.text`).
    brief : bool
        Whether only the faults of the rule are tried, and healing is not measured.
    rate : float
        Events per second of streams; 0 for events that have the network to themselves only.
    only : tuple of str
        Names of the systems that take part; all if empty.
    seconds : float
        A unit that takes longer leaves the rest of its cells empty, with that reason.
    """

    worlds: tuple[str, ...]
    subscribers: int = 10_000
    events: int = 20
    probes: int = 10
    seeds: int = 3
    seconds: float = 300.0
    seed: int = 1
    choosing: int = 0
    own: tuple[str, ...] = ()
    network: str = ""
    rule: str = ""
    brief: bool = False
    rate: float = 0.0
    only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse invalid numbers."""
        if self.choosing == 0 and self.seeds > 0:
            object.__setattr__(self, "choosing", -(-CHOOSING_EVENTS // self.seeds))
        least_values = {"subscribers": 10, "events": 1, "probes": 1, "seeds": LEAST_SEEDS, "choosing": 1}
        for name, least in least_values.items():
            if getattr(self, name) < least:
                raise InputError(f"{name} = {getattr(self, name)}: expected at least {least}")
        if self.seed < 0:
            raise InputError(f"seed = {self.seed}: expected 0 or more")
        if not self.seconds > 0:
            raise InputError(f"seconds = {self.seconds}: expected more than 0")

    def check(self) -> None:
        """Build the first seed's worlds, so that a user's mistake is known before anything runs."""
        for name in (*self.only, *self.own):
            entrant(name)
        for world in self.worlds:
            build_world(world, self.subscribers, self.events, self.probes, self.seed, self.choosing)

    def units(self) -> list[Unit]:
        """All units; those of one seed together, so that an early stop leaves whole comparisons.

        Examples
        --------
        >>> len(Plan(("between 0", "between 1"), seeds=3).units()) == 18
        True
        """
        known = asdict(self)
        shared = {field.name: known[field.name] for field in fields(Unit)[3:]}
        return [
            Unit(world, system, seed, **shared)
            for seed in range(self.seed, self.seed + self.seeds)
            for world in self.worlds
            for system in (*_entrants(world, self.only), *self.own)
        ]
