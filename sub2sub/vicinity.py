"""VICINITY: the overlapping-interest links (004, Section 4.1).

Voulgaris, van Steen: *Epidemic-style management of semantic overlays for content-based searching*, Euro-Par
2005. Once a cycle a peer takes the oldest of its proximity links, sends it the links that suit *it* best
among its own proximity and random links, and gets the same back. Each side keeps the nearest it has seen.
CYCLON below supplies random candidates, so that clusters find one another.

Read differently from the papers:

- The nearest for a partner are searched from a random place on and, once as many overlapping ones are found
  as fit into the message, no further: among equals any choice is as good (`sub2sub.proximity` on ties).
- The fresher of two copies of a link wins. A link older than `max_age` is neither kept nor taken up (0: any
  age will do, as published): without that a dead peer's link is passed on for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.compilation import kernel, rule
from sub2sub.cyclon import Cyclon
from sub2sub.errors import InputError
from sub2sub.lanes import prefetch
from sub2sub.network import Network, reaches
from sub2sub.proximity import Tie, proximity
from sub2sub.randomness import below, cycle_key, draw, peer_key, stream_number, unit
from sub2sub.views import FREE, empty_views, link, oldest, peer_of, place_of, stamp_of, view_links

__all__ = ["Vicinity", "VicinitySettings", "drop", "keep_nearest", "nearest_for"]

STREAM = stream_number("vicinity")
MESSAGE, LINK, RANGE = 12, 18, 16  # bytes: a header; address, port, age and sequence ID; a range
FAR = np.float32(np.inf)


@dataclass(frozen=True)
class VicinitySettings:
    """Settings of VICINITY.

    Attributes
    ----------
    view : int
        Links a peer keeps, at most 63. 10 to 40 hardly matters for ring construction.
    shuffle : int
        Links sent in one exchange, the sender's own included.
    tie : Tie
        Which of several overlapping peers to prefer.
    max_age : int
        Oldest link to keep or take up, in cycles; 0 for no limit.
    """

    view: int = 20
    shuffle: int = 8
    tie: Tie = Tie.RANDOM
    max_age: int = 0

    def __post_init__(self) -> None:
        """Refuse settings outside their domain."""
        if not 1 <= self.view <= 63:
            raise InputError(f"vicinity.view: expected 1 to 63 links, got {self.view}")
        if not 1 <= self.shuffle <= 64:
            raise InputError(f"vicinity.shuffle: expected 1 to 64 links, got {self.shuffle}")
        if self.max_age < 0:
            raise InputError(f"vicinity.max_age: expected 0 or more cycles, got {self.max_age}")


@rule
def nearest_for(target, near_row, near_size, random_row, random_size, start, wanted, boxes, tie, out, gaps):
    """The `wanted` links nearest to `target` among two rows, with their gaps; how many.

    The rows are gone through from place `start` on; as soon as enough overlapping ones are found, those are
    taken. `gaps` has room for every link of the rows.
    """
    total = near_size + random_size
    if wanted == 0:
        return 0
    count = 0
    for which in range(total):
        place = start + which
        if which >= near_size:
            word = random_row[which - near_size]
        else:
            word = near_row[place if place < near_size else place - near_size]
        peer = peer_of(word)
        gap = proximity(boxes, target, peer, tie) if peer != target else FAR
        out[which], gaps[which] = word, gap
        if tie != 2:
            # Overlapping ones move to the front; a wanted number of them ends the search.
            out[which], out[count] = out[count], word
            gaps[which], gaps[count] = gaps[count], gap
            count += np.int64(gap <= 0.0)
            if count == wanted:
                return count
    for k in range(count, min(wanted, total)):  # too few overlap: the nearest of the others, by selection
        best = k
        for other in range(k + 1, total):
            if gaps[other] < gaps[best]:
                best = other
        if gaps[best] == FAR:
            return k
        out[k], out[best] = out[best], out[k]
        gaps[k], gaps[best] = gaps[best], gaps[k]
    return min(wanted, total)


@rule
def farthest_place(gaps, size):
    """Place of the link with the largest gap; the first of equals."""
    place = 0
    for p in range(1, size):
        if gaps[p] > gaps[place]:
            place = p
    return place


@rule
def keep_nearest(owner, row, gaps, size, room, worst, word, gap, tie, key, k):
    """Take up one link if it is near enough, in place of the farthest; of equals by `tie`.

    `worst` is the largest gap of a full view, infinite for one with free places. Returns (size, worst).
    """
    if gap > worst or (gap == worst and (gap > 0.0 or tie != 0)):
        return size, worst
    peer = peer_of(word)
    if peer == owner:
        return size, worst
    place = place_of(row, peer)
    if place >= 0:
        row[place] = max(row[place], word)
        return size, worst
    if size < room:
        row[size], gaps[size] = word, gap
        size += 1
        if size == room:
            worst = gaps[farthest_place(gaps, size)]
    elif gap < worst:
        place = farthest_place(gaps, size)
        row[place], gaps[place] = word, gap
        worst = gaps[farthest_place(gaps, size)]
    else:
        row[below(draw(key, k), room)] = word
    return size, worst


@rule
def drop(row, gaps, size, place):
    """Remove the link at `place`; the new size."""
    size -= 1
    row[place], gaps[place] = row[size], gaps[size]
    row[size] = FREE
    return size


@kernel
def _step(view, gaps, worst, size, room, shuffle, tie, max_age, random_view, random_size, boxes, cycle, key,
          alive, group, loss, counts):  # fmt: skip
    n, stride = view.shape[0], boxes.shape[1] * boxes.shape[2]
    there, back = np.empty(128, np.int64), np.empty(128, np.int64)
    there_gaps, back_gaps = np.empty(128, np.float32), np.empty(128, np.float32)
    oldest_allowed = cycle - max_age if max_age > 0 else 0
    messages, failed, links = 0, 0, 0
    for i in range(n):
        if i + 1 < n:
            for k in range(random_size[i + 1]):
                prefetch(boxes, peer_of(random_view[i + 1, k]) * stride)
        if alive[i] == 0:
            continue
        row, row_gaps, mine, mine_worst = view[i], gaps[i], np.int64(size[i]), worst[i]
        draws = peer_key(key, i)
        random_row, randoms = random_view[i], np.int64(random_size[i])
        for k in range(randoms):
            word = random_row[k]
            if stamp_of(word) >= oldest_allowed:
                gap = proximity(boxes, i, peer_of(word), tie)
                mine, mine_worst = keep_nearest(i, row, row_gaps, mine, room, mine_worst, word, gap, tie, draws, k)
        place = oldest(row)
        while mine > 0 and stamp_of(row[place]) < oldest_allowed:
            mine, mine_worst = drop(row, row_gaps, mine, place), FAR
            place = oldest(row)
        size[i], worst[i] = mine, mine_worst
        if mine == 0:
            continue
        q = peer_of(row[place])
        messages += 1
        if not reaches(alive, group, i, q) or (loss > 0.0 and unit(draw(draws, 200)) < loss):
            failed += 1
            size[i], worst[i] = drop(row, row_gaps, mine, place), FAR
            continue
        his_row, his_gaps, his, his_worst = view[q], gaps[q], np.int64(size[q]), worst[q]
        gap = row_gaps[place]
        start = below(draw(draws, 100), mine)
        going = nearest_for(
            q, row, mine, random_row, randoms, start, shuffle - 1, boxes, tie, there, there_gaps
        )
        start = below(draw(draws, 101), max(his, 1))
        coming = nearest_for(
            i, his_row, his, random_view[q], np.int64(random_size[q]), start, shuffle - 1, boxes, tie,
            back, back_gaps,
        )  # fmt: skip
        there[going], there_gaps[going] = link(i, cycle), gap
        back[coming], back_gaps[coming] = link(q, cycle), gap
        for k in range(going + 1):
            if stamp_of(there[k]) >= oldest_allowed:
                his, his_worst = keep_nearest(
                    q, his_row, his_gaps, his, room, his_worst, there[k], there_gaps[k], tie, draws, 300 + k
                )
        size[q], worst[q] = his, his_worst
        messages += 1
        links += going + coming + 2
        if loss > 0.0 and unit(draw(draws, 201)) < loss:
            failed += 1
            continue
        for k in range(coming + 1):
            if stamp_of(back[k]) >= oldest_allowed:
                mine, mine_worst = keep_nearest(
                    i, row, row_gaps, mine, room, mine_worst, back[k], back_gaps[k], tie, draws, 400 + k
                )
        size[i], worst[i] = mine, mine_worst
    counts[0], counts[1], counts[2] = messages, failed, links


class Vicinity:
    """The VICINITY layer of a population.

    Parameters
    ----------
    boxes : (n, 2, >= d) float64
        Half-open boxes of the peers, in the order of their sequence IDs (see `sub2sub.population`).
    d : int
        Number of attributes.
    cyclon : Cyclon
        The layer that supplies random links; stepped by the engine, before this one.
    settings : VicinitySettings
    seed : int
    """

    name = "vicinity"

    def __init__(
        self,
        boxes: NDArray[np.float64],
        d: int,
        cyclon: Cyclon,
        settings: VicinitySettings | None = None,
        seed: int = 0,
    ) -> None:
        self.settings = settings or VicinitySettings()
        self.seed, self.boxes, self.d, self.cyclon = seed, boxes, d, cyclon
        self.view = empty_views(boxes.shape[0], self.settings.view)
        self.gaps = np.full(self.view.shape, FAR, np.float32)
        self.worst = np.full(boxes.shape[0], FAR, np.float32)
        self.size = np.zeros(boxes.shape[0], np.int8)

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer exchange proximity links once."""
        counts = np.zeros(3, np.int64)
        settings, cyclon = self.settings, self.cyclon
        _step(
            self.view, self.gaps, self.worst, self.size, settings.view, settings.shuffle, int(settings.tie),
            settings.max_age, cyclon.view, cyclon.size, self.boxes, cycle,
            cycle_key(self.seed, STREAM, cycle), network.alive, network.group, network.loss, counts,
        )  # fmt: skip
        messages, failed, links = (int(count) for count in counts)
        size = MESSAGE * messages + (LINK + RANGE * self.d) * links
        return {"messages": messages, "failed": failed, "bytes": size}

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Empty the views of `peers`; the first links come from CYCLON."""
        self.view[peers] = FREE
        self.gaps[peers] = FAR
        self.worst[peers] = FAR
        self.size[peers] = 0

    def links(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """All links as (holders, peers, stamps)."""
        return view_links(self.view)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """State for a checkpoint."""
        return {"view": self.view, "gaps": self.gaps, "worst": self.worst, "size": self.size}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """State from a checkpoint."""
        self.view, self.gaps = arrays["view"].copy(), arrays["gaps"].copy()
        self.worst, self.size = arrays["worst"].copy(), arrays["size"].copy()
