"""Publishers that gossip: CYCLON and VICINITY exchanges as Sub-2-Sub, Section 4.1 has them.

The paper lets a publisher build views of random and of overlapping-interest links like a subscriber, without
ring links, and gossip greedily until a view has a peer that matches. `sub2sub.events.publishing` reads that
as a walk with one list; here it is taken literally. In each cycle a publisher

- shuffles with the oldest of its random links, and gets a few of that peer's random links;
- exchanges with the oldest of its proximity links (a random link, as long as it has none), and gets those of
  that peer's proximity and random links (with `ring_offers` of its ring links, too) that are nearest to
  its event;
- and keeps the nearest it has seen of all that, its own random links included.

A publisher is not put into the views of others: it joins one at a time and is gone in a few cycles, as in the
paper's test of single joins. Views of subscribers stay as they are meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.geometry.boxes import points
from sub2sub.overlay.links import Links
from sub2sub.overlay.views import view_links

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
    lows, highs = links.boxes[:, 0, : links.d], links.boxes[:, 1, : links.d]
    dice = np.random.Generator(np.random.Philox(seed))
    return np.array([_one(links, lows, highs, event, most, dice, views) for event in at], np.int64)


def _one(
    links: Links,
    lows: NDArray[np.float64],
    highs: NDArray[np.float64],
    event: NDArray[np.float64],
    most: int,
    dice: np.random.Generator,
    views: PublisherViews,
) -> int:
    # Both views are kept oldest first: a peer that is contacted moves to the end.
    random, near = [int(dice.integers(len(lows)))], list[int]()
    for cycle in range(1, most + 1):
        partner = random.pop(0)
        offered = _random_links(links, partner)
        fresh = dice.permutation(offered)[: views.shuffle].tolist()
        random = [*(peer for peer in random if peer not in fresh), *fresh, partner][-views.random :]
        partner = near.pop(0) if near else int(dice.choice(random))
        offered = np.union1d(_near_links(links, partner), _random_links(links, partner))
        if views.ring_offers:
            offered = np.union1d(offered, _ring_links(links, partner))
        offered = _nearest(offered, lows, highs, event, views.shuffle)
        seen = np.array(list(dict.fromkeys([*near, partner, *random, *offered.tolist()])))
        if ((lows[seen] <= event) & (event < highs[seen])).all(axis=1).any():
            return cycle
        kept = set(_nearest(seen, lows, highs, event, views.near).tolist())
        near = [peer for peer in [*near, *offered.tolist(), *random] if peer in kept]
        near = [*dict.fromkeys(near), *([partner] if partner in kept and partner not in near else [])]
    return -1


def _nearest(
    peers: Peers,
    lows: NDArray[np.float64],
    highs: NDArray[np.float64],
    event: NDArray[np.float64],
    count: int,
) -> Peers:
    gaps = np.maximum(np.maximum(lows[peers] - event, event - highs[peers]), 0.0)
    chosen: Peers = peers[np.argsort((gaps**2).sum(axis=1), kind="stable")[:count]]
    return chosen


def _random_links(links: Links, peer: int) -> Peers:
    return view_links(links.random[peer][None])[1]


def _ring_links(links: Links, peer: int) -> Peers:
    start = links.ring_start[peer]
    return links.ring_peer[start : start + links.ring_size[peer]].astype(np.int64)


def _near_links(links: Links, peer: int) -> Peers:
    return view_links(links.near[peer][None])[1]
