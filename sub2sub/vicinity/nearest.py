"""VICINITY with any distance, given as a function.

The exchange is that of `sub2sub.vicinity.layer` (Voulgaris, van Steen: *Epidemic-style management of semantic
overlays for content-based searching*, Euro-Par 2005): a peer chooses the partner of its oldest link, sends it
those of its own and its random links that are nearest to the partner, gets links nearest to itself back, and
each keeps the nearest that it has seen. That layer stops a search when it has enough overlapping boxes, whose
distance is 0; this one knows nothing about the distance, and computes it for every candidate.

A function compiled by numba is compiled into the exchange, once for each function. With a plain function, the
exchange runs in Python: the same source, so the same decisions. It calls the function about 85 times per peer
and cycle: `benchmarks/own_code.py` measures 0.29 s a cycle for a thousand peers, 0.008 s with a compiled
function.

A candidate that is as far as the farthest link replaces it with probability 1/2, so that views keep changing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.cyclon.layer import Cyclon
from sub2sub.errors import InputError
from sub2sub.kernels.compilation import in_memory, is_compiled, rule
from sub2sub.kernels.memory import aligned
from sub2sub.kernels.randomness import cycle_key, draw, peer_key, stream_number, unit
from sub2sub.overlay.growth import Renumbering
from sub2sub.overlay.layer import LayerBase
from sub2sub.overlay.network import Network, arrives
from sub2sub.overlay.sizes import DESCRIPTOR, HEADER, RANGE
from sub2sub.overlay.views import FREE, LinkTable, empty_views, link, peer_of, stamp_of, view_links
from sub2sub.vicinity.layer import StepSettings
from sub2sub.vicinity.settings import VicinitySettings

STREAM = stream_number("vicinity/nearest")
COINS = stream_number("vicinity/nearest/coins")
REQUEST, REPLY = 0, 1
FAR = np.float64(np.inf)

Distance = Callable[[Any, Any], float]


class Views(NamedTuple):
    """Links and distances of all peers, and the random links below."""

    links: NDArray[np.int64]
    gaps: NDArray[np.float64]
    size: NDArray[np.int8]
    random: NDArray[np.int64]
    random_size: NDArray[np.int8]


@rule
def _place(row, size, peer):
    """Place of the link to `peer`, or -1."""
    for k in range(size):
        if peer_of(row[k]) == peer:
            return k
    return -1


@rule
def _oldest(row, size):
    """Place of the oldest link, the first of equals."""
    place = 0
    for k in range(1, size):
        if stamp_of(row[k]) < stamp_of(row[place]):
            place = k
    return place


@rule
def _remove(views, i, place):
    """Remove the link at `place` from i's view."""
    last = views.size[i] - 1
    views.links[i, place], views.gaps[i, place] = views.links[i, last], views.gaps[i, last]
    views.links[i, last] = FREE
    views.size[i] = last


@rule
def _accept(views, i, room, word, gap, coin):
    """Let i accept a link to an unknown peer, if there is room or it is nearer than another."""
    size = views.size[i]
    if size < room:
        views.links[i, size], views.gaps[i, size] = word, gap
        views.size[i] = size + 1
        return
    farthest = 0
    for k in range(1, size):
        if views.gaps[i, k] > views.gaps[i, farthest]:
            farthest = k
    if gap < views.gaps[i, farthest] or (gap == views.gaps[i, farthest] and coin < 0.5):
        views.links[i, farthest], views.gaps[i, farthest] = word, gap


@rule
def _forget_old(views, i, oldest_allowed):
    """Drop the links of i that are too old; return the place of the oldest that is left."""
    place = _oldest(views.links[i], views.size[i])
    while views.size[i] > 0 and stamp_of(views.links[i, place]) < oldest_allowed:
        _remove(views, i, place)
        place = _oldest(views.links[i], views.size[i])
    return place


def _offer_by(distance: Distance, kernel: Callable[[Any], Any]) -> Any:
    """Make the kernel by which a peer considers links, for a distance."""

    @kernel
    def offer(views, profiles, i, words, count, settings, coins, coin):
        """Let i consider the first `count` of some links; return the number of the next coin."""
        for k in range(count):
            word = words[k]
            peer, flip = peer_of(word), unit(np.uint64(draw(coins, coin + k)))
            if peer == i or stamp_of(word) < settings.oldest_allowed:
                continue
            place = _place(views.links[i], views.size[i], peer)
            if place >= 0:
                views.links[i, place] = max(views.links[i, place], word)
            else:
                _accept(views, i, settings.room, word, distance(profiles[i], profiles[peer]), flip)
        return coin + count

    return offer


def _nearest_by(distance: Distance, kernel: Callable[[Any], Any]) -> Any:
    """Make the kernel by which a peer chooses links for another, for a distance."""

    @kernel
    def nearest_for(views, profiles, target, holder, wanted, far, words, out):
        """Write the `wanted` links of `holder` that are nearest to `target`; return their number."""
        total = 0
        for k in range(views.size[holder] + views.random_size[holder]):
            own = k < views.size[holder]
            word = views.links[holder, k] if own else views.random[holder, k - views.size[holder]]
            peer = peer_of(word)
            if peer != target and (own or _place(views.links[holder], views.size[holder], peer) < 0):
                words[total], far[total] = word, distance(profiles[target], profiles[peer])
                total += 1
        count = min(wanted, total)
        for k in range(count):
            best = 0
            for other in range(1, total):
                if far[other] < far[best]:
                    best = other
            out[k] = words[best]
            far[best] = FAR
        return count

    return nearest_for


def _exchange_by(distance: Distance, kernel: Callable[[Any], Any]) -> Any:
    """Make the kernel of the exchanges of all peers, for a distance."""
    offer, nearest_for = _offer_by(distance, kernel), _nearest_by(distance, kernel)

    @kernel
    def step(views, profiles, settings, faults, keys, scratch, counts):
        """Let every live peer exchange once."""
        far, words, there, back = scratch
        for i in range(views.links.shape[0]):
            if faults.alive[i] == 0:
                continue
            # With a plain distance this runs in Python, where rules return plain integers.
            draws, coins = np.uint64(peer_key(keys[0], i)), np.uint64(peer_key(keys[1], i))
            randoms = np.int64(views.random_size[i])
            coin = offer(views, profiles, i, views.random[i], randoms, settings, coins, 0)
            place = _forget_old(views, i, settings.oldest_allowed)
            if views.size[i] == 0:
                continue
            q = peer_of(views.links[i, place])
            counts[0] += 1
            if not arrives(faults, i, q, draws, REQUEST):
                counts[1] += 1
                _remove(views, i, place)
                continue
            going = nearest_for(views, profiles, q, i, settings.shuffle - 1, far, words, there)
            coming = nearest_for(views, profiles, i, q, settings.shuffle - 1, far, words, back)
            there[going], back[coming] = link(i, settings.cycle), link(q, settings.cycle)
            coin = offer(views, profiles, q, there, going + 1, settings, coins, coin)
            counts[0] += 1
            counts[2] += going + coming + 2
            if not arrives(faults, q, i, draws, REPLY):
                counts[1] += 1
                continue
            offer(views, profiles, i, back, coming + 1, settings, coins, coin)

    return step


def _as_it_is(function: Any) -> Any:
    return function


class Nearest(LayerBase):
    """VICINITY with a distance given as a function.

    Parameters
    ----------
    profiles : (n, ...) array
        The arguments of the distance: a row for each peer, in the order of the population.
    distance : function (a, b) -> float
        Distance from the peer with profile a to the one with profile b. Compiled by `numba.njit`, or plain.
    cyclon : Cyclon
        Supplies random candidates; the engine steps it before this layer.
    settings : VicinitySettings
        `tie` is not used.

    Attributes
    ----------
    view : (n, >= view) int64
        Links of each peer (see `sub2sub.overlay.views`).
    gaps : (n, >= view) float64
        Distance of each link.
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
    saved = ("view", "gaps", "size")

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
        self.compiled = is_compiled(distance)
        self._exchange = _exchange_by(distance, in_memory if self.compiled else _as_it_is)
        self.view = empty_views(n, self.settings.view)
        self.gaps = aligned(self.view.shape, FAR, np.float64)
        self.size = np.zeros(n, np.int8)
        self._check()

    def _check(self) -> None:
        """Compute one distance, to refuse a function that is not a distance at once."""
        try:
            found = float(self.distance(self.profiles[0], self.profiles[-1]))
        except (TypeError, ValueError, IndexError) as error:
            raise InputError(f"proximity: expected a function of two profiles; {error}") from None
        if np.isnan(found):
            raise InputError("proximity: expected a number for any two profiles, got NaN")

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer exchange once."""
        given, counts = self.settings, np.zeros(3, np.int64)
        oldest = cycle - given.max_age if given.max_age else 0
        views = Views(self.view, self.gaps, self.size, self.cyclon.view, self.cyclon.size)
        room = self.view.shape[1] + self.cyclon.view.shape[1]
        scratch = tuple(np.empty(room, kind) for kind in (np.float64, np.int64, np.int64, np.int64))
        keys = np.array([cycle_key(self.seed, stream, cycle) for stream in (STREAM, COINS)])
        settings = StepSettings(given.view, given.shuffle, int(given.tie), oldest, cycle)
        self._exchange(views, self.profiles, settings, network.faults(), keys, scratch, counts)
        messages, failed, links = (int(count) for count in counts)
        profile = 8 * int(np.prod(self.profiles.shape[1:]))
        size = HEADER * messages + (DESCRIPTOR + max(profile, RANGE)) * links
        return {"messages": messages, "failed": failed, "bytes": size}

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Empty the views of `peers`; the first links come from CYCLON."""
        self.view[peers], self.gaps[peers], self.size[peers] = FREE, FAR, 0

    def links(self) -> LinkTable:
        """All links as (holders, peers, stamps)."""
        return view_links(self.view)

    def grow(self, moved: Renumbering) -> None:
        """Go on with more peers, whose profiles equal the first until they are set."""
        self.profiles = moved.rows(self.profiles, self.profiles[0])
        self.view, self.size = moved.links(self.view), moved.rows(self.size, 0)
        self.gaps = moved.rows(self.gaps, FAR)
