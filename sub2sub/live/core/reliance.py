"""Which peers a live peer relies on to pass events on.

Not in Sub-2-Sub, whose peers are honest. Anybody can put peers of its own right beside another one: they
become its nearest neighbours, hide the true ones, take events and pass none on (an eclipse). So a live peer
keeps an account of each peer: for each event that was new here a peer may take `EACH` others, `CREDIT` at
most; while it has some left, it is relied on. So one that swallows events has to publish in turn.

An event goes to the nearest neighbour as ever. If that is not relied on, the event also goes past it: to the
nearest peer at another host, and if that is not relied on either, to the nearest that is (of one host that
stands on both sides nobody is relied on: it could stop what it likes and publish in between); while few are
relied on, also to somebody at each of a few hosts by chance (`tried`: the first of each host that has
answered, while it answers, as Bitcoin's peers keep addresses). Of these come first those that took fewest
events since they brought one: a host that swallows events is soon handed fewer than others. For this,
neighbours that nearer ones have made superfluous are remembered (`former`), a few of each host, those that
were neighbours for longest.

A neighbour that has taken `PATIENCE` events and brought none leaves the view for `BARRED` cycles, so that the
ones it hides are found again. It still gets events, since an honest one may have none to bring: where all
events come from one side, it always comes second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from sub2sub.kernels.dice import Dice
from sub2sub.live.core.host_addresses import host_of, is_local, is_loopback
from sub2sub.overlay.descriptors import AROUND, Coordinates, Descriptor
from sub2sub.ring.need import Need
from sub2sub.ring.peer import Neighbour

EACH = 4  # events that one may take for each that it brings
CREDIT = 8  # such events, at most
PATIENCE = 32  # events
BARRED = 50  # cycles
FORMER = 16  # neighbours remembered
OF_A_HOST = 2  # of them
FEWEST = 2  # links of a host that a view takes, however many hosts there are
TRIED = 64  # hosts of which somebody that has answered is remembered
STRANGERS = 6  # hosts that an event also goes to, less those relied on, where it has to go past neighbours
SELF = "this machine"  # all its addresses, for peers on others
FIRST_DRAW = 1 << 40  # number of the draw that chooses them
ACCOUNTS = 1024  # peers whose events are counted


def host_of_peer(peer: Descriptor) -> object:
    """The host of a peer, None where it has no address."""
    return host_of(peer.address[0]) if peer.address else None


def few_of_a_host(
    offered: Sequence[Descriptor], held: Sequence[Descriptor], most: int, room: int = 0, local: bool = True
) -> list[Descriptor]:
    """Those of some peers that are held already, or of whose host fewer than `most` are.

    Where there is a view with room for so many, a host has its share of it, but `FEWEST` at least. Peers on
    the machine itself are not counted if the caller is `local`, at the loopback address, too; otherwise all
    loopback addresses are one host.

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
    few = len(everybody) - len(different) < most  # so no host has more
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
    """The host of some peers if they share one, but for the machine itself."""
    hosts = {host_of_peer(peer) for peer in peers}
    host = hosts.pop() if len(hosts) == 1 else None
    return None if is_loopback(host) else host


def _elsewhere(nearest: Sequence[Descriptor], everybody: Iterable[Descriptor]) -> list[Descriptor]:
    """Those that are at other hosts than the nearest."""
    hosts = {host_of_peer(peer) for peer in nearest}
    return [peer for peer in everybody if host_of_peer(peer) not in hosts]


def _strangers(
    peers: Sequence[Descriptor], taken: Mapping[int, int], count: int, dice: Dice
) -> list[Descriptor]:
    """Somebody at each of a few hosts by chance, those first that took fewest events and brought none since.

    An attacker has as many chances as it has hosts, and a host that swallows an event has fewer than others.
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
        Neighbours that nearer ones have made superfluous.
    tried : dict of str to Descriptor
        Peers that have answered, the first of each host.

    Examples
    --------
    >>> own, near, far = (Descriptor.of(id, [0.0], [1.0]) for id in (10, 20, 30))
    >>> reliance = Reliance(own, unit=1)
    >>> reliance.look({30: Neighbour(far, stamp=0, since=0)}, now=25)
    >>> reliance.look({20: Neighbour(near, stamp=26, since=26)}, now=26)
    >>> order, passed = reliance.order((0.5,), neighbours=[near], others=[], dice=Dice(1))
    >>> [peer.id for peer in order], passed
    ([20, 30], {20, 30})
    """

    def __init__(self, own: Descriptor, unit: int) -> None:
        self.own, self.unit, self.local = own, unit, is_local(own.address)
        self.former: dict[int, Neighbour] = {}
        self.tried: dict[object, Descriptor] = {}
        self._taken: Counter[int] = Counter()  # events, since the peer brought one
        self._credit: dict[int, int] = {}  # events that those that have may still take
        self._barred: dict[int, int] = {}  # until when
        self._swallowed: Counter[object] = Counter()  # by the last one tried at a host, which is gone
        self._view: dict[int, Neighbour] = {}

    @property
    def accounts(self) -> int:
        """How many there are."""
        return len(self._credit) + len(self._taken)

    def relies_on(self, id: int) -> bool:
        """Whether a peer is relied on."""
        return self._credit.get(id, 0) > 0

    def look(
        self, view: Mapping[int, Neighbour], now: int,
        is_silent: Callable[[Neighbour], bool] = lambda each: False,
    ) -> None:  # fmt: skip
        """Remember neighbours that have left the view, unless they did not answer."""
        for id, each in self._view.items():
            if id not in view and not is_silent(each):
                self._remember(each)
        for id in view:
            self.former.pop(id, None)
        self._view = dict(view)

    def brought(self, id: int) -> None:
        """Note that a peer has brought an event that was new."""
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
        """Note that a peer has answered; while those before it answer, it takes nobody's place."""
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
        """Neighbours to remove from the view: they have taken many events and brought none."""
        self._barred = {id: until for id, until in self._barred.items() if until > now}
        used_up = [id for id in self._view if self._taken[id] > PATIENCE]
        for id in used_up:
            self._barred[id] = now + BARRED * self.unit
            self._remember(self._view.pop(id))
            self._taken[id] = PATIENCE
        return used_up

    def is_barred(self, id: int) -> bool:
        """Whether a peer may not be accepted again yet."""
        return id in self._barred

    def order(
        self, point: Coordinates, neighbours: Sequence[Descriptor], others: Iterable[Descriptor], dice: Dice
    ) -> tuple[list[Descriptor], set[int]]:
        """Peers that an event may go to along the ring, in its order; IDs of those past which it has to go.

        Named are the nearest neighbour in either direction, the nearest at other hosts than these, and all
        that are relied on among neighbours, former ones and others; if these are few, also somebody at each
        of a few hosts, by chance. A host that stands on both sides is not relied on.
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
        passed = {peer.id for peer in (*nearest, *_ends(_elsewhere(nearest, everybody)))}
        relied = {peer.id for peer in everybody if relies_on(peer)}
        others = [peer for peer in everybody if peer.id not in relied]
        strangers = _strangers(others, self._taken, STRANGERS - len(relied), dice)
        named = passed | relied | {peer.id for peer in strangers}
        if named == {peer.id for peer in _ends(ring)}:
            return ring, set()
        return [peer for peer in everybody if peer.id in named], named - relied

    def _remember(self, each: Neighbour) -> None:
        """Keep a former neighbour; of too many, those relied on, and that were neighbours for longest."""
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
    """Which candidates a ring view needs, but for those that are barred."""

    def __init__(self, own: Descriptor, max_steps: int, reliance: Reliance, work: int = 0) -> None:
        super().__init__(own, max_steps, work)
        self.reliance = reliance

    def may_be_needed(self, peer: Descriptor) -> bool:
        """Whether a peer is worth being offered."""
        return not self.reliance.is_barred(peer.id) and super().may_be_needed(peer)
