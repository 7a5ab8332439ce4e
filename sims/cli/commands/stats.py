"""Describe many runs, seeds or a sweep, or a workload, with confidence intervals."""

from __future__ import annotations

from workloads.cli.stats import stats as command

__all__ = ["command"]
