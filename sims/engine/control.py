"""Controls: what happens to a simulation at scheduled times (PeerSim's `Control`), of two kinds.

A fault changes the simulation, at the start of a cycle. An observer, which says so by `observes = True`,
returns a row on the state at the end of a cycle, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypeVar

from sub2sub.compiled.common.layer import Layer
from sub2sub.compiled.common.network import Network
from sub2sub.errors import InputError
from sub2sub.overlay.population import Population

if TYPE_CHECKING:
    from sims.engine.simulation import Simulation


class When(TypedDict, total=False):
    """The fields of a `Schedule`, given by name."""

    start: int
    until: int | None
    every: int
    at: int | None


@dataclass(frozen=True)
class Schedule:
    """The cycles in which a control runs: `at` one cycle, or `every` n-th cycle from `start` until `until`.

    `until` is exclusive, as in PeerSim; cycles count from 1, and 0 is the state before the first.

    Attributes
    ----------
    start : int
        The first cycle (`from` in files).
    until : int, optional
        The cycle at which the schedule ends, exclusive; the end of the run if not given.
    every : int
        Number of cycles between two executions.
    at : int, optional
        The only cycle; replaces the other settings.

    Examples
    --------
    >>> [cycle for cycle in range(12) if Schedule(start=2, every=3, until=9).due(cycle)]
    [2, 5, 8]
    >>> [cycle for cycle in range(12) if Schedule(at=4).due(cycle)]
    [4]
    """

    start: int = 0
    until: int | None = None
    every: int = 1
    at: int | None = None

    def __post_init__(self) -> None:
        given = {"from": self.start, "until": self.until, "every": self.every, "at": self.at}
        for name, value in given.items():
            if value is not None and not isinstance(value, int | np.integer):
                raise InputError(f"{name}: expected a whole number of cycles, got {value!r}")
        if self.every < 1:
            raise InputError(f"every: expected 1 or more cycles, got {self.every}")
        first = self.start if self.at is None else self.at
        if min(first, self.start) < 0:
            raise InputError(f"from, at: expected cycle 0 or later, got {first}")
        if self.until is not None and self.until <= self.start:
            raise InputError(f"until: expected a cycle after from = {self.start}, got {self.until}")

    def due(self, cycle: int) -> bool:
        """Whether the control runs in this cycle."""
        if self.at is not None:
            return cycle == self.at
        within = cycle >= self.start and (self.until is None or cycle < self.until)
        return within and (cycle - self.start) % self.every == 0


@runtime_checkable
class Simulated(Protocol):
    """An overlay that can be simulated: a population and its layers.

    `sub2sub.overlay.overlay.Overlay` and the overlays of CAMCAST and hpmcast implement it.
    `sims.engine.Stack` makes such an overlay from any layers.
    """

    @property
    def population(self) -> Population:
        """The peers."""

    @property
    def network(self) -> Network:
        """Which peers are alive, and which peers can reach each other."""

    @property
    def seed(self) -> int:
        """Random seed."""

    @property
    def layers(self) -> Sequence[Layer]:
        """The layers, in the order in which they are stepped."""

    def bootstrap(self, cycle: int = 0) -> None:
        """Start all peers at once."""

    def admit(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Start or restart peers, each from one contact."""

    def step(self, cycle: int) -> Mapping[str, Mapping[str, int]]:
        """Run one cycle of all layers; return the cost of each."""

    def referenced(self) -> NDArray[np.bool_]:
        """Which peers are in a view of a peer that is alive or may recover with its links."""


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
