"""What happens to a simulation besides its protocols: PeerSim's `Control`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from sims.engine.simulated import Simulated

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from sims.engine.simulation import Simulation

    # A control that does not say so acts on any overlay.
    S_contra = TypeVar("S_contra", bound=Simulated, contravariant=True, default=Simulated)
else:
    from typing import TypeVar

    S_contra = TypeVar("S_contra", contravariant=True)

__all__ = ["Control", "Row"]

Row = Mapping[str, float | int | str | bool]


@runtime_checkable
class Control(Protocol[S_contra]):
    """Something scheduled, for overlays of a kind."""

    @property
    def name(self) -> str:
        """The name of its table, where it has one."""
        ...

    def execute(self, simulation: Simulation[S_contra]) -> Row | None:
        """Act on, or look at, the simulation; the row to append to the table `name`, if any.

        Everything it needs to know of the past is in the simulation: a control keeps no state of its own,
        so that a resumed run cannot differ from one never interrupted. Draws come from
        `simulation.key(name)`.
        """
        ...
