"""The one figure of a workload: how long its rings are (Figure 7a of Sub-2-Sub)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workloads.tables import whole

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["draw_ring_lengths"]


def draw_ring_lengths(lengths: pa.Table, path: Path) -> None:
    """Draw the share of events whose ring is at least so long, on logarithmic axes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    length, events = lengths["length"].to_numpy(), lengths["events"].to_numpy()
    at_least = 1.0 - (np.cumsum(events) - events) / events.sum()
    with plt.rc_context({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
        shown = length > 0
        axes.step(length[shown], 100 * at_least[shown], where="pre", color="#0072B2", linewidth=1.8)
        axes.set(xscale="log", yscale="log", xlabel="ring length (matching subscribers)")
        axes.set_ylabel("events with such a ring\nor a longer one (%)")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter("{x:g}")
        axes.set_title(f"{events.sum():,} events: rings of {length.min():,} to {length.max():,} subscribers")
        axes.grid(True, which="major", color="#dddddd")
        with whole(path) as draft:
            figure.savefig(draft, dpi=150, format="png")
        plt.close(figure)
