"""How fast events are spread over a converged overlay, and what that is worth.

    python benchmarks/events.py                     10,000 events over 10,000 and 100,000 peers
    python benchmarks/events.py 1000000 --events 20000

The paper's workload with 3 attributes, power law; one shortcut. Settling a large overlay by gossip takes
minutes, and only its links matter here, so they are written down: ring links are the neighbours on the true
rings of the events (all that spreading them needs), proximity links overlapping peers at random, random links
anybody. With `--gossip` the overlay is built by its protocols instead. Prints events and deliveries per
second of one thread's processor time, as the machine may be busy; the same by the clock for all threads,
where it should not be; and the ratio of one thread to the plainest way of writing it: one event at a time,
one comparison after the other, on a sample of the events, whose outcome must be the same.
"""

from __future__ import annotations

import argparse
import os
import resource
import time

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.links import Links
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import below, draw, peer_key
from sub2sub.compiled.common.views import empty_views
from sub2sub.compiled.events.audience import audience, batches, half_open
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.geometry.matching import match_boxes
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.peers.settings import DisseminationSettings
from workloads import named

NEAR, RANDOM, TRIES = 16, 20, 2_000
SAMPLE = 20  # events spread in the plainest way
Numbers = NDArray[np.int64]


def written_down(population: Population, events: NDArray[np.float64]) -> Links:
    """Links of a converged overlay, as far as these events need them."""
    n = len(population)
    nobody = Links(
        population.d, population.boxes, population.host, *_random_links(population.boxes, n),
        np.zeros(n, np.int64),
        np.zeros(n, np.int32), np.empty(0, np.int32),
    )  # fmt: skip
    lows, highs = half_open(nobody)
    pairs: Numbers = np.empty(0, np.int64)
    for batch in batches(len(events), n):
        pairs = np.union1d(pairs, _neighbours(*match_boxes(lows, highs, events[batch]), n))
    holder, way = pairs // n, pairs % n
    size = np.bincount(holder, minlength=n)
    start = np.cumsum(size) - size
    return nobody._replace(
        ring_start=start, ring_size=size.astype(np.int32), ring_peer=((holder + way) % n).astype(np.int32)
    )


@kernel
def _neighbours(offsets, members, n):
    """holder * n + way up the ring to the neighbour, for every holder on every ring, both neighbours."""
    pairs = np.empty(2 * members.shape[0], np.int64)
    for e in range(offsets.shape[0] - 1):
        first, last = offsets[e], offsets[e + 1]
        for k in range(first, last):
            after = members[k + 1 if k + 1 < last else first]
            before = members[k - 1 if k > first else last - 1]
            pairs[2 * k] = members[k] * n + (after - members[k]) % n
            pairs[2 * k + 1] = members[k] * n + (before - members[k]) % n
    return pairs


def _random_links(boxes: NDArray[np.float64], n: int) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    near, random = empty_views(n, NEAR), empty_views(n, RANDOM)
    sizes = np.zeros((2, n), np.int8)
    _draw_links(boxes, near, random, sizes)
    return near, sizes[0], random, sizes[1]


@kernel
def _draw_links(boxes, near, random, sizes):
    n = boxes.shape[0]
    for peer in range(n):
        key = peer_key(np.uint64(1), peer)
        for k in range(TRIES):
            if sizes[0, peer] == NEAR:
                break
            other = below(draw(key, k), n)
            overlap = other != peer
            for a in range(boxes.shape[2]):
                low, high = (
                    max(boxes[peer, 0, a], boxes[other, 0, a]),
                    min(boxes[peer, 1, a], boxes[other, 1, a]),
                )
                overlap &= low < high
            if overlap:
                near[peer, sizes[0, peer]] = other
                sizes[0, peer] += 1
        for k in range(RANDOM):
            other = below(draw(key, TRIES + k), n)
            if other != peer:
                random[peer, sizes[1, peer]] = other
                sizes[1, peer] += 1


def plainly(links: Links, event: NDArray[np.float64], entry: int) -> int:
    """How many an event reaches, ring alone: sets, lists and one comparison after the other."""
    lows, highs = links.boxes[:, 0, : links.d], links.boxes[:, 1, : links.d]

    def matches(peer: int) -> bool:
        return all(low <= x < high for low, x, high in zip(lows[peer], event, highs[peer], strict=True))

    seen, queue = {entry}, [entry]
    for peer in queue:
        view = links.ring_peer[links.ring_start[peer] : links.ring_start[peer] + links.ring_size[peer]]
        for way in (view.tolist(), view.tolist()[::-1]):
            neighbour = next((other for other in way if matches(other)), None)
            if neighbour is not None and neighbour not in seen:
                seen.add(neighbour)
                queue.append(neighbour)
    return len(seen)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("peers", nargs="*", type=int, default=[10_000, 100_000])
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--gossip", action="store_true", help="build the overlay by its protocols")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    measure(300, 200, 2, gossip=False, quiet=True)  # compile
    for n in arguments.peers:
        measure(n, arguments.events, arguments.threads, arguments.gossip)
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


def measure(n: int, m: int, threads: int, gossip: bool, quiet: bool = False) -> None:
    """Measure one size, and print it."""
    spec = named("power-law-3")
    lows, highs = spec.subscriptions(n, 1)
    events = spec.events(m, 1, lows, highs, at_least=2)
    population, network = Population.of(lows, highs, seed=1), Network.whole(n)
    before = time.perf_counter()
    if gossip:
        overlay = Overlay(population, seed=1)
        overlay.run(40)
        links = Links.of(overlay)
    else:
        links = written_down(population, events)
    built = time.perf_counter() - before
    before = time.process_time()
    outcome = disseminate(links, network, events, threads=1)
    one = time.process_time() - before
    before = time.perf_counter()
    disseminate(links, network, events, threads=threads)
    clock = time.perf_counter() - before
    if quiet:
        return
    to = audience(links, network, events[:SAMPLE])
    alone = disseminate(links, network, events[:SAMPLE], to=to, settings=DisseminationSettings(shortcuts=0))
    before = time.process_time()
    reached = [plainly(links, events[e], int(to.entry[e])) for e in range(SAMPLE)]
    plain = (time.process_time() - before) / sum(reached)
    if reached != alone.reached.tolist():
        raise SystemExit("the plain way reaches others: one of the two is wrong")
    deliveries = int(outcome.reached.sum())
    print(f"\n{m:,} events over {n:,} peers ({outcome.matches.mean():,.0f} subscribers an event)")
    print(f"  links {'built by gossip' if gossip else 'written down'} in {built:.1f} s, "
          f"{outcome.complete_share:.2%} of the events reach everybody")  # fmt: skip
    for took, label in ((one, "one thread, processor time"), (clock, f"{threads} threads, by the clock")):
        rate = f"{m / took:10,.0f} events/s {deliveries / took / 1e6:7.2f} M deliveries/s"
        print(f"  {label:28} {took:8.2f} s {rate}")
    print(f"  one thread is {plain / (one / deliveries):,.0f} x the plain way, per delivery")


if __name__ == "__main__":
    main()
