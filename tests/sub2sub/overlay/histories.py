"""Random histories for the link layers: boxes, settings, and the faults of each cycle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.views import peer_of, stamp_of
from sub2sub.peers.settings import CyclonSettings, Tie, VicinitySettings
from tests.sub2sub.geometry import naive
from tests.sub2sub.overlay.engine import Row


@dataclass
class History:
    """A population that starts with one contact per peer, with crashes, partitions and loss."""

    n: int
    seed: int
    loss: float
    crash_at: int
    cut_at: int
    join_at: int
    cyclon: CyclonSettings
    vicinity: VicinitySettings
    d: int = 1
    grid: bool = True

    def boxes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Half-open boxes; on a grid they touch, nest and repeat."""
        rng = np.random.default_rng(self.seed)
        lows = rng.integers(0, 6, (self.n, self.d)) / 6.0 if self.grid else rng.random((self.n, self.d))
        widths = rng.integers(1, 4, (self.n, self.d)) / 6.0 if self.grid else rng.random((self.n, self.d)) / 2
        return lows, lows + widths

    def naive_boxes(self) -> list[naive.Box]:
        ends = np.stack(self.boxes(), axis=2).tolist()
        return [[(low, high) for low, high in box] for box in ends]

    def contacts(self) -> NDArray[np.int64]:
        """One for each peer, never itself; -1 for the first."""
        rng = np.random.default_rng(self.seed + 1)
        contacts = (rng.random(self.n) * np.arange(self.n)).astype(np.int64)
        contacts[0] = -1
        return contacts

    def meeting(self, cycle: int) -> tuple[int, NDArray[np.int64]]:
        """A newcomer, and others that answer it."""
        newcomer, *others = np.random.default_rng([self.seed, cycle]).permutation(self.n)[:6]
        return int(newcomer), np.array(others, np.int64)

    def apply_faults(self, cycle: int, network: Network) -> NDArray[np.int64]:
        """Change the network as the history says; the peers that join anew in this cycle."""
        some = np.arange(self.n) % 4 == 1
        network.loss = self.loss
        if cycle == self.crash_at:
            network.alive[some] = 0
        network.group[:] = np.arange(self.n) % 2 if cycle in (self.cut_at, self.cut_at + 1) else 0
        if cycle == self.join_at:
            network.alive[some] = 1
            return np.flatnonzero(some)
        return np.empty(0, np.int64)


@st.composite
def histories(draw: st.DrawFn, most: int = 24, ties: tuple[Tie, ...] = tuple(Tie)) -> History:
    view = draw(st.integers(1, 10))
    return History(
        n=draw(st.integers(2, most)),
        seed=draw(st.integers(0, 2**32)),
        loss=draw(st.sampled_from([0.0, 0.0, 0.2])),
        crash_at=draw(st.integers(2, 12)),
        cut_at=draw(st.integers(2, 12)),
        join_at=draw(st.integers(4, 14)),
        cyclon=CyclonSettings(
            view,
            draw(st.integers(1, view)),
            retry=draw(st.sampled_from([0, 0, 3])),
            tries=draw(st.integers(1, 3)),
        ),
        vicinity=VicinitySettings(
            view=draw(st.integers(1, 10)),
            shuffle=draw(st.integers(1, 12)),
            tie=draw(st.sampled_from(ties)),
            max_age=draw(st.sampled_from([0, 0, 3, 6])),
        ),
        d=draw(st.sampled_from([1, 3, 5])),
        grid=draw(st.booleans()),
    )


def links_of(row: NDArray[np.int64], size: int) -> Row:
    """The links of a packed row, as numbers and stamps."""
    return [(int(peer_of(word)), int(stamp_of(word))) for word in row[:size]]
