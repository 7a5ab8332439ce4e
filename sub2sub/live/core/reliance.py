"""Which peers a live peer relies on to forward events.

Not in Sub-2-Sub, whose peers are honest. An attacker can choose the IDs of its peers so that they become the
nearest neighbours of another peer, hide its true neighbours, take events and forward none (an eclipse
attack). So a live peer keeps an account of every other peer. Each new event that a peer sends here pays for
`EACH` events that it may take, `CREDIT` at most; while some are left, it is relied on. So an attacker that
drops events has to publish others.

An event goes to the nearest neighbour, as in the paper. If that is not relied on, the event also goes to
others:

- to the nearest peer at another host and, if that is not relied on either, to the nearest that is. If both
  adjacent neighbours are of one host, no peer of that host is relied on: it could drop some events and send
  others of its own;
- while few are relied on, to one random peer at each of some hosts: `tried` has the first peer of each host
  that answered, as long as it answers (as Bitcoin's peers keep addresses). Hosts come first whose peers took
  the fewest events since they last sent a new one, so a host that drops events soon gets fewer.

For this, the peer remembers neighbours that nearer ones have made superfluous (`former`): some of each host,
those that were neighbours for longest.

A neighbour that has taken `PATIENCE` events and sent no new one is removed from the view for `BARRED` cycles,
so that the peers that it hides are found again. It still gets events, because an honest peer may have none to
send: where all events come from one side, its copies always arrive second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from sub2sub.kernels.dice import Dice
from sub2sub.live.core.host_addresses import host_of, is_local, is_loopback
from sub2sub.overlay.descriptors import AROUND, Coordinates, Descriptor
from sub2sub.ring.need import Need
from sub2sub.ring.peer import Neighbour

EACH = 4  # events that a peer may take for each new one that it sends
CREDIT = 8  # events that it may take, at most
PATIENCE = 32  # events
BARRED = 50  # cycles
FORMER = 16  # former neighbours remembered
OF_A_HOST = 2  # of them at one host
FEWEST = 2  # links of a host that a view takes in any case, however many hosts there are
TRIED = 64  # hosts of which a peer that has answered is remembered
STRANGERS = 6  # random hosts that an event also goes to, less the peers relied on
SELF = "this machine"  # stands for all loopback addresses, where the peer itself has another address
FIRST_DRAW = 1 << 40  # number of the draw that chooses random hosts
ACCOUNTS = 1024  # peers in each count, at most


class Located(Protocol):
    """A peer of any protocol: an ID, and a host and port or None."""

    @property
    def id(self) -> int:
        """Its ID."""

    @property
    def address(self) -> Any:
        """Where to connect to."""


AnyPeer = TypeVar("AnyPeer", bound=Located)


def host_of_peer(peer: Located) -> object:
    """The host of a peer, None if it has no address."""
    return host_of(peer.address[0]) if peer.address else None


def few_of_a_host(
    offered: Sequence[AnyPeer], held: Sequence[AnyPeer], most: int, room: int = 0, local: bool = True
) -> list[AnyPeer]:
    """Those of the offered peers that are held already, or whose host has fewer than `most` of those held.

    In a view with `room` for a number of peers, each host has an equal share of the room, but at least
    `FEWEST`. If the caller is `local`, with a loopback address itself, loopback addresses are not limited;
    otherwise all of them are one host.

    Examples
    --------
    >>> peers = [Descriptor.of(k, [0.0], [1.0], ("192.0.2.1", 7000 + k)) for k in range(4)]
    >>> [peer.id for peer in few_of_a_host(peers, peers[:1], most=2)]
    [0, 1]
    """
    if len(held) + len(offered) <= (FEWEST if room else most):
        return list(offered)
    everybody = [host_of_peer(peer) for peer in (*held, *offered)]
    if not local:
        everybody = [SELF if is_loopback(host) else host for host in everybody]
    different = set(everybody)
    if room:
        most = min(most, max(FEWEST, -(-room // len(different))))
    few = len(everybody) - len(different) < most  # then no host can have more
    if few or all(is_loopback(host) or everybody.count(host) <= most for host in different):
        return list(offered)
    hosts = Counter(everybody[: len(held)])
    known = {peer.id for peer in held}
    kept = []
    for peer, host in zip(offered, everybody[len(held) :], strict=True):
        if peer.id not in known:
            if hosts[host] >= most and not is_loopback(host):
                continue
            known.add(peer.id)
            hosts[host] += 1
        kept.append(peer)
    return kept


def _ends(order: Sequence[Descriptor]) -> list[Descriptor]:
    """The nearest in either direction."""
    return [order[0], order[-1]] if order else []


def _host_of_all(peers: Sequence[Descriptor]) -> object:
    """The host that some peers share, if any; None for a loopback address."""
    hosts = {host_of_peer(peer) for peer in peers}
    host = hosts.pop() if len(hosts) == 1 else None
    return None if is_loopback(host) else host


def _elsewhere(nearest: Sequence[Descriptor], everybody: Iterable[Descriptor]) -> list[Descriptor]:
    """Peers at other hosts than the nearest."""
    hosts = {host_of_peer(peer) for peer in nearest}
    return [peer for peer in everybody if host_of_peer(peer) not in hosts]


def _strangers(
    peers: Sequence[Descriptor], taken: Mapping[int, int], count: int, dice: Dice
) -> list[Descriptor]:
    """One peer at each of some random hosts, first at those that took the fewest events for nothing.

    An attacker has as many chances as it has hosts, and a host that drops events has fewer than others.
    """
    at = {host_of_peer(peer): peer for peer in peers}
    swallowed: Counter[object] = Counter()
    for peer in peers:
        swallowed[host_of_peer(peer)] += taken.get(peer.id, 0)
    ranks = {host: (swallowed[host], dice.unit(FIRST_DRAW + place)) for place, host in enumerate(at)}
    return [at[host] for host in sorted(at, key=ranks.__getitem__)[: max(count, 0)]]


class Reliance:
    """The accounts that one peer keeps of others.

    Parameters
    ----------
    own : Descriptor
    unit : int
        Steps of the peer's clock in a cycle.

    Attributes
    ----------
    former : dict of int to Neighbour
        Neighbours that nearer ones have made superfluous, by ID.
    tried : dict of str to Descriptor
        The first peer of each host that answered, by host.

    Examples
    --------
    >>> own, near, far = (Descriptor.of(id, [0.0], [1.0]) for id in (10, 20, 30))
    >>> reliance = Reliance(own, unit=1)
    >>> reliance.look({30: Neighbour(far, stamp=0, since=0)}, now=25)
    >>> reliance.look({20: Neighbour(near, stamp=26, since=26)}, now=26)
    >>> order, doubted = reliance.order((0.5,), neighbours=[near], others=[], dice=Dice(1))
    >>> [peer.id for peer in order], doubted
    ([20, 30], {20, 30})
    """

    def __init__(self, own: Descriptor, unit: int) -> None:
        self.own, self.unit, self.local = own, unit, is_local(own.address)
        self.former: dict[int, Neighbour] = {}
        self.tried: dict[object, Descriptor] = {}
        self._taken: Counter[int] = Counter()  # events that each peer took since it last sent a new one
        self._credit: dict[int, int] = {}  # events that each peer may still take
        self._barred: dict[int, int] = {}  # until when a peer must not be accepted
        self._swallowed: Counter[object] = Counter()  # `_taken` of the last peer tried at a host, now silent
        self._view: dict[int, Neighbour] = {}

    @property
    def accounts(self) -> int:
        """The number of accounts, of both kinds."""
        return len(self._credit) + len(self._taken)

    def relies_on(self, id: int) -> bool:
        """Whether a peer is relied on."""
        return self._credit.get(id, 0) > 0

    def look(
        self, view: Mapping[int, Neighbour], now: int,
        is_silent: Callable[[Neighbour], bool] = lambda each: False,
    ) -> None:  # fmt: skip
        """Compare the view with the last one; remember neighbours that left it, unless they are silent."""
        for id, each in self._view.items():
            if id not in view and not is_silent(each):
                self._remember(each)
        for id in view:
            self.former.pop(id, None)
        self._view = dict(view)

    def brought(self, id: int) -> None:
        """Note that a peer has sent an event that was new."""
        self._taken.pop(id, None)
        self._credit[id] = min(self._credit.pop(id, 0) + EACH, CREDIT)
        while len(self._credit) > ACCOUNTS:
            del self._credit[next(iter(self._credit))]

    def took(self, id: int) -> None:
        """Note that a peer has taken an event."""
        self._taken[id] += 1
        if id in self._credit:
            self._credit[id] = max(self._credit[id] - 1, 0)
        while len(self._taken) > ACCOUNTS:
            del self._taken[next(iter(self._taken))]

    def answered(self, peer: Descriptor) -> None:
        """Note that a peer has answered; it is tried if no other peer of its host is."""
        host = host_of_peer(peer)
        if host not in self.tried and len(self.tried) < TRIED and self.own.overlaps(peer):
            self.tried[host] = peer
            self._taken[peer.id] = max(self._taken[peer.id], self._swallowed.pop(host, 0))

    def forget(self, id: int) -> None:
        """Note that a peer did not answer."""
        for host in [host for host, peer in self.tried.items() if peer.id == id]:
            del self.tried[host]
            self._swallowed[host] = min(self._taken[id], PATIENCE)
        while len(self._swallowed) > ACCOUNTS:
            del self._swallowed[next(iter(self._swallowed))]
        self.former.pop(id, None)
        self._view.pop(id, None)

    def bar(self, now: int) -> list[int]:
        """Neighbours to remove from the view: they have taken many events and sent no new one."""
        self._barred = {id: until for id, until in self._barred.items() if until > now}
        used_up = [id for id in self._view if self._taken[id] > PATIENCE]
        for id in used_up:
            self._barred[id] = now + BARRED * self.unit
            self._remember(self._view.pop(id))
            self._taken[id] = PATIENCE
        return used_up

    def is_barred(self, id: int) -> bool:
        """Whether a peer must not be accepted yet."""
        return id in self._barred

    def order(
        self, point: Coordinates, neighbours: Sequence[Descriptor], others: Iterable[Descriptor], dice: Dice
    ) -> tuple[list[Descriptor], set[int]]:
        """Peers to forward an event to, in the order of the ring; and the IDs of those that are doubted.

        These are the nearest neighbour in either direction, the nearest at other hosts, and all that are
        relied on among present neighbours, former ones and others; if these are few, also one peer at each of
        some random hosts. An event goes past doubted peers to the next one.
        """
        own = self.own.id
        ring = [peer for peer in neighbours if peer.matches(point)]
        around = _host_of_all(_ends(ring))

        def relies_on(peer: Descriptor) -> bool:
            return self.relies_on(peer.id) and (around is None or host_of_peer(peer) != around)

        if not self._barred and all(map(relies_on, _ends(ring))):
            return ring, set()
        adjacent = {peer.id: peer for peer in (*ring, *(each.peer for each in self.former.values()))}
        known = {peer.id: peer for peer in others if relies_on(peer)}
        known |= {peer.id: peer for peer in self.tried.values()} | adjacent
        everybody = sorted(
            (peer for peer in known.values() if peer.matches(point)),
            key=lambda peer: (peer.id - own) % AROUND,
        )
        nearest = _ends([peer for peer in everybody if peer.id in adjacent])
        next_to = {peer.id for peer in (*nearest, *_ends(_elsewhere(nearest, everybody)))}
        relied = {peer.id for peer in everybody if relies_on(peer)}
        others = [peer for peer in everybody if peer.id not in relied]
        strangers = _strangers(others, self._taken, STRANGERS - len(relied), dice)
        named = next_to | relied | {peer.id for peer in strangers}
        if named == {peer.id for peer in _ends(ring)}:
            return ring, set()
        return [peer for peer in everybody if peer.id in named], named - relied

    def _remember(self, each: Neighbour) -> None:
        """Keep a former neighbour; of too many, those relied on, then the earliest neighbours."""
        ranked = sorted(
            [*self.former.values(), each], key=lambda other: (not self.relies_on(other.peer.id), other.since)
        )
        few = {
            peer.id
            for peer in few_of_a_host([other.peer for other in ranked], (), OF_A_HOST, local=self.local)
        }
        self.former = {other.peer.id: other for other in ranked if other.peer.id in few}
        while len(self.former) > FORMER:
            self.former.popitem()


class WaryNeed(Need):
    """Which candidates a ring view needs, except for barred ones."""

    def __init__(self, own: Descriptor, max_steps: int, reliance: Reliance, work: int = 0) -> None:
        super().__init__(own, max_steps, work)
        self.reliance = reliance

    def may_be_needed(self, peer: Descriptor) -> bool:
        """Whether to offer a peer to the view."""
        return not self.reliance.is_barred(peer.id) and super().may_be_needed(peer)
