"""Digests of runs with fixed seeds: two commits that print the same lines take the same decisions.

    python benchmarks/digests.py                                  of this tree
    PYTHONPATH=../before python benchmarks/digests.py             of another checkout
    python benchmarks/digests.py memberships hpmcast              only these

A digest covers all links after every few cycles, the cost of each cycle and what every event reached, under
loss, crashes and newcomers. Only names that every commit has are imported.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from hierarchy.camcast import Communities, StaticTables, disseminate, parameters, thin
from hierarchy.gossip import GossipBroadcast, GossipMulticast, HierarchicalBroadcast
from hierarchy.hpmcast import (
    AddressSpace,
    Condensation,
    Gossip,
    Hierarchy,
    Population,
    Upkeep,
    exact_knowledge,
    spread_interest,
)
from hierarchy.hpmcast import disseminate as multicast
from hierarchy.hpmcast.extensions import DigestSettings, broadcast_below, exchange_digests
from hierarchy.membership import CommunityOverlay, Flooding, SemiStructured, Structured, Unstructured
from hierarchy.shared import CamcastRoute, SharedOverlay
from hierarchy.topics import NestedRanges, TopicTree
from sub2sub import Network, Overlay, OverlaySettings
from sub2sub import Population as Subscribers

SEEDS = (1, 2, 3)


def _write(into: Any, value: Any) -> None:
    """Add a value of any kind to a digest."""
    if is_dataclass(value) and not isinstance(value, type):
        value = [getattr(value, field.name) for field in fields(value)]
    if isinstance(value, Mapping):
        value = [part for pair in sorted(value.items()) for part in pair]
    if isinstance(value, tuple | list):
        for part in value:
            _write(into, part)
    elif isinstance(value, np.ndarray):
        into.update(np.ascontiguousarray(value).tobytes())
    else:
        into.update(repr(value).encode())


def _through_faults(overlay: Any, cycles: int) -> Iterator[Any]:
    """Step an overlay: loss from the first message, a quarter crashes at a third, and comes back at two."""
    alive, n = overlay.network.alive, len(overlay.population)
    overlay.network.loss = 0.05
    overlay.bootstrap()
    down = np.arange(1, n, 4)
    for cycle in range(1, cycles + 1):
        if cycle == cycles // 3:
            alive[down] = 0
        if cycle == 2 * cycles // 3:
            overlay.admit(down, np.full(down.size, -1 if n < 400 else 0), cycle)
        yield overlay.step(cycle)
        if cycle % 5 == 0:
            yield [layer.links() for layer in overlay.layers]


def overlays(seed: int) -> Iterator[Any]:
    """Sub-2-Sub as by default and as published, with events and their recovery."""
    for settings in (OverlaySettings(), OverlaySettings.paper(), OverlaySettings(calm=3)):
        dice = np.random.default_rng(seed)
        low = dice.random((700, 3)) * 0.8
        hosts = np.arange(700) // 2
        overlay = Overlay(Subscribers.of(low, low + 0.25, hosts=hosts, seed=seed), settings, seed)
        yield from _through_faults(overlay, 30)
        yield overlay.publish(dice.random((60, 3))).events


def shared(seed: int) -> Iterator[Any]:
    """Topics and ranges on one overlay."""
    ranges = NestedRanges(TopicTree.from_paths([".a.b", ".a.c", ".d"]))
    closed = ranges.bounds()[np.arange(400) % 5].astype(float) - np.array([0, 1])
    overlay = SharedOverlay(Subscribers.of(closed[:, :1], closed[:, 1:], seed=seed), seed=seed, topics=ranges)
    yield from _through_faults(overlay, 24)
    publishers = np.array([2, 3, 4])
    events = closed[publishers, :1]
    yield overlay.publish(events, at=publishers).events
    yield overlay.publish(events, at=publishers, settings=CamcastRoute()).events


def memberships(seed: int) -> Iterator[Any]:
    """CAMCAST's three memberships and flooding, with and without true sizes, and their events."""
    tree = TopicTree.from_paths([".a.b", ".a.c", ".d"])
    tree.add_parent(".d", ".a")
    for kind in (Unstructured, SemiStructured, Structured, Flooding):
        for true_sizes in (False, True):

            def make(*given: Any, kind: Any = kind, true_sizes: bool = true_sizes) -> Any:
                return kind(*given, true_sizes=true_sizes)

            topics = [".a.b"] * 150 + [".a"] * 40 + ["."] * 10 + [".d"] * 60 + [".a.c"] * 40
            overlay = CommunityOverlay(NestedRanges(tree), topics, seed, membership=make)
            yield from _through_faults(overlay, 30)
            membership = overlay.membership
            yield membership.sizes(), membership.inside(), membership.ready()
            yield membership.referenced(overlay.network.alive), membership.arrays()
            yield [overlay.publish(publisher, event) for event, publisher in enumerate((0, 200, 250))]


def camcast(seed: int) -> Iterator[Any]:
    """Dissemination over static tables, and its alternatives."""
    group = Communities.chain(10, 100, 800)
    network = Network.whole(910)
    network.loss = 0.1
    tables, chances = StaticTables(group).draw(seed), parameters(group.sizes)
    yield disseminate(tables, chances, 500, seed=seed, network=network)
    yield disseminate(thin(tables, 0.2, seed), chances, 500, seed=seed, network=network)
    for gossip in (GossipBroadcast(group), GossipMulticast(group), HierarchicalBroadcast(group, groups=30)):
        yield disseminate(
            gossip.tables(".t1", seed), gossip.parameters(".t1"), publisher=20, seed=seed, network=network
        )


def hpmcast(seed: int) -> Iterator[Any]:
    """hpmcast's membership, condensed interests, and events in every way."""
    dice = np.random.default_rng(seed)
    low = dice.random((216, 2)) * 0.7
    space = AddressSpace((6, 6, 6))
    for condensation, upkeep in (
        (Condensation(), Upkeep()),
        (Condensation(2, (3, 2), by_coverage=True), Upkeep(3, (5, 9), 2, bidirectional=True, revisit=0.1)),
    ):
        population = Subscribers.of(low, low + 0.3, ids=np.arange(216))
        overlay = Hierarchy(population, space, condensation, upkeep, seed=seed)
        yield from _through_faults(overlay, 30)
        known = overlay.membership.knowledge()
        yield multicast(known.views(), known.match([0.5, 0.5]), 5, seed=seed, network=overlay.network)
    system = Population.scattered(AddressSpace((12, 12, 12)), 700, seed)
    flags = (dice.random(700) < 0.2).astype(np.uint8)
    views, hit = exact_knowledge(system).views(), spread_interest(system, flags)
    network = Network.whole(700)
    network.loss = 0.1
    for settings in (
        Gossip(),
        Gossip(3, 2.0, retries=2, reliable=2),
        Gossip(adaptive=True),
        Gossip(audience=5),
    ):
        event = multicast(views, hit, 3, settings, network=network, seed=seed)
        yield event
        yield exchange_digests(views, hit, event, DigestSettings(), network=network, seed=seed)
    yield broadcast_below(views, hit, 3, network=network, seed=seed)


RUNS: dict[str, Callable[[int], Iterator[Any]]] = {
    run.__name__: run for run in (overlays, shared, memberships, camcast, hpmcast)
}


def digest(name: str, seed: int) -> str:
    """The digest of one run."""
    into = hashlib.sha256()
    for value in RUNS[name](seed):
        _write(into, value)
    return into.hexdigest()[:16]


def main() -> None:
    """Print a line for each run and seed."""
    for name in sys.argv[1:] or RUNS:
        for seed in SEEDS:
            print(f"{name:>12} {seed}  {digest(name, seed)}", flush=True)


if __name__ == "__main__":
    main()
