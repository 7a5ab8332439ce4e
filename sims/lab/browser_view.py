"""The messages to one browser: all peers at first, then the changes of each cycle, and the chosen event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sims.lab.laboratory import Laboratory
from sub2sub.overlay.explorer import frame, start_of
from sub2sub.tables import Rows

MOST_FOLLOWED = 1500  # an event with more subscribers is not followed every cycle


class Changes:
    """An array that one browser has a copy of: few of ten thousand peers change in a cycle.

    Examples
    --------
    >>> seen = Changes("alive")
    >>> list(seen.to(np.ones(100, np.uint8))), list(seen.to(np.ones(100, np.uint8)))
    (['alive'], [])
    >>> seen.to(np.append(np.ones(99), 0).astype(np.uint8))
    {'alive-places': array([99], dtype=uint32), 'alive-values': array([0], dtype=uint8)}
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._sent: NDArray[Any] | None = None

    def to(self, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return the arrays to send so that the browser's copy is up to date; none if it is."""
        before, self._sent = self._sent, values.copy()
        if before is None or before.shape != values.shape:
            return {self.name: values}
        places = np.flatnonzero(before != values).astype(np.uint32)
        if places.size * 5 > values.size:
            return {self.name: values}
        if not places.size:
            return {}
        return {f"{self.name}-places": places, f"{self.name}-values": values[places]}


class BrowserView:
    """Builds the messages to one browser, and keeps what it has been sent.

    Examples
    --------
    >>> from sims.lab.laboratory import experiment_for
    >>> view = BrowserView(Laboratory(experiment_for(None, peers=50)))
    >>> view.start()[4:19]
    b'{"kind":"start"'
    """

    def __init__(self, lab: Laboratory) -> None:
        self.lab = lab
        self.point: list[float] | None = None
        self._rows = lab.simulation.overlay.population.row.copy()
        self._closed, self._alive = Changes("closed"), Changes("alive")

    def start(self) -> bytes:
        """Return the first message: all peers and the settings."""
        lab = self.lab
        with lab.lock:
            overlay = lab.overlay
            self._rows = overlay.population.row.copy()
            head, arrays = start_of(overlay, lab.experiment.dissemination, lab.attributes)
            return frame({"kind": "start", "topics": list(lab.topics), **head}, arrays)

    def cycle(self, state: Mapping[str, Any]) -> bytes:
        """Return the message of the current cycle: numbers, changed peers, and the chosen event's ring."""
        lab = self.lab
        with lab.lock:
            overlay = lab.simulation.overlay
            alive = ((overlay.network.alive == 1) & overlay.population.present).astype(np.uint8)
            head = {
                "kind": "cycle", "cycle": lab.simulation.cycle, "rings": lab.rings, "links": lab.links,
                "alive": int(alive.sum()), "present": int(overlay.population.present.sum()),
                "loss": overlay.network.loss, "churn": lab.churn, "k": lab.shortcuts,
                "published": len(lab.published), "messages": self._upkeep(int(alive.sum())), **state,
            }  # fmt: skip
            arrays = self._closed.to(lab.closed) | self._alive.to(alive)
            moved = np.flatnonzero(self._rows != overlay.population.row)
            if moved.size:
                lows, highs = overlay.population.ranges()
                self._rows = overlay.population.row.copy()
                arrays |= {"moved": moved.astype(np.uint32), "low": lows[moved], "high": highs[moved]}
            if self.point is not None:
                event, views = lab.event(self.point, ("ring",))
                if views["members"].size <= MOST_FOLLOWED:
                    head["event"] = event
                    arrays |= views
            return frame(head, arrays)

    def publish(self, point: Sequence[float], routing: str) -> bytes:
        """Publish an event, and follow its ring in later cycles."""
        head, arrays = self.lab.publish(point, routing)
        self.point = [float(value) for value in point]
        return frame({"kind": "published", **head}, arrays)

    def _upkeep(self, peers: int) -> float:
        """Messages per peer in the last cycle."""
        traffic, cycle = self.lab.simulation.tables.get("traffic", Rows()), self.lab.simulation.cycle
        last = [row["messages"] for row in traffic[-4:] if row["cycle"] == cycle]
        return float(sum(last)) / max(peers, 1)
