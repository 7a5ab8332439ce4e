"""Parts of the paper's model that its experiments do not have (Sub-2-Sub, Sections 2 and 3).

They are exact values, wildcards, several subscriptions of one host, four attributes, and attributes of
different types. Each world is a space of named attributes, random subscriptions, and events that have
subscribers. Rings are built from one random link per peer; then events are published, and publishers search
for a peer that matches theirs. The lengths of axes decide which attributes matter for proximity. With axes as
they are, a string (an axis of length 2^48 and more) makes a price irrelevant. With axes of equal length, by
the attributes' declared bounds, exact values hardly matter beside ranges. With axes by usual widths
(`sub2sub.geometry.widths`, of 500 other subscriptions of the same kind) both matter.

The paper says of its model that every event reaches all its subscribers and no other peer. This is judged for
axes by usual widths; rings of exact values take longer with the others. The bounds on publishers are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sims.reproduce.claims import Claims, claim, rounded, worst_seed
from sims.reproduce.reproduction import Tables
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.compiled.events.publishing import find_entry
from sub2sub.geometry.attributes import Float, Int, String
from sub2sub.geometry.space import AttributeSpace
from sub2sub.geometry.widths import typical_widths
from sub2sub.overlay.overlay import Overlay
from sub2sub.peers.settings import OverlaySettings

PLAIN, BOUNDS, WIDTHS = "axes as they are", "axes by declared bounds", "axes by usual widths"
STRING = "string and price"
CYCLES, SOON = 40, 5
# Bounds by world: share of publishers that are soon done, and beyond that with axes as they are.
LEAST = {STRING: (0.88, 0.15), "types": (0.6, 0.15), "exact values": (0.7, -0.03)}
SAMPLE = 500


@dataclass(frozen=True)
class World:
    """A space and how a subscription is drawn; `per_host` subscriptions belong to one host."""

    space: AttributeSpace
    draw: Callable[[np.random.Generator], dict[str, Any]]
    per_host: int = 1


def word(share: float) -> str:
    """Five letters, in the order of a share from 0 to 1.

    Examples
    --------
    >>> word(0.0), word(0.5)
    ('AAAAA', 'NAAAA')
    """
    letters = ""
    for _ in range(5):
        share *= 26
        letters += chr(ord("A") + min(int(share), 25))
        share -= int(share)
    return letters


def _range(rng: np.random.Generator, width: float, length: float = 1.0) -> tuple[float, float]:
    low = rng.random() * (1 - width)
    return length * low, length * (low + width * rng.random())


_SYMBOLS = [word(k / 60) for k in range(60)]
_TWO = AttributeSpace({"a": Float(0, 1), "b": Float(0, 1)})
_THREE = AttributeSpace({name: Float(0, 1) for name in "abc"})

WORLDS: dict[str, World] = {
    "exact values": World(
        AttributeSpace({"kind": Int(0, 49), "a": Float(0, 1)}),
        lambda rng: {"kind": int(50 * rng.random() ** 3), "a": _range(rng, 0.4)},
    ),
    "wildcards": World(_THREE, lambda rng: {name: _range(rng, 0.3) for name in "abc" if rng.random() < 0.5}),
    "three subscriptions a host": World(
        _TWO, lambda rng: {name: _range(rng, 0.3) for name in "ab"}, per_host=3
    ),
    "four attributes": World(
        AttributeSpace({name: Float(0, 1) for name in "abcd"}),
        lambda rng: {name: _range(rng, 0.7) for name in "abcd"},
    ),
    "types": World(
        AttributeSpace(
            {"symbol": String(_SYMBOLS), "price": Float(0, 1000), "side": ["buy", "sell"], "day": Int(0, 364)}
        ),
        lambda rng: {
            "symbol": _SYMBOLS[int(60 * rng.random() ** 2)],
            "price": _range(rng, 0.4, 1000.0),
            **({"side": ["buy", "sell"][rng.integers(2)]} if rng.random() < 0.5 else {}),
            **({"day": int(rng.integers(365))} if rng.random() < 0.1 else {}),
        },
    ),
    STRING: World(
        AttributeSpace({"name": str, "price": Float(0, 1000)}),
        lambda rng: {"name": tuple(map(word, _range(rng, 0.05))), "price": _range(rng, 0.05, 1000.0)},
    ),
}


def unit(world: str, lengths: str, seed: int, size: int) -> list[dict[str, Any]]:
    """Build a world, publish, and search."""
    return [_run(WORLDS[world], size, seed, lengths)]


def _run(world: World, size: int, seed: int, axes: str) -> dict[str, Any]:
    rng = np.random.default_rng([seed, 14])
    lows, highs = world.space.subscriptions([world.draw(rng) for _ in range(size)])
    events = _wanted(rng, lows, highs)
    sample = world.space.subscriptions([world.draw(rng) for _ in range(SAMPLE)])
    lengths = {PLAIN: (), BOUNDS: world.space.axes, WIDTHS: typical_widths(*sample)}[axes]
    hosts = np.arange(size) // world.per_host
    overlay = Overlay.of(lows, highs, hosts=hosts, seed=seed, settings=OverlaySettings(axes=lengths))
    overlay.run(CYCLES)
    links = Links.of(overlay)
    scale = overlay.population.scale
    walks = find_entry(links, overlay.network, events, seed=seed, cycle=CYCLES, scale=scale)
    outcome = disseminate(links, overlay.network, events, entry=walks.entry, seed=seed, cycle=CYCLES)
    found = disseminate(links, overlay.network, events, seed=seed, cycle=CYCLES)
    return {
        "complete": found.complete_share,
        "spam": int(found.spam.sum()),
        "entered": float(walks.found.mean()),
        "soon": float(walks.found_within(SOON).mean()),
        "complete_by_publishers": outcome.complete_share,
        "per_delivery": found.messages_per_delivery,
        "matches": float(found.applications.mean()),
        "neighbours": float(links.ring_size.mean()),
    }


def _wanted(
    rng: np.random.Generator, lows: NDArray[np.float64], highs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Random points in random subscriptions, with whole numbers where subscriptions have them."""
    whole = (np.floor(lows) == lows).all(axis=0) & (np.floor(highs) == highs).all(axis=0)
    picked = rng.integers(len(lows), size=len(lows))
    low, high = lows[picked], highs[picked]
    at = low + rng.random(low.shape) * (high - low)
    return np.clip(np.where(whole, np.round(at), at), low, high)


def judge(tables: Tables) -> Claims:
    """Everything arrives in every world; publishers find matches, the more if distances are in widths."""
    for world, own in tables["model"].groupby("world", sort=False):
        usual, by = own[own.lengths == WIDTHS], own.groupby("lengths", sort=False)
        yield worst_seed("complete", usual.complete, world=world)
        yield claim("spam", int(own.spam.sum()), own.spam.sum() == 0, world=world)
        for column in ("complete", "soon", "entered"):
            yield claim(f"{column}_by_axes", rounded(by[column].mean()), world=world)
        yield claim("hosts", rounded(usual[["matches", "neighbours", "per_delivery"]].mean(), 2), world=world)
    for world, (least, more) in LEAST.items():
        table = tables["model"]
        soon = table[table.world == world].pivot(index="seed", columns="lengths", values="soon")
        yield worst_seed("soon", soon[WIDTHS], at_least=least, world=world)
        yield worst_seed("gain", soon[WIDTHS] - soon[PLAIN], at_least=more, world=world)
