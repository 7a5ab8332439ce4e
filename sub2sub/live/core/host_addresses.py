"""Hosts as limits count them: an owner of one IPv6 address has 2^64 of them, which count as one host."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Any

Address = tuple[str, int]
PREFIX = 64  # bits of an IPv6 address that a provider gives to one customer


@lru_cache(8192)
def host_of(address: str) -> str:
    """The host that an address belongs to; for an IPv6 address, its network.

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


def place_of(address: Address) -> object:
    """The host of a node, or the node itself if all of them are on one machine."""
    return address if is_loopback(address[0]) else host_of(address[0])


def is_numeric(address: str) -> bool:
    """Whether an address is numeric, so that no name has to be looked up."""
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return False
    return True


def is_local(peer_address: Any) -> bool:
    """Whether a peer has a loopback address, so that all peers that it knows are on the same machine."""
    return is_loopback(host_of(peer_address[0])) if peer_address else False


def is_loopback(host: object) -> bool:
    """Whether a host is a loopback address, which all peers on one machine share."""
    return isinstance(host, str) and (host.startswith("127.") or host in ("::1", "localhost"))


def on_one_machine(one: str, other: str) -> bool:
    """Whether two addresses are of one machine: the same, or both loopback addresses.

    Examples
    --------
    >>> on_one_machine("127.0.0.1", "::1"), on_one_machine("192.0.2.1", "192.0.2.2")
    (True, False)
    """
    one, other = host_of(one), host_of(other)
    return one == other or (is_loopback(one) and is_loopback(other))
