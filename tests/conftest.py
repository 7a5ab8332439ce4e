"""Property tests assert no durations: kernels compile on first use, and machines are busy."""

from __future__ import annotations

import logging

from hypothesis import settings

import tests.sub2sub.kernels.uncompiled  # noqa: F401

settings.register_profile("sub2sub", deadline=None)
settings.load_profile("sub2sub")

# Tests compare what commands print, with kernels that are compiled by then or not.
logging.getLogger("sub2sub").setLevel(logging.ERROR)
