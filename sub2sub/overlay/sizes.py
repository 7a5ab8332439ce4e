"""Sizes of messages in bytes, as every layer and every comparison counts them.

A message has a header and what it carries. Addresses are IPv4, numbers take eight bytes; what the transport
adds (TCP, UDP, IP) is left out.
"""

from __future__ import annotations

HEADER = 12  # a message without what it carries
LINK = 10  # address, port and age of a peer
DESCRIPTOR = 18  # the same with a sequence ID; the peer's box comes on top
RANGE = 16  # both ends of one attribute's range
VALUE = 8  # one attribute of an event
CONTENT = 256  # what an event carries besides its point
NAME = 8  # a process, a topic, a key or a number
ACK = HEADER  # an acknowledgement
MAX_DATA = 1 << 16  # what an event of a live peer carries, at most


def event_bytes(d: int) -> int:
    """Bytes of a message that carries an event with d attributes.

    Examples
    --------
    >>> event_bytes(3)
    292
    """
    return HEADER + VALUE * d + CONTENT
