"""Labels: coordinates as integers in the same order, which is all that box algebra needs.

Along each attribute the ends of all boxes get 32-bit integers in the same order; equal ends get the same
label. Intersection, subtraction and cover give the same results on labels as on coordinates, in half the
memory and half the time. Labels leave gaps, so that new ends can be labelled later; when a gap is used up,
all ends get new labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.memory import ATTRIBUTES, aligned, padded

_MOST = 2**30  # so that differences of labels do not overflow


class Labels:
    """Labels of the ends of a population's boxes.

    Parameters
    ----------
    boxes : (n, 2, >= d) float64
        Half-open boxes.
    d : int
        Number of attributes.

    Attributes
    ----------
    boxes : (n, 2, width) int32
        The same boxes in labels, padded to a multiple of four attributes; in the padding all boxes overlap.

    Examples
    --------
    >>> labels = Labels(np.array([[[0.0], [0.5]], [[0.25], [0.5]]]), 1)
    >>> bool(labels.boxes[0, 0, 0] < labels.boxes[1, 0, 0] < labels.boxes[0, 1, 0] == labels.boxes[1, 1, 0])
    True
    """

    def __init__(self, boxes: NDArray[np.float64], d: int) -> None:
        self.d = d
        self.boxes = aligned((boxes.shape[0], 2, padded(d, ATTRIBUTES)), 0, np.int32)
        self.boxes[:, 1] = 1
        self._ends: list[NDArray[np.float64]] = []
        self._labels: list[NDArray[np.int32]] = []
        self._label_all(boxes)

    def _label_all(self, boxes: NDArray[np.float64]) -> None:
        self._ends, self._labels = [], []
        for k in range(self.d):
            ends, places = np.unique(boxes[:, :, k], return_inverse=True)
            spread = max(_MOST // max(ends.size, 1), 1)
            self.boxes[:, :, k] = places.reshape(-1, 2) * spread
            self._ends.append(ends)
            self._labels.append((np.arange(ends.size) * spread).astype(np.int32))

    def update(
        self, boxes: NDArray[np.float64], peers: NDArray[np.int64]
    ) -> list[tuple[NDArray[np.int32], NDArray[np.int32]]]:
        """Label the boxes of `peers`, which may have changed.

        Returns an empty list if all other labels stay the same. Otherwise, for each attribute: the old labels
        and, for each, the new one.
        """
        for k in range(self.d):
            ends = np.unique(boxes[peers, :, k])
            known, labels = self._ends[k], self._labels[k]
            after = np.searchsorted(known, ends)
            new = ends[(after == known.size) | (known[np.minimum(after, known.size - 1)] != ends)]
            while new.size:
                # One new end for each gap in one pass; other ends in the same gap follow in the next passes.
                after, chosen = np.unique(np.searchsorted(known, new), return_index=True)
                before = np.where(after > 0, labels[after - 1].astype(np.int64), -2)
                beyond = np.where(
                    after < known.size, labels[np.minimum(after, known.size - 1)].astype(np.int64), _MOST
                )
                between = (before + beyond) >> 1
                if (between <= before).any() or (between < 0).any():
                    return self._label_again(boxes)
                known = np.insert(known, after, new[chosen])
                labels = np.insert(labels, after, between.astype(np.int32))
                new = np.delete(new, chosen)
            self._ends[k], self._labels[k] = known, labels
            self.boxes[peers, :, k] = labels[np.searchsorted(known, boxes[peers, :, k])]
        return []

    def grow(self, boxes: NDArray[np.float64]) -> None:
        """Label all boxes of a population that has grown; new boxes have the ends of old ones."""
        grown = aligned((len(boxes), *self.boxes.shape[1:]), 0, np.int32)
        grown[:, 1] = 1
        for k in range(self.d):
            grown[:, :, k] = self._labels[k][np.searchsorted(self._ends[k], boxes[:, :, k])]
        self.boxes = grown

    def arrays(self) -> dict[str, NDArray[Any]]:
        """State for a checkpoint: labels depend on the order in which boxes were added."""
        return {
            "label_boxes": self.boxes,
            "label_ends": np.concatenate(self._ends),
            "label_numbers": np.concatenate(self._labels),
            "label_counts": np.array([ends.size for ends in self._ends]),
        }

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """State from a checkpoint."""
        cuts = np.cumsum(arrays["label_counts"])[:-1]
        self.boxes[...] = arrays["label_boxes"]
        self._ends = [np.array(ends) for ends in np.split(arrays["label_ends"], cuts)]
        self._labels = [np.array(labels) for labels in np.split(arrays["label_numbers"], cuts)]

    def _label_again(self, boxes: NDArray[np.float64]) -> list[tuple[NDArray[np.int32], NDArray[np.int32]]]:
        old_ends, old_labels = self._ends, self._labels
        self._label_all(boxes)
        moved = []
        for k in range(self.d):
            # An old end that no box has any more gets the label of the nearest end below it.
            below = np.searchsorted(self._ends[k], old_ends[k], side="right") - 1
            moved.append((old_labels[k], self._labels[k][np.maximum(below, 0)]))
        return moved
