"""VICINITY with a distance of one's own: a population of `sub2sub.peers.vicinity.VicinityPeer`.

The peers are those that live nodes run, and take every decision; this layer steps them. So a distance is any
function of two profiles. It is called about 70 times per peer and cycle, and `benchmarks/own_code.py` prints
what that costs. Given the distance of boxes, the views are those of `sub2sub.compiled.vicinity.layer`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.growth import Renumbering
from sub2sub.compiled.common.layer import LayerBase
from sub2sub.compiled.common.network import Network, reaches
from sub2sub.compiled.common.views import FREE, LinkTable, empty_views, view_links
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.compiled.machinery.compilation import plain
from sub2sub.errors import InputError
from sub2sub.peers.descriptors import DESCRIPTOR, HEADER, RANGE, Descriptor, Link
from sub2sub.peers.draws import Dice
from sub2sub.peers.settings import VicinitySettings
from sub2sub.peers.vicinity import REPLY, REQUEST, STREAM, VicinityPeer

Distance = Callable[[Any, Any], float]


class Nearest(LayerBase):
    """VICINITY with a distance given as a function.

    Parameters
    ----------
    profiles : (n, ...) array
        The arguments of the distance: a row for each peer, in the order of the population.
    distance : function (a, b) -> float
        Distance from the peer with profile a to the one with profile b, from 0 on.
    cyclon : Cyclon
        Supplies random candidates; the engine steps it before this layer.
    settings : VicinitySettings
        A view whose peers are all at distance 0 keeps changing, unless `tie` says otherwise.

    Attributes
    ----------
    view : (n, >= view) int64
        Links of each peer (see `sub2sub.compiled.common.views`).
    size : (n,) int8
        Number of links of each peer.

    Examples
    --------
    >>> place = np.arange(60.0).reshape(-1, 1)
    >>> cyclon = Cyclon(60, seed=1)
    >>> layer = Nearest(place, lambda a, b: abs(a[0] - b[0]), cyclon, VicinitySettings(view=4), seed=1)
    >>> from sub2sub.overlay.stack import Stack
    >>> stack = Stack(60, [cyclon, layer], seed=1).run(12)
    >>> sorted(stack.neighbours("vicinity", 30).tolist())
    [28, 29, 31, 32]
    """

    name = "vicinity"
    saved = ("view", "size")

    def __init__(
        self,
        profiles: NDArray[Any],
        distance: Distance,
        cyclon: Cyclon,
        settings: VicinitySettings | None = None,
        seed: int = 0,
    ) -> None:
        n = len(cyclon.size)
        if len(profiles) != n:
            raise InputError(f"profiles: expected a row for each of {n} peers, got {len(profiles)}")
        if not callable(distance):
            raise InputError(f"proximity: expected a function of two profiles, got {distance!r}")
        self.settings = settings or VicinitySettings()
        self.profiles, self.distance, self.cyclon, self.seed = profiles, distance, cyclon, seed
        self.view, self.size = empty_views(n, self.settings.view), np.zeros(n, np.int8)
        try:
            far = self._between(Descriptor(0, (), ()), Descriptor(n - 1, (), ()))
        except (TypeError, ValueError, IndexError) as error:
            raise InputError(f"proximity: expected a function of two profiles; {error}") from None
        if np.isnan(far):
            raise InputError("proximity: expected a number for any two profiles, got NaN")
        self._peers = [self._new_peer(peer) for peer in range(n)]

    def _between(self, a: Descriptor, b: Descriptor) -> float:
        return float(self.distance(self.profiles[a.id], self.profiles[b.id]))

    def _new_peer(self, peer: int) -> VicinityPeer:
        """A peer that knows no distance yet: its profile may be new."""
        return VicinityPeer(Descriptor(peer, (), ()), self.settings, distance=self._between)

    def _links(self, view: NDArray[np.int64], size: NDArray[np.int8]) -> list[list[Link]]:
        """The links of all peers, from rows of words."""
        own = [peer.own for peer in self._peers]
        return [
            [Link(own[word & 0xFFFFFFFF], word >> 32) for word in row[:count]]
            for row, count in zip(view.tolist(), size.tolist(), strict=True)
        ]

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer exchange once; all choose their partners before the first exchange."""
        peers, randoms = self._peers, self._links(self.cyclon.view, self.cyclon.size)
        for peer, view in zip(peers, self._links(self.view, self.size), strict=True):
            peer.view = view
        key = Dice.of(self.seed, STREAM, cycle)
        turns = [(number, key.of_peer(number)) for number in np.flatnonzero(network.alive).tolist()]
        partners = [peers[i].feed(randoms[i], cycle, dice) for i, dice in turns]
        messages = failed = links = 0

        def arrives(sender: int, receiver: int, dice: Dice, k: int) -> bool:
            nonlocal messages, failed
            there = plain(reaches)(network.alive, network.group, sender, receiver)
            there = bool(there) and not dice.chance(k, network.loss)
            messages, failed = messages + 1, failed + (not there)
            return there

        for (i, dice), partner in zip(turns, partners, strict=True):
            if partner is None:
                continue
            peer, other = peers[i], peers[partner.id]
            if not arrives(i, partner.id, dice, REQUEST):
                peer.fail(partner)
                continue
            offered = peer.offer(partner, randoms[i], cycle, dice)
            returned = other.answer(peer.own, offered, randoms[partner.id], cycle, dice)
            links += len(offered) + len(returned)
            if arrives(partner.id, i, dice, REPLY):
                peer.finish(returned, cycle, dice)
        self.view[:] = FREE
        for i, peer in enumerate(peers):
            self.size[i] = len(peer.view)
            self.view[i, : self.size[i]] = [link.stamp << 32 | link.peer.id for link in peer.view]
        profile = 8 * int(np.prod(self.profiles.shape[1:]))
        size = HEADER * messages + (DESCRIPTOR + max(profile, RANGE)) * links
        return {"messages": messages, "failed": failed, "bytes": size}

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Empty the views of `peers`, whose profiles may be new; the first links come from CYCLON."""
        self.view[peers], self.size[peers] = FREE, 0
        for peer in peers.tolist():
            self._peers[peer] = self._new_peer(peer)

    def links(self) -> LinkTable:
        """All links as (holders, peers, stamps)."""
        return view_links(self.view)

    def grow(self, moved: Renumbering) -> None:
        """Go on with more peers, whose profiles equal the first until they are set."""
        self.profiles = moved.rows(self.profiles, self.profiles[0])
        self.view, self.size = moved.links(self.view), moved.rows(self.size, 0)
        self._peers = [self._new_peer(peer) for peer in range(len(self.size))]
