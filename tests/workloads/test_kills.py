"""A step that is killed leaves its output complete or absent, and succeeds when it is started again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork")


def test_steps_killed_at_any_change_of_the_file_system(tmp_path: Path) -> None:
    script = Path(__file__).with_name("killed_steps.py")
    done = subprocess.run([sys.executable, script, tmp_path, "1", "2"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" changes") == 7
