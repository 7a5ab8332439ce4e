"""Controls: what happens to a simulation at scheduled times (PeerSim's `Control`), of two kinds.

A fault changes the simulation, at the start of a cycle. An observer, which says so by `observes = True`,
returns a row on the state at the end of a cycle, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from typing_extensions import TypeVar

from sims.engine.simulated import Simulated
from sub2sub.errors import InputError

if TYPE_CHECKING:
    from sims.engine.simulation import Simulation

# A control without a type argument acts on any overlay.
S_contra = TypeVar("S_contra", bound=Simulated, contravariant=True, default=Simulated)

Row = Mapping[str, float | int | str | bool]
TRAFFIC = "traffic"  # the table that the simulation writes itself


@runtime_checkable
class Control(Protocol[S_contra]):
    """A scheduled action on simulations of one type of overlay."""

    @property
    def name(self) -> str:
        """Name of the control, and of its table if it writes one."""

    def execute(self, simulation: Simulation[S_contra]) -> Row | None:
        """Change or observe the simulation; return the row to append to the table `name`, if any.

        A control keeps no state of its own: everything it needs is in the simulation. A resumed run is
        therefore the same as an uninterrupted one. Random numbers come from `simulation.key(name)`.
        """


def is_observer(control: Control[Any]) -> bool:
    """Whether a control only observes."""
    return getattr(control, "observes", False)


@runtime_checkable
class Replayed(Protocol):
    """A control that changes what a checkpoint does not contain, such as the tree of topics."""

    def replay(self, simulation: Any) -> None:
        """Repeat the change before the state of a checkpoint is loaded."""


@dataclass(frozen=True)
class Function:
    """A plain function as a control. The row it returns is added to the table of the same name.

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
        """The function's name, with hyphens as in table names."""
        name = self.called or getattr(self.call, "__name__", type(self.call).__name__)
        return name.strip("_<>").replace("_", "-")

    def execute(self, simulation: Simulation[Any]) -> Row | None:
        """Call the function."""
        row = self.call(simulation)
        if row is not None and not isinstance(row, Mapping):
            raise InputError(f"{self.name}: expected it to return a row or None, got {type(row).__name__}")
        return row


def as_control(given: Any) -> Control[Any]:
    """Return a control unchanged; wrap a function of the simulation in a control.

    Examples
    --------
    >>> as_control(lambda simulation: None).name
    'lambda'
    """
    if isinstance(given, type) or not (isinstance(given, Control) or callable(given)):
        raise InputError(
            f"control: expected a function of the simulation, or an object with name and execute: {given!r}"
        )
    control: Control[Any] = given if isinstance(given, Control) else Function(given)
    if control.name == TRAFFIC:
        raise InputError(f"control: expected a name other than {TRAFFIC!r}, the table of all messages")
    return control
