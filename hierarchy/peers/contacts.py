"""Addresses of peers, and the messages that peers written as objects want to send.

The peers of SCAMP, P-Grid and the super-topic tables (`peer.py` of each folder) have no clock and no socket.
Their methods yield `Send`s. A driver may deliver each message, and all messages that it causes, before it
takes the next one, as the kernels do, or send all of them at once, as a live process does.
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
    """A message to send to a member; if `to` is None, to the sender of the message that is being answered."""

    to: Contact | None
    message: Any


Sends = Iterator[Send]
