"""CYCLON: the random links (Sub-2-Sub, Section 4.1).

Voulgaris, Gavidia, van Steen: *CYCLON: Inexpensive membership management for unstructured P2P overlays*,
J. Network and Systems Management 13(2), 2005, Section 3 (enhanced shuffling). Once a cycle a peer removes the
oldest of its links and sends the peer it leads to some random links, together with a fresh link to itself. It
gets as many links back. Both fill free places first and then overwrite the links that they sent; links to
themselves or to peers that they know already are discarded. A partner that does not answer is forgotten.

Additions to the paper, off unless set:

- `retry`: a peer remembers a partner that did not answer, and tries it again from time to time, or when it
  knows no other. Without that, two halves of a network that have forgotten each other never meet again.
- `tries`: a lost request is repeated, up to this number of copies in all. Without that, heavy loss removes
  more links from small views than exchanges add, and the overlay falls apart.

Differences from the paper:

- A link carries the cycle in which its peer made it (its stamp) instead of an age that increases. The order
  of ages, and so every decision, is the same. Of equally old links, the one to the lowest peer is the oldest.
- Which received links are known already is decided before any link is overwritten.
- All peers choose their partners before any of them shuffles (`sub2sub.compiled.common.turns`). The link to
  the partner is removed when the shuffle begins. If it was sent and overwritten meanwhile, nothing is
  removed.
- If a request is lost, the link to the partner is lost, as if the partner were dead. If a reply is lost, the
  partner has made its changes all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.growth import Renumbering
from sub2sub.compiled.common.layer import LayerBase
from sub2sub.compiled.common.memory import LANES64, aligned, padded
from sub2sub.compiled.common.network import Network, sends
from sub2sub.compiled.common.randomness import draw, peer_key
from sub2sub.compiled.common.threads import threads
from sub2sub.compiled.common.turns import NOBODY, everybody, exchange_in_waves
from sub2sub.compiled.common.views import (
    FREE,
    LinkTable,
    empty_views,
    known,
    link,
    oldest,
    peer_of,
    place_of_link,
    places_of_links,
    prefetch_row,
    sample,
    view_links,
)
from sub2sub.compiled.machinery.compilation import hot, rule
from sub2sub.compiled.machinery.references import by_reference
from sub2sub.compiled.machinery.simd import first_bit
from sub2sub.peers.cyclon import ANSWERED, REPLY, REQUEST, SENT, STREAM
from sub2sub.peers.descriptors import HEADER, LINK
from sub2sub.peers.draws import cycle_key
from sub2sub.peers.settings import CyclonSettings


@rule
def copy_links(row, places, out):
    """Copy the links at `places` (a mask) to `out`; return their number."""
    count = 0
    while places:
        out[count] = row[first_bit(places)]
        places &= places - 1
        count += 1
    return count


@rule
def shuffle_news(owner, row, received, count):
    """Mask of the received links that lead neither to the owner nor to a peer in its row.

    Computed before any link is written: a vector load waits for the scalar stores just before it.
    """
    everything = (np.int64(1) << count) - 1
    return everything & ~known(received, count, row) & ~places_of_links(received, owner)


@rule
def shuffle_merge(row, size, room, sent, received, news):
    """Accept the received links in `news`: fill free places, then overwrite links that were sent."""
    while news:
        if size < room:
            place = size
            size += 1
        elif sent:
            place = first_bit(sent)
            sent &= sent - 1
        else:
            break
        row[place] = received[first_bit(news)]
        news &= news - 1
    return size


@rule
def remember(lost, q, again):
    """The peer to retry after q did not answer: the first one until it fails the retry, then the next.

    One that fails a retry is kept, as -2 - q, until another fails to answer: it may be beyond a partition.
    """
    if again:
        return -2 - q
    return q if lost < 0 else lost


AHEAD = 6  # peers to look ahead for prefetching; any number gives the same result


@by_reference
class _Views(NamedTuple):
    """The state of the layer, see `Cyclon`, and the partner that each peer has chosen in this cycle."""

    links: NDArray[np.int64]
    size: NDArray[np.int8]
    lost: NDArray[np.int32]
    partner: NDArray[np.int32]
    again: NDArray[np.uint8]  # whether this is a retry of a partner that did not answer
    sent: NDArray[np.int32]  # (n, 2) messages and links that each peer has sent


@by_reference
class CyclonStep(NamedTuple):
    """The settings as numbers, and the cycle."""

    room: int
    shuffle: int
    retry: int
    tries: int
    cycle: int


@hot
def _choose(views, settings, faults, peers):
    """Let peers choose partners: the oldest link, or from time to time a peer that did not answer."""
    lost, retry = views.lost, settings.retry
    for i in peers:
        views.partner[i] = NOBODY
        size = views.size[i]
        again = retry > 0 and lost[i] != -1 and (size == 0 or (settings.cycle + i) % retry == 0)
        if faults.alive[i] == 0 or (size == 0 and not again):
            continue
        views.again[i] = again
        row = views.links[i]
        views.partner[i] = (lost[i] if lost[i] >= 0 else -2 - lost[i]) if again else peer_of(row[oldest(row)])


@rule
def _look_ahead(views, peers, k):
    """Prefetch the views of two peers that will shuffle some turns from now."""
    if k + AHEAD < peers.shape[0]:
        i = np.int64(peers[k + AHEAD])
        prefetch_row(views.links, i)
        prefetch_row(views.links, np.int64(views.partner[i]))


@rule
def _shuffle_with(q, i, views, settings, faults, draws, scratch):
    """Let i shuffle with q; return whether it got an answer."""
    view, size, spent, (there, back) = views.links, views.size, views.sent, scratch
    row, left = view[i], np.int64(size[i])
    place = np.int64(-1) if views.again[i] else place_of_link(row, q)
    if place >= 0:
        left -= 1
        row[place] = row[left]
        row[left] = FREE
        size[i] = left
    copies, undelivered = sends(faults, i, q, draw(draws, REQUEST), settings.tries)
    spent[i, 0] += copies
    if undelivered:
        return False
    sent = sample(left, min(settings.shuffle - 1, left), draws, SENT)
    going = copy_links(row, sent, there)
    there[going] = link(i, settings.cycle)
    going += 1

    partner_row, partner_size = view[q], np.int64(size[q])
    answered = sample(partner_size, min(settings.shuffle, partner_size), draws, ANSWERED)
    coming = copy_links(partner_row, answered, back)
    own_news = shuffle_news(i, row, back, coming)
    partner_news = shuffle_news(q, partner_row, there, going)
    size[q] = shuffle_merge(partner_row, partner_size, settings.room, answered, there, partner_news)
    copies, undelivered = sends(faults, q, i, draw(draws, REPLY), settings.tries)
    spent[q, 0] += copies
    spent[i, 1] += going
    spent[q, 1] += coming
    if undelivered:
        return False
    size[i] = shuffle_merge(row, left, settings.room, sent, back, own_news)
    return True


@hot
def _shuffle(views, settings, faults, key, scratch, peers, counts):
    """Let peers shuffle with their partners, one after the other."""
    pair, lost = (scratch[0], scratch[1]), views.lost
    for k in range(peers.shape[0]):
        _look_ahead(views, peers, k)
        i = np.int64(peers[k])
        q, again = np.int64(views.partner[i]), views.again[i]
        if not _shuffle_with(q, i, views, settings, faults, peer_key(key, i), pair):
            counts[0] += 1
            lost[i] = remember(lost[i], q, again)
        elif again:
            lost[i] = -1


class Cyclon(LayerBase):
    """The CYCLON layer of a population.

    Parameters
    ----------
    n : int
        Number of peers.

    Attributes
    ----------
    view : (n, >= view) int64
        Links of each peer (see `sub2sub.compiled.common.views`).
    size : (n,) int8
        Number of links of each peer.
    lost : (n,) int32
        A partner that did not answer, -1 for none; -2 - partner if it did not answer the retry either.
    who_skips : callable, optional
        Peers that do not shuffle in a cycle, except for retries (`Ring.skipping`).

    Examples
    --------
    >>> net, layer = Network.whole(50), Cyclon(50, CyclonSettings(view=5, shuffle=3), seed=1)
    >>> layer.join(np.arange(50), (np.arange(50) + 1) % 50, cycle=0)
    >>> cost = [layer.step(cycle, net) for cycle in range(1, 20)]
    >>> int(layer.size.min()), cost[-1]["messages"]
    (5, 100)
    """

    name = "cyclon"
    saved = ("view", "size", "lost")

    def __init__(self, n: int, settings: CyclonSettings | None = None, seed: int = 0) -> None:
        self.settings = settings or CyclonSettings()
        self.seed = seed
        self.view = empty_views(n, self.settings.view)
        self.size = np.zeros(n, np.int8)
        self.lost = np.full(n, -1, np.int32)
        self._sent = np.zeros((n, 2), np.int32)
        self.who_skips: Callable[[int], NDArray[np.bool_]] | None = None

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer shuffle once."""
        given, faults, n = self.settings, network.faults(), self.size.size
        settings = CyclonStep(given.view, given.shuffle, given.retry, given.tries, cycle)
        self._sent[:] = 0
        views = _Views(
            self.view, self.size, self.lost, np.empty(n, np.int32), np.empty(n, np.uint8), self._sent
        )
        key = cycle_key(self.seed, STREAM, cycle)
        counts = np.zeros((threads(), LANES64), np.int64)  # a cache line for each thread
        scratch = aligned((threads(), 2, padded(given.shuffle)), FREE, np.int64)  # a request and its reply

        def choose(thread: int, peers: NDArray[np.int32]) -> int:
            _choose(views, settings, faults, peers)
            return peers.size

        def shuffle(thread: int, peers: NDArray[np.int32]) -> int:
            _shuffle(views, settings, faults, key, scratch[thread], peers, counts[thread])
            return peers.size

        everybody(n, choose)
        if self.who_skips is not None:
            views.partner[self.who_skips(cycle) & (views.again == 0)] = NOBODY
        exchange_in_waves(views.partner, shuffle, each=0.2)
        messages, size = (int(spent.sum()) for spent in self.spent())
        return {"messages": messages, "failed": int(counts[:, 0].sum()), "bytes": size}

    def spent(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Messages and bytes of the last cycle, by peer."""
        messages, links = self._sent.T.astype(np.int64)
        return messages, HEADER * messages + LINK * links

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Empty the views of `peers`, except for their contacts."""
        known = contacts >= 0
        self.view[peers] = FREE
        self.view[peers[known], 0] = (np.int64(cycle) << 32) | contacts[known]
        self.size[peers] = known
        self.lost[peers] = -1

    def links(self) -> LinkTable:
        """All links as (holders, peers, stamps)."""
        return view_links(self.view)

    def grow(self, moved: Renumbering) -> None:
        """Go on with more peers."""
        again = self.lost < -1
        lost = moved.peers(np.where(again, -2 - self.lost, self.lost))
        self.lost = moved.rows(np.where(again, -2 - lost, lost), -1)
        self.view, self.size = moved.links(self.view), moved.rows(self.size, 0)
        self._sent = moved.rows(self._sent, 0)
