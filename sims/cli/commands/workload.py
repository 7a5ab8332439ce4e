"""Generate, import, match and describe workloads, in process and on Spark."""

from __future__ import annotations
