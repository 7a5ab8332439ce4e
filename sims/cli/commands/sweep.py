"""Run a grid of settings times seeds, on all cores or on Spark."""

from __future__ import annotations

from workloads.cli.group import sweep as command

__all__ = ["command"]
