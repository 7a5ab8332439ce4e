"""Faults and observers as TOML tables: `kind` names one, the other keys are its settings and its schedule.

    [[faults]]
    kind = "crash"
    at = 20
    share = 0.2

The keys `from`, `until`, `every` and `at` are those of `sims.engine.Schedule`; `at = "end"` is the last
cycle. The other keys are the parameters of the class that `kind` names, except those that the run supplies,
such as the test events and the folder. `kind = "module:name"` names the user's own code: a class of controls,
or a function whose first parameter is the simulation (`workloads.settings.plugins`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from typing import Any

from sims.engine import Control, Schedule
from sims.engine.control import Function
from sub2sub.errors import InputError
from workloads.settings.alternatives import either, list_of, one_of
from workloads.settings.models import table, value_type
from workloads.settings.parameters import documented, parameters, plain
from workloads.settings.plugins import maker, plugin
from workloads.settings.values import choice

Kinds = Mapping[str, Callable[..., Control[Any]] | str]
"""Classes of controls, or where they are, `module:Class`: naming a kind costs nothing until it is used."""

FAULTS: Kinds = {
    "churn": "sims.engine.faults:Churn",
    "crash": "sims.engine.faults:Crash",
    "join": "sims.config.newcomers:Newcomers",
    "leave": "sims.engine.faults:Leave",
    "loss": "sims.engine.faults:Loss",
    "partition": "sims.engine.faults:Partition",
    "recover": "sims.engine.faults:Recover",
    "resubscribe": "sims.engine.faults:Resubscribe",
    "sessions": "sims.engine.sessions:Sessions",
    "add topic": "sims.engine.topic_changes:AddTopic",
    "add parent": "sims.engine.topic_changes:AddParent",
    "remove topic": "sims.engine.topic_changes:RemoveTopic",
}
LINKS: Kinds = {
    "degrees": "sims.observers.degrees:Degrees",
    "ages": "sims.observers.degrees:LinkAges",
    "clustering": "sims.observers.graph:Clustering",
    "paths": "sims.observers.graph:PathLengths",
    "connectivity": "sims.observers.graph:Connectivity",
    "snapshot": "sims.observers.snapshots:Snapshots",
}
"""What can be observed of the links of any stack of layers."""
END = "end"
_CYCLE, _END = value_type(int), choice((END,))
_AT = either(lambda data: _END if isinstance(data, str) else _CYCLE, _CYCLE, _END)
_MEANING = documented(Schedule)
_SCHEDULE = {
    "from" if name == "start" else name: replace(found, meaning=_MEANING[name])
    for name, found in parameters(Schedule).items()
}
_SCHEDULE["at"] = replace(
    _SCHEDULE["at"], hint=_AT, meaning='The only cycle, instead of from, until and every; "end" for the last.'
)


def loaded(make: Callable[..., Control[Any]] | str) -> Callable[..., Control[Any]]:
    """The class of a kind."""
    if not isinstance(make, str):
        return make
    module, _, name = make.partition(":")
    found: Callable[..., Control[Any]] = getattr(import_module(module), name)
    return found


class _Types(Mapping[str, Any]):
    """Types of tables by kind, each made when it is asked for."""

    def __init__(self, kinds: Kinds, make: Callable[[str, Callable[..., Control[Any]]], Any]) -> None:
        self.kinds, self.make = kinds, make

    def __getitem__(self, kind: str) -> Any:
        return self.make(kind, loaded(self.kinds[kind]))

    def __iter__(self) -> Iterator[str]:
        return iter(self.kinds)

    def __len__(self) -> int:
        return len(self.kinds)


@dataclass(frozen=True)
class Entry:
    """A control that is still to be created, and its schedule."""

    kind: str
    schedule: Schedule
    make: Callable[..., Control[Any]]
    arguments: Mapping[str, Any]
    at_end: bool = False

    def control(self, supplied: Mapping[str, Any]) -> Control[Any]:
        """Create the control, with the arguments that the run supplies."""
        return self.make(
            **self.arguments, **{k: v for k, v in supplied.items() if k in parameters(self.make)}
        )

    def to_table(self) -> dict[str, Any]:
        """Return the entry as a TOML table with every default."""
        at = END if self.at_end else self.schedule.at
        when = {"at": at} if at is not None else plain(self.schedule)
        if "start" in when:
            when = {"from": when.pop("start"), **when}
        arguments = {name: plain(value) for name, value in self.arguments.items() if value is not None}
        return {"kind": self.kind, **when, **arguments}


def entries(
    kinds: Kinds,
    supplied: tuple[str, ...] = (),
    layers: tuple[str, ...] = (),
    act: bool = False,
    whole: bool = False,
) -> Any:
    """Return the type of a list of such tables.

    Parameters
    ----------
    kinds : mapping
        Classes of controls, by kind.
    supplied : tuple of str
        Parameters that the run supplies.
    layers : tuple of str
        Values that a parameter `layer` or `layers` may have.
    act : bool
        Whether they are faults, which act after the cycle that they are due in.
    whole : bool
        Whether the type has all kinds, for a schema; to read a file, those in it are enough.

    Examples
    --------
    >>> from workloads.settings.reading import read
    >>> kind = entries(FAULTS, supplied=("interests",))
    >>> (crash,) = read(kind, [{"kind": "crash", "at": 3, "share": 0.5}], cycles=9)
    >>> crash.control({}), crash.schedule.due(3)
    (Crash(share=0.5, peers=(), name='crash'), True)
    """
    known = _Types(kinds, lambda kind, make: _entry(kind, make, supplied, layers, act))
    own = lambda kind: _entry(kind, _own_control(kind), supplied, layers, act)  # noqa: E731
    one = one_of(known, options=None if whole else (), other=own)
    tables = list_of(one)
    return either(lambda data: tables if isinstance(data, list) else "a list of tables, [[...]]", tables)


def _own_control(kind: str) -> Callable[..., Control[Any]]:
    """Return a function that creates a control from the user's own class or function."""
    found = plugin(kind)
    if not inspect.isclass(found) and callable(found):
        return maker(found, 1, lambda **settings: Function(partial(found, **settings), found.__name__))
    if not hasattr(found, "execute"):
        raise InputError(f"expected a function of the simulation, or a class with execute, got {kind}")
    return maker(found, 0, found)


@cache
def _entry(
    kind: str, make: Callable[..., Control], supplied: tuple[str, ...], layers: tuple[str, ...], act: bool
) -> Any:
    """Return the type of a table of one kind."""
    own = parameters(make)
    known = {"layer": choice(layers), "layers": list_of(choice(layers))} if layers else {}
    hints = {name: hint for name, hint in known.items() if name in own}

    def entry(values: dict[str, Any], given: Mapping[str, Any], context: Mapping[str, Any]) -> Entry:
        when = {name: values.pop(name) for name in _SCHEDULE if name in values}
        at_end = when.get("at") == END
        if at_end:
            when["at"] = context.get("cycles") or 0
        arguments = {name: found.default for name, found in own.items() if name not in supplied} | values
        if not own.keys() & set(supplied):
            make(**arguments)  # invalid settings are refused now
        return Entry(kind, _schedule(when, context.get("cycles"), act), make, arguments, at_end)

    return table(
        make,
        name=" ".join([kind, make.__module__.rpartition(".")[2], *(layers if hints else ())]),
        kind=kind,
        more=_SCHEDULE,
        without=supplied,
        hints=hints,
        make=entry,
    )


def _schedule(when: dict[str, Any], cycles: int | None, act: bool) -> Schedule:
    """Return the schedule of an entry; refuse one that is never due."""
    beside = [name for name in ("from", "until", "every") if name in when and "at" in when]
    if beside:
        raise InputError(f"{beside[0]}: expected either at or {beside[0]}")
    schedule = Schedule(**{"start" if name == "from" else name: value for name, value in when.items()})
    first, name = (schedule.start, "from") if schedule.at is None else (schedule.at, "at")
    if cycles is not None and first > cycles - act:
        where = "before the end of the run, which has" if act else "of the run, which ends after"
        raise InputError(f"{name}: expected a cycle {where} {cycles}")
    return schedule
