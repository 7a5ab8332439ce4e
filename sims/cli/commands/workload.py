"""Generate, import, match and describe workloads, in process and on Spark."""

from __future__ import annotations

from workloads.cli.group import cli as command

__all__ = ["command"]
