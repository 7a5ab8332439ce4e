"""What happens to a simulation besides its protocols: PeerSim's `Control`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from sims.engine.simulation import Simulation

__all__ = ["Control", "Row"]

Row = Mapping[str, float | int | str | bool]


@runtime_checkable
class Control(Protocol):
    """Something scheduled."""

    @property
    def name(self) -> str:
        """The name of its table, where it has one."""
        ...

    def execute(self, simulation: Simulation) -> Row | None:
        """Act on, or look at, the simulation; the row to append to the table `name`, if any.

        Everything it needs to know of the past is in the simulation: a control keeps no state of its own,
        so that a resumed run cannot differ from one never interrupted. Draws come from
        `simulation.key(name)`.
        """
        ...
