"""CYCLON's overlay beside a random graph.

Voulgaris, Gavidia, van Steen (Journal of Network and Systems Management 13(2), 2005) find that CYCLON's
overlay is like a random graph with the same number of links in path length and clustering, that its
in-degrees spread *less* than a random graph's (with 100,000 nodes and views of 20, four nodes in five
have an in-degree of 20 give or take 5 %), and that it stays in one piece when most of its nodes are
removed at once. Each is measured here beside a random graph drawn with as many links per node.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from sims.engine import Simulation
from sims.observers import Clustering, Degrees, PathLengths
from sims.observers.degrees import live_links
from sims.observers.graph import adjacency
from sims.reproduce.claims import Claims, claim, span
from sims.reproduce.reproduction import Tables
from sub2sub.compiled.common.views import link
from sub2sub.overlay.overlay import Overlay
from sub2sub.peers.settings import OverlaySettings, RingSettings

VIEW = 20
REMOVED = np.arange(0.50, 1.0, 0.025)


def unit(seed: int, n: int, cycles: int) -> dict[str, list[Any]]:
    """CYCLON's graph, and a random one."""
    found: dict[str, list[Any]] = {"graph": [], "removal": [], "in_degrees": []}
    simulation = _cyclon(n, cycles, seed)
    for graph in ("cyclon", "random"):
        if graph == "random":
            _randomise(simulation, seed)
        found["graph"].append({"graph": graph, **_graph_row(simulation)})
        pieces = zip(REMOVED.tolist(), _pieces(simulation, seed).tolist(), strict=True)
        found["removal"] += [{"graph": graph, "removed": share, "outside": left} for share, left in pieces]
        _, peers, _ = live_links(simulation, "cyclon")
        nodes = np.bincount(np.bincount(peers, minlength=n)).tolist()
        counted = enumerate(nodes)
        found["in_degrees"] += [{"graph": graph, "in_degree": k, "nodes": each} for k, each in counted]
    return found


def _cyclon(n: int, cycles: int, seed: int) -> Simulation[Overlay]:
    settings = OverlaySettings(ring=RingSettings(exchanges=0))
    overlay = Overlay.of(np.zeros((n, 1)), np.ones((n, 1)), settings=settings, seed=seed)
    simulation = Simulation(overlay)
    for cycle in range(1, cycles + 1):
        overlay.cyclon.step(cycle, overlay.network)
        simulation.cycle = cycle
    return simulation


def _randomise(simulation: Simulation[Overlay], seed: int) -> None:
    """Replace all views by random ones of the same size."""
    view, rng = simulation.overlay.cyclon.view, np.random.default_rng(seed)
    for peer in range(len(view)):
        others = rng.choice(len(view) - 1, VIEW, replace=False)
        view[peer, :VIEW] = [link(int(other + (other >= peer)), simulation.cycle) for other in others]


def _graph_row(simulation: Simulation) -> dict[str, float]:
    degrees = Degrees("cyclon").execute(simulation)
    return {
        "path": float(PathLengths(sources=50).execute(simulation)["mean"]),
        "clustering": float(Clustering(sample=10_000).execute(simulation)["coefficient"]),
        **{name: float(degrees[name]) for name in ("in_std", "in_min", "in_max")},
    }


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


def judge(tables: Tables) -> Claims:
    """Paths, clustering, in-degrees and pieces beside a random graph's; means of seeds."""
    graph, degrees, removal = (tables[name] for name in ("graph", "in_degrees", "removal"))
    for column in ("path", "clustering", "in_std"):
        own, random = (graph[column][graph.graph == name] for name in ("cyclon", "random"))
        ratio, paper = own.mean() / random.mean(), round(float(random.mean()), 5)
        judged = abs(ratio - 1) if column == "path" else ratio
        yield claim(column, round(float(own.mean()), 5), judged, paper=paper, interval=span(own, 5))
    counted = degrees[degrees.graph == "cyclon"]
    near = counted.nodes[(counted.in_degree - VIEW).abs() <= 0.05 * VIEW].sum() / counted.nodes.sum()
    cuts = removal[(removal.graph == "cyclon") & (removal.outside > 0)].removed
    cut = float(cuts.min()) if len(cuts) else 1.0
    yield claim("near", round(float(near), 4), near)
    yield claim("cut", round(cut, 3), cut)


def of_nodes(degrees: pd.DataFrame) -> pd.DataFrame:
    """The same rows, with the percentage of all nodes that have each in-degree."""
    return degrees.assign(
        share=100 * degrees.nodes / degrees.groupby(["graph", "seed"]).nodes.transform("sum")
    )
