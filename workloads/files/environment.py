"""Versions and machine of a run, for its manifest."""

from __future__ import annotations

import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from sub2sub.version import VERSION

PACKAGES = ("numpy", "numba", "scipy", "networkx", "pyarrow", "pandas", "matplotlib", "pyspark")


def versions() -> dict[str, str]:
    """Versions of Python and of the installed packages that results depend on.

    In a git checkout also the commit, with a + if files were changed since.

    Examples
    --------
    >>> {"python", "sub2sub", "numpy"} <= versions().keys()
    True
    """
    found = {"python": platform.python_version(), "sub2sub": VERSION}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    commit = _commit()
    return {**found, "commit": commit} if commit else found


@cache
def _commit() -> str | None:
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None
    try:
        described = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--abbrev=10", "--exclude=*", "--dirty=+"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return None
    return described.stdout.strip()


def machine() -> dict[str, str | int | float]:
    """Operating system, processor, cores this process may use, and memory in GB if it is known."""
    size = memory()
    known: dict[str, float] = {"memory_gb": round(size / 1e9, 1)} if size else {}
    return {"system": platform.platform(), "processor": _processor(), "cores": cores(), **known}


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory() -> int:
    """Bytes of memory of this machine; 0 if the system does not report it."""
    names = getattr(os, "sysconf_names", {})
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if "SC_PHYS_PAGES" in names else 0


def _processor() -> str:
    info = Path("/proc/cpuinfo")  # platform.processor() is empty on most Linux systems
    if info.exists():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
