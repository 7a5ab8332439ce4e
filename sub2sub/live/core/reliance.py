"""Which ring neighbours a live peer relies on to pass events on.

Not in Sub-2-Sub, whose peers are honest. Anybody can put peers of its own right beside another one: they
become its nearest neighbours, hide the true ones, take events and pass none on (an eclipse). So a live peer
keeps an account of each neighbour. It relies on one

- that has been a neighbour for `TENURE` cycles, or has brought an event that was new here;
- and that has not taken more than `CREDIT` events since it last brought one.

An event goes to the nearest neighbour as ever; and if that is not relied on, also past it to the nearest that
is, if one is known. Those who were relied on when a nearer one made them superfluous are remembered for that
(`former`), a few of each host. A neighbour whose credit is used up leaves the view for `BARRED` cycles, so that
the ones it hides are found again; it still gets events, since an honest one may have none to bring: where all
events come from one side, it always comes second.

While everybody is new to one another nobody is relied on, and events go the usual way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from sub2sub.overlay.descriptors import AROUND, Coordinates, Descriptor
from sub2sub.ring.need import Need
from sub2sub.ring.peer import Neighbour

__all__ = ["Reliance", "WaryNeed", "few_of_a_host", "is_loopback"]

TENURE = 20  # cycles
CREDIT = 32  # events
BARRED = 50  # cycles
FORMER = 16  # neighbours remembered
OF_A_HOST = 2  # of them
ACCOUNTS = 1024  # neighbours whose events are counted


def is_loopback(host: object) -> bool:
    """Whether a host is the machine itself: all peers of a swarm on one machine share it."""
    return isinstance(host, str) and (host.startswith("127.") or host in ("::1", "localhost"))


def _host(peer: Descriptor) -> object:
    return peer.address[0] if peer.address else None


def few_of_a_host(offered: Iterable[Descriptor], held: Iterable[Descriptor], most: int) -> list[Descriptor]:
    """Those of some peers that are held already, or of whose host fewer than `most` are.

    Examples
    --------
    >>> peers = [Descriptor.of(k, [0.0], [1.0], ("192.0.2.1", 7000 + k)) for k in range(4)]
    >>> [peer.id for peer in few_of_a_host(peers, peers[:1], most=2)]
    [0, 1]
    """
    known = {peer.id: peer for peer in held}
    hosts = Counter(_host(peer) for peer in known.values())
    kept = []
    for peer in offered:
        host = _host(peer)
        if peer.id not in known:
            if hosts[host] >= most and not is_loopback(host):
                continue
            known[peer.id] = peer
            hosts[host] += 1
        kept.append(peer)
    return kept


class Reliance:
    """The accounts of one peer's ring neighbours.

    Parameters
    ----------
    own : Descriptor
    unit : int
        Steps of the peer's clock in a cycle.

    Attributes
    ----------
    former : dict of int to Neighbour
        Neighbours that were relied on when nearer ones made them superfluous.

    Examples
    --------
    >>> own, near, far = (Descriptor.of(id, [0.0], [1.0]) for id in (10, 20, 30))
    >>> reliance = Reliance(own, unit=1)
    >>> reliance.look({30: Neighbour(far, stamp=0, since=0)}, now=25)
    >>> reliance.look({20: Neighbour(near, stamp=26, since=26)}, now=26)
    >>> order, doubted = reliance.order((0.5,), [near], now=26)
    >>> [peer.id for peer in order], doubted
    ([20, 30], {20})
    """

    def __init__(self, own: Descriptor, unit: int) -> None:
        self.own, self.unit = own, unit
        self.former: dict[int, Neighbour] = {}
        self._taken: Counter[int] = Counter()  # events, since the neighbour brought one
        self._brought: dict[int, None] = {}  # IDs of those that have
        self._barred: dict[int, int] = {}  # until when
        self._view: dict[int, Neighbour] = {}

    def relies_on(self, each: Neighbour, now: int) -> bool:
        """Whether a neighbour is relied on."""
        id = each.peer.id
        proven = id in self._brought or now - each.since >= TENURE * self.unit
        return proven and self._taken[id] <= CREDIT

    def look(
        self,
        view: Mapping[int, Neighbour],
        now: int,
        is_silent: Callable[[Neighbour], bool] = lambda each: False,
    ) -> None:
        """Remember neighbours that have left the view, unless they did not answer."""
        for id, each in self._view.items():
            if id not in view and self.relies_on(each, now) and not is_silent(each):
                self._remember(each)
        for id in view:
            self.former.pop(id, None)
        self._view = dict(view)

    def brought(self, id: int) -> None:
        """Note that a peer has brought an event that was new."""
        self._taken.pop(id, None)
        self._brought[id] = None
        while len(self._brought) > ACCOUNTS:
            del self._brought[next(iter(self._brought))]

    def took(self, id: int) -> None:
        """Note that a peer has taken an event."""
        self._taken[id] += 1
        while len(self._taken) > ACCOUNTS:
            del self._taken[next(iter(self._taken))]

    def forget(self, id: int) -> None:
        """Note that a peer did not answer."""
        self.former.pop(id, None)
        self._view.pop(id, None)

    def bar(self, now: int) -> list[int]:
        """Neighbours to remove from the view: they have taken many events and brought none."""
        self._barred = {id: until for id, until in self._barred.items() if until > now}
        used_up = [id for id in self._view if self._taken[id] > CREDIT]
        for id in used_up:
            self._barred[id] = now + BARRED * self.unit
            self.former[id] = self._view.pop(id)
            self._taken[id] = CREDIT
        return used_up

    def is_barred(self, id: int) -> bool:
        """Whether a peer may not be taken up again yet."""
        return id in self._barred

    def order(
        self, point: Coordinates, neighbours: Sequence[Descriptor], now: int
    ) -> tuple[list[Descriptor], set[int]]:
        """Neighbours and former ones that match, in the order of the ring; and whom an event has to go past.

        Of those that are not relied on only the nearest in either direction are named, unless there are no
        others.
        """
        if not self.former and all(self._is_relied_on(peer, now) for peer in neighbours):
            return [peer for peer in neighbours if peer.matches(point)], set()
        own, known = self.own.id, {peer.id: peer for peer in neighbours}
        known.update((id, each.peer) for id, each in self.former.items())
        matching = sorted(
            (peer for peer in known.values() if peer.matches(point)),
            key=lambda peer: (peer.id - own) % AROUND,
        )
        relied_on = {peer.id for peer in matching if self._is_relied_on(peer, now)}
        if not relied_on:
            return matching, set()
        ends = {matching[0].id, matching[-1].id}
        return [peer for peer in matching if peer.id in relied_on | ends], ends - relied_on

    def _is_relied_on(self, peer: Descriptor, now: int) -> bool:
        each = self._view.get(peer.id) or self.former.get(peer.id)
        return each is not None and self.relies_on(each, now)

    def _remember(self, each: Neighbour) -> None:
        """Keep a former neighbour; of too many, those that were neighbours for longest."""
        kept = sorted([*self.former.values(), each], key=lambda other: other.since)
        few = {peer.id for peer in few_of_a_host([other.peer for other in kept], (), OF_A_HOST)}
        self.former = {other.peer.id: other for other in kept if other.peer.id in few}
        while len(self.former) > FORMER:
            self.former.popitem()


class WaryNeed(Need):
    """Which candidates a ring view needs, but for those that are barred."""

    def __init__(self, own: Descriptor, max_steps: int, reliance: Reliance) -> None:
        super().__init__(own, max_steps)
        self.reliance = reliance

    def may_be(self, peer: Descriptor) -> bool:
        """Whether a peer is worth being offered."""
        return not self.reliance.is_barred(peer.id) and super().may_be(peer)
