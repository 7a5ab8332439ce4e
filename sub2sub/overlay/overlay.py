"""The overlay of Sub-2-Sub: a population with random, proximity and ring links (Section 4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.compiled.common.feed import Feed, feed_of
from sub2sub.compiled.common.growth import Renumbering
from sub2sub.compiled.common.layer import Layer
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.compiled.cyclon.rendezvous import Rendezvous
from sub2sub.compiled.ring.layer import Ring
from sub2sub.compiled.ring.probing import Probing
from sub2sub.compiled.vicinity.layer import Vicinity
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import points
from sub2sub.overlay.population import Population
from sub2sub.overlay.stack import LayerOrMaker, whole_number
from sub2sub.overlay.subscribers import Subscribers
from sub2sub.peers.settings import (
    DisseminationSettings,
    OverlaySettings,
)

if TYPE_CHECKING:  # loaded by those only who use them
    from sub2sub.compiled.events.layer import RecentEvents
    from sub2sub.geometry.space import AttributeSpace
    from sub2sub.overlay.nearest import Distance, Nearest
    from sub2sub.overlay.published import Published


class Overlay(Subscribers):
    """The overlay of Sub-2-Sub: random, proximity and ring links of a population.

    `Overlay.of` makes one from ranges, or from rows with named attributes.

    Parameters
    ----------
    population : Population
    settings : OverlaySettings, optional
    seed : int
    network : Network, optional
    vicinity : Layer, or function of this overlay that returns one, optional
        Replaces VICINITY: its links are the candidates of the ring layer, serve as shortcuts, and are offered
        to publishers. The function may use the overlay's `cyclon`.
    proximity : function (a, b) -> float, optional
        The distance of VICINITY between two boxes, arrays (2, d) of lows and highs. It is called about 70
        times per peer and cycle (`sub2sub.overlay.nearest`).
    above : sequence of Layer, or of functions of this overlay that return one
        Layers that are stepped after all others.

    Attributes
    ----------
    cyclon, vicinity, ring : Layer
        The three kinds of links.
    above : tuple of Layer
    recent_events : RecentEvents or None
        The events that are recovered, if `settings.recovery` asks for it.
    space : AttributeSpace or None
        The names and types of the attributes, if there are any.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> low = rng.random((200, 2)) * 0.7
    >>> overlay = Overlay.of(low, low + 0.3, seed=1).run(30)
    >>> published = overlay.publish(rng.random((50, 2)))
    >>> published.hit_ratio, int(published.events["spam"].sum())
    (1.0, 0)
    """

    def __init__(
        self,
        population: Population,
        settings: OverlaySettings | None = None,
        seed: int = 0,
        network: Network | None = None,
        *,
        vicinity: LayerOrMaker | None = None,
        proximity: Distance | None = None,
        above: Sequence[LayerOrMaker] = (),
    ) -> None:
        if settings is not None and not isinstance(settings, OverlaySettings):
            ranges = isinstance(settings, np.ndarray | list)
            hint = "; Overlay.of(lows, highs) makes an overlay of ranges" if ranges else ""
            raise InputError(f"settings: expected OverlaySettings, got {type(settings).__name__}{hint}")
        if vicinity is not None and proximity is not None:
            raise InputError("proximity: expected none beside `vicinity`, which replaces VICINITY")
        super().__init__(population, (), seed, network)
        self.settings = settings or OverlaySettings()
        population = self.population
        if not population.d:
            raise InputError("population: expected subscriptions with 1 or more attributes")
        if self.settings.axes:
            population.measure(self.settings.axes)
        self.cyclon = Cyclon(len(population), self.settings.cyclon, seed)
        self.rendezvous = Rendezvous(self.cyclon, self.settings.patience, seed)
        self._of_boxes: Nearest | None = None  # the layer whose profiles are the boxes
        near = self._near(proximity) if vicinity is None else self.make(vicinity)
        self.vicinity: Feed = feed_of(near, len(population))
        self.ring = Ring(
            population.boxes,
            population.d,
            self.cyclon,
            self.vicinity,
            self.settings.ring,
            seed,
            population.scaled,
        )
        if self.settings.calm:
            self.cyclon.who_skips = self.ring.who_skips = partial(self.ring.skipping, self.settings.calm)
            if isinstance(near, Vicinity):
                near.who_skips = self.cyclon.who_skips
        self.probing = Probing(self.ring, self.settings.suspect_age, seed)
        kept = self.settings.recovery
        self.recent_events: RecentEvents | None = None
        if kept.history:
            from sub2sub.compiled.events.layer import RecentEvents

            self.recent_events = RecentEvents(self, kept, seed)
        self.above: tuple[Layer, ...] = ()
        if not isinstance(above, Sequence):
            raise InputError(f"above: expected a list of layers, got {type(above).__name__}")
        for given in above:
            self.above += (self.make(given),)

    @classmethod
    def of(
        cls,
        lows: Any,
        highs: ArrayLike | None = None,
        *,
        space: AttributeSpace | None = None,
        seed: int = 0,
        settings: OverlaySettings | None = None,
        ids: ArrayLike | None = None,
        hosts: ArrayLike | None = None,
        labels: Iterable[str] | None = None,
        spare: int = 0,
        vicinity: LayerOrMaker | None = None,
        proximity: Distance | None = None,
        above: Sequence[LayerOrMaker] = (),
    ) -> Self:
        """An overlay of subscriptions, in which every peer has one random link: ready to run.

        Parameters
        ----------
        lows, highs : (n, d) array_like
            Closed ranges. With a `space`, give subscriptions as `lows` instead of both: rows, a DataFrame or
            an Arrow table, see `AttributeSpace.subscriptions`.
        space : AttributeSpace, optional
            The names and types of the attributes.
        ids, hosts, spare
            See `Population.of`.
        labels : n texts, optional
            Names of the subscriptions, beside their rows.
        seed, settings, vicinity, proximity, above
            See `Overlay`.

        Examples
        --------
        >>> from sub2sub import AttributeSpace
        >>> space = AttributeSpace({"price": float, "side": ["buy", "sell"]})
        >>> wanted = [{"price": (0, 10)}, {"price": (5, 20), "side": "buy"}, {"side": "buy"}]
        >>> overlay = Overlay.of(wanted, space=space, seed=1).run(10)
        >>> sorted(overlay.publish([{"price": 7.5, "side": "buy"}]).received["subscription"].tolist())
        [0, 1, 2]
        """
        if space is not None:
            if highs is not None:
                raise InputError("highs: expected none with `space`: subscriptions have both ends")
            from sub2sub.geometry.space import AttributeSpace

            if not isinstance(space, AttributeSpace):
                raise InputError(f"space: expected an AttributeSpace, got {type(space).__name__}")
            lows, highs = space.subscriptions(lows)
        elif highs is None:
            raise InputError(
                "highs: expected the upper ends of the ranges, or space=AttributeSpace(...) with columns"
            )
        population = Population.of(lows, highs, ids, hosts, spare, whole_number("seed", seed))
        overlay = cls(population, settings, seed, vicinity=vicinity, proximity=proximity, above=above)
        overlay.space = space
        overlay.labels = overlay.label(range(len(population) - spare), labels)
        overlay.bootstrap()
        return overlay

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers, in the order in which they are stepped."""
        recovery = () if self.recent_events is None else (self.recent_events,)
        return self.rendezvous, self.cyclon, self.vicinity, self.probing, self.ring, *recovery, *self.above

    @property
    def kinds(self) -> dict[str, Layer]:
        """The layers of links by kind, whatever their own names are; layers above by name."""
        return {
            "cyclon": self.cyclon,
            "vicinity": self.vicinity,
            "ring": self.ring,
            **{layer.name: layer for layer in self.above},
        }

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes; x0, x1, ... if they have none."""
        named = None if self.space is None else self.space.names
        return named or tuple(f"x{k}" for k in range(self.population.d))

    def plot(self, axes: Any = None, *, x: int = 0, y: int = 1) -> Any:
        """Draw the live subscriptions along two attributes into matplotlib's axes."""
        from sub2sub.overlay.plots import plot_boxes

        return plot_boxes(self, axes, x, y)

    def explore(self, settings: DisseminationSettings | None = None) -> Any:
        """Show the overlay as a widget in a notebook: click to publish an event, step it by sliders.

        The extra `notebook` has what it needs.
        """
        from sub2sub.overlay.explorer import Explorer, widget_of

        return widget_of(Explorer(self, settings))

    def change(self, old: NDArray[np.int64], new: NDArray[np.int64]) -> None:
        """Record that peers `old` were replaced by `new` on the same hosts, with other subscriptions."""
        self.ring.change(old, new)

    def grow(self, moved: Renumbering) -> None:
        """Move the state of all layers to the new numbers of a population that has grown."""
        super().grow(moved)
        if self._of_boxes is not None:
            self._of_boxes.profiles = self._profiles()

    def publish(
        self,
        events: Any,
        *,
        at: ArrayLike | None = None,
        settings: DisseminationSettings | None = None,
        threads: int = 1,
        progress: bool = False,
    ) -> Published:
        """Publish events over the current links; what every subscription received, and the cost.

        Random draws depend on the seed, the cycle and the numbers of the events, so a repeated call has the
        same result.

        Parameters
        ----------
        events : (m, d) array_like
            Points. If attributes have names: rows or columns, see `AttributeSpace.events`.
        at : (m,) array_like of rows or labels, optional
            The subscription at which each event enters; by default a random one that matches it.
        settings : DisseminationSettings, optional
        threads : int
            Number of threads; the result is the same with any number.
        progress : bool
            Whether to show on standard error how far it is.

        Examples
        --------
        >>> overlay = Overlay.of([[0.0], [0.5], [0.2]], [[0.6], [1.0], [0.3]], seed=1).run(5)
        >>> overlay.publish([[0.55], [0.9]]).events["delivered"].tolist()
        [2, 1]
        """
        from sub2sub.compiled.common.links import Links
        from sub2sub.compiled.events.dissemination import disseminate
        from sub2sub.overlay.published import Published

        found, given = self._points(events)
        outcome = disseminate(
            Links.of(self), self.network, found, entry=None if at is None else self._entries(at, len(found)),
            settings=settings, seed=self.seed, cycle=self.cycle, threads=threads, record=True,
            progress=progress,
        )  # fmt: skip
        return Published.of(self.population, self.network, found, outcome, given)

    def _near(self, proximity: Distance | None) -> Layer:
        population, near = self.population, self.settings.vicinity
        if proximity is None:
            return Vicinity(population.scaled, population.d, self.cyclon, near, self.seed)
        from sub2sub.overlay.nearest import Nearest

        self._of_boxes = Nearest(self._profiles(), proximity, self.cyclon, near, self.seed)
        return self._of_boxes

    def _profiles(self) -> NDArray[np.float64]:
        return self.population.boxes[:, :, : self.population.d]

    def _points(self, events: Any) -> tuple[NDArray[np.float64], dict[str, NDArray[Any]]]:
        """Events as points and, if attributes have names, the given values of each attribute."""
        if self.space is None:
            return points(events, self.population.d), {}
        from sub2sub.geometry.columns import values_by_attribute

        return self.space.events(events), values_by_attribute(events, self.space.names, "events")

    def _entries(self, at: Any, events: int) -> NDArray[np.int64]:
        given = np.asarray(at)
        if given.shape != (events,):
            raise InputError(
                f"at: expected a subscription for each event ({events}), "
                f"got {given.dtype} of shape {given.shape}"
            )
        return self.peers_of(given, "at")
