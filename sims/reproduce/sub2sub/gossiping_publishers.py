"""Publishers that gossip with CYCLON and VICINITY exchanges (Sub-2-Sub, Section 4.1).

The paper lets a publisher build views of random and of overlapping-interest links like a subscriber, without
ring links, and gossip greedily until a view has a peer that matches. `sub2sub.compiled.events.publishing`
reads that as a walk with one list; here it is taken literally. In each cycle a publisher

- shuffles with the oldest of its random links, and gets a few of that peer's random links;
- exchanges with the oldest of its proximity links (a random link, as long as it has none), and gets those of
  that peer's proximity and random links (with `ring_offers` of its ring links, too) that are nearest to
  its event;
- and keeps the nearest of all peers it has seen, its own random links included.

Publishers do not enter the views of others: as in the paper's test of single joins, they join one at a time
and stay for a few cycles. The views of subscribers do not change meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.compiled.common.links import Links
from sub2sub.compiled.common.views import view_links
from sub2sub.geometry.boxes import Boxes, points

Peers = NDArray[np.int64]


@dataclass(frozen=True)
class PublisherViews:
    """Sizes of a publisher's views and messages, as subscribers have them; and what is offered."""

    random: int = 20
    near: int = 16
    shuffle: int = 8
    ring_offers: bool = False


def gossip_to_match(
    links: Links, events: ArrayLike, *, most: int, seed: int, views: PublisherViews | None = None
) -> Peers:
    """Cycles that a publisher of each event takes until it knows a peer that matches; -1 after `most`.

    Each starts from one random peer, whose subscription it does not know yet.

    Examples
    --------
    >>> from sub2sub.overlay.overlay import Overlay
    >>> low = np.random.default_rng(1).random((200, 2)) * 0.9
    >>> overlay = Overlay.of(low, low + 0.1, seed=1).run(20)
    >>> took = gossip_to_match(Links.of(overlay), [low[0] + 0.05, [2.0, 2.0]], most=20, seed=1)
    >>> bool(0 < took[0] <= 20), int(took[1])
    (True, -1)
    """
    views = views or PublisherViews()
    at = points(events, links.d)
    dice = np.random.Generator(np.random.Philox(seed))
    return np.array([_one(links, event, most, dice, views) for event in at], np.int64)


def _one(
    links: Links, event: NDArray[np.float64], most: int, dice: np.random.Generator, views: PublisherViews
) -> int:
    boxes = links.boxes[:, 0, : links.d], links.boxes[:, 1, : links.d]
    # Both views are kept oldest first: a peer that is contacted moves to the end.
    random, near = [int(dice.integers(len(links.boxes)))], list[int]()
    for cycle in range(1, most + 1):
        partner = random.pop(0)
        fresh = dice.permutation(_view(links.random, partner))[: views.shuffle].tolist()
        random = [*(peer for peer in random if peer not in fresh), *fresh, partner][-views.random :]
        partner = near.pop(0) if near else int(dice.choice(random))
        offered = np.union1d(_view(links.near, partner), _view(links.random, partner))
        if views.ring_offers:
            start, size = links.ring_start[partner], links.ring_size[partner]
            offered = np.union1d(offered, links.ring_peer[start : start + size].astype(np.int64))
        offered = _nearest(offered, boxes, event, views.shuffle)
        seen = np.array(list(dict.fromkeys([*near, partner, *random, *offered.tolist()])))
        if ((boxes[0][seen] <= event) & (event < boxes[1][seen])).all(axis=1).any():
            return cycle
        kept = set(_nearest(seen, boxes, event, views.near).tolist())
        near = [peer for peer in [*near, *offered.tolist(), *random] if peer in kept]
        near = [*dict.fromkeys(near), *([partner] if partner in kept and partner not in near else [])]
    return -1


def _nearest(peers: Peers, boxes: Boxes, event: NDArray[np.float64], count: int) -> Peers:
    lows, highs = boxes
    gaps = np.maximum(np.maximum(lows[peers] - event, event - highs[peers]), 0.0)
    chosen: Peers = peers[np.argsort((gaps**2).sum(axis=1), kind="stable")[:count]]
    return chosen


def _view(views: NDArray[np.int64], peer: int) -> Peers:
    return view_links(views[peer][None])[1]
