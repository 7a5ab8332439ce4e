"""A simulation: layers stepped cycle by cycle, and scheduled controls between the cycles.

It corresponds to PeerSim's `CDSimulator`, without global state. A process can hold any number of simulations.
A simulation is an object that can be stepped, inspected, saved and resumed; its results are tables.

There are two kinds of controls. *Faults* change the simulation, and act at the start of a cycle, before all
layers step all live peers. *Observers* write rows, and see the state at the end of a cycle. A schedule counts
completed cycles: what is due at 10 is observed when ten cycles are complete, and acts after that, as the
eleventh begins. So the rows of cycle 10 are before a fault at 10, and those of cycle 11 after peers had one
turn. A fault at 0 acts before the first cycle; one that is due when a run ends has not acted, and acts when
the run goes on.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Generic, Self

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypeVar, Unpack

from sims.engine.control import TRAFFIC, Control, Replayed, Schedule, Simulated, When, as_control, is_observer
from sub2sub.compiled.common.growth import grow
from sub2sub.errors import InputError
from sub2sub.overlay.stack import whole_number
from sub2sub.peers.draws import Random, cycle_key, stream_number
from sub2sub.progress import tracked
from sub2sub.tables import Rows, Table, shown

S_co = TypeVar("S_co", bound=Simulated, covariant=True, default=Simulated)

Scheduled = list[tuple[Schedule, Control[Any]]]
COSTS = ("messages", "failed", "bytes")  # columns of the table `traffic`, beside layer and live peers


class Simulation(Generic[S_co]):
    """An overlay with scheduled controls.

    Parameters
    ----------
    overlay : Simulated
    controls : sequence of (Schedule, Control)
        Faults and observers. A plain function of the simulation acts as a fault does (see `observe`).

    Attributes
    ----------
    overlay : Simulated
        The simulated overlay. A control that needs more than `Simulated` names the overlay type it acts on,
        such as `Simulation[Overlay]`.
    cycle : int
        Number of cycles completed.
    tables : dict of Rows
        Rows that controls have written, by name of the table; they show themselves, and have `to_pandas()`.

    Examples
    --------
    >>> from sims.observers import Degrees
    >>> from sub2sub.overlay.overlay import Overlay
    >>> from sub2sub.overlay.population import Population
    >>> low = np.random.default_rng(1).random((100, 2)) * 0.7
    >>> overlay = Overlay(Population.of(low, low + 0.3), seed=1)
    >>> simulation = Simulation(overlay, [(Schedule(every=5), Degrees("cyclon"))])
    >>> overlay.bootstrap()
    >>> simulation.run(10)
    >>> [row["cycle"] for row in simulation.tables["cyclon-degrees"]]
    [0, 5, 10]
    """

    def __init__(
        self,
        overlay: S_co,
        controls: Sequence[tuple[Schedule, Control[S_co] | Callable[[Any], Any]]] | None = None,
    ) -> None:
        if not isinstance(overlay, Simulated):
            raise InputError(
                f"overlay: expected an Overlay, a Stack or a system's overlay, got {type(overlay).__name__}"
            )
        self._overlay = overlay
        self.faults: Scheduled = []
        self.observers: Scheduled = []
        for schedule, given in controls or []:
            control = as_control(given)
            (self.observers if is_observer(control) else self.faults).append((schedule, control))
        self.cycle: int = getattr(overlay, "cycle", 0)
        self.tables: dict[str, Rows] = {}
        self._acted = self._observed = -1  # the last cycle in which faults acted, and observers saw

    def __repr__(self) -> str:
        return f"<Simulation of {self.overlay!r}, tables: {', '.join(self.tables) or 'none yet'}>"

    def _repr_html_(self) -> str:
        """For a notebook: the same line, and how long each table is."""
        rows = np.array([len(rows) for rows in self.tables.values()], int)
        return shown(repr(self), Table({"table": np.array(list(self.tables)), "rows": rows}))

    def plot(self, table: str, column: str | None = None, axes: Any = None) -> Any:
        """Draw a column of a table (the first with numbers) over the cycles into matplotlib's axes."""
        if table not in self.tables:
            raise InputError(f"table: expected one of {', '.join(self.tables) or 'none'}, got {table!r}")
        from sub2sub.overlay.plots import plot_rows

        return plot_rows(self.tables[table], table, column, axes)

    @property
    def overlay(self) -> S_co:
        """The simulated overlay."""
        return self._overlay

    def add(self, control: Control[Any] | Callable[[Any], Any], **when: Unpack[When]) -> Self:
        """Schedule a control, `at` a cycle or `every` so many, as in `Schedule`; return the simulation.

        A function of the simulation acts at the start of a cycle; `observe` is for one that only looks.

        Examples
        --------
        >>> from sub2sub.compiled.cyclon.layer import Cyclon
        >>> from sub2sub.overlay.stack import Stack
        >>> def crash(simulation):
        ...     unlucky = [k for k in range(100) if simulation.random("crash", k).chance(0.2)]
        ...     simulation.overlay.network.alive[unlucky] = 0
        >>> def alive(simulation):
        ...     return {"peers": int(simulation.overlay.network.alive.sum())}
        >>> simulation = Simulation(Stack(100, [Cyclon(100, seed=1)], seed=1))
        >>> simulation.overlay.bootstrap()
        >>> simulation.add(crash, at=10).observe(alive, every=10).run(20)
        >>> [row["peers"] for row in simulation.tables["alive"]]
        [100, 100, 84]
        """
        made = as_control(control)
        (self.observers if is_observer(made) else self.faults).append((Schedule(**when), made))
        return self

    def observe(self, control: Control[Any] | Callable[[Any], Any], **when: Unpack[When]) -> Self:
        """Schedule a control, or a function of the simulation, that sees the state at the end of cycles."""
        self.observers.append((Schedule(**when), as_control(control)))
        return self

    def random(self, purpose: str, peer: int = 0) -> Random:
        """Random numbers for one peer in this cycle, for use in custom controls."""
        return Random(self.overlay.seed, f"control/{purpose}", self.cycle, peer)

    def key(self, stream: str) -> np.uint64:
        """Random key of a control in this cycle, for kernels; other code uses `random`."""
        return cycle_key(self.overlay.seed, stream_number(f"control/{stream}"), self.cycle)

    def record(self, table: str, row: Mapping[str, Any]) -> None:
        """Append a row to a table, with the cycle as its first column."""
        for column, value in row.items():
            if not isinstance(value, float | int | str | bool | np.generic) and value is not None:
                raise InputError(
                    f"{table}, {column}: expected a number, a text, True or False, got {type(value).__name__}"
                )
        self.tables.setdefault(table, Rows()).append({"cycle": self.cycle, **row})

    def act(self) -> None:
        """Let the faults act that are due in the current cycle, unless they have."""
        if self._acted < self.cycle:
            self._acted = self.cycle
            self._execute(self.faults)

    def look(self) -> None:
        """Let the observers see that are due in the current cycle, unless they have, or a fault has acted."""
        if max(self._observed, self._acted) < self.cycle:
            self._observed = self.cycle
            self._execute(self.observers)

    def _execute(self, controls: Scheduled) -> None:
        """Run the controls that are due; one with several schedules runs once, and writes one row."""
        due = {id(control): control for schedule, control in controls if schedule.due(self.cycle)}
        for control in due.values():
            row = control.execute(self)
            if row is not None:
                self.record(control.name, row)

    def step(self) -> None:
        """Run one cycle: observers see the end of the one before; faults act, then all layers step."""
        self.look()
        self.act()
        if self.cycle == 0 and not getattr(self.overlay, "started", True):
            raise InputError("overlay: no peer has joined; expected overlay.bootstrap() before cycle 1")
        self.cycle += 1
        peers = int(self.overlay.network.alive.sum())
        for name, cost in self.overlay.step(self.cycle).items():
            self.record(TRAFFIC, {"layer": name, "peers": peers, **{k: cost.get(k, 0) for k in COSTS}})

    def run(
        self,
        cycles: int,
        progress: Callable[[int], None] | bool | None = None,
        checkpoint: Path | None = None,
        every: int = 0,
    ) -> None:
        """Run until `cycles` cycles are complete in total, and observe the end.

        `progress` is called with each cycle; if it is True, a bar on standard error shows how far the run is.
        With `checkpoint` the state is saved to that file every `every` cycles. After Ctrl-C or SIGTERM it is
        saved at the end of the current cycle, and the run ends with `KeyboardInterrupt`.
        """
        if whole_number("cycles", cycles) < self.cycle:
            raise InputError(f"cycles: expected {self.cycle} or more, the cycles done so far, got {cycles}")
        with Interruption() as interruption:
            before = self.cycle
            for cycle in tracked(range(before + 1, cycles + 1), cycles - before, "cycles", progress is True):
                self.step()
                if callable(progress):
                    progress(cycle)
                if interruption.asked or (every and self.cycle % every == 0 and self.cycle < cycles):
                    if checkpoint:
                        self.save(checkpoint)
                    if interruption.asked:
                        raise KeyboardInterrupt
            self.look()

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of the population and of the network."""
        population, network = self.overlay.population, self.overlay.network
        own = {f"population/{name}": getattr(population, name) for name in ("ids", "boxes", "row", "host")}
        return own | {"network/alive": network.alive, "network/group": network.group}

    def save(self, path: Path) -> None:
        """Write everything that a resumed run needs to one file, atomically."""
        from sims.engine.checkpoint import save_checkpoint

        arrays = self._arrays() | {"network/loss": np.array(self.overlay.network.loss)}
        for layer in self.overlay.layers:
            arrays |= {f"{layer.name}/{name}": array for name, array in layer.arrays().items()}
        notes = {
            "cycle": self.cycle, "acted": self._acted, "observed": self._observed, "tables": self.tables,
        }  # fmt: skip
        save_checkpoint(path, arrays, notes)

    def load(self, path: Path) -> None:
        """Restore the state that `save` wrote; the simulation must be set up in the same way."""
        from sims.engine.checkpoint import load_checkpoint

        arrays, notes = load_checkpoint(path)
        population = self.overlay.population
        saved = arrays["population/ids"]
        if saved.size > len(population) and np.isin(population.ids, saved).all():
            grow(self.overlay, saved.size - len(population))
        if arrays["population/boxes"].shape != population.boxes.shape:
            raise InputError(f"{path}: expected a checkpoint of {len(population)} peers, got {saved.size}")
        self._replay(notes["acted"])
        for name, array in self._arrays().items():
            array[...] = arrays[name]
        population.rescale()
        self.overlay.network.loss = float(arrays["network/loss"])
        for layer in self.overlay.layers:
            start = f"{layer.name}/"
            own = {name[len(start) :]: array for name, array in arrays.items() if name.startswith(start)}
            if layer.arrays().keys() - own.keys():
                raise InputError(f"{path}: expected a checkpoint with the state of the layer {layer.name!r}")
            layer.load(own)
        self.cycle, self._acted, self._observed = notes["cycle"], notes["acted"], notes["observed"]
        self.tables = {name: Rows(rows) for name, rows in notes["tables"].items()}
        if hasattr(self.overlay, "cycle"):
            self.overlay.cycle = self.cycle
        if hasattr(self.overlay, "restored"):
            self.overlay.restored()

    def _replay(self, last: int) -> None:
        """Repeat the changes of controls that a checkpoint does not contain, up to a cycle."""
        for cycle in range(last + 1):
            for schedule, control in self.faults:
                if isinstance(control, Replayed) and schedule.due(cycle):
                    control.replay(self)


class Interruption:
    """Defer Ctrl-C and SIGTERM while the `with` block runs: the first sets `asked`, the second interrupts.

    Outside the main thread signals do not arrive, so `asked` stays false.

    Examples
    --------
    >>> import os
    >>> with Interruption() as interruption:
    ...     os.kill(os.getpid(), signal.SIGINT)
    ...     interruption.asked
    True
    """

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._note) for number in self.SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        if sys.stderr.isatty():
            print("\nstopping after this cycle; once more to stop at once", file=sys.stderr)
