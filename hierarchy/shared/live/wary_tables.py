"""Tables of a live peer that doubts what others tell (`CoreSettings.wary`).

Anybody can invent members: right beside another one, where they are its neighbours and make the community
look larger than it is, or with a range that encloses its own more tightly than any supertopic. So a live peer

- takes nobody into a table that has not answered at its own address (`candidates` are asked, not
  many that one host told of; those that have answered are remembered for as long as an entry may last);
- takes only ranges that some topic has, as far as it is told the topics (`is_known_range`);
- keeps what an entry said first: another address or range of the same ID changes nothing;
- shares each table out among hosts, as views of CYCLON and VICINITY;
- keeps entries that were heard from lately: others replace them if they are nearer or tighter, not by being
  fresher;
- goes by one member of each host when it estimates how many there are: members of one host right beside it
  would make the community look so large that no event goes up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from copy import copy
from typing import Any

from hierarchy.shared.peer import Greet, TablePeer, looseness
from sub2sub.live.core.host_addresses import is_local, is_loopback
from sub2sub.live.core.reliance import few_of_a_host, host_of_peer
from sub2sub.overlay.descriptors import Descriptor, Link, oldest_place

REMEMBERED = 256  # peers that have answered
CANDIDATES, TOLD, AT = 64, 16, 2  # peers asked in one cycle; of them told by one host, and at one host
SHARE = 8  # entries of one host, at most


class LiveTables(TablePeer):
    """The tables of one live peer that believes what others tell; parameters as of `TablePeer`.

    Attributes
    ----------
    teller : str
        The host whose message is being handled, "" during the peer's own turns.
    is_known_range : callable
        Whether some topic has the range of a peer.
    """

    def __init__(self, own: Descriptor, *args: Any, **options: Any) -> None:
        super().__init__(own, *args, **options)
        self.teller = ""
        self.is_known_range: Callable[[Descriptor], bool] = lambda peer: True

    def candidates(self) -> list[Descriptor]:
        """Peers to probe before a table takes them: none."""
        return []

    def answered(self, peer: Descriptor, now: int, greet: Greet) -> None:
        """Note that a peer answered at its address, which is not needed here."""


class WaryTables(LiveTables):
    """The tables of one live peer that takes only peers that have answered; parameters as of `TablePeer`."""

    def __init__(self, own: Descriptor, *args: Any, **options: Any) -> None:
        super().__init__(own, *args, **options)
        self.local = is_local(own.address)
        self._answered: dict[int, tuple[Descriptor, int]] = {}
        self._candidates: dict[int, bool] = {}  # of this cycle; whether they have sent a message themselves
        self._to_ask: list[Descriptor] = []
        self._told: Counter[str] = Counter()
        self._at: Counter[object] = Counter()
        self._now = 0

    def expire(self, now: int) -> None:
        """Begin a cycle, in which others may be asked; drop old entries."""
        super().expire(now)
        self._candidates = {}
        self._told.clear()
        self._at.clear()

    def candidates(self) -> list[Descriptor]:
        """Peers that are to be asked whether they are there."""
        peers, self._to_ask = self._to_ask, []
        return peers

    def answered(self, peer: Descriptor, now: int, greet: Greet) -> None:
        """Note that a peer is there, and take it if it is needed."""
        self._answered.pop(peer.id, None)
        self._answered[peer.id] = peer, now
        if len(self._answered) > REMEMBERED:
            del self._answered[next(iter(self._answered))]
        direct = self._candidates.get(peer.id)
        if direct is not None and self._accept(Link(peer, now), now, direct) and not direct:
            greet(peer)

    def fail(self, peer: Descriptor, now: int) -> None:
        """Forget a peer that did not answer."""
        self._answered.pop(peer.id, None)
        super().fail(peer, now)

    def community_size(self) -> float:
        """How many members its community has, by one of each host."""
        hosts: dict[object, Link] = {}
        for link in self.equals:
            host = host_of_peer(link.peer)
            hosts.setdefault(link.peer.id if host is None or self._exempts(host) else host, link)
        few, self.equals = self.equals, list(hosts.values())
        try:
            return super().community_size()
        finally:
            self.equals = few

    def _accept(self, link: Link, now: int, direct: bool) -> bool:
        self._now = now
        peer = link.peer
        for table in (self.equals, self.above, self.below):
            for held in table:
                if held.peer.id == peer.id:
                    return held.peer == peer and super()._accept(link, now, direct)
        known, when = self._answered.get(peer.id, (None, 0))
        if known != peer or (self.settings.max_age and now - when > self.settings.max_age):
            self._propose(link, now, direct)
            return False
        is_greeted = super()._accept(link, now, direct)
        self._share_out()
        return is_greeted

    def _propose(self, link: Link, now: int, direct: bool) -> None:
        """Have a peer asked whether it is there, if a table would take it."""
        peer, host = link.peer, host_of_peer(link.peer)
        if peer.id in self._candidates or len(self._candidates) >= CANDIDATES or not self.topical(peer):
            return
        if self._told[self.teller] >= TOLD or (self._at[host] >= AT and not self._exempts(host)):
            return
        if self._would_take(link, now, direct) and self.is_known_range(peer):
            self._candidates[peer.id] = direct
            self._told[self.teller] += 1
            self._at[host] += 1
            self._to_ask.append(peer)

    def _exempts(self, host: object) -> bool:
        """Whether peers of a host are not counted: on one machine all share it."""
        return self.local and is_loopback(host)

    def _would_take(self, link: Link, now: int, direct: bool) -> bool:
        trial = copy(self)
        trial.equals, trial.above, trial.below = [*self.equals], [*self.above], [*self.below]
        trial._answered = {link.peer.id: (link.peer, now)}
        trial._accept(link, now, direct)
        return any(held.peer is link.peer for table in trial.tell() for held in table)

    def _take_equal(self, link: Link, direct: bool) -> bool:
        near = self._neighbours([*self.equals, link])
        others = [each for each in self.equals if each.peer.id not in near]
        if len(self.equals) >= self.settings.equals and link.peer.id not in near and self._lasts(others):
            return False
        return super()._take_equal(link, direct)

    def _take_above(self, link: Link) -> None:
        loosest = max((looseness(self.own, each.peer) for each in self.above), default=0.0)
        worst = [each for each in self.above if looseness(self.own, each.peer) == loosest]
        is_full = len(self.above) >= self.settings.z
        if not is_full or looseness(self.own, link.peer) < loosest or not self._lasts(worst):
            super()._take_above(link)

    def _lasts(self, links: list[Link]) -> bool:
        """Whether all of some entries were heard from lately."""
        return links[oldest_place(links)].stamp >= self._now - self.settings.suspect_age

    def _share_out(self) -> None:
        """Leave each host its share of each table: the entries that are there first."""
        rooms = (self.settings.equals, self.settings.z, self.settings.below)
        for table, room in zip((self.equals, self.above, self.below), rooms, strict=True):
            few = few_of_a_host([link.peer for link in table], (), SHARE, room, self.local)
            if len(few) < len(table):
                kept = {peer.id for peer in few}
                table[:] = [link for link in table if link.peer.id in kept]
