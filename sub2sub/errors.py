"""The one exception a user's input can cause."""

from __future__ import annotations

__all__ = ["InputError"]


class InputError(ValueError):
    """Input that cannot be used: one line naming the field, the row if there is one, and what was expected.

    The command line prints it without a traceback and exits with 2.
    """
