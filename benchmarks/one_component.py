"""Whether communities are one component: three memberships, joined at once and one by one, with loss.

    PYTHONPATH=. python benchmarks/one_component.py --sizes 10,30,100 --seeds 10

For each membership, order of joining, loss and seed, the largest number of (weakly) connected components of
any community at each of some cycles after the last join, newcomers that are not in yet included; the first
cycle from which on every community is one component until the end; and the largest number of components in
which members were at any time that took themselves to be in. Only live members and the topic tables between
them count. With `--live` they are those of `hierarchy.live`, without sockets.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from hierarchy.camcast import Communities, Tables
from hierarchy.membership import MembershipService, SemiStructured, Structured, Unstructured
from sub2sub.compiled.common.network import Network
from tests.hierarchy.live.swarm import Swarm

KINDS = {"unstructured": Unstructured, "semi-structured": SemiStructured, "structured": Structured}


def parts(tables: Tables, live: NDArray[np.bool_], strong: bool = False) -> int:
    """The largest number of components of any community, of some members: 1 where all are one."""
    n = len(tables.topic)
    holder = np.repeat(np.arange(n), tables.topic_table.shape[1])
    other = tables.topic_table.ravel()
    there = (other >= 0) & live[holder] & live[other]
    graph = csr_array((np.ones(int(there.sum())), (holder[there], other[there])), (n, n))
    _, labels = connected_components(graph, connection="strong" if strong else "weak")
    topics = tables.topic[live]
    found = np.unique(np.stack([topics, labels[live]]), axis=1)[0]
    return int(np.bincount(found).max(initial=0))


def follow(
    kind: str, sizes: Sequence[int], at_once: bool, loss: float, seed: int, cycles: int, strong: bool
) -> list[tuple[int, int]]:
    """Components after each cycle since the last join."""
    group = Communities.chain(*sizes)
    n = len(group)
    membership: MembershipService = KINDS[kind](group.tree, group.topic, seed)
    network = Network(np.zeros(n, np.uint8), np.zeros(n, np.uint8), loss)
    order, cycle = np.random.default_rng(seed).permutation(n), 0
    for peers in np.split(order, 1 if at_once else n):
        network.alive[peers] = 1
        membership.join(peers, np.full(len(peers), -1), cycle)
        membership.step(cycle, network)
        cycle += 1
    found = []
    for later in range(cycle, cycle + cycles):
        membership.step(later, network)
        tables, live = membership.tables(), network.alive == 1
        found.append((parts(tables, live, strong), parts(tables, live & membership.inside(), strong)))
    return found


def follow_live(
    kind: str, sizes: Sequence[int], at_once: bool, loss: float, seed: int, cycles: int, strong: bool
) -> list[tuple[int, int]]:
    """The same of live members."""
    topics = [number for number, size in enumerate(sizes) for _ in range(size)]
    order = np.random.default_rng(seed).permutation(topics)
    names = [".a" * (number + 1) for number in order.tolist()]
    swarm = Swarm(kind, loss, seed)
    for newcomers in [names] if at_once else [[name] for name in names]:
        swarm.enter(newcomers)
        swarm.cycle()
    found = []
    for _ in range(cycles):
        swarm.cycle()
        found.append(max(swarm.parts(strong).values()))
    return [(count, count) for count in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="10,30,100", help="of nested communities")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--cycles", type=int, default=60)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--losses", default="0,0.05,0.15")
    parser.add_argument("--joins", default="at once,one by one")
    parser.add_argument("--strong", action="store_true", help="count strongly connected components")
    parser.add_argument("--live", action="store_true", help="live members, driven without sockets")
    given = parser.parse_args()
    run = follow_live if given.live else follow
    sizes = [int(size) for size in given.sizes.split(",")]
    looked_at = [cycle for cycle in (1, 5, 10, 20, 30, 40, 60, 100, 200, 400) if cycle <= given.cycles]
    print(
        "components of the worst community, mean over seeds, after",
        looked_at,
        "cycles; one from cycle on; parts of those in",
    )
    for kind in given.kinds.split(","):
        for joins in given.joins.split(","):
            for loss in map(float, given.losses.split(",")):
                runs = [
                    run(kind, sizes, joins == "at once", loss, seed, given.cycles, given.strong)
                    for seed in range(1, given.seeds + 1)
                ]
                means = np.mean([[count for count, _ in run] for run in runs], axis=0)
                whole = [
                    max((k + 1 for k, (count, _) in enumerate(run) if count > 1), default=0) for run in runs
                ]
                most = max(inside for run in runs for _, inside in run)
                cells = " ".join(f"{means[cycle - 1]:5.1f}" for cycle in looked_at)
                print(f"{kind:16} {joins:10} {loss:4.0%} {cells}   {whole}  {most}", flush=True)


if __name__ == "__main__":
    main()
