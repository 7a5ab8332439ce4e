"""The process that Spark forks Python workers from: it loads what they need, once for all of them."""

import gc
import importlib

import numpy as np
import pandas as pandas
import pyarrow as pyarrow
from pyspark.daemon import manager

from workloads.match.bitmaps import Bitmaps


def warm() -> None:
    """Call the kernels, so that no worker has to load them."""
    ends, subscribers = np.zeros((2, 1)), np.zeros(2, np.int64)
    bitmaps = Bitmaps(ends, ends + 1, ends)
    bitmaps.count()
    bitmaps.list(subscribers)
    loads = importlib.import_module("workloads.frames.loads")  # of its name there is a function, too
    loads.arc_loads(ends, ends + 1, ends)


if __name__ == "__main__":
    warm()
    gc.freeze()  # workers collect garbage after each task, and would look through numba every time
    manager()
