"""The process that Spark forks Python workers from: it loads what they import, once for all of them."""

import numba as numba
import pandas as pandas
import pyarrow as pyarrow
from pyspark.daemon import manager

from workloads.match import bitmaps as bitmaps

if __name__ == "__main__":
    manager()
