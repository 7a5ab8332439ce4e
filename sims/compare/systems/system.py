"""What a system is asked for: to be built, to be stepped, to publish; and what it costs.

A system learns of a world what each subscriber knows: its own interest, and a contact to begin with. How it
is stepped, what it counts as links and how its knobs turn reliability into messages is its own affair; its
messages go through the network it is given.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sims.compare.tally import Tally
from sims.compare.worlds.world import World
from sub2sub.overlay.network import Network

__all__ = ["EVENT", "HEADER", "Knob", "System", "Traffic", "Unable", "event_bytes"]

HEADER = 12  # bytes of a message without what it carries, as the engine's layers count them
EVENT = 256  # bytes an event carries besides its point


class Unable(Exception):
    """A system cannot run here; the reason stands in the cells it leaves empty."""


class Traffic(NamedTuple):
    """Messages and bytes, of all peers together."""

    messages: int
    bytes: int


@dataclass(frozen=True)
class Knob:
    """One setting of dissemination, to trade messages for reliability.

    Examples
    --------
    >>> str(Knob(fanout=4, g=10))
    'fanout 4, g 10'
    """

    settings: dict[str, Any] = field(default_factory=dict)

    def __init__(self, **settings: Any) -> None:
        object.__setattr__(self, "settings", settings)

    def __getitem__(self, name: str) -> Any:
        """One of the settings."""
        return self.settings[name]

    def __str__(self) -> str:
        """In words."""
        return ", ".join(f"{name} {value:g}" for name, value in self.settings.items())


class System(ABC):
    """A system in a world.

    Attributes
    ----------
    name : str
    knobs : tuple of Knob
        Settings it is measured with; the one in the middle follows its convergence and healing.
    network : Network
        Of as many members as the system has.
    static : str
        Why its overlay cannot be stepped, where that is so and events can be published all the same.
    """

    name: ClassVar[str]
    knobs: ClassVar[tuple[Knob, ...]]
    network: Network
    static: str = ""

    def __init__(self, world: World, seed: int) -> None:
        self.world, self.seed = world, seed

    @property
    def usual(self) -> Knob:
        """The knob in the middle."""
        return self.knobs[len(self.knobs) // 2]

    @abstractmethod
    def step(self, cycle: int) -> Traffic:
        """One cycle of upkeep; what it cost."""

    @abstractmethod
    def links(self) -> dict[str, NDArray[np.int64]]:
        """Links that each subscriber's host keeps, by kind."""

    @abstractmethod
    def publish(
        self, events: NDArray[np.int64], publishers: NDArray[np.int64], knob: Knob, salt: int
    ) -> Tally:
        """Publish events, each from its subscriber, under the faults of the network as it is; change nothing.

        `salt` keeps the draws of repeated publications apart.
        """

    def fail(self, alive: NDArray[np.uint8], loss: float) -> None:
        """Take subscribers down, and let messages be lost from now on."""
        self.network.alive[:] = self.members(alive)
        self.network.loss = loss

    def members(self, alive: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Which members are up when these subscribers are; by default the two are the same."""
        return alive


def event_bytes(d: int) -> int:
    """Bytes of a message that carries an event with d attributes.

    Examples
    --------
    >>> event_bytes(3)
    292
    """
    return HEADER + 8 * d + EVENT
