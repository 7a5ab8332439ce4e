"""Faults and observers as tables: `kind` names one, the rest are its settings and its schedule.

    [[faults]]
    kind = "crash"
    at = 20
    share = 0.2

`from`, `until`, `every` and `at` are those of `sims.engine.Schedule`, and `at = "end"` is the last cycle,
however many there are; what else a table may hold are the parameters of the class that `kind` names, but for
those the run supplies (the test events, the folder). `kind = "module:name"` is code of one's own, a class of
controls or a function whose first parameter is the simulation (`workloads.settings.plugins`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from sims.config.newcomers import Newcomers
from sims.engine import Control, Schedule, faults
from sims.engine.control import Function
from sub2sub.errors import InputError
from workloads.settings.alternatives import either, list_of, one_of
from workloads.settings.models import table, value_type
from workloads.settings.parameters import documented, parameters, plain
from workloads.settings.plugins import maker, plugin
from workloads.settings.values import choice

__all__ = ["FAULTS", "Entry", "Kinds", "entries"]

Kinds = Mapping[str, Callable[..., Control[Any]]]

_found = {name.lower(): getattr(faults, name) for name in faults.__all__}
FAULTS: Kinds = {name: fault for name, fault in _found.items() if hasattr(fault, "execute")} | {
    "join": Newcomers
}
END = "end"
_CYCLE, _END = value_type(int), choice((END,))
_AT = either(lambda data: _END if isinstance(data, str) else _CYCLE, _CYCLE, _END)
_MEANING = documented(Schedule)
_SCHEDULE = {
    "from" if name == "start" else name: replace(found, meaning=_MEANING[name])
    for name, found in parameters(Schedule).items()
}
_SCHEDULE["at"] = replace(
    _SCHEDULE["at"], hint=_AT, meaning='The only cycle, in place of the others; "end" for the last.'
)


@dataclass(frozen=True)
class Entry:
    """A control to be made, and when it runs."""

    kind: str
    schedule: Schedule
    make: Callable[..., Control[Any]]
    arguments: Mapping[str, Any]
    at_end: bool = False

    def control(self, supplied: Mapping[str, Any]) -> Control[Any]:
        """Make it, with what it needs of the run."""
        return self.make(
            **self.arguments, **{k: v for k, v in supplied.items() if k in parameters(self.make)}
        )

    def to_table(self) -> dict[str, Any]:
        """As it would be written, every default included."""
        at = END if self.at_end else self.schedule.at
        when = {"at": at} if at is not None else plain(self.schedule)
        if "start" in when:
            when = {"from": when.pop("start"), **when}
        arguments = {name: plain(value) for name, value in self.arguments.items() if value is not None}
        return {"kind": self.kind, **when, **arguments}


def entries(kinds: Kinds, supplied: tuple[str, ...] = (), layers: tuple[str, ...] = ()) -> Any:
    """The type of a list of such tables.

    Parameters
    ----------
    kinds : mapping
        What may be made.
    supplied : tuple of str
        Parameters that the run supplies.
    layers : tuple of str
        What a parameter called `layer` or `layers` may say.

    Examples
    --------
    >>> from workloads.settings.reading import read
    >>> kind = entries(FAULTS, supplied=("interests",))
    >>> (crash,) = read(kind, [{"kind": "crash", "at": 3, "share": 0.5}], cycles=9)
    >>> crash.control({}), crash.schedule.due(3)
    (Crash(share=0.5, peers=(), name='crash'), True)
    """
    known = {kind: _entry(kind, make, supplied, layers) for kind, make in kinds.items()}
    one = one_of(known, other=lambda kind: _entry(kind, _own_control(kind), supplied, layers))
    tables = list_of(one)
    return either(lambda data: tables if isinstance(data, list) else "a list of tables, [[...]]", tables)


def _own_control(kind: str) -> Callable[..., Control[Any]]:
    """What makes the control that code of one's own is: a class, or a function of the simulation."""
    found = plugin(kind)
    if not inspect.isclass(found) and callable(found):
        return maker(found, 1, lambda **settings: Function(partial(found, **settings), found.__name__))
    if not hasattr(found, "execute"):
        raise InputError(f"expected a function of the simulation, or a class with execute, got {kind}")
    return maker(found, 0, found)


@cache
def _entry(
    kind: str, make: Callable[..., Control], supplied: tuple[str, ...], layers: tuple[str, ...]
) -> Any:
    """The type of a table of one kind."""
    own = parameters(make)
    hints: dict[str, Any] = {}
    if "layer" in own and layers:
        hints["layer"] = choice(layers)
    if "layers" in own and layers:
        hints["layers"] = list_of(choice(layers))

    def entry(values: dict[str, Any], given: Mapping[str, Any], context: Mapping[str, Any]) -> Entry:
        when = {name: values.pop(name) for name in _SCHEDULE if name in values}
        at_end = when.get("at") == END
        if at_end:
            when["at"] = context.get("cycles") or 0
        arguments = {name: found.default for name, found in own.items() if name not in supplied} | values
        if not own.keys() & set(supplied):
            make(**arguments)  # lets it refuse its settings now
        return Entry(kind, _schedule(when, context.get("cycles")), make, arguments, at_end)

    return table(
        make,
        name=" ".join([kind, make.__module__.rpartition(".")[2], *(layers if hints else ())]),
        kind=kind,
        more=_SCHEDULE,
        without=supplied,
        hints=hints,
        make=entry,
    )


def _schedule(when: dict[str, Any], cycles: int | None) -> Schedule:
    """When it runs; what is never due is refused."""
    beside = [name for name in ("from", "until", "every") if name in when and "at" in when]
    if beside:
        raise InputError(f"{beside[0]}: expected either at or {beside[0]}")
    schedule = Schedule(**{"start" if name == "from" else name: value for name, value in when.items()})
    if cycles is not None and not any(map(schedule.due, range(cycles + 1))):
        name = "at" if "at" in when else "from"
        raise InputError(f"{name}: expected a cycle of the run, which ends after {cycles}")
    return schedule
