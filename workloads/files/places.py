"""Names of files that users choose."""

from __future__ import annotations

from sub2sub.errors import InputError

LONGEST = 200  # bytes of a file's name


def file_name(name: str, field: str = "name") -> str:
    """Return a name if it is a valid file name; refuse slashes, leading dots and long names.

    Examples
    --------
    >>> file_name("hit ratio")
    'hit ratio'
    >>> file_name("../../x")
    Traceback (most recent call last):
    sub2sub.errors.InputError: name: expected a name without slashes or a leading dot, got '../../x'
    """
    if not name or name.startswith(".") or not name.isprintable() or set(name) & set("/\\:"):
        raise InputError(f"{field}: expected a name without slashes or a leading dot, got {name!r}")
    if len(name.encode()) > LONGEST:  # most file systems allow 255 bytes, and a temporary name adds some
        raise InputError(f"{field}: expected at most {LONGEST} bytes, got {len(name.encode())}")
    return name
