"""Which peers a live peer relies on to pass events on.

Not in Sub-2-Sub, whose peers are honest. Anybody can put peers of its own right beside another one: they
become its nearest neighbours, hide the true ones, take events and pass none on (an eclipse). So a live peer
keeps an account of each peer: for each event that was new here a peer may take `EACH` others, `CREDIT` at
most; while it has some left, it is relied on. So one that swallows events has to publish in turn.

An event goes to the nearest neighbour as ever. If that is not relied on, the event also goes past it: to the
nearest peer at another host, and if that is not relied on either, to the nearest that is; while nobody is
relied on, to somebody at each of a few hosts by chance (`tried`: the first of each host that has answered,
while it answers, as Bitcoin's peers keep addresses). For this, neighbours that nearer ones have made
superfluous are remembered (`former`), a few of each host, those that were neighbours for longest.

A neighbour that has taken `PATIENCE` events and brought none leaves the view for `BARRED` cycles, so that the
ones it hides are found again. It still gets events, since an honest one may have none to bring: where all
events come from one side, it always comes second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from sub2sub.kernels.dice import Dice
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
STRANGERS = 4  # hosts that an event also goes to while nobody is relied on
FIRST_DRAW = 1 << 40  # number of the draw that chooses them
ACCOUNTS = 1024  # peers whose events are counted


def is_loopback(host: object) -> bool:
    """Whether a host is the machine itself: all peers of a swarm on one machine share it."""
    return isinstance(host, str) and (host.startswith("127.") or host in ("::1", "localhost"))


def _host(peer: Descriptor) -> object:
    return peer.address[0] if peer.address else None


def few_of_a_host(
    offered: Sequence[Descriptor], held: Sequence[Descriptor], most: int, room: int = 0
) -> list[Descriptor]:
    """Those of some peers that are held already, or of whose host fewer than `most` are.

    Where there is a view with room for so many, a host has its share of it, but `FEWEST` at least.

    Examples
    --------
    >>> peers = [Descriptor.of(k, [0.0], [1.0], ("192.0.2.1", 7000 + k)) for k in range(4)]
    >>> [peer.id for peer in few_of_a_host(peers, peers[:1], most=2)]
    [0, 1]
    """
    if len(held) + len(offered) <= (FEWEST if room else most):
        return list(offered)
    everybody = [_host(peer) for peer in (*held, *offered)]
    different = set(everybody)
    if room:
        most = min(most, max(FEWEST, -(-room // len(different))))
    few = len(everybody) - len(different) < most  # so no host has more
    if few or all(is_loopback(host) or everybody.count(host) <= most for host in different):
        return list(offered)
    hosts = Counter(everybody[: len(held)])
    known = {peer.id for peer in held}
    kept = []
    for peer in offered:
        host = _host(peer)
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


def _elsewhere(nearest: Sequence[Descriptor], everybody: Iterable[Descriptor]) -> list[Descriptor]:
    """Those that are at other hosts than the nearest."""
    hosts = {_host(peer) for peer in nearest}
    return [peer for peer in everybody if _host(peer) not in hosts]


def _strangers(everybody: Iterable[Descriptor], dice: Dice) -> list[Descriptor]:
    """Somebody at each of a few hosts: an attacker has as many chances as it has hosts."""
    at = {_host(peer): peer for peer in everybody}
    hosts = list(at.values())
    return [hosts[place] for place in dice.sample(FIRST_DRAW, len(hosts), min(STRANGERS, len(hosts)))]


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
        self.own, self.unit = own, unit
        self.former: dict[int, Neighbour] = {}
        self.tried: dict[object, Descriptor] = {}
        self._taken: Counter[int] = Counter()  # events, since the peer brought one
        self._credit: dict[int, int] = {}  # events that those that have may still take
        self._barred: dict[int, int] = {}  # until when
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
        host = _host(peer)
        if host not in self.tried and len(self.tried) < TRIED and self.own.overlaps(peer):
            self.tried[host] = peer

    def forget(self, id: int) -> None:
        """Note that a peer did not answer."""
        self.tried = {host: peer for host, peer in self.tried.items() if peer.id != id}
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
        """Whom an event may go to along the ring, in its order, and past whom it has to go.

        Named are the nearest neighbour in either direction, the nearest at other hosts than these, and
        whoever is relied on among neighbours, former ones and others; without any of these, somebody at each
        of a few hosts, by chance.
        """
        own = self.own.id
        ring = [peer for peer in neighbours if peer.matches(point)]
        if not self._barred and all(self.relies_on(peer.id) for peer in _ends(ring)):
            return ring, set()
        adjacent = {peer.id: peer for peer in (*ring, *(each.peer for each in self.former.values()))}
        known = {peer.id: peer for peer in others if self.relies_on(peer.id)}
        known |= {peer.id: peer for peer in self.tried.values()} | adjacent
        everybody = sorted(
            (peer for peer in known.values() if peer.matches(point)),
            key=lambda peer: (peer.id - own) % AROUND,
        )
        nearest = _ends([peer for peer in everybody if peer.id in adjacent])
        passed = {peer.id for peer in (*nearest, *_ends(_elsewhere(nearest, everybody)))}
        relied = {peer.id for peer in everybody if self.relies_on(peer.id)}
        named = passed | (relied or {peer.id for peer in _strangers(everybody, dice)})
        if named == {peer.id for peer in _ends(ring)}:
            return ring, set()
        return [peer for peer in everybody if peer.id in named], named - relied

    def _remember(self, each: Neighbour) -> None:
        """Keep a former neighbour; of too many, those relied on, and that were neighbours for longest."""
        ranked = sorted(
            [*self.former.values(), each], key=lambda other: (not self.relies_on(other.peer.id), other.since)
        )
        few = {peer.id for peer in few_of_a_host([other.peer for other in ranked], (), OF_A_HOST)}
        self.former = {other.peer.id: other for other in ranked if other.peer.id in few}
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
