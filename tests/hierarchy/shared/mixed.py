"""Populations that mix topics and ranges on trees of the tests' own, and outcomes judged by brute force."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hierarchy.peers.settings import CamcastRoute
from hierarchy.shared import Route, SharedOverlay
from hierarchy.topics import NestedRanges, TopicTree
from sub2sub.overlay.population import Population
from sub2sub.peers.descriptors import ACK, DESCRIPTOR, HEADER, RANGE, event_bytes
from sub2sub.peers.settings import DisseminationSettings

LEVELS = 12


class Judged(NamedTuple):
    """Mean share of the hosts that match and have an event, copies at others, and what it took."""

    hit_ratio: float
    wrong: int
    hops: int
    per_delivery: float
    deliveries: int
    bytes: int


def tree_of(kind: str, rng: np.random.Generator, star: int = 60, topics: int = 80) -> TopicTree:
    """A chain, a star, a random tree, or a random graph."""
    if kind == "chain":
        return TopicTree.from_paths(["." + ".".join(f"t{k}" for k in range(LEVELS))])
    if kind == "star":
        return TopicTree.from_paths([f".t{k}" for k in range(star)])
    tree = TopicTree()
    for k in range(1, topics):
        tree.add(f"t{k}", [int(rng.integers(0, k))])
    for k in range(20, topics, 5) if kind == "graph" else ():
        further = int(rng.integers(0, k))
        if not tree.includes(k, further) and further not in tree.parents(k):
            tree.add_parent(k, further)
    return tree


def mixed(
    kind: str, share: float, n: int, seed: int, spare: int = 0, star: int = 60, topics: int = 80
) -> SharedOverlay:
    """n hosts: subscribers of topics, popular by Zipf's law or evenly, and a share of ranges."""
    rng = np.random.default_rng([seed, n])
    nested = NestedRanges(tree_of(kind, rng, star, topics))
    topics = len(nested.tree)
    weight = np.ones(topics) if kind in ("chain", "star") else 1 / (1 + rng.permutation(topics))
    rows: list[tuple[int, float, float]] = []
    for host, topic in enumerate(rng.choice(topics, n, p=weight / weight.sum()).tolist()):
        if rng.random() < share:  # from the point of some topic on: a range that events of topics fall into
            low, end = float(nested.point(int(rng.integers(0, topics)))), float(nested.range(0)[1])
            rows.append((host, low, float(np.floor(low + rng.random() / 2 * (end - 1 - low)))))
        else:
            rows += [(host, low, high) for low, high in nested.closed_ranges(topic).tolist()]
    table = np.array(rows)
    people = Population.of(table[:, 1:2], table[:, 2:], hosts=table[:, 0].astype(int), spare=spare, seed=seed)
    overlay = SharedOverlay(people, None, seed, topics=nested)
    overlay.bootstrap()
    return overlay


def topic_events(overlay: SharedOverlay, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Events of topics of random members that may publish, and these members."""
    rng, lows = np.random.default_rng(seed), overlay.population.ranges()[0]
    members = np.flatnonzero((overlay.network.alive == 1) & overlay.ready())
    publishers = rng.choice(members, count)
    return lows[publishers], publishers


def chain_overlay(n: int, levels: int, seed: int) -> tuple[SharedOverlay, np.ndarray, np.ndarray]:
    """A chain of topics without range subscribers, and an event and a publisher for each topic."""
    assert levels == LEVELS
    overlay = mixed("chain", 0.0, n, seed)
    overlay.run(30)
    lows = overlay.population.ranges()[0]
    starts, publishers = np.unique(lows[:, 0], return_index=True)
    return overlay, starts[:, None], publishers


def judged(
    overlay: SharedOverlay, events: np.ndarray, publishers: np.ndarray, route: Route | None = None
) -> Judged:
    """Publish, and compare every reception with every box."""
    outcome = overlay.spread(events, publishers, route or CamcastRoute(), record=True)
    lows, highs = overlay.population.ranges()
    alive, host, hits, wrong = overlay.network.alive == 1, overlay.population.host, [], 0
    assert outcome.receptions is not None
    for e, event in enumerate(events):
        fits = np.all((lows <= event) & (event <= highs), axis=1)
        peers, _ = outcome.receptions.of(e)
        wrong += int((~fits[peers]).sum()) + int(outcome.spam[e])
        wanting = set(host[fits & alive].tolist())
        hits.append(len(wanting & set(host[peers].tolist())) / len(wanting))
        assert outcome.applications[e] == len(wanting)
        assert outcome.delivered[e] == len(set(host[peers].tolist()))
    size = event_bytes(overlay.population.d) * outcome.messages.sum() + ACK * outcome.acks.sum()
    return Judged(
        float(np.mean(hits)), wrong, int(outcome.hops.max()), outcome.messages_per_delivery,
        int(outcome.deliveries.sum()), int(size),
    )  # fmt: skip


def judged_by_choice(
    overlay: SharedOverlay, events: np.ndarray, publishers: np.ndarray
) -> tuple[Judged, float]:
    """The same by the route that each publisher chooses, its questions billed; and CAMCAST's share."""
    choices = overlay.choose_routes(events, overlay.population.row[publishers])
    by_tables = np.array([isinstance(choice.route, CamcastRoute) for choice in choices])
    parts = [
        judged(overlay, events[chosen], publishers[chosen], route)
        for chosen, route in ((by_tables, CamcastRoute()), (~by_tables, DisseminationSettings()))
        if chosen.any()
    ]
    weights = [int(chosen.sum()) for chosen in (by_tables, ~by_tables) if chosen.any()]
    asked = sum(choice.messages for choice in choices)
    deliveries = sum(part.deliveries for part in parts)
    copies = sum(part.per_delivery * part.deliveries for part in parts)
    return Judged(
        float(np.average([part.hit_ratio for part in parts], weights=weights)),
        sum(part.wrong for part in parts), max(part.hops for part in parts), (copies + asked) / deliveries,
        deliveries, sum(part.bytes for part in parts) + asked * (HEADER + DESCRIPTOR + RANGE),
    ), float(by_tables.mean())  # fmt: skip
