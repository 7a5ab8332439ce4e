"""The version, in the one place that packaging, the command line and programs read."""

from __future__ import annotations

VERSION = "0.1.0"
DISTRIBUTION = "sub2sub-overlays"
"""The name to install: another project has the name `sub2sub` on the package index."""
