"""Compiling, or loading, every kernel a live peer needs before anybody waits for it."""

from __future__ import annotations

from functools import cache

from sub2sub.overlay.descriptors import Descriptor
from sub2sub.ring.need import Need


@cache
def warm_up() -> None:
    """Ask the questions that a live peer asks of kernels: which candidates a ring view needs."""
    own, other = (Descriptor.of(id, [0.0], [1.0]) for id in (1, 2))
    need = Need(own)
    need.offer([], [other], cap=0)
    need.first([], [other])
    need.kept([other])
