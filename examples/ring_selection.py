"""Ring selection on plain arrays (Figure 3 of Sub-2-Sub): which of these candidates does a peer need?

For every point of its subscription, the nearest successor and the nearest predecessor that contain the point;
no other candidate is selected.
"""

from __future__ import annotations

import numpy as np

from sub2sub import select_ring


def main() -> None:
    """Select among 500 candidates."""
    rng = np.random.default_rng(1)
    low = rng.random((500, 2)) * 0.8
    high = low + rng.random((500, 2)) * 0.2  # 500 candidates with two attributes, closed ranges
    ids = rng.permutation(501)  # sequence IDs: theirs, and mine

    ring = select_ring([0.4, 0.4], [0.6, 0.6], int(ids[-1]), low, high, ids[:-1])
    needed = np.union1d(ring.successors, ring.predecessors)
    print(f"{needed.size} of 500 candidates are ring neighbours")

    # Check one point: of the candidates that contain it, the one with the next ID is selected.
    point = np.array([0.47, 0.55])
    wanting = np.flatnonzero(((low <= point) & (point <= high)).all(axis=1))
    nearest = wanting[np.argmin((ids[wanting] - ids[-1]) % 501)]
    print(f"the successor at {point.tolist()} is among them: {nearest in ring.successors}")


if __name__ == "__main__":
    main()
