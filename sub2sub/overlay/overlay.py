"""The Sub-2-Sub overlay of a population: its three kinds of links, ready to be stepped (Section 4)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sub2sub.cyclon.layer import Cyclon
from sub2sub.cyclon.rendezvous import Rendezvous
from sub2sub.cyclon.settings import CyclonSettings
from sub2sub.overlay.network import Network
from sub2sub.overlay.population import Population
from sub2sub.overlay.stack import Stack
from sub2sub.ring.layer import Ring, RingSettings
from sub2sub.ring.probing import Probing
from sub2sub.vicinity.layer import Vicinity
from sub2sub.vicinity.settings import VicinitySettings

__all__ = ["Overlay", "OverlaySettings"]


@dataclass(frozen=True)
class OverlaySettings:
    """Settings of the layers; the default recovers from crashes, `paper()` is as published.

    Attributes
    ----------
    cyclon, vicinity, ring
        Settings of each layer.
    suspect_age : int
        Age in cycles from which on a ring link is probed, 0 for never. The sooner, the fewer events are sent to
        the dead, and the more probes.
    patience : int
        Cycles after which a peer whose random view is incomplete asks for a contact again, 0 for never.
    """

    cyclon: CyclonSettings = field(default_factory=lambda: CyclonSettings(retry=10, tries=3))
    vicinity: VicinitySettings = field(default_factory=lambda: VicinitySettings(max_age=20))
    ring: RingSettings = field(default_factory=lambda: RingSettings(max_age=9))
    suspect_age: int = 4
    patience: int = 10

    @classmethod
    def paper(cls) -> OverlaySettings:
        """As published: no hello, no ages, nothing dropped, nobody asks twice."""
        near = replace(cls().vicinity, max_age=0)
        return cls(CyclonSettings(), near, RingSettings.paper(), suspect_age=0, patience=0)


class Overlay(Stack):
    """Random, proximity and ring links of a population.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> low = rng.random((200, 2)) * 0.7
    >>> overlay = Overlay(Population.of(low, low + 0.3), seed=1)
    >>> overlay.bootstrap()
    >>> for cycle in range(1, 16):
    ...     cost = overlay.step(cycle)
    >>> bool(overlay.ring.pool.size.mean() > 5)
    True
    """

    def __init__(
        self,
        population: Population,
        settings: OverlaySettings | None = None,
        seed: int = 0,
        network: Network | None = None,
    ) -> None:
        super().__init__(population, (), seed, network)
        self.settings = settings or OverlaySettings()
        boxes, d = population.boxes, population.d
        self.cyclon = Cyclon(len(population), self.settings.cyclon, seed)
        self.rendezvous = Rendezvous(self.cyclon, self.settings.patience, seed)
        self.vicinity = Vicinity(boxes, d, self.cyclon, self.settings.vicinity, seed)
        self.ring = Ring(boxes, d, self.cyclon, self.vicinity, self.settings.ring, seed)
        self.probing = Probing(self.ring, self.settings.suspect_age, seed)

    @property
    def layers(self) -> tuple[Rendezvous, Cyclon, Vicinity, Probing, Ring]:
        """The layers in the order they are stepped."""
        return self.rendezvous, self.cyclon, self.vicinity, self.probing, self.ring
