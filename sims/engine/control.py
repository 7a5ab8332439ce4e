"""What happens to a simulation besides its protocols: PeerSim's `Control`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from sims.engine.simulated import Simulated
from sub2sub.errors import InputError

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from sims.engine.simulation import Simulation

    # A control that does not say so acts on any overlay.
    S_contra = TypeVar("S_contra", bound=Simulated, contravariant=True, default=Simulated)
else:
    from typing import TypeVar

    S_contra = TypeVar("S_contra", contravariant=True)

__all__ = ["Control", "Function", "Row", "as_control"]

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


@dataclass(frozen=True)
class Function:
    """A plain function as a control: what it returns is a row of the table that bears its name.

    Examples
    --------
    >>> def alive(simulation):
    ...     return {"peers": int(simulation.overlay.network.alive.sum())}
    >>> Function(alive).name
    'alive'
    """

    call: Callable[[Any], Row | None]
    called: str = ""

    @property
    def name(self) -> str:
        """The function's name, as tables are named: with hyphens."""
        name = self.called or getattr(self.call, "__name__", type(self.call).__name__)
        return name.strip("_<>").replace("_", "-")

    def execute(self, simulation: Simulation[Any]) -> Row | None:
        """Call it."""
        row = self.call(simulation)
        if row is not None and not isinstance(row, Mapping):
            raise InputError(f"{self.name}: expected it to return a row or None, got {type(row).__name__}")
        return row


def as_control(given: Any) -> Control[Any]:
    """A control, or a function of the simulation as one.

    Examples
    --------
    >>> as_control(lambda simulation: None).name
    'lambda'
    """
    if isinstance(given, Control) and not isinstance(given, type):
        return given
    if callable(given) and not isinstance(given, type):
        return Function(given)
    raise InputError(
        f"control: expected a function of the simulation, or an object with name and execute, got {given!r}"
    )
