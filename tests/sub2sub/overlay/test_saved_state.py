"""The attributes in `saved` are restored from a checkpoint, also in other references to the same arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.layer import Layer, LayerBase, SavedState
from sub2sub.compiled.common.network import Network


class _Rows(NamedTuple):
    known: NDArray[np.int64]
    size: NDArray[np.int64]


class _Part(SavedState):
    saved = ("age",)

    def __init__(self, age: int) -> None:
        self.age = np.array([age])


class _Whole(LayerBase):
    name, saved = "whole", ("rows", "joining", "part")

    def __init__(self, value: int, joining: int) -> None:
        self.rows = _Rows(np.full((2, 3), value), np.full(2, value))
        self.joining, self.part = np.arange(joining), _Part(value)

    def step(self, cycle: int, network: Network) -> dict[str, int]:
        return {"messages": 0}


def test_arrays_tuples_and_parts_are_saved_by_name() -> None:
    assert list(_Whole(7, 1).arrays()) == ["known", "size", "joining", "part age"]


def test_all_comes_back_whatever_was_there_before() -> None:
    before, after = _Whole(7, joining=4), _Whole(0, joining=1)
    after.load({name: array.copy() for name, array in before.arrays().items()})
    for name, array in before.arrays().items():
        np.testing.assert_array_equal(after.arrays()[name], array, err_msg=name)


def test_an_array_that_fits_is_filled_in_place_and_a_checkpoint_is_not_shared() -> None:
    saved = {name: array.copy() for name, array in _Whole(7, joining=4).arrays().items()}
    layer = _Whole(0, joining=1)
    seen_by_others = layer.rows.size
    layer.load(saved)
    assert seen_by_others.tolist() == [7, 7]
    layer.joining[:] = -1
    assert saved["joining"].tolist() == [0, 1, 2, 3]


def test_a_layer_that_only_steps_is_a_layer() -> None:
    layer = _Whole(1, 1)
    assert isinstance(layer, Layer)
    assert [column.size for column in layer.links()] == [0, 0, 0]
