"""CYCLON's overlay beside a random graph.

Voulgaris, Gavidia, van Steen (2005) find that CYCLON's overlay is like a random graph with the same number
of links in path length and clustering, that its in-degrees spread *less* than a random graph's, and that it
stays in one piece when most of its nodes are removed at once. Each is measured here beside a random graph
drawn with as many links per node.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from sims.engine import Simulation
from sims.experiments.claims import Claim, save_figure, save_table
from sims.experiments.registry import Progress, experiment
from sims.figures.style import figure, line, styled
from sims.observers import Clustering, Degrees, PathLengths
from sims.observers.graph import adjacency
from sub2sub.overlay import Overlay, OverlaySettings
from sub2sub.population import Population
from sub2sub.ring import RingSettings
from sub2sub.views import link

__all__ = ["random_graph"]

VIEW = 20
REMOVED = np.arange(0.50, 1.0, 0.025)


@experiment("cyclon-graph", title="CYCLON's overlay beside a random graph")
def random_graph(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Measure both graphs."""
    n, cycles = (2_000, 60) if quick else (10_000, 200)
    people = Population.of(np.zeros((n, 1)), np.ones((n, 1)), seed=seed)
    simulation = Simulation(Overlay(people, OverlaySettings(ring=RingSettings(exchanges=0)), seed=seed))
    overlay = simulation.overlay
    overlay.bootstrap()
    for cycle in range(1, cycles + 1):
        overlay.cyclon.step(cycle, overlay.network)
        simulation.cycle = cycle
        progress(cycle, cycles)
    measured = _measure(simulation)
    pieces = _pieces(simulation, seed)

    rng = np.random.default_rng(seed)
    for peer in range(n):
        others = rng.choice(n - 1, VIEW, replace=False)
        overlay.cyclon.view[peer, :VIEW] = [link(int(other + (other >= peer)), cycles) for other in others]
    random = _measure(simulation)
    random_pieces = _pieces(simulation, seed)

    save_table(
        out, "graph", {"graph": ["cyclon", "random"], **{k: [measured[k], random[k]] for k in measured}}
    )
    save_table(out, "removal", {"removed": REMOVED, "cyclon": pieces, "random": random_pieces})
    with styled():
        fig, axes = figure()
        line(axes, 0, 100 * REMOVED, pieces, f"CYCLON, view {VIEW}")
        line(axes, 1, 100 * REMOVED, random_pieces, f"random graph, {VIEW} links")
        axes.set(xlabel="nodes removed (%)", ylabel="nodes outside the largest piece", yscale="symlog")
        axes.legend()
        save_figure(out, "cyclon-graph", fig)
    intact_at = float(REMOVED[pieces == 0].max()) if (pieces == 0).any() else 0.0
    id = "cyclon-graph"
    path, clustering, spread = (measured[name] for name in ("path", "clustering", "in_std"))
    same_path = abs(path / random["path"] - 1) < 0.05
    intact = "the largest share removed without cutting anybody off"
    return [
        Claim(id, "average path length is that of a random graph", random["path"], path, same_path),
        Claim(
            id, "clustering is near a random graph's", random["clustering"], clustering,
            clustering < 2 * random["clustering"],
        ),
        Claim(
            id, "in-degrees spread less than a random graph's (standard deviation)", random["in_std"], spread,
            spread < random["in_std"],
        ),
        Claim(id, f"in one piece until most are removed: {intact}", "most", intact_at, intact_at > 0.5),
    ]  # fmt: skip


def _measure(simulation: Simulation) -> dict[str, float]:
    degrees = Degrees("cyclon").execute(simulation)
    return {
        "path": float(PathLengths(sources=50).execute(simulation)["mean"]),
        "clustering": float(Clustering(sample=10_000).execute(simulation)["coefficient"]),
        "in_std": float(degrees["in_std"]),
        "in_min": float(degrees["in_min"]),
        "in_max": float(degrees["in_max"]),
    }


def _pieces(simulation: Simulation, seed: int) -> np.ndarray:
    """Nodes outside the largest piece after removing a growing share at random."""
    matrix = adjacency(simulation, ("cyclon",))
    order = np.random.default_rng(seed).permutation(matrix.shape[0])
    outside = []
    for share in REMOVED:
        left = np.sort(order[round(share * order.size) :])
        part: sparse.csr_matrix = matrix[left][:, left]
        _, label = csgraph.connected_components(part, directed=False)
        outside.append(left.size - np.bincount(label).max())
    return np.array(outside)
