"""The network of the example's compose file, rebuilt with namespaces: its commands, files and addresses."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from sims.config.shipped import EXAMPLES
from sub2sub.live.authority import Authority
from tests.namespaces import inside, machines

ROOT, EXAMPLE = Path(__file__).parents[3], EXAMPLES / "swarm"
SERVICES: dict[str, Any] = yaml.safe_load((EXAMPLE / "compose.yaml").read_text())["services"]
MOST = 120.0  # seconds, on a machine that is busy with other things
STRANGER = "10.213.80.66"


def address_of(service: dict[str, Any]) -> str:
    (network,) = service["networks"].values()
    return str(network["ipv4_address"])


class Container:
    """What a service of the compose file is, without Docker: its files, its command, its address."""

    def __init__(self, name: str, namespace: str, example: Path, home: Path) -> None:
        service = SERVICES[name]
        for volume in service["volumes"]:
            source, target, _ = volume.split(":")
            assert target.startswith("/etc/sub2sub/")
            there = home / name / Path(target).relative_to("/etc/sub2sub")
            there.parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (example / source).is_dir() else shutil.copy
            copy(example / source, there)
        words = shlex.split(service["command"].replace("/etc/sub2sub", str(home / name)))
        self.socket = home / f"{name}.sock"
        pipe = subprocess.PIPE if service.get("stdin_open") else subprocess.DEVNULL
        self.errors = (home / f"{name}.log").open("w+")
        self.process = inside(
            namespace,
            [sys.executable, "-m", "sub2sub", "live", *words, "--set", f"control={self.socket}"],
            stdin=pipe, stdout=subprocess.PIPE, stderr=self.errors, cwd=ROOT,
        )  # fmt: skip
        self.printed: list[dict[str, Any]] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.printed.append(json.loads(line))

    def log(self) -> str:
        return Path(self.errors.name).read_text()

    def say(self, event: dict[str, Any]) -> None:
        assert self.process.stdin
        print(json.dumps(event), file=self.process.stdin, flush=True)

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(MOST)


def ask(page: str, socket: Path) -> list[Any]:
    command = [sys.executable, "-m", "sub2sub", "live", page, str(socket)]
    out = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return [json.loads(out)] if page == "status" else [json.loads(line) for line in out.splitlines()]


def wait_for(holds: Any, *containers: Container) -> None:
    deadline = time.monotonic() + MOST
    while not holds():
        assert time.monotonic() < deadline, [each.log() for each in containers]
        time.sleep(0.2)


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of the example, with the authority and the certificates that its README has made."""
    copied = Path(shutil.copytree(EXAMPLE, tmp_path / "swarm"))
    commands = [
        shlex.split(line)
        for line in (EXAMPLE / "README.md").read_text().splitlines()
        if line.startswith("    sub2sub live ca")
    ]
    assert len(commands) == 1 + len(SERVICES)
    for words in commands:
        subprocess.run([sys.executable, "-m", *words], check=True, cwd=tmp_path, env=environment())
    return copied


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture
def network() -> Iterator[list[str]]:
    with machines([*map(address_of, SERVICES.values()), STRANGER]) as names:
        yield names


def test_one_publishes_two_receive_and_a_stranger_is_refused(
    example: Path, network: list[str], tmp_path: Path
) -> None:
    with ExitStack() as running:
        nodes = {}
        for name, namespace in zip(SERVICES, network, strict=False):
            nodes[name] = Container(name, namespace, example, tmp_path / "machines")
            running.callback(nodes[name].process.kill)
        alice, bob, carol = nodes.values()
        wait_for(lambda: all("subscribed" in each.log() for each in (alice, bob)), alice, bob)
        wait_for(lambda: "listening" in carol.log(), carol)
        wait_for(lambda: {each["address"] for each in ask("members", alice.socket)} == {"10.213.80.3:7000"})
        carol.say({"point": [0.2], "data": "for both"})
        carol.say({"point": [0.7], "data": "for bob"})
        wait_for(lambda: len(bob.printed) == 2 and len(alice.printed) == 1, alice, bob, carol)
        assert [each["data"] for each in alice.printed] == ["for both"]
        assert {each["data"] for each in bob.printed} == {"for both", "for bob"}

        others = Authority.create(tmp_path / "others" / "swarm").issue("mallory")
        contact = f"{address_of(SERVICES['alice'])}:7000"
        stranger = inside(
            network[-1],
            [sys.executable, "-m", "sub2sub", "live", "peer", "--listen", f"{STRANGER}:7000", "--tls", others,
             "--contact", contact, "--subscribe", "0:1"],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        running.callback(stranger.kill)
        assert stranger.stderr
        assert any("nobody answers" in line for line in stranger.stderr)
        (status,) = ask("status", alice.socket)
        assert status["counts"]["handshakes failed"] > 0
        assert status["certificate until"]
        carol.say({"point": [0.3], "data": "again"})
        wait_for(lambda: len(bob.printed) == 3 and len(alice.printed) == 2, alice, bob, carol)
        assert [each.stop() for each in nodes.values()] == [0, 0, 0]
        stranger.kill()
        assert stranger.stdout
        assert stranger.stdout.read() == ""
        assert all(each.log().splitlines()[-1].endswith('"text": "left"}') for each in nodes.values())
        assert not alice.socket.exists()


def test_without_tls_a_node_refuses_to_listen_there(network: list[str]) -> None:
    command = [sys.executable, "-m", "sub2sub", "live", "peer", "--listen", f"{STRANGER}:7000"]
    refused = inside(network[-1], command, cwd=ROOT, stderr=subprocess.PIPE)
    assert refused.stderr
    assert refused.stderr.read().splitlines() == [
        f"sub2sub: listen: expected TLS at {STRANGER}, which is not a loopback address "
        "(`sub2sub live ca` makes certificates); insecure lets everybody in"
    ]
    assert refused.wait(MOST) == 2
    with inside(network[-1], [*command, "--insecure"], cwd=ROOT, stderr=subprocess.PIPE) as warned:
        assert warned.stderr
        assert '"level": "warning", "text": "insecure' in warned.stderr.readline()
        warned.terminate()
