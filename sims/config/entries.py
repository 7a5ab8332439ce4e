"""Faults and observers as tables: `kind` names one, the rest are its settings and its schedule.

    [[faults]]
    kind = "crash"
    at = 20
    share = 0.2

`from`, `until`, `every` and `at` are those of `sims.engine.Schedule`; what else a table may hold are the
parameters of the class that `kind` names, but for those the run supplies (the test events, the folder).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sims.config.newcomers import Newcomers
from sims.config.schema import Key, Reader, dotted, parameters, plain
from sims.engine import Control, Schedule, faults

__all__ = ["FAULTS", "Entries", "Entry", "Kinds"]

Kinds = Mapping[str, Callable[..., Control]]

_found = {name.lower(): getattr(faults, name) for name in faults.__all__}
FAULTS: Kinds = {name: fault for name, fault in _found.items() if hasattr(fault, "execute")} | {
    "join": Newcomers
}
_SCHEDULE = {"from" if name == "start" else name: found for name, found in parameters(Schedule).items()}


@dataclass(frozen=True)
class Entry:
    """A control to be made, and when it runs."""

    kind: str
    schedule: Schedule
    make: Callable[..., Control]
    arguments: Mapping[str, Any]

    def control(self, supplied: Mapping[str, Any]) -> Control:
        """Make it, with what it needs of the run."""
        return self.make(
            **self.arguments, **{k: v for k, v in supplied.items() if k in parameters(self.make)}
        )

    def to_table(self) -> dict[str, Any]:
        """As it would be written, every default included."""
        when = {"at": self.schedule.at} if self.schedule.at is not None else plain(self.schedule)
        if "start" in when:
            when = {"from": when.pop("start"), **when}
        arguments = {name: plain(value) for name, value in self.arguments.items() if value is not None}
        return {"kind": self.kind, **when, **arguments}


@dataclass(frozen=True)
class Entries:
    """A list of such tables, as a type that `Reader` reads.

    Attributes
    ----------
    kinds : mapping
        What may be made.
    supplied : tuple of str
        Parameters that the run supplies.
    layers : tuple of str
        What a parameter called `layer` or `layers` may say.
    cycles : int
        How long the run is: what is never due is refused.

    Examples
    --------
    >>> reader = Reader()
    >>> (crash,) = Entries(FAULTS).from_table(reader, [{"kind": "crash", "at": 3, "share": 0.5}], ("faults",))
    >>> crash.control({}), crash.schedule.due(3)
    (Crash(share=0.5, peers=(), name='crash'), True)
    """

    kinds: Kinds
    supplied: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    cycles: int | None = None

    def from_table(self, reader: Reader, data: Any, key: Key) -> tuple[Entry, ...]:
        """Read them all."""
        if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
            reader.refuse(key, f"{dotted(key)}: expected a list of tables, [[{dotted(key)}]]")
            return ()
        entries = [self._entry(reader, item, (*key, k)) for k, item in enumerate(data)]
        return tuple(entry for entry in entries if entry is not None)

    def _entry(self, reader: Reader, data: dict[str, Any], key: Key) -> Entry | None:
        kind = reader.choose(data.get("kind"), tuple(self.kinds), (*key, "kind"))
        if kind is None:
            return None
        make = self.kinds[kind]
        own = {name: found for name, found in parameters(make).items() if name not in self.supplied}
        given = {name: value for name, value in data.items() if name != "kind"}
        values = reader.arguments({**_SCHEDULE, **own}, given, key)
        if values is None:
            return None
        before = len(reader.problems)
        schedule = self._schedule(reader, {name: values.pop(name) for name in _SCHEDULE}, key, given)
        self._check_layers(reader, values, key)
        if not parameters(make).keys() & set(self.supplied):
            reader.call(make, values, key, given)  # lets it refuse its settings now
        return Entry(kind, schedule, make, values) if len(reader.problems) == before else None

    def _schedule(self, reader: Reader, when: dict[str, Any], key: Key, given: Mapping[str, Any]) -> Any:
        beside = [name for name in ("from", "until", "every") if name in given and "at" in given]
        if beside:
            place = (*key, beside[0])
            return reader.refuse(place, f"{dotted(place)}: expected either at or {beside[0]}")
        values = {"start" if name == "from" else name: value for name, value in when.items()}
        schedule = reader.call(Schedule, values, key, given)
        if schedule and self.cycles is not None and not any(map(schedule.due, range(self.cycles + 1))):
            place = (*key, "at" if "at" in given else "from")
            return reader.refuse(
                place, f"{dotted(place)}: expected a cycle of the run, which ends after {self.cycles}"
            )
        return schedule

    def _check_layers(self, reader: Reader, arguments: Mapping[str, Any], key: Key) -> None:
        named = arguments.get("layers", ()) or ()
        for name in (*named, *([arguments["layer"]] if "layer" in arguments else ())):
            if name not in self.layers:
                reader.choose(name, self.layers, (*key, "layer" if "layer" in arguments else "layers"))
