"""Super-topic tables shared out among hosts: nobody has more places by inventing more members.

Anybody can tell of members of the topics above. Without this, a stranger that was there first had all
super-topic tables, and no event went up. And one place is for a gateway of the topic above, if the user has
given any: with as many hosts as a table has places, a stranger has all others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from hierarchy.contacts import Contact
from hierarchy.super_tables.peer import SuperTable
from sub2sub.kernels.dice import Dice
from sub2sub.live.core.host_addresses import host_of, is_loopback

OFTEN = 8  # requests of a search after which gateways are asked again that are not in the table


class SharedOutTable(SuperTable):
    """A super-topic table in which a member at another host takes the place of one of several at a host.

    While all are at one host, gateways are asked for others; now and then also while none of them is in it.

    Attributes
    ----------
    gateways : collection of addresses
        Of the gateways of the topics above.

    Examples
    --------
    >>> table = SharedOutTable([".a"], z=2)
    >>> table.merge(Contact(k, "192.0.2.1", 7000, ".a") for k in (1, 2))
    True
    >>> table.merge([Contact(3, "192.0.2.2", 7000, ".a"), Contact(4, "192.0.2.2", 7000, ".a")])
    True
    >>> [contact.id for contact in table.entries]
    [1, 3]
    """

    gateways: Collection[tuple[str, int]] = ()
    _gateway_due = 0

    def merge(self, candidates: Iterable[Contact]) -> bool:
        """Add candidates; whether the table changed."""
        before = list(self.entries)
        for candidate in candidates:
            if not super().merge([candidate]):
                self._replace(candidate)
        return self.entries != before

    def has_gateway(self) -> bool:
        """Whether a gateway is in the table."""
        return any(entry.address in self.gateways for entry in self.entries)

    def wanted(self, cycle: int, p_sel: float, timeout: int, dice: Dice) -> tuple[str, ...]:
        """The topics to search for now: also that of the entries, while all of them are of one host."""
        topics = super().wanted(cycle, p_sel, timeout, dice)
        hosts = {host_of(entry.host) for entry in self.entries}
        if topics or not self.entries or self.due > cycle:
            return topics
        is_crowded = len(hosts) == 1 and not any(map(is_loopback, hosts))
        lacks_gateway = self.gateways and not self.has_gateway() and self._gateway_due <= cycle
        if not is_crowded and not lacks_gateway:
            return ()
        self.due, self._gateway_due = cycle + timeout, cycle + OFTEN * timeout
        return self.chain[: self.place() + 1]

    def _replace(self, candidate: Contact) -> None:
        if not self.entries or candidate.topic != self.entries[0].topic or self._has(candidate.id):
            return
        hosts = [host_of(entry.host) for entry in self.entries if entry.address not in self.gateways]
        crowded = max(hosts, key=hosts.count, default="")
        is_gateway = candidate.address in self.gateways and not self.has_gateway()
        if hosts and (is_gateway or (hosts.count(crowded) > 1 and host_of(candidate.host) not in hosts)):
            others = [each for each in self.entries if each.address not in self.gateways]
            last = others[len(hosts) - 1 - hosts[::-1].index(crowded)]
            self.entries[self.entries.index(last)] = candidate
            self.fresh = True
