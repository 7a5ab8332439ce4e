"""Warming compiles what an overlay needs."""

from __future__ import annotations

import pytest

from sub2sub import warming
from sub2sub.compiled.ring import exchange
from sub2sub.compiled.vicinity import layer as vicinity


@pytest.mark.parametrize(
    ("part", "kernels"),
    [
        ("ring links", [exchange.take_turns]),
        ("everything else", [vicinity._take_turns]),
    ],
)
def test_a_part_calls_its_kernels_with_the_types_of_any_overlay(part: str, kernels: list) -> None:  # type: ignore[type-arg]
    warming.PARTS[part]()
    before = [len(kernel.signatures) for kernel in kernels]
    assert all(before)
    overlay = warming.tiny_overlay()
    overlay.step(1)
    assert [len(kernel.signatures) for kernel in kernels] == before
