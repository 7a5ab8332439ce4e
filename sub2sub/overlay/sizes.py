"""Sizes of messages in bytes, used by all layers and comparisons.

A message has a header and a body. Addresses are IPv4, numbers have eight bytes. The headers of the transport
(TCP, UDP, IP) are not included.
"""

from __future__ import annotations

HEADER = 12  # a message without its body
LINK = 10  # address, port and age of a peer
DESCRIPTOR = 18  # the same with a sequence ID; the peer's box is added
RANGE = 16  # both ends of one attribute's range
VALUE = 8  # one attribute of an event
CONTENT = 256  # the content of an event, besides its point
NAME = 8  # a process, a topic, a key or a number
ACK = HEADER  # an acknowledgement
MAX_DATA = 1 << 16  # the largest content of an event of a live peer


def event_bytes(d: int) -> int:
    """Bytes of a message that carries an event with d attributes.

    Examples
    --------
    >>> event_bytes(3)
    292
    """
    return HEADER + VALUE * d + CONTENT
