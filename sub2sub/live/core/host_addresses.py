"""Hosts as limits count them: the owner of one IPv6 address has 2^64, so all of them are one host."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Any

PREFIX = 64  # bits of an IPv6 address that a provider gives to one customer


@lru_cache(8192)
def host_of(address: str) -> str:
    """The host that an address belongs to: of IPv6 addresses the network.

    Examples
    --------
    >>> host_of("192.0.2.1"), host_of("::ffff:192.0.2.1"), host_of("peer.example")
    ('192.0.2.1', '192.0.2.1', 'peer.example')
    >>> host_of("2001:db8::1") == host_of("2001:db8::ffff:1"), host_of("::1")
    (True, '::1')
    """
    if ":" not in address:
        return address
    try:
        numeric = ipaddress.IPv6Address(address)
    except ValueError:
        return address
    if numeric.ipv4_mapped:
        return str(numeric.ipv4_mapped)
    if numeric.is_loopback:
        return address
    return str(ipaddress.IPv6Address(int(numeric) >> PREFIX << PREFIX))


def is_numeric(address: str) -> bool:
    """Whether an address is a number, and need not be looked up."""
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return False
    return True


def is_local(peer_address: Any) -> bool:
    """Whether a peer's address is that of the machine itself, so that all others that it knows share it."""
    return is_loopback(host_of(peer_address[0])) if peer_address else False


def is_loopback(host: object) -> bool:
    """Whether a host is the machine itself: all peers of a swarm on one machine share it."""
    return isinstance(host, str) and (host.startswith("127.") or host in ("::1", "localhost"))
