"""An overlay as a networkx graph, for all algorithms of networkx."""

from __future__ import annotations

import networkx as nx

from sims.engine import Simulation
from sims.observers import snapshot
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from workloads import named


def main() -> None:
    """Analyse the links of 300 peers."""
    lows, highs = named("uniform-2").subscriptions(300, seed=1)
    overlay = Overlay(Population.of(lows, highs, seed=1), seed=1)
    overlay.bootstrap()
    simulation = Simulation(overlay)
    simulation.run(25)

    graph = snapshot(simulation)  # a MultiDiGraph: peers with their ranges, links with layer and age
    print(f"{graph.number_of_nodes()} peers, {graph.number_of_edges()} links")
    for layer in ("cyclon", "vicinity", "ring"):
        links = [(a, b) for a, b, kind in graph.edges(data="layer") if kind == layer]
        part = nx.DiGraph(links)
        print(
            f"{layer:9} connected: {nx.is_weakly_connected(part)}, mutual links: {nx.reciprocity(part):.0%}"
        )
    hub, degree = max(graph.degree, key=lambda pair: pair[1])
    low, high = graph.nodes[hub]["low"], graph.nodes[hub]["high"]
    print(f"most links: peer {hub} with {degree}, which subscribes to a1 in [{low[0]:.2f}, {high[0]:.2f}]")


if __name__ == "__main__":
    main()
