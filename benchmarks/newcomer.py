"""How long a newcomer waits: from `pip install` in an empty folder to an event on a ring of a table.

    python benchmarks/newcomer.py            needs a package index that pip knows, and a Chromium
    python benchmarks/newcomer.py p.png      and keeps the picture

The wheel is built first, which is not counted. Then a new environment, an empty folder, an empty cache of
kernels, and the commands of README's "Your own data" up to the page, which a headless Chromium opens.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    (sub2sub (?:example|run|report) .*?)(?:  +#.*)?$", README, re.MULTILINE)
BROWSER = "chromium --headless --no-sandbox --window-size=1200,1200 --timeout=4000 --screenshot={} {}"


def build(folder: Path) -> Path:
    """Build the wheel from a copy of the tree, which stays as it is."""
    source = folder / "source"
    for package in ("sub2sub", "hierarchy", "workloads", "sims"):
        shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "-w", str(folder), str(source)], check=True)
    return next(folder.glob("*.whl"))


def main() -> None:
    """Run all steps, and print how long each took."""
    picture = Path(sys.argv[1] if len(sys.argv) > 1 else "first.png").resolve()
    with tempfile.TemporaryDirectory() as made:
        wheel, empty, home = build(Path(made)), Path(made) / "empty", Path(made) / "home"
        empty.mkdir()
        venv.create(home, with_pip=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        here = {
            "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "XDG_CACHE_HOME": str(home / "cache"),
        }
        steps = [
            f"pip install -q '{wheel}[sims]'", *COMMANDS,
            BROWSER.format(picture, (empty / "on-my-data" / "report.html").as_uri()),
        ]  # fmt: skip
        began = time.monotonic()
        for step in steps:
            before, processor = time.monotonic(), os.times()
            subprocess.run(
                ["sh", "-c", step], cwd=empty, env=kept | here, check=True, stdout=subprocess.DEVNULL
            )
            used = sum(os.times()[2:4]) - sum(processor[2:4])
            shown = step.replace(str(wheel.parent) + "/", "").split(" --")[0]
            print(f"{time.monotonic() - before:6.1f} s, {used:5.1f} of processor: {shown}", flush=True)
        print(f"{time.monotonic() - began:6.1f} s to the first picture: {picture}")


if __name__ == "__main__":
    main()
