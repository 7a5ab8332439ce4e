"""The user's own layers in an experiment: `kind = "module:Class"`; the other keys are its settings.

    [[layers.stack]]
    kind = "push_sum:PushSum"
    peak = 100.0

The class or function is called with the stack on which the layer runs, and with the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from sub2sub.compiled.common.layer import Layer
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.overlay.stack import Stack
from sub2sub.peers.settings import CyclonSettings
from workloads.settings.alternatives import one_of
from workloads.settings.models import table
from workloads.settings.parameters import parameters, plain
from workloads.settings.plugins import maker, plugin


@dataclass(frozen=True)
class LayerEntry:
    """A layer that is still to be created for a stack."""

    kind: str
    make: Callable[..., Layer]
    settings: Mapping[str, Any]

    def __call__(self, stack: Stack) -> Layer:
        """Create the layer for a stack."""
        return self.make(stack, **self.settings)

    def to_table(self) -> dict[str, Any]:
        """Return the entry as a TOML table with every default."""
        given = {name: plain(value) for name, value in self.settings.items() if value is not None}
        return {"kind": self.kind, **given}


def _cyclon(stack: Stack, **settings: Any) -> Cyclon:
    return Cyclon(len(stack.population), CyclonSettings(**settings), stack.seed)


def _type(kind: str, settings: Callable[..., Any], make: Callable[..., Layer]) -> Any:
    def entry(values: dict[str, Any], given: Mapping[str, Any], context: Mapping[str, Any]) -> LayerEntry:
        usual = {name: found.default for name, found in parameters(settings).items()}
        return LayerEntry(kind, make, usual | values)

    return table(settings, name=f"{kind} layer", kind=kind, make=entry)


@cache
def _own(kind: str) -> Any:
    found = plugin(kind)
    return _type(kind, maker(found, 1, dict), partial(found))


LAYER = one_of({"cyclon": _type("cyclon", CyclonSettings, _cyclon)}, other=_own)
"""The type of such a table, for `workloads.settings`."""
