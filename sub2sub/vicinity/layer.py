"""VICINITY: the overlapping-interest links (Sub-2-Sub, Section 4.1).

Voulgaris, van Steen: *Epidemic-style management of semantic overlays for content-based searching*, Euro-Par
2005. Once a cycle a peer takes the oldest of its proximity links, sends it the links that suit *it* best
among its own proximity and random links, and gets the same back. Each side keeps the nearest it has seen.
CYCLON below supplies random candidates, so that clusters find one another.

Read differently from the papers:

- The nearest for a partner are searched from a random place on and, once as many overlapping ones are found
  as fit into the message, no further: among equals any choice is as good (`sub2sub.vicinity.proximity` on
  ties).
- Only what is not known yet takes a place; of links to peers that overlap as all others do, a message's
  newcomers displace a random set (`Tie.RANDOM`), so that views keep being renewed.
- The fresher of two copies of a link wins. A link older than `max_age` is neither kept nor taken up (0: any
  age will do, as published): without that a dead peer's link is passed on for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.cyclon.layer import Cyclon
from sub2sub.kernels.compilation import hot, rule
from sub2sub.kernels.randomness import below, cycle_key, draw, peer_key, unit
from sub2sub.kernels.simd.links import LANES, aligned, prefetch
from sub2sub.overlay.network import Network, reaches
from sub2sub.overlay.views import FREE, empty_views, known, link, oldest, peer_of, stamp_of, view_links
from sub2sub.vicinity.proximity import proximity
from sub2sub.vicinity.rules import (
    BACK,
    FAR,
    FED,
    HIS_START,
    NONE,
    REPLY,
    REQUEST,
    START,
    STREAM,
    THERE,
    drop,
    keep_nearest,
    near_enough,
    nearest_for,
    overlapping,
    young,
)
from sub2sub.vicinity.settings import VicinitySettings

__all__ = ["Vicinity"]

MESSAGE, LINK, RANGE = 12, 18, 16  # bytes: a header; address, port, age and sequence ID; a range
DESK = 136  # links of a full proximity view and a full random one, and LANES more
AHEAD = 4  # peers to look ahead for prefetching; any number from 1 on gives the same result


@rule
def look_ahead(i, view, random_view, random_size, boxes):
    """Start to load what the next peers' turns will need: views of partners, boxes of random links."""
    if i + AHEAD < view.shape[0]:
        row = view[i + AHEAD]
        partner = peer_of(row[oldest(row)])
        for start in range(0, view.shape[1], LANES):
            prefetch(view, partner * view.shape[1] + start)
        for start in range(0, random_view.shape[1], LANES):
            prefetch(random_view, partner * random_view.shape[1] + start)
        for k in range(random_size[i + 1]):
            prefetch(boxes, peer_of(random_view[i + 1, k]) * boxes.shape[1] * boxes.shape[2])


@hot
def _step(view, gaps, worst, size, room, shuffle, tie, max_age, random_view, random_size, boxes, cycle, key,
          alive, group, loss, desk, gap_desk, counts):  # fmt: skip
    there, back, words = desk[0], desk[1], desk[2]
    there_gaps, back_gaps, far = gap_desk[0], gap_desk[1], gap_desk[2]
    oldest_allowed = cycle - max_age if max_age > 0 else 0
    wanted = shuffle - 1
    messages, failed, links = 0, 0, 0
    for i in range(view.shape[0]):
        look_ahead(i, view, random_view, random_size, boxes)
        if alive[i] == 0:
            continue
        row, row_gaps, mine, mine_worst = view[i], gaps[i], np.int64(size[i]), worst[i]
        random_row, randoms = random_view[i], np.int64(random_size[i])
        draws = peer_key(key, i)
        if mine_worst == 0.0:
            mask = overlapping(i, random_row, randoms, boxes)
        else:
            for k in range(randoms):
                far[k] = proximity(boxes, i, peer_of(random_row[k]), tie)
            mask = near_enough(far, randoms, mine_worst)
        mask &= young(random_row, randoms, oldest_allowed)
        old = known(random_row, randoms, row)
        mine, mine_worst = keep_nearest(
            row, row_gaps, mine, room, mine_worst, random_row, far, mask, old, tie, draws, np.int64(FED)
        )
        place = oldest(row)
        while mine > 0 and stamp_of(row[place]) < oldest_allowed:
            mine, mine_worst = drop(row, row_gaps, mine, place), FAR
            place = oldest(row)
        size[i], worst[i] = mine, mine_worst
        if mine == 0:
            continue

        q = peer_of(row[place])
        messages += 1
        if not reaches(alive, group, i, q) or (loss > 0.0 and unit(draw(draws, REQUEST)) < loss):
            failed += 1
            size[i], worst[i] = drop(row, row_gaps, mine, place), FAR
            continue
        gap = row_gaps[place] if mine_worst > 0.0 else mine_worst
        his_row, his_gaps, his, his_worst = view[q], gaps[q], np.int64(size[q]), worst[q]
        going = nearest_for(
            q, row, mine, random_row, randoms, below(draw(draws, START), mine), wanted,
            his_worst == 0.0 and mine > wanted, boxes, tie, words, far, there, there_gaps,
        )  # fmt: skip
        coming = nearest_for(
            i, his_row, his, random_view[q], np.int64(random_size[q]),
            below(draw(draws, HIS_START), max(his, 1)), wanted, mine_worst == 0.0 and his > wanted, boxes,
            tie, words, far, back, back_gaps,
        )  # fmt: skip
        there[going], there_gaps[going] = link(i, cycle), gap
        back[coming], back_gaps[coming] = link(q, cycle), gap
        # What was left out of a message because it would be refused was sent all the same.
        links += (wanted if mine > wanted else going) + (wanted if his > wanted else coming) + 2
        his_mask = near_enough(there_gaps, going + 1, his_worst) & young(there, going + 1, oldest_allowed)
        my_mask = near_enough(back_gaps, coming + 1, mine_worst) & young(back, coming + 1, oldest_allowed)
        his_old, my_old = known(there, going + 1, his_row), known(back, coming + 1, row)
        size[q], worst[q] = keep_nearest(
            his_row, his_gaps, his, room, his_worst, there, there_gaps, his_mask, his_old, tie, draws,
            np.int64(THERE),
        )  # fmt: skip
        messages += 1
        if loss > 0.0 and unit(draw(draws, REPLY)) < loss:
            failed += 1
            continue
        size[i], worst[i] = keep_nearest(
            row, row_gaps, mine, room, mine_worst, back, back_gaps, my_mask, my_old, tie, draws,
            np.int64(BACK),
        )  # fmt: skip
    counts[0], counts[1], counts[2] = messages, failed, links


class Vicinity:
    """The VICINITY layer of a population.

    Parameters
    ----------
    boxes : (n, 2, >= d) float64
        Half-open boxes of the peers, in the order of their sequence IDs (see `sub2sub.overlay.population`).
    d : int
        Number of attributes.
    cyclon : Cyclon
        The layer that supplies random links; stepped by the engine, before this one.
    settings : VicinitySettings
    seed : int

    Attributes
    ----------
    view : (n, >= view) int64
        Links of each peer (see `sub2sub.overlay.views`).
    gaps : (n, >= view) float32
        How far each of them is (see `sub2sub.vicinity.proximity`); -1 in free places.
    worst : (n,) float32
        The largest gap of a full view; infinite for one with free places.
    size : (n,) int8
        How many links.

    Examples
    --------
    >>> from sub2sub.vicinity.proximity import packed_boxes
    >>> lows = np.repeat([[0.0], [5.0]], 30, axis=0)  # two groups with nothing in common
    >>> net, cyclon = Network.whole(60), Cyclon(60, seed=1)
    >>> layer = Vicinity(packed_boxes(lows, lows + 1.0), 1, cyclon, VicinitySettings(view=8), seed=1)
    >>> cyclon.join(np.arange(60), (np.arange(60) + 1) % 60, cycle=0)
    >>> for cycle in range(1, 20):
    ...     counts = cyclon.step(cycle, net), layer.step(cycle, net)
    >>> holders, peers, _ = layer.links()
    >>> bool((holders // 30 == peers // 30).all())
    True
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
        self.gaps = aligned(self.view.shape, NONE, np.float32)
        self.worst = np.full(boxes.shape[0], FAR, np.float32)
        self.size = np.zeros(boxes.shape[0], np.int8)

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer exchange proximity links once."""
        counts = np.zeros(3, np.int64)
        desk, gap_desk = np.empty((3, DESK), np.int64), np.empty((3, DESK), np.float32)
        settings, cyclon = self.settings, self.cyclon
        _step(
            self.view, self.gaps, self.worst, self.size, settings.view, settings.shuffle, int(settings.tie),
            settings.max_age, cyclon.view, cyclon.size, self.boxes, cycle,
            cycle_key(self.seed, STREAM, cycle), network.alive, network.group, network.loss, desk, gap_desk,
            counts,
        )  # fmt: skip
        messages, failed, links = (int(count) for count in counts)
        size = MESSAGE * messages + (LINK + RANGE * self.d) * links
        return {"messages": messages, "failed": failed, "bytes": size}

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Empty the views of `peers`; the first links come from CYCLON."""
        self.view[peers] = FREE
        self.gaps[peers] = NONE
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
        for name, array in self.arrays().items():
            array[...] = arrays[name]
