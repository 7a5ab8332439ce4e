"""VICINITY: the overlapping-interest links (Sub-2-Sub, Section 4.1).

Voulgaris, van Steen: *Epidemic-style management of semantic overlays for content-based searching*, Euro-Par
2005. Once a cycle a peer chooses the partner of the oldest of its proximity links, sends it those of its own
proximity and random links that are nearest to the partner, and gets links nearest to itself back. Each side
keeps the nearest that it has seen. CYCLON supplies random candidates, so that clusters find one another.

Differences from the papers:

- The links nearest to a partner are searched from a random place on, until the message is full of links to
  peers that overlap the partner: all of these are equally near (`sub2sub.compiled.vicinity.proximity` on
  ties).
- Only links to unknown peers take places. If all links of a view lead to overlapping peers, new links of this
  kind replace random ones (`Tie.RANDOM`), so that views keep changing.
- All peers accept random links and choose their partners before any of them exchanges
  (`sub2sub.compiled.common.turns`).
- The fresher of two copies of a link wins. A link older than `max_age` is neither kept nor accepted (0 for no
  limit, as published): without that, links to dead peers are passed on for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.growth import Renumbering
from sub2sub.compiled.common.layer import LayerBase
from sub2sub.compiled.common.memory import LANES64, aligned
from sub2sub.compiled.common.network import Network, arrives
from sub2sub.compiled.common.randomness import below, draw, peer_key
from sub2sub.compiled.common.threads import threads
from sub2sub.compiled.common.turns import NOBODY, Work, everybody, exchange_in_waves
from sub2sub.compiled.common.views import (
    FREE,
    LinkTable,
    empty_views,
    known,
    link,
    oldest,
    peer_of,
    place_of_link,
    prefetch_row,
    stamp_of,
    view_links,
)
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.compiled.machinery.compilation import apart, hot, part, rule
from sub2sub.compiled.machinery.references import by_reference
from sub2sub.compiled.machinery.simd import prefetch
from sub2sub.compiled.vicinity.proximity import proximity
from sub2sub.compiled.vicinity.rules import (
    FAR,
    NONE,
    Known,
    Ranked,
    displace,
    drop,
    keep_nearest,
    near_enough,
    nearest_for,
    overlapping,
    young,
)
from sub2sub.peers.descriptors import DESCRIPTOR, HEADER, RANGE
from sub2sub.peers.draws import cycle_key
from sub2sub.peers.settings import VicinitySettings
from sub2sub.peers.vicinity import BACK, FED, PARTNER_START, REPLY, REQUEST, START, STREAM, THERE

SCRATCH = 136  # links of a full proximity view and a full random one, and LANES64 more
AHEAD = 4  # peers to look ahead for prefetching; any number from 1 on gives the same result


@by_reference
class _Views(NamedTuple):
    """The state of the layer, see `Vicinity`, and the random links below it."""

    links: NDArray[np.int64]
    gaps: NDArray[np.float32]
    worst: NDArray[np.float32]
    size: NDArray[np.int8]
    random_view: NDArray[np.int64]
    random_size: NDArray[np.int8]
    partner: NDArray[np.int32]  # the partner that each peer has chosen in this cycle
    sent: NDArray[np.int32]  # (n, 2) messages and links that each peer has sent


@by_reference
class VicinityStep(NamedTuple):
    """The settings as numbers, and the values for one cycle."""

    room: int
    shuffle: int
    tie: int
    oldest_allowed: int  # least stamp to keep or accept
    cycle: int


class _Scratch(NamedTuple):
    """A request, its reply, and working memory to choose their links."""

    there: Ranked
    back: Ranked
    space: Ranked


@part
def _look_ahead(views, peers, k):
    """Prefetch the views of two peers that will exchange some turns from now."""
    if k + AHEAD < peers.shape[0]:
        i = np.int64(peers[k + AHEAD])
        q = np.int64(views.partner[i])
        prefetch_row(views.links, i)
        prefetch_row(views.links, q)
        prefetch_row(views.random_view, i)
        prefetch_row(views.random_view, q)


@part
def _look_ahead_for_boxes(views, boxes, peers, k):
    """Prefetch the boxes of the next peer's random links."""
    if k + 1 < peers.shape[0]:
        i = np.int64(peers[k + 1])
        for place in range(views.random_size[i]):
            prefetch(boxes, peer_of(views.random_view[i, place]) * boxes.shape[1] * boxes.shape[2])


@part
def _feed(i, views, boxes, settings, draws, far):
    """Let i accept random links that are near enough, drop links that are too old, and choose a partner."""
    view = Ranked(views.links[i], views.gaps[i])
    random_row, randoms = views.random_view[i], np.int64(views.random_size[i])
    size, worst = np.int64(views.size[i]), views.worst[i]
    if worst == 0.0:
        mask = overlapping(i, random_row, randoms, boxes)
    else:
        for k in range(randoms):
            far[k] = proximity(boxes, i, peer_of(random_row[k]), settings.tie)
        mask = near_enough(far, randoms, worst)
    mask &= young(random_row, randoms, settings.oldest_allowed)
    old = known(random_row, randoms, view.words)
    received = Ranked(random_row, far)
    size, worst = keep_nearest(
        view, size, settings.room, worst, received, mask, old, settings.tie, draws, np.int64(FED)
    )
    place = oldest(view.words)
    while size > 0 and stamp_of(view.words[place]) < settings.oldest_allowed:
        size, worst = drop(view, size, place), FAR
        place = oldest(view.words)
    views.size[i], views.worst[i] = size, worst
    views.partner[i] = peer_of(view.words[place]) if size > 0 else NOBODY


@rule
def _choose(target, holder, views, boxes, settings, bits, scratch, out):
    """Write the links that `holder` sends to `target`, without its own; return their number."""
    size, wanted = np.int64(views.size[holder]), settings.shuffle - 1
    all_known = Known(
        views.links[holder], size, views.random_view[holder], np.int64(views.random_size[holder])
    )
    start = below(bits, max(size, 1))
    selective = views.worst[target] == 0.0 and size > wanted
    return nearest_for(target, all_known, start, wanted, selective, boxes, settings.tie, scratch, out)


@rule
def _wanted(i, views, received, count, settings):
    """Masks of the received links that are near and young enough for i, and of those it knows."""
    mask = near_enough(received.gaps, count, views.worst[i])
    mask &= young(received.words, count, settings.oldest_allowed)
    return mask, known(received.words, count, views.links[i])


@rule
def _keep(i, views, received, mask, old, settings, draws, first):
    """Let i accept the received links in `mask`."""
    view = Ranked(views.links[i], views.gaps[i])
    views.size[i], views.worst[i] = keep_nearest(
        view, np.int64(views.size[i]), settings.room, views.worst[i], received, mask, old, settings.tie,
        draws, first,
    )  # fmt: skip


@apart
def _feed_all(views, boxes, settings, faults, key, scratch, peers):
    """Let peers accept random links and choose their partners."""
    for k in range(peers.shape[0]):
        _look_ahead_for_boxes(views, boxes, peers, k)
        i = np.int64(peers[k])
        views.partner[i] = NOBODY
        if faults.alive[i]:
            _feed(i, views, boxes, settings, peer_key(key, i), scratch.space.gaps)


@part
def _fail(i, q, views):
    """Let i drop a partner that did not answer, if it still has it."""
    place = place_of_link(views.links[i], q)
    if place >= 0:
        view = Ranked(views.links[i], views.gaps[i])
        views.size[i], views.worst[i] = drop(view, np.int64(views.size[i]), place), FAR


@apart
def _exchange_all(views, boxes, settings, faults, key, scratch, peers, counts):
    """Let peers exchange with their partners, one after the other."""
    there, back, space = scratch
    wanted, cycle = settings.shuffle - 1, settings.cycle
    failed, spent = 0, views.sent
    for k in range(peers.shape[0]):
        _look_ahead(views, peers, k)
        i = np.int64(peers[k])
        q, draws = np.int64(views.partner[i]), peer_key(key, i)
        spent[i, 0] += 1
        if not arrives(faults, i, q, draws, REQUEST):
            failed += 1
            _fail(i, q, views)
            continue
        gap, own_size, partner_size = (
            proximity(boxes, i, q, settings.tie),
            np.int64(views.size[i]),
            np.int64(views.size[q]),
        )
        going = _choose(q, i, views, boxes, settings, draw(draws, START), space, there)
        coming = _choose(i, q, views, boxes, settings, draw(draws, PARTNER_START), space, back)
        there.words[going], there.gaps[going] = link(i, cycle), gap
        back.words[coming], back.gaps[coming] = link(q, cycle), gap
        # Links left out because the receiver would refuse them are counted: a real peer sends them.
        spent[i, 1] += (wanted if own_size > wanted else going) + 1
        spent[q, 1] += (wanted if partner_size > wanted else coming) + 1
        # Both masks are computed before any link is written: vector loads wait for scalar stores.
        partner_mask, partner_old = _wanted(q, views, there, going + 1, settings)
        own_mask, own_old = _wanted(i, views, back, coming + 1, settings)
        _keep(q, views, there, partner_mask, partner_old, settings, draws, np.int64(THERE))
        spent[q, 0] += 1
        if not arrives(faults, q, i, draws, REPLY):
            failed += 1
            continue
        _keep(i, views, back, own_mask, own_old, settings, draws, np.int64(BACK))
    counts[0] += failed


@hot
def _take_turns(views, boxes, settings, faults, key, scratch, peers, counts, feeding):
    """Let peers accept random links, or exchange: one kernel, so that shared code is compiled once."""
    if feeding:
        _feed_all(views, boxes, settings, faults, key, scratch, peers)
    else:
        _exchange_all(views, boxes, settings, faults, key, scratch, peers, counts)


@rule
def _take(i, q, views, boxes, settings, received):
    """Let i keep a link to q: fresher than the one it has, in a free place, or instead of a farther one."""
    row, place = views.links[i], place_of_link(views.links[i], q)
    if place >= 0:
        row[place] = max(row[place], link(q, settings.cycle))
        return
    received.words[0], received.gaps[0] = link(q, settings.cycle), proximity(boxes, i, q, settings.tie)
    views.size[i], views.worst[i], _ = displace(
        Ranked(row, views.gaps[i]), np.int64(views.size[i]), settings.room, views.worst[i], received,
        np.int64(1),
    )  # fmt: skip


@hot
def _meet(views, boxes, settings, scratch, newcomer, others):
    """Let a newcomer and each of the others keep a link to one another, if they are near enough."""
    for k in range(others.shape[0]):
        _take(newcomer, others[k], views, boxes, settings, scratch.there)
        _take(others[k], newcomer, views, boxes, settings, scratch.there)


def _new_scratch() -> _Scratch:
    return _Scratch(*(Ranked(np.empty(SCRATCH, np.int64), np.empty(SCRATCH, np.float32)) for _ in range(3)))


class Vicinity(LayerBase):
    """The VICINITY layer of a population.

    Parameters
    ----------
    boxes : (n, 2, >= d) float64
        Half-open boxes of the peers, in the order of their sequence IDs (see `sub2sub.overlay.population`).
    d : int
        Number of attributes.
    cyclon : Cyclon
        The layer that supplies random links; stepped by the engine, before this one.

    Attributes
    ----------
    view : (n, >= view) int64
        Links of each peer (see `sub2sub.compiled.common.views`).
    gaps : (n, >= view) float32
        Distance of each link (see `sub2sub.compiled.vicinity.proximity`); -1 in free places.
    worst : (n,) float32
        The largest gap of a full view; infinite for one with free places.
    size : (n,) int8
        Number of links of each peer.
    who_skips : callable, optional
        Peers that begin no exchange in a cycle (`Ring.skipping`).

    Examples
    --------
    >>> from sub2sub.compiled.vicinity.proximity import packed_boxes
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
    saved: tuple[str, ...] = ("view", "gaps", "worst", "size")

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
        self._sent = np.zeros((boxes.shape[0], 2), np.int32)
        self.who_skips: Callable[[int], NDArray[np.bool_]] | None = None

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer exchange proximity links once."""
        faults, n = network.faults(), self.size.size
        settings, partner = self._settings(cycle), np.empty(n, np.int32)
        self._sent[:] = 0
        views = self._views(partner)
        key = cycle_key(self.seed, STREAM, cycle)
        counts = np.zeros((threads(), LANES64), np.int64)  # a cache line for each thread
        scratch = [_new_scratch() for _ in range(threads())]

        def turn(feeding: bool) -> Work:
            def take(k: int, peers: NDArray[np.int32]) -> int:
                _take_turns(views, self.boxes, settings, faults, key, scratch[k], peers, counts[k], feeding)
                return peers.size

            return take

        everybody(n, turn(feeding=True))
        if self.who_skips is not None:
            partner[self.who_skips(cycle)] = NOBODY
        exchange_in_waves(partner, turn(feeding=False))
        messages, size = (int(spent.sum()) for spent in self.spent())
        return {"messages": messages, "failed": int(counts[:, 0].sum()), "bytes": size}

    def meet(self, newcomer: int, others: NDArray[np.int64], cycle: int) -> None:
        """Let a newcomer and each of the others keep a link to one another, if they are near enough."""
        views = self._views(np.empty(0, np.int32))
        _meet(views, self.boxes, self._settings(cycle), _new_scratch(), newcomer, others)

    def _settings(self, cycle: int) -> VicinityStep:
        given = self.settings
        oldest_allowed = cycle - given.max_age if given.max_age else 0
        return VicinityStep(given.view, given.shuffle, int(given.tie), oldest_allowed, cycle)

    def _views(self, partner: NDArray[np.int32]) -> _Views:
        below = self.cyclon
        return _Views(
            self.view, self.gaps, self.worst, self.size, below.view, below.size, partner, self._sent
        )

    def spent(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Messages and bytes of the last cycle, by peer."""
        messages, links = self._sent.T.astype(np.int64)
        return messages, HEADER * messages + (DESCRIPTOR + RANGE * self.d) * links

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Empty the views of `peers`; the first links come from CYCLON."""
        self.view[peers] = FREE
        self.gaps[peers] = NONE
        self.worst[peers] = FAR
        self.size[peers] = 0

    def links(self) -> LinkTable:
        """All links as (holders, peers, stamps)."""
        return view_links(self.view)

    def grow(self, moved: Renumbering) -> None:
        """Go on with more peers."""
        self.boxes, self.view = moved.population.scaled, moved.links(self.view)
        self.gaps, self.worst = moved.rows(self.gaps, NONE), moved.rows(self.worst, FAR)
        self.size, self._sent = moved.rows(self.size, 0), moved.rows(self._sent, 0)
