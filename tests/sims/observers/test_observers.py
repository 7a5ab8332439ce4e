"""Observers, against definitions spelled out on small overlays."""

from __future__ import annotations

import networkx
import numpy as np

from sims.engine import Schedule, Simulation
from sims.engine.faults import Crash
from sims.observers import Clustering, Degrees, LinkAges, PathLengths, RingCompleteness, snapshot
from sub2sub.compiled.common.threads import threads, use_threads
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from workloads import named


def run_of(cycles, n=200, controls=()):
    lows, highs = named("uniform-2").subscriptions(n, 3)
    overlay = Overlay(Population.of(lows, highs, seed=3), seed=3)
    overlay.bootstrap()
    run = Simulation(overlay, list(controls))
    run.run(cycles)
    return run


def rings_spelled_out(run, events):
    people, alive = run.overlay.population, run.overlay.network.alive
    lows, highs = people.ranges()
    held = {(int(h), int(p)) for h, p, _ in zip(*run.overlay.ring.links(), strict=True)}
    links = needed = complete = rings = 0
    for event in events:
        ring = [
            i
            for i in range(len(people))
            if alive[i] and (lows[i] <= event).all() and (event <= highs[i]).all()
        ]
        if len(ring) < 2:
            continue
        wanted = [(a, b) for k, a in enumerate(ring) for b in (ring[(k + 1) % len(ring)], ring[k - 1])]
        there = sum(pair in held for pair in wanted)
        links, needed, rings = links + there, needed + len(wanted), rings + 1
        complete += there == len(wanted)
    return {"links": links / needed, "complete": complete / rings, "rings": rings}


def test_ring_completeness_is_what_its_definition_says():
    events, before = np.random.default_rng(1).random((60, 2)), threads()
    for cycles in (2, 4, 8):
        run = run_of(cycles, controls=[(Schedule(at=6), Crash(0.2))])
        for number in (1, 2, 3):  # threads
            use_threads(number)
            assert RingCompleteness(events).execute(run) == rings_spelled_out(run, events)
    use_threads(before)


def test_graph_observers_agree_with_networkx():
    run = run_of(12)
    graph = networkx.Graph(snapshot(run, ("cyclon",)))
    lengths = [v for _, row in networkx.all_pairs_shortest_path_length(graph) for v in row.values() if v]
    assert np.isclose(Clustering(sample=200).execute(run)["coefficient"], networkx.average_clustering(graph))
    assert np.isclose(PathLengths(sources=200).execute(run)["mean"], np.mean(lengths))


def test_a_snapshot_holds_every_live_link_once_with_its_age():
    run = run_of(6)
    graph = snapshot(run, ("ring",))
    holders, peers, stamps = run.overlay.ring.links()
    assert sorted((h, p, a) for h, p, a in graph.edges(data="age")) == sorted(
        (int(h), int(p), 6 - int(s)) for h, p, s in zip(holders, peers, stamps, strict=True)
    )


def test_degrees_and_ages_count_links_of_live_holders_only():
    run = run_of(8, controls=[(Schedule(at=7), Crash(0.5))])
    alive = run.overlay.network.alive == 1
    holders, peers, stamps = run.overlay.cyclon.links()
    kept = alive[holders]
    row = Degrees("cyclon").execute(run)
    assert np.isclose(row["mean"], kept.sum() / alive.sum())
    assert np.isclose(row["dead"], (~alive[peers[kept]]).mean())
    assert np.isclose(LinkAges("cyclon").execute(run)["mean"], (8 - stamps[kept]).mean())
