"""Super-topic tables shared out among hosts: nobody has more places by inventing more members.

Anybody can tell of members of the topics above. Without this, a stranger that was there first had all
super-topic tables, and no event went up.
"""

from __future__ import annotations

from collections.abc import Iterable

from hierarchy.contacts import Contact
from hierarchy.super_tables.peer import SuperTable
from sub2sub.kernels.dice import Dice
from sub2sub.live.core.host_addresses import host_of, is_loopback


class SharedOutTable(SuperTable):
    """A super-topic table in which a member at another host takes the place of one of several at a host.

    While all are at one host, gateways are asked for others.

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

    def merge(self, candidates: Iterable[Contact]) -> bool:
        """Add candidates; whether the table changed."""
        before = list(self.entries)
        for candidate in candidates:
            if not super().merge([candidate]):
                self._replace(candidate)
        return self.entries != before

    def wanted(self, cycle: int, p_sel: float, timeout: int, dice: Dice) -> tuple[str, ...]:
        """The topics to search for now: also that of the entries, while all of them are of one host."""
        topics = super().wanted(cycle, p_sel, timeout, dice)
        hosts = {host_of(entry.host) for entry in self.entries}
        if topics or len(hosts) != 1 or any(map(is_loopback, hosts)) or self.due > cycle:
            return topics
        self.due = cycle + timeout
        return self.chain[: self.place() + 1]

    def _replace(self, candidate: Contact) -> None:
        if not self.entries:
            return
        hosts = [host_of(entry.host) for entry in self.entries]
        crowded = max(hosts, key=hosts.count)
        is_same = candidate.topic == self.entries[0].topic and not self._has(candidate.id)
        if not is_same or hosts.count(crowded) < 2 or host_of(candidate.host) in hosts:
            return
        self.entries[len(hosts) - 1 - hosts[::-1].index(crowded)] = candidate
        self.fresh = True
