"""Run a grid of settings times seeds, one run per Spark task."""

from __future__ import annotations

from workloads.cli.group import sweep as command

__all__ = ["command"]
