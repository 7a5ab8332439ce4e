"""Identifiers of Pastry: prefixes, digits and distances (Rowstron, Druschel, Middleware 2001, Section 2)."""

from __future__ import annotations

ID_BITS = 64
AROUND = 1 << ID_BITS


def shared(a: int, b: int, bits: int) -> int:
    """Digits that two identifiers have in common at the front.

    Examples
    --------
    >>> shared(0xAB00000000000000, 0xAC00000000000000, 4)
    1
    """
    return (ID_BITS - (a ^ b).bit_length()) // bits


def digit(a: int, place: int, bits: int) -> int:
    """The digit at a place, counted from the front.

    Examples
    --------
    >>> digit(0xAB00000000000000, 1, 4)
    11
    """
    return a >> (ID_BITS - (place + 1) * bits) & ((1 << bits) - 1)


def apart(a: int, b: int) -> int:
    """Distance of two identifiers on the circle.

    Examples
    --------
    >>> apart(2**64 - 1, 1)
    2
    """
    return min((a - b) % AROUND, (b - a) % AROUND)
