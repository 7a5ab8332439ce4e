"""How fast a node opens connections, so that messages of others cannot turn it against a third party.

Three accounts, for addresses that have answered before, for the node's own turns, and for what messages tell,
of which the messages of one host may use a quarter. And two accounts for each target, for own turns and for
what messages tell: a host from which no frame has ever come is dialled only a few times a minute, whatever
the port, whoever told of it, and whether it accepts connections or not; because of the messages of one host,
half as often. Addresses that the user has given are not limited so.
"""

from __future__ import annotations

from collections import OrderedDict
from math import inf

from sub2sub.live.core.host_addresses import host_of, is_loopback
from sub2sub.live.net.budgets import Buckets
from sub2sub.live.wire.limits import Limits

Address = tuple[str, int]
SHARE = 4  # hosts that together may cause all connections that are opened because of messages


class Dials:
    """What is known of addresses, and how long to wait before connecting to one.

    Parameters
    ----------
    limits : Limits
    given : set of str
        Hosts that the user has named.

    Attributes
    ----------
    answered : OrderedDict
        Addresses that have answered through a connection opened from here, the latest last.
    """

    def __init__(self, limits: Limits, given: set[str]) -> None:
        self._given, self._longest, self._remembered = given, limits.connect, limits.remembered
        self.answered: OrderedDict[Address, None] = OrderedDict()
        self._hosts: OrderedDict[str, None] = OrderedDict()
        rate, at_once, most = limits.strange_dials, limits.strange_dials_at_once, limits.remembered
        self._all = Buckets(limits.dials, limits.dials_at_once, 3)
        self._told = Buckets(limits.dials / SHARE, limits.dials_at_once / SHARE, most)
        self._strange = Buckets(rate, at_once, most)
        self._strange_told = Buckets(rate / 2, at_once / 2, most)

    def note_answer(self, address: Address) -> None:
        """Remember an address that has answered."""
        _remember(self.answered, address, self._remembered)

    def note_host(self, host: str) -> None:
        """Remember a host from which a frame has come."""
        _remember(self._hosts, host, self._remembered)

    def pause_before(self, to: Address, teller: str, now: float) -> float:
        """Seconds to wait before connecting to an address; if more than `connect`, nothing is charged.

        Whatever others invent must not keep a node from those that it has talked to, nor from its own turns.
        """
        known, host = to in self.answered, host_of(to[0])
        bills = [(self._all, "known" if known else "told" if teller else "own")]
        if teller and not known and not is_loopback(teller):
            bills.append((self._told, teller))
        if not (known or host in self._hosts or to[0] in self._given):
            bills += [(self._strange_told, f"{teller} {host}")] if teller else []
            bills.append((self._strange, f"told {host}" if teller else host))
        pause = 0.0
        for k, (buckets, name) in enumerate(bills):
            pause = max(pause, buckets.charge(name, 1.0, now))
            if pause > self._longest:  # the rest is not even looked up: others would be forgotten for it
                for charged, of in bills[: k + 1]:
                    charged.charge(of, -1.0, now)
                return inf
        return pause


def _remember(known: OrderedDict, name: object, most: int) -> None:  # type: ignore[type-arg]
    known[name] = None
    known.move_to_end(name)
    if len(known) > most:
        known.popitem(last=False)
