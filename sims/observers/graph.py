"""The overlay as a graph: clustering, path lengths, connectivity; and as a networkx graph.

Clustering and path lengths are computed on the undirected graph, as in the CYCLON literature. Path lengths
are sampled from a few sources, because computing all pairs would take too long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sims.observers.degrees import LayerObserver, live_links
from sub2sub.compiled.common.threads import share_out
from sub2sub.compiled.machinery.compilation import kernel

if TYPE_CHECKING:
    import networkx


def adjacency(simulation: Simulation, layers: tuple[str, ...]) -> Any:
    """Undirected adjacency matrix of the links between live peers, which are renumbered from 0."""
    alive = simulation.overlay.network.alive == 1
    number, n = np.cumsum(alive) - 1, int(alive.sum())
    links = np.concatenate([live_links(simulation, layer)[:2] for layer in layers], axis=1)
    row, column = number[links[:, alive[links[1]]]]
    matrix = sparse.csr_matrix((np.ones(row.size, np.int8), (row, column)), shape=(n, n))
    matrix = matrix.maximum(matrix.T)
    matrix.data[:] = 1
    return matrix.tocsr()


def _sample(n: int, size: int) -> NDArray[np.int64]:
    """At most `size` of n peers, at equal distances."""
    return np.unique(np.linspace(0, n - 1, min(size, n)).astype(np.int64))


class Clustering(LayerObserver):
    """Mean clustering coefficient over a sample of peers.

    Parameters
    ----------
    sample : int
        Number of peers in the sample.
    """

    kind = "clustering"

    def __init__(self, layer: str = "cyclon", sample: int = 1000) -> None:
        super().__init__(layer)
        self.sample = sample

    def execute(self, simulation: Simulation) -> Row:
        """Count the links among neighbours."""
        matrix = adjacency(simulation, (self.layer,)).astype(np.int32)
        part = matrix[_sample(matrix.shape[0], self.sample)]
        triangles = np.asarray((part @ matrix).multiply(part).sum(axis=1)).ravel() / 2
        degree = np.diff(part.indptr)
        pairs = degree * (degree - 1) / 2
        return {"coefficient": float(np.mean(np.where(pairs > 0, triangles / np.maximum(pairs, 1), 0.0)))}


class PathLengths(LayerObserver):
    """Lengths of the shortest paths from a sample of peers to all others.

    Parameters
    ----------
    sources : int
        Number of peers in the sample.
    """

    kind = "paths"

    def __init__(self, layer: str = "cyclon", sources: int = 20) -> None:
        super().__init__(layer)
        self.sources = sources

    def execute(self, simulation: Simulation) -> Row:
        """Search breadth first from each source."""
        matrix = adjacency(simulation, (self.layer,))
        n = matrix.shape[0]
        picked = _sample(n, self.sources)
        reached, hops, farthest = (np.zeros(picked.size, np.int64) for _ in range(3))

        def part(thread: int, first: int, last: int) -> int:
            for k in range(first, last):
                reached[k], hops[k], farthest[k] = _search(matrix.indptr, matrix.indices, picked[k])
            return last

        share_out(part, [(0, picked.size)], least=1)
        return {
            "mean": float(hops.sum() / max(reached.sum(), 1)),
            "max": int(farthest.max(initial=0)),
            "unreached": float(1.0 - (reached.sum() + picked.size) / max(picked.size * n, 1)),
        }


@kernel
def _search(first, neighbours, source):
    """Breadth first: how many others are reached, the sum of the lengths, and the greatest length."""
    n = first.shape[0] - 1
    length, queue = np.full(n, -1, np.int32), np.empty(n, np.int32)
    length[source], queue[0] = 0, source
    found, total = 1, 0
    for k in range(n):
        if k == found:
            break
        holder = queue[k]
        total += length[holder]
        for at in range(first[holder], first[holder + 1]):
            peer = neighbours[at]
            if length[peer] < 0:
                length[peer], queue[found] = length[holder] + 1, peer
                found += 1
    return found - 1, total, length[queue[found - 1]]


class Connectivity:
    """Connected components of the undirected graph.

    Parameters
    ----------
    layers : tuple of str
        The layers whose links are included.
    """

    observes = True

    name = "connectivity"

    def __init__(self, layers: tuple[str, ...] = ("cyclon",)) -> None:
        self.layers = layers

    def execute(self, simulation: Simulation) -> Row:
        """Count the components."""
        count, label = csgraph.connected_components(adjacency(simulation, self.layers), directed=False)
        largest = int(np.bincount(label).max()) if label.size else 0
        return {"components": int(count), "largest": largest, "outside": int(label.size - largest)}


def snapshot(
    simulation: Simulation, layers: tuple[str, ...] = ("cyclon", "vicinity", "ring")
) -> networkx.MultiDiGraph:
    """The overlay as a networkx graph: live peers with their ranges, links with their layer and age.

    Examples
    --------
    >>> from sub2sub.overlay.overlay import Overlay
    >>> low = np.random.default_rng(1).random((30, 1)) * 0.7
    >>> simulation = Simulation(Overlay.of(low, low + 0.3, seed=1))
    >>> simulation.run(5)
    >>> graph = snapshot(simulation, ("ring",))
    >>> graph.number_of_nodes(), {kind for _, _, kind in graph.edges(data="layer")}
    (30, {'ring'})
    """
    import networkx

    population, alive = simulation.overlay.population, simulation.overlay.network.alive
    lows, highs = population.ranges()
    graph = networkx.MultiDiGraph(cycle=simulation.cycle)
    for peer in np.flatnonzero(alive):
        graph.add_node(
            int(peer),
            id=int(population.ids[peer]),
            row=int(population.row[peer]),
            low=lows[peer].tolist(),
            high=highs[peer].tolist(),
        )
    for layer in layers:
        for holder, peer, stamp in zip(*live_links(simulation, layer), strict=True):
            if alive[peer]:
                graph.add_edge(int(holder), int(peer), layer=layer, age=int(simulation.cycle - stamp))
    return graph
