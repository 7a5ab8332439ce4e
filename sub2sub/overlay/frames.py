"""Messages to the browser: a small JSON head, then typed arrays.

    4 bytes   length of the head, little-endian
    head      JSON, with `parts`: [name, JavaScript's array type, length] for each array
    arrays    one after the other, each from a multiple of 8 bytes on

Few of ten thousand peers change in a cycle. So an array that is needed in every cycle is sent as the places
and values that changed since the last message, if that is shorter.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.geometry.boxes import Floats

ARRAY_TYPES = {
    "u1": "Uint8Array", "u2": "Uint16Array", "u4": "Uint32Array", "u8": "BigUint64Array",
    "i4": "Int32Array", "f8": "Float64Array",
}  # fmt: skip


def frame(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return one message.

    Examples
    --------
    >>> message = frame({"kind": "cycle"}, {"alive": np.array([1, 0], np.uint8)})
    >>> len(message) % 8, message[4:28]
    (2, b'{"kind":"cycle","parts":')
    """
    parts = [(name, np.ascontiguousarray(values)) for name, values in arrays.items()]
    listed = [[name, ARRAY_TYPES[values.dtype.str[1:]], values.size] for name, values in parts]
    text = json.dumps({**head, "parts": listed}, separators=(",", ":")).encode()
    text += b" " * (-(4 + len(text)) % 8)
    pieces = [struct.pack("<I", len(text)), text]
    for k, (_, values) in enumerate(parts):
        data = values.tobytes()
        pieces += [data, b"\0" * (-len(data) % 8 if k < len(parts) - 1 else 0)]
    return b"".join(pieces)


class Changes:
    """An array that one browser has a copy of.

    Examples
    --------
    >>> seen = Changes("alive")
    >>> list(seen.to(np.ones(100, np.uint8))), list(seen.to(np.ones(100, np.uint8)))
    (['alive'], [])
    >>> seen.to(np.append(np.ones(99), 0).astype(np.uint8))
    {'alive-places': array([99], dtype=uint32), 'alive-values': array([0], dtype=uint8)}
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._sent: NDArray[Any] | None = None

    def to(self, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return the arrays to send so that the browser's copy is up to date; none if it is."""
        before, self._sent = self._sent, values.copy()
        if before is None or before.shape != values.shape:
            return {self.name: values}
        places = np.flatnonzero(before != values).astype(np.uint32)
        if places.size * 5 > values.size:
            return {self.name: values}
        if not places.size:
            return {}
        return {f"{self.name}-places": places, f"{self.name}-values": values[places]}


def domain_of(ends: list[tuple[Floats, Floats]]) -> list[list[float]]:
    """The range of each axis: [0, 1] if it contains all ranges, otherwise that of all finite ends.

    Examples
    --------
    >>> domain_of([(np.array([[0.0, 3.0]]), np.array([[0.5, np.inf]]))])
    [[0.0, 1.0], [3.0, 4.0]]
    """
    shown = []
    for k in range(ends[0][0].shape[1]):
        both = np.concatenate([side[:, k] for pair in ends for side in pair])
        finite = both[np.isfinite(both)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        if low >= 0.0 and high <= 1.0:
            low, high = 0.0, 1.0
        shown.append([low, high if high > low else low + 1.0])
    return shown
