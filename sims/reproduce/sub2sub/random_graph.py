"""CYCLON's overlay beside a random graph.

Voulgaris, Gavidia, van Steen (Journal of Network and Systems Management 13(2), 2005) find that CYCLON's
overlay is like a random graph with the same number of links in path length and clustering, that its
in-degrees spread *less* than a random graph's (with 100,000 nodes and views of 20, four nodes in five
have an in-degree of 20 give or take 5 %), and that it stays in one piece when most of its nodes are
removed at once. Each is measured here beside a random graph drawn with as many links per node.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from sims.engine import Simulation
from sims.figures.style import figure, line, styled
from sims.observers import Clustering, Degrees, PathLengths
from sims.observers.degrees import live_links
from sims.observers.graph import adjacency
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.registry import Progress, experiment
from sub2sub.overlay.overlay import Overlay, OverlaySettings
from sub2sub.overlay.population import Population
from sub2sub.overlay.views import link
from sub2sub.ring.layer import RingSettings

__all__ = ["random_graph"]

VIEW = 20
REMOVED = np.arange(0.50, 1.0, 0.025)


@experiment("cyclon-graph", title="CYCLON's overlay beside a random graph")
def random_graph(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Measure both graphs."""
    n, cycles = 10_000, 200  # a few seconds: no smaller form is needed, and in-degrees spread more in one
    people = Population.of(np.zeros((n, 1)), np.ones((n, 1)), seed=seed)
    simulation = Simulation(Overlay(people, OverlaySettings(ring=RingSettings(exchanges=0)), seed=seed))
    overlay = simulation.overlay
    overlay.bootstrap()
    for cycle in range(1, cycles + 1):
        overlay.cyclon.step(cycle, overlay.network)
        simulation.cycle = cycle
        progress(cycle, cycles)
    measured, degrees, pieces = _measure(simulation), _in_degrees(simulation), _pieces(simulation, seed)

    rng = np.random.default_rng(seed)
    for peer in range(n):
        others = rng.choice(n - 1, VIEW, replace=False)
        overlay.cyclon.view[peer, :VIEW] = [link(int(other + (other >= peer)), cycles) for other in others]
    random, random_degrees = _measure(simulation), _in_degrees(simulation)
    random_pieces = _pieces(simulation, seed)

    save_table(
        out, "graph", {"graph": ["cyclon", "random"], **{k: [measured[k], random[k]] for k in measured}}
    )
    save_table(out, "removal", {"removed": REMOVED, "cyclon": pieces, "random": random_pieces})
    most = max(degrees.max(), random_degrees.max())
    counts = [np.bincount(found, minlength=most + 1) for found in (degrees, random_degrees)]
    save_table(
        out, "in_degrees", {"in_degree": np.arange(most + 1), "cyclon": counts[0], "random": counts[1]}
    )
    with styled():
        fig, (left, right) = figure(1, 2)
        titles = (f"CYCLON, view {VIEW}", f"random graph, {VIEW} links")
        for number, (title, count, outside) in enumerate(
            zip(titles, counts, (pieces, random_pieces), strict=True)
        ):
            line(left, number, np.arange(most + 1), 100 * count / n, title, markersize=3)
            line(right, number, 100 * REMOVED, outside, title)
        left.set(xlabel="in-degree", ylabel="nodes (%)")
        right.set(xlabel="nodes removed (%)", ylabel="nodes outside the largest piece", yscale="symlog")
        left.legend(loc="upper right", fontsize=9, borderaxespad=0)
        left.set_xlim(0, 55)
        save_figure(out, "cyclon-graph", fig)
    id = "cyclon-graph"
    path, clustering, spread = (measured[name] for name in ("path", "clustering", "in_std"))
    close = float((np.abs(degrees - VIEW) <= 0.05 * VIEW).mean())
    cut = float(REMOVED[pieces > 0].min()) if (pieces > 0).any() else 1.0
    return [
        Claim(
            id, "average path length is that of a random graph", random["path"], path,
            abs(path / random["path"] - 1) < 0.05,
        ),
        Claim(
            id, "clustering is near a random graph's", random["clustering"], clustering,
            clustering < 2 * random["clustering"],
        ),
        Claim(
            id, "in-degrees spread less than a random graph's (standard deviation)", random["in_std"], spread,
            spread < random["in_std"],
        ),
        Claim(id, "share of nodes with an in-degree of 20 give or take 5 %", 0.8, close, close > 0.75),
        Claim(
            id, "in one piece until most nodes are removed: the least share that cuts anybody off, beside a "
            "random graph's", float(REMOVED[random_pieces > 0].min()), cut, cut > 0.5,
        ),
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


def _in_degrees(simulation: Simulation) -> NDArray[np.int64]:
    _, peers, _ = live_links(simulation, "cyclon")
    return np.bincount(peers, minlength=len(simulation.overlay.population))


def _pieces(simulation: Simulation, seed: int) -> NDArray[np.int64]:
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
