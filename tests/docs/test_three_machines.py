"""The commands of "Run it on three machines" in docs/live.md, as they stand, on three loopback addresses."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "live.md").read_text()
SECTION = PAGE.partition("## Run it on three machines")[2].partition("\n## ")[0]
LINES = [line for block in re.findall(r"```\n(.*?)```", SECTION, re.DOTALL) for line in block.splitlines()]
NODE, MOST = re.compile(r"sub2sub live peer .*--tls swarm/(\w+)"), 120.0


def wait_for(holds: Callable[[], bool], *logs: Path) -> None:
    deadline = time.monotonic() + MOST
    while not holds():
        assert time.monotonic() < deadline, [log.read_text() for log in logs]
        time.sleep(0.2)


def test_the_page_runs_as_it_stands(tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("no curl")
    ours = [tmp_path / f"{name}.log" for name in ("alice", "bob")]
    printed: dict[str, str] = {}

    def run(line: str) -> str:
        done = subprocess.run(here(line), shell=True, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, (line, done.stderr)
        return done.stdout

    def events(log: Path) -> list[str]:
        return [json.loads(line)["data"] for line in log.with_suffix(".out").read_text().splitlines()]

    with ExitStack() as nodes:
        for line in LINES:
            if line.startswith("pip"):
                continue
            if "--publish" in line:
                wait_for(lambda: "127.0.0.3" in run("sub2sub live members alice.sock"), *ours)
            if (node := NODE.match(line)) is None:
                printed[line] = run(line)
            else:
                out, log = (tmp_path / f"{node[1]}.{kind}" for kind in ("out", "log"))
                words = f"exec env {here(line)}"
                with out.open("w") as to, log.open("w") as errors:
                    started = subprocess.Popen(words, shell=True, cwd=tmp_path, stdout=to, stderr=errors)
                nodes.callback(started.wait, MOST)
                nodes.callback(started.terminate)
                wait_for(lambda log=log: "listening" in log.read_text(), log)  # type: ignore[misc]
            if "--publish" in line:
                wait_for(lambda: all(map(events, ours)), *ours)
        assert [events(log) for log in ours] == [["hello"], ["hello"]]
    assert all('"text": "left"' in log.read_text() for log in ours)
    assert '"address": "127.0.0.3:7000"' in printed["sub2sub live members alice.sock"]
    assert '"delivered": 1' in printed["sub2sub live status alice.sock"]
    assert "sub2sub_delivered_total 1" in printed["curl -s http://127.0.0.1:9100/metrics"]
    assert not (tmp_path / "swarm" / "carol").exists()


def here(line: str) -> str:
    return line.replace("sub2sub live", f"PYTHONPATH={ROOT} {sys.executable} -m sub2sub live")
