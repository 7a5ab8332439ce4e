"""Push-sum (Kempe, Dobra, Gehrke, 2003): every peer computes the mean of all numbers by giving halves away.

docs/write-a-protocol.md explains it step by step, beside the same protocol for PeerSim. Run it as a program
(`python examples/push_sum.py`), or as an experiment, in the folder examples/:

    sub2sub run push-sum.toml --allow push_sum --out push-sum
"""

from __future__ import annotations

from sims.engine import Simulation
from sims.engine.faults import Crash
from sub2sub import PerPeer, Random, Stack
from sub2sub.compiled.cyclon.layer import Cyclon


class PushSum(PerPeer):
    """A sum and a weight, half of which goes to a random neighbour in each turn; their ratio is the estimate.

    Parameters
    ----------
    stack : Stack
    peak : float
        The number of peer 0 at the start; all others have 0.
    """

    name = "push-sum"

    def __init__(self, stack: Stack, peak: float = 1000.0) -> None:
        super().__init__(stack)
        self.sum, self.weight = self.column("sum", 0.0), self.column("weight", 1.0)
        self.sum[0] = peak

    def turn(self, peer: int, random: Random) -> None:
        """Send half to a random neighbour; if the message is lost, so is the half."""
        known = self.stack.neighbours("cyclon", peer)
        if known.size:
            other = random.choice(known)
            half = self.sum[peer] / 2, self.weight[peer] / 2
            self.sum[peer], self.weight[peer] = half
            if self.send(peer, other, size=16):
                self.sum[other] += half[0]
                self.weight[other] += half[1]


def spread(simulation: Simulation[Stack]) -> dict[str, float]:
    """Observer: the live peers' estimates of the mean."""
    layer, live = simulation.overlay["push-sum"], simulation.overlay.network.alive == 1
    assert isinstance(layer, PushSum)
    estimate = layer.sum[live] / layer.weight[live]
    return {"mean": float(estimate.mean()), "deviation": float(estimate.std())}


def main() -> None:
    """A thousand peers compute the mean; in cycle 20 every tenth crashes."""
    stack = Stack(1_000, [lambda s: Cyclon(1_000, seed=s.seed), PushSum], seed=1)
    stack.bootstrap()
    simulation = Simulation(stack)
    simulation.add(Crash(0.1), at=20).observe(spread, every=10).run(50)
    for row in simulation.tables["spread"]:
        print(f"cycle {row['cycle']:2}: mean {row['mean']:.4f}, standard deviation {row['deviation']:.2g}")


if __name__ == "__main__":
    main()
