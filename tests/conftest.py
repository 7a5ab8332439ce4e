"""Property tests assert no durations: kernels compile on first use, and machines are busy."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("sub2sub", deadline=None)
settings.load_profile("sub2sub")
