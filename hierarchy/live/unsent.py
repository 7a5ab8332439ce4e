"""Events that could not be sent, and are sent again.

A live member is told when a message cannot be sent: the other refuses connections, or is not tried again so
soon after it did. Gossip makes up for some such losses, but not where a community is so small that an event
has one way to go. So the event is sent again with the next cycles; the simulator's members do so at once
(`retries`).
"""

from __future__ import annotations

from dataclasses import dataclass

from hierarchy.contacts import Contact
from hierarchy.live.messages import Event, Send

CYCLES = 4  # in which an event is sent again
MOST = 1024  # messages that wait; further ones are not sent again
SPACE = 1 << 22  # bytes of them


@dataclass
class _Waiting:
    to: Contact
    event: Event
    since: int
    due: bool = True


class Unsent:
    """What a member has to send again.

    Examples
    --------
    >>> unsent, to = Unsent(), Contact(7, "h", 1, ".a")
    >>> unsent.note(to, Event(b"name", ".a", 1, 0, -1.0, b""), cycle=3)
    >>> [send.to.id for send in unsent.again(cycle=4)], list(unsent.again(cycle=5))
    ([7], [])
    """

    def __init__(self) -> None:
        self._waiting: dict[tuple[Contact, bytes], _Waiting] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def held(self) -> int:
        """Bytes that wait."""
        return sum(len(each.event.data) for each in self._waiting.values())

    def note(self, to: Contact, event: Event, cycle: int) -> None:
        """Take note that an event could not be sent."""
        waiting = self._waiting.get((to, event.name))
        if waiting:
            waiting.due = True
        elif len(self._waiting) < MOST and self.held + len(event.data) <= SPACE:
            self._waiting[to, event.name] = _Waiting(to, event, cycle)

    def again(self, cycle: int) -> list[Send]:
        """What to send again; to be called once a cycle."""
        self._waiting = {k: each for k, each in self._waiting.items() if cycle - each.since <= CYCLES}
        due = [each for each in self._waiting.values() if each.due]
        for each in due:
            each.due = False
        return [Send(each.to, each.event) for each in due]
