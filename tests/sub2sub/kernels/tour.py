"""A tour through all kernels in a world of few peers, for runs without compilation.

    python -m tests.sub2sub.kernels.tour             prints a digest of everything computed
    python -m tests.sub2sub.kernels.tour --short     of some of it, as test_interpreted.py does
    make coverage                           which lines of the kernels that takes

numba's code is invisible to coverage; without compilation (NUMBA_DISABLE_JIT=1) the same functions run as
plain Python, some hundred times slower, and must compute the same.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import tests.sub2sub.kernels.uncompiled  # noqa: F401 - before any kernel
from hierarchy.camcast import Communities, TopicSettings, parameters
from hierarchy.camcast import disseminate as camcast
from hierarchy.compiled.camcast.tables import StaticTables, thin
from hierarchy.gossip import GossipBroadcast, GossipMulticast, HierarchicalBroadcast
from hierarchy.hpmcast import AddressSpace, Gossip, Hierarchy
from hierarchy.hpmcast import disseminate as hpmcast
from hierarchy.hpmcast.analysis.chain import infected_distribution, rounds_to_everybody
from hierarchy.hpmcast.membership.audit import audit
from hierarchy.membership import CommunityOverlay, SemiStructured, Structured, Unstructured
from hierarchy.shared import SharedOverlay
from hierarchy.topics import NestedRanges, TopicTree
from sims.engine import Schedule, Simulation
from sims.engine.faults import Churn, Crash, Leave, Loss, Partition, Recover, Resubscribe
from sims.observers import RingCompleteness
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.compiled.events.publishing import find_entry
from sub2sub.compiled.ring.layer import Partner
from sub2sub.geometry.boxes import subtract
from sub2sub.geometry.matching import match
from sub2sub.geometry.regions import minimal_regions
from sub2sub.overlay.forgetting import forget
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.peers.settings import (
    DisseminationSettings,
    OverlaySettings,
    PublisherSettings,
    RingSettings,
    Tie,
)
from sub2sub.rings.selection import select_ring
from sub2sub.rings.true_rings import ring_neighbours, true_rings
from workloads import named

Results = Iterator[tuple[str, Any]]
FAULTS = [
    (Schedule(at=3), Crash(0.2)),
    (Schedule(at=4), Loss(0.2)),
    (Schedule(at=5), Recover()),
    (Schedule(at=6), Partition(2)),
    (Schedule(at=8), Partition(1)),
    (Schedule(at=9), Churn(0.2)),
    (Schedule(at=10), Resubscribe(0.2)),
    (Schedule(at=11), Leave(0.1)),
]


def geometry() -> Results:
    """Matching, rings, selection, regions, box algebra."""
    for name in ("uniform-1", "power-law-3", "power-law-5"):
        spec = named(name)
        lows, highs = spec.subscriptions(30, seed=1)
        events = spec.events(10, 1, lows, highs, at_least=1)
        members = match(lows, highs, events)
        ids = np.random.default_rng(1).permutation(30)
        yield f"{name} members", members.members
        yield f"{name} rings", true_rings(lows, highs, ids, events).members
        yield f"{name} neighbours", ring_neighbours(int(ids[0]), lows[1:], highs[1:], ids[1:], events)
        ring = select_ring(lows[0], highs[0], int(ids[0]), lows[1:], highs[1:], ids[1:])
        yield f"{name} selection", (ring.successors, ring.predecessors)
        yield f"{name} subtraction", subtract(lows[1:], highs[1:], lows[0], highs[0])
    yield "regions", minimal_regions(*named("uniform-2").subscriptions(8, seed=1)).lows


def variants() -> Iterator[tuple[str, OverlaySettings]]:
    """Settings that take different ways through the layers."""
    paper = OverlaySettings.paper()
    yield "default", OverlaySettings()
    yield "paper", paper
    for partner in Partner:
        yield f"partner {partner}", replace(paper, ring=RingSettings.paper(partner=partner, exchanges=2))
    for tie in Tie:
        yield f"tie {tie}", replace(paper, vicinity=replace(paper.vicinity, tie=tie, view=4))
    yield "capped", replace(paper, ring=RingSettings.paper(cap=3, two_sided=False, drop_failed=True))


def overlays(folder: Path, every: int) -> Results:
    """Sub-2-Sub's layers under all faults, and events on what they leave; of every so many variants."""
    for number, (name, settings) in list(enumerate(variants()))[::every]:
        spec = named(("power-law-2", "uniform-5")[number % 2])
        lows, highs = spec.subscriptions(24, seed=number)
        events = spec.events(6, number, lows, highs, at_least=1)
        hosts = np.arange(24) // (1 + number % 2)
        overlay = Overlay(
            Population.of(lows, highs, hosts=hosts, spare=40, seed=number), settings, seed=number
        )
        overlay.bootstrap()
        simulation = Simulation(overlay, [*FAULTS, (Schedule(), RingCompleteness(events))])
        simulation.run(14)
        simulation.save(folder / "state.npz")
        simulation.load(folder / "state.npz")
        yield name, {layer.name: layer.links() for layer in overlay.layers}
        yield f"{name} rings", [row["complete"] for row in simulation.tables["rings"]]
        for shortcuts in (0, 2):
            outcome = disseminate(
                Links.of(overlay), overlay.network, events,
                settings=DisseminationSettings(shortcuts=shortcuts, retries=shortcuts), seed=number,
            )  # fmt: skip
            yield f"{name} events", outcome.as_table()
        walks = find_entry(
            Links.of(overlay), overlay.network, events,
            settings=PublisherSettings(view=4, ring_offers=bool(number % 2), max_steps=6), seed=number,
        )  # fmt: skip
        yield f"{name} publishers", vars(walks)
        forget(overlay, np.flatnonzero(overlay.network.alive)[:2], cycle=15)
        yield f"{name} forgetting", overlay.ring.links()


def communities() -> Results:
    """CAMCAST's three memberships."""
    for kind in (Unstructured, SemiStructured, Structured):
        ranges = NestedRanges(TopicTree.from_paths([".a.b", ".c"]))
        topics = [".a.b"] * 12 + [".a"] * 6 + ["."] * 3 + [".c"] * 5
        overlay = CommunityOverlay(ranges, topics, 1, TopicSettings(c=2.0, g=9.0, a=3.0), kind, spare=60)
        overlay.bootstrap()
        Simulation(overlay, FAULTS).run(16)
        for publisher in np.flatnonzero(overlay.network.alive)[:3].tolist():
            yield f"{kind.name} {publisher}", overlay.publish(publisher, event=publisher).trace.first


def gossip() -> Results:
    """CAMCAST on static tables and on the shared overlay, its alternatives, and pmcast's Markov chain."""
    group = Communities.chain(4, 10, 30)
    thinned = thin(StaticTables(group).draw(seed=1), 0.8, seed=1)
    for kind in (GossipBroadcast(group), GossipMulticast(group), HierarchicalBroadcast(group, groups=5)):
        spread = camcast(kind.tables(".t1", seed=1), kind.parameters(".t1"), 5, seed=1)
        yield type(kind).__name__, spread.trace.first
        yield "thinned", camcast(thinned, parameters(group.sizes), 43, seed=1).trace.first
    lows, highs = [[0.0]] * 5 + [[10.0]] * 10, [[99.0]] * 5 + [[19.0]] * 10
    overlay = SharedOverlay(Population.of(lows, highs), seed=1)
    overlay.bootstrap()
    Simulation(overlay).run(5)
    yield "tables of nested ranges", np.concatenate([overlay.tables.equals, overlay.tables.above], axis=1)
    yield "routed", overlay.spread([[10.0]], [int(overlay.topical.size) - 1]).messages
    yield "chain", np.round(infected_distribution(6, 0.3, rounds=3), 12)
    yield "chain, rounds", round(rounds_to_everybody(6, 0.3), 9)


def hierarchies() -> Results:
    """hpmcast's membership and gossip."""
    lows, highs = named("power-law-1").subscriptions(27, seed=1)
    people = Population.of(lows, highs, ids=np.arange(27))
    people.row[20:] = -1
    overlay = Hierarchy(people, AddressSpace((3, 3, 3)), seed=1)
    overlay.bootstrap()
    Simulation(overlay, FAULTS[:5]).run(16)
    layer, alive = overlay.membership, overlay.network.alive
    known = layer.knowledge()
    yield "views", audit(known.views(), layer.exact(alive).views(), alive).right
    for publisher in np.flatnonzero(alive)[:3].tolist():
        hit = known.match(lows[publisher])
        spread = hpmcast(known.views(), hit, publisher, Gossip(constant=2.0), network=overlay.network)
        yield f"hpmcast {publisher}", spread.trace.first


def tour(short: bool) -> Results:
    """Everything, or some of it."""
    yield from geometry()
    with TemporaryDirectory() as folder:
        yield from overlays(Path(folder), 7 if short else 1)
    yield from communities()
    yield from gossip()
    yield from hierarchies()


def digests(short: bool = False) -> dict[str, str]:
    """A digest of each result; the same with and without compilation."""
    found: dict[str, str] = {}
    for name, value in tour(short):
        text = repr(_plain(value)).encode()
        found[name] = hashlib.sha256(found.get(name, "").encode() + text).hexdigest()[:16]
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


if __name__ == "__main__":
    for line in digests("--short" in sys.argv).items():
        print(*line, sep=": ")
