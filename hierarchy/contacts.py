"""What peers written as objects know one another by, and what they want sent.

The peers of SCAMP, P-Grid and the super-topic tables (`peer.py` of each room) have no clock and no socket.
Their methods yield `Send`s one after the other. The driver of a peer may deliver each message, and all that
it causes, before it asks for the next, as the kernels do, or send them all at once, as a live process does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple


class Contact(NamedTuple):
    """A member of a community: the paper's RemotePeer."""

    id: int
    host: str
    port: int
    topic: str

    @property
    def address(self) -> tuple[str, int]:
        """Where to connect to."""
        return self.host, self.port


@dataclass(frozen=True)
class Send:
    """What a peer wants sent: to a member, or, with `to` None, back to whoever it has just heard from."""

    to: Contact | None
    message: Any


Sends = Iterator[Send]
