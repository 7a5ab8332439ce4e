"""Arrays inside a page: bytes transposed, deflated, in base64.

All first bytes of the values come first, then all second bytes, and so on. Deflate then finds the repetition
in the high bytes, and peer numbers shrink to about their entropy. `assets/view/data.js` unpacks the arrays.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sub2sub.overlay.explorer import ARRAY_TYPES


def smallest(values: NDArray[Any]) -> NDArray[Any]:
    """Convert non-negative integers to the smallest type that holds them.

    Examples
    --------
    >>> smallest(np.array([3, 255])).dtype, smallest(np.array([3, 256])).dtype
    (dtype('uint8'), dtype('uint16'))
    """
    top = int(values.max(initial=0))
    return values.astype(np.uint8 if top < 1 << 8 else np.uint16 if top < 1 << 16 else np.uint32)


def as_json(value: Any) -> Markup:
    """Return a value as JSON for a script element, in which nothing can end the element.

    Examples
    --------
    >>> print(as_json({"name": "</script>"}))
    {"name":"\\u003c/script>"}
    """
    return Markup(json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"))


class Packer:
    """Collects arrays for a page; equal ones are stored once.

    Examples
    --------
    >>> packer = Packer()
    >>> packer.add(np.arange(5, dtype=np.uint16)) == packer.add(np.arange(5, dtype=np.uint16))
    True
    >>> str(packer.html()).count("<script")
    1
    """

    def __init__(self) -> None:
        self._blobs: dict[str, str] = {}

    def add(self, values: NDArray[Any]) -> dict[str, Any]:
        """Add an array; return the reference for the page's function `unpack`."""
        little = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"), copy=False)).ravel()
        planes = little.view(np.uint8).reshape(little.size, little.itemsize).T
        packed = zlib.compress(planes.tobytes(), 6)
        name = f"a{hashlib.sha256(packed).hexdigest()[:16]}"
        self._blobs.setdefault(name, base64.b64encode(packed).decode())
        return {"at": name, "type": ARRAY_TYPES[little.dtype.str[1:]], "size": little.size}

    def bytes_of(self, names: set[str]) -> int:
        """Return how many bytes some of the arrays add to the page."""
        return sum(len(self._blobs[name]) for name in names)

    def html(self, names: set[str] | None = None) -> Markup:
        """Return the elements that contain the arrays, or some of them."""
        line = Markup('<script type="text/plain" id="{}">{}</script>')
        chosen = [(n, blob) for n, blob in self._blobs.items() if names is None or n in names]
        return Markup("\n").join(line.format(name, blob) for name, blob in chosen)
