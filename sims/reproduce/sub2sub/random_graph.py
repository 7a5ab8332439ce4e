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
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from sims.engine import Simulation
from sims.observers import Clustering, Degrees, PathLengths
from sims.observers.degrees import live_links
from sims.observers.graph import adjacency
from sims.reproduce.claims import Claims, span, stated
from sims.reproduce.reproduction import (
    Plan,
    Tables,
    grid,
)
from sub2sub.compiled.common.views import link
from sub2sub.overlay.overlay import Overlay
from sub2sub.peers.settings import OverlaySettings, RingSettings
from workloads.charts.chart import Chart, Reference, Sheet, curves

SOURCE = "CYCLON (Voulgaris, Gavidia, van Steen 2005), Section 6:"

VIEW = 20
REMOVED = np.arange(0.50, 1.0, 0.025)


def plan(quick: bool, seed: int) -> Plan:
    """Both graphs."""
    n, cycles, seeds = 10_000, 200, 1 if quick else 3  # in-degrees spread more in a smaller one
    scale = f"{n:,} nodes, views of {VIEW}, {cycles} cycles, {seeds} seed{'s' * (seeds > 1)}"
    return Plan(scale, unit, grid(seed=range(seed, seed + seeds)), {"n": n, "cycles": cycles})


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


def judge(tables: Tables) -> Claims:
    """Paths, clustering, in-degrees and pieces beside a random graph's; means of seeds."""
    graph, degrees, removal = (tables[name] for name in ("graph", "in_degrees", "removal"))
    means = graph.groupby("graph").mean(numeric_only=True)
    own, random = means.loc["cyclon"], means.loc["random"]
    mine = graph[graph.graph == "cyclon"]
    counted = degrees[degrees.graph == "cyclon"]
    near = counted.nodes[(counted.in_degree - VIEW).abs() <= 0.05 * VIEW].sum() / counted.nodes.sum()
    cuts = removal[(removal.graph == "cyclon") & (removal.outside > 0)].groupby("seed").removed.min()
    cut = float(cuts.min()) if len(cuts) else 1.0
    yield stated(
        "average path length, within 5 % of a random graph's",
        f"{SOURCE} path lengths are a random graph's; the bound is ours", round(random["path"], 4),
        round(own["path"], 4), abs(own["path"] / random["path"] - 1) < 0.05, interval=span(mine.path),
    )  # fmt: skip
    yield stated(
        "clustering coefficient, below twice a random graph's",
        f"{SOURCE} clustering is a random graph's; the bound is ours", round(random["clustering"], 5),
        round(own["clustering"], 5), own["clustering"] < 2 * random["clustering"],
        interval=span(mine.clustering, 5),
    )  # fmt: skip
    yield stated(
        "standard deviation of in-degrees, below a random graph's",
        f"{SOURCE} in-degrees spread less than a random graph's", round(random["in_std"], 3),
        round(own["in_std"], 3), own["in_std"] < random["in_std"], interval=span(mine.in_std),
    )  # fmt: skip
    yield stated(
        "share of nodes with an in-degree of 20 give or take 5 % (at least 0.75)",
        f"{SOURCE} four nodes in five are within 5 %, with 100,000 nodes; the bound is ours", 0.8,
        round(float(near), 4), near >= 0.75,
    )  # fmt: skip
    yield stated(
        "the least share of nodes whose removal cuts anybody off, worst seed (above 0.5)",
        f"{SOURCE} it stays in one piece when most nodes are removed; the bound is ours", "most",
        round(cut, 3), cut > 0.5,
    )  # fmt: skip


def charts(tables: Tables) -> Sheet:
    """In-degrees, and nodes cut off by removals."""
    titles = {"cyclon": f"CYCLON, view {VIEW}", "random": f"random graph, {VIEW} links"}
    degrees, removal = tables["in_degrees"], tables["removal"]
    all_nodes = degrees.groupby(["graph", "seed"]).nodes.transform("sum")
    spread = degrees.assign(share=100 * degrees.nodes / all_nodes)
    how: dict[str, Any] = {"label": titles, "over": "seeds"}
    near = [Reference("paper: 80 % in here", x=0.95 * VIEW, to=1.05 * VIEW)]
    return Sheet(
        [
            Chart(
                "In-degrees", "in-degree", "nodes (%)",
                curves(spread, "in_degree", "share", "graph", **how),
                references=near,
            ),
            Chart(
                "paper: in one piece until most are removed", "nodes removed (%)",
                "nodes outside the largest piece",
                curves(removal, "removed", "outside", "graph", across=100, **how), linear=1.0,
            ),
        ]
    )  # fmt: skip


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


REPRODUCTIONS = {"cyclon-graph": (plan, judge, charts)}
