"""Sequence IDs that belong to somebody: under TLS they are bound to the certificate of a node.

An ID is a digest of the certificate and of the number of the subscription at its node, whose lowest byte is
that number. So the place of a peer on the ring cannot be chosen: one certificate has few places
(`Limits.subscriptions`), anywhere, and the receiver of a message compares the sender's ID with the
certificate that was shown. What a third party tells of an ID is believed when the peer itself has answered.

Without TLS, on loopback, there is nothing to bind an ID to: IDs are random.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache


@lru_cache(4096)
def bound_id(identity: bytes, number: int) -> int:
    """The sequence ID of a subscription at the node with an identity.

    Examples
    --------
    >>> bound_id(b"certificate", 3) & 0xFF, bound_id(b"certificate", 3) == bound_id(b"another", 3)
    (3, False)
    """
    digest = hashlib.blake2b(number.to_bytes(1, "big") + identity, digest_size=7).digest()
    return int.from_bytes(digest + number.to_bytes(1, "big"), "big")


def is_bound(id: int, identity: bytes, subscriptions: int) -> bool:
    """Whether a sequence ID belongs to an identity.

    Examples
    --------
    >>> is_bound(bound_id(b"certificate", 3), b"certificate", 16), is_bound(99, b"certificate", 16)
    (True, False)
    """
    number = id & 0xFF
    return number < subscriptions and id == bound_id(identity, number)
