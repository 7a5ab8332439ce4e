"""The living view of an overlay in a notebook: what it asks for, and what it is answered.

The view is the one of the report and of the laboratory (`assets/`): the attribute space, and the ring of an
event with the messages on their way. The overlay in Python does everything; the browser is told who matches
an event and what those know, and repeats the library's decisions, draw for draw, to show single messages.

A message to the browser is a small head in JSON, then typed arrays:

    4 bytes   length of the head, little-endian
    head      JSON, with `parts`: [name, JavaScript's array type, length] for each array
    arrays    one after the other, each from a multiple of 8 bytes on
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.audience import STREAM as ENTRY
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.compiled.events.hosts import hosts_of
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import Floats, points
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.overlay.stack import Stack, whole_number
from sub2sub.peers.forwarding import STREAM as DISSEMINATION
from sub2sub.peers.settings import DisseminationSettings
from sub2sub.tables import optional_library

Arrays = dict[str, NDArray[Any]]
SCRIPTS = ("draws", "spread", "plane", "ring", "player", "frames", "world", "explore")
VIEWS = ("near", "random", "ring")
MOST_CYCLES = 1000  # that one click may ask for
ARRAY_TYPES = {
    "u1": "Uint8Array", "u2": "Uint16Array", "u4": "Uint32Array", "u8": "BigUint64Array",
    "i4": "Int32Array", "f8": "Float64Array",
}  # fmt: skip


def frame(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return one message.

    Examples
    --------
    >>> message = frame({"kind": "cycle"}, {"alive": np.array([1, 0], np.uint8)})
    >>> len(message) % 8, message[4:28]
    (2, b'{"kind":"cycle","parts":')
    """
    parts = [(name, np.ascontiguousarray(values)) for name, values in arrays.items()]
    listed = [[name, ARRAY_TYPES[values.dtype.str[1:]], values.size] for name, values in parts]
    text = json.dumps({**head, "parts": listed}, separators=(",", ":")).encode()
    text += b" " * (-(4 + len(text)) % 8)
    pieces = [struct.pack("<I", len(text)), text]
    for k, (_, values) in enumerate(parts):
        data = values.tobytes()
        pieces += [data, b"\0" * (-len(data) % 8 if k < len(parts) - 1 else 0)]
    return b"".join(pieces)


class Explorer:
    """Answers the view of an overlay: runs cycles, publishes events, sets shortcuts and loss.

    Examples
    --------
    >>> overlay = Overlay.of([[0.0], [0.5], [0.2]], [[0.6], [1.0], [0.3]], seed=1)
    >>> explorer = Explorer(overlay)
    >>> message = explorer.answer({"do": "run", "cycles": 5})
    >>> message = explorer.answer({"do": "publish", "point": [0.55]})
    >>> overlay.cycle, explorer.published.matches.tolist(), explorer.published.reached.tolist()
    (5, [2], [2])
    """

    def __init__(self, overlay: Overlay, settings: DisseminationSettings | None = None) -> None:
        if not isinstance(settings, DisseminationSettings | None):
            raise InputError(f"settings: expected DisseminationSettings, got {settings!r}")
        self.overlay, self.settings = overlay, settings or DisseminationSettings()
        lows, highs = overlay.population.ranges()
        busiest = ((lows + highs) / 2)[overlay.network.alive == 1]
        self.point = np.median(busiest, axis=0) if len(busiest) else lows[0]
        self._sent: NDArray[np.int64] | None = None  # the rows of the peers that the browser knows

    def answer(self, order: Mapping[str, Any]) -> bytes:
        """Do what the view asks for; the state after it, as one message, or what is wrong with the order."""
        orders = {
            "start": self._start,
            "run": self._run,
            "publish": self._publish_at,
            "shortcuts": self._set_shortcuts,
            "loss": self._set_loss,
        }
        try:
            if order.get("do") not in orders:
                raise InputError(f"do: expected one of {', '.join(orders)}, got {order.get('do')!r}")
            orders[order["do"]](order)
            return self._state()
        except (InputError, KeyError, TypeError, ValueError) as error:
            return frame({"kind": "problem", "text": str(error)}, {})

    def _start(self, order: Mapping[str, Any]) -> None:
        self._sent = None

    def _run(self, order: Mapping[str, Any]) -> None:
        cycles = whole_number("cycles", order["cycles"], MOST_CYCLES)
        self.overlay.run(cycles)

    def _publish_at(self, order: Mapping[str, Any]) -> None:
        self.point = points([order["point"]], self.overlay.population.d)[0]

    def _set_shortcuts(self, order: Mapping[str, Any]) -> None:
        self.settings = replace(self.settings, shortcuts=int(order["k"]))

    def _set_loss(self, order: Mapping[str, Any]) -> None:
        if not 0 <= (probability := float(order["probability"])) < 1:
            raise InputError(f"loss: expected a probability from 0 to below 1, got {probability}")
        self.overlay.network.loss = probability

    def _state(self) -> bytes:
        """The overlay, if the browser has another one, and the event published in it as it is now."""
        overlay, how = self.overlay, self.settings
        population, network = overlay.population, overlay.network
        head: dict[str, Any] = {"kind": "state", "cycle": overlay.cycle, "loss": network.loss}
        arrays: Arrays = {"alive": network.alive & population.present}
        if self._sent is None or not np.array_equal(self._sent, population.row):
            self._sent = population.row.copy()
            own, known = start_of(overlay, how, overlay.attributes)
            head, arrays = head | own, arrays | known
        hosts = hosts_of(population.host, network.alive)
        if hosts.of.size:
            arrays |= {f"hosts-{name}": part.astype(np.int32) for name, part in hosts._asdict().items()}
        self.published = disseminate(
            Links.of(overlay), network, self.point[None], settings=how, seed=overlay.seed, cycle=overlay.cycle
        )
        counts = ("matches", "reached", "hops", "messages", "duplicates", "spam", "failed")
        head["event"] = {
            "point": self.point.tolist(),
            "shortcuts": how.shortcuts,
            "counts": {name: int(getattr(self.published, name)[0]) for name in counts},
        }
        members = members_of(overlay, self.point)
        arrays |= {"members": members.astype(np.uint32)} | views_of(overlay, members, how.max_age)
        return frame(head, arrays)


def start_of(
    overlay: Stack, how: DisseminationSettings, attributes: Iterable[str]
) -> tuple[dict[str, Any], Arrays]:
    """All peers of an overlay and what draws depend on: the head and the arrays of a first message."""
    population = overlay.population
    lows, highs = population.ranges()
    head = {
        "seed": str(overlay.seed), "n": len(population), "d": population.d, "attributes": list(attributes),
        "domain": domain_of([(lows, highs)]),
        "streams": {"entry": str(ENTRY), "dissemination": str(DISSEMINATION)},
        "how": {"ringShortcuts": how.ring_shortcuts, "tries": how.tries, "retries": how.retries},
    }  # fmt: skip
    return head, {"low": lows, "high": highs, "id": population.ids}


def members_of(overlay: Stack, point: Floats) -> NDArray[np.int64]:
    """The live peers that match an event, in the order of their sequence IDs."""
    population: Population = overlay.population
    lows, highs = population.ranges()
    alive = (overlay.network.alive == 1) & population.present
    return np.flatnonzero(alive & np.all((lows <= point) & (point <= highs), axis=1))


def views_of(
    overlay: Stack, members: NDArray[np.int64], max_age: int = 0, names: Iterable[str] = VIEWS
) -> Arrays:
    """The views of some peers, in the order given: how many links each has, and the peers they lead to.

    Proximity and random links older than `max_age` cycles, which are no shortcuts, are left out.
    """
    links = Links.of(overlay)
    young = links.younger(max_age) if max_age else links
    ring_size = links.ring_size[members].astype(np.int64)
    before = np.cumsum(ring_size) - ring_size
    ring_places = np.repeat(links.ring_start[members] - before, ring_size) + np.arange(ring_size.sum())
    found: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {"ring": (ring_size, links.ring_peer[ring_places])}
    rows_of = {"near": (young.near, young.near_size), "random": (young.random, young.random_size)}
    for name, (rows, sizes) in rows_of.items():
        held = np.arange(rows.shape[1]) < sizes[members, None]
        found[name] = sizes[members], rows[members][held] & 0xFFFFFFFF
    arrays: Arrays = {}
    for name in names:
        arrays[f"{name}-size"], arrays[f"{name}-target"] = (part.astype(np.uint32) for part in found[name])
    return arrays


def domain_of(ends: list[tuple[Floats, Floats]]) -> list[list[float]]:
    """The range of each axis: [0, 1] if it contains all ranges, otherwise that of all finite ends.

    Examples
    --------
    >>> domain_of([(np.array([[0.0, 3.0]]), np.array([[0.5, np.inf]]))])
    [[0.0, 1.0], [3.0, 4.0]]
    """
    shown = []
    for k in range(ends[0][0].shape[1]):
        both = np.concatenate([side[:, k] for pair in ends for side in pair])
        finite = both[np.isfinite(both)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        if low >= 0.0 and high <= 1.0:
            low, high = 0.0, 1.0
        shown.append([low, high if high > low else low + 1.0])
    return shown


@cache
def _kind_of_widget() -> Any:
    anywidget = optional_library("anywidget", "notebook")
    assets = files("sub2sub.overlay") / "assets"
    script = "\n".join((assets / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)
    style = "\n".join((assets / f"{name}.css").read_text(encoding="utf-8") for name in ("links", "explore"))
    return type("OverlayWidget", (anywidget.AnyWidget,), {"_esm": script, "_css": style})


def widget_of(explorer: Explorer) -> Any:
    """The view as a widget (anywidget), for JupyterLab, VS Code, Colab and marimo."""
    widget = _kind_of_widget()()
    widget.on_msg(lambda _, order, buffers: widget.send({}, [explorer.answer(order)]))
    return widget
