"""The process that Spark forks Python workers from: it loads what they need, once for all of them."""

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
    loads.counted(*loads.divided(*[subscribers.astype(np.int32)] * 2, 0, 1)[1:])


if __name__ == "__main__":
    warm()
    manager()
