"""Run a grid of settings times seeds, on all cores or on Spark."""

from __future__ import annotations
