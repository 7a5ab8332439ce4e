"""A custom protocol in thirty lines: gossip averaging (Jelasity et al., 2005) over CYCLON's links.

Every peer has a number. Once per cycle it contacts a random neighbour, and both replace their numbers by the
mean of the two. All numbers converge to the mean of all. A layer keeps its state in arrays, draws random
numbers only from `sub2sub.compiled.common.randomness`, and returns its state for checkpoints. Then faults,
checkpoints and traffic tables work as for other layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from sims.engine import Schedule, Simulation, Stack
from sims.engine.faults import Crash
from sub2sub.compiled.common.network import Network, reaches
from sub2sub.compiled.common.randomness import below, draw, peer_key
from sub2sub.compiled.common.views import peer_of, table_links
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.peers.draws import cycle_key, stream_number


@kernel
def average(values, view, size, key, alive, group):
    """Let every live peer contact a random neighbour; the number of messages."""
    messages = 0
    for peer in range(values.shape[0]):
        if alive[peer] == 1 and size[peer] > 0:
            other = peer_of(view[peer, below(draw(peer_key(key, peer), 0), size[peer])])
            messages += 1
            if reaches(alive, group, peer, other):
                values[peer] = values[other] = (values[peer] + values[other]) / 2
                messages += 1
    return messages


class Averaging:
    """A number for every peer, averaged with that of a random neighbour in each cycle."""

    name = "averaging"

    def __init__(self, values: np.ndarray, cyclon: Cyclon, seed: int) -> None:
        self.values, self.cyclon, self.seed = values, cyclon, seed

    def step(self, cycle: int, network: Network) -> dict[str, int]:
        """Let all live peers take their turns; the cost."""
        key = cycle_key(self.seed, stream_number(self.name), cycle)
        sizes = self.cyclon.size.astype(np.int64)
        messages = average(self.values, self.cyclon.view, sizes, key, network.alive, network.group)
        return {"messages": int(messages), "bytes": 8 * int(messages)}

    def join(self, peers: np.ndarray, contacts: np.ndarray, cycle: int) -> None:
        """Start peers: a newcomer keeps its number."""

    def links(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Holders, peers and stamps of its links: it has none of its own."""
        return table_links()

    def arrays(self) -> dict[str, np.ndarray]:
        """State for a checkpoint."""
        return {"values": self.values}

    def load(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """State from a checkpoint."""
        self.values[...] = arrays["values"]


class Spread:
    """Observer: how much the numbers of live peers differ."""

    name = "spread"
    observes = True

    def execute(self, simulation: Simulation[Stack]) -> dict[str, float]:
        """Compute mean and standard deviation."""
        live = simulation.overlay.network.alive == 1
        values = simulation.overlay.layers[-1].values[live]
        return {"mean": float(values.mean()), "deviation": float(values.std())}


def start() -> Simulation[Stack]:
    """A thousand peers with the numbers 0 to 999, a fifth of which crash in cycle 10."""
    n = 1_000
    cyclon = Cyclon(n, seed=1)
    layer = Averaging(np.arange(n, dtype=float), cyclon, seed=1)
    stack = Stack(n, [cyclon, layer], seed=1)
    stack.bootstrap()
    return Simulation(stack, [(Schedule(at=10), Crash(0.2)), (Schedule(every=5), Spread())])


def main() -> None:
    """Compute the mean; then again, in a run that is stopped and resumed."""
    simulation = start()
    simulation.run(30)
    for row in simulation.tables["spread"]:
        print(f"cycle {row['cycle']:2}: mean {row['mean']:.1f}, standard deviation {row['deviation']:.2g}")

    stopped, resumed = start(), start()
    with TemporaryDirectory() as folder:
        stopped.run(17)
        stopped.save(Path(folder) / "state.npz")
        resumed.load(Path(folder) / "state.npz")
    resumed.run(30)
    print(f"a resumed run gives the same table: {resumed.tables == simulation.tables}")


if __name__ == "__main__":
    main()
