"""Machines as network namespaces: each with an address of its own, connected by a switch and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import pytest


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def machines(addresses: Sequence[str]) -> Iterator[list[str]]:
    """The names of namespaces with these addresses in one network; the test is skipped without root."""
    if shutil.which("ip") is None:
        pytest.skip("no `ip` command: network namespaces need iproute2")
    names = [f"s2s-{os.getpid()}-{number}" for number in range(len(addresses) + 1)]
    switch = names[-1]
    with ExitStack() as undo:
        try:
            for name in names:
                ip("netns", "add", name)
                undo.callback(subprocess.run, ["ip", "netns", "del", name], capture_output=True)
            ip("-n", switch, "link", "add", "switch", "type", "bridge")
            ip("-n", switch, "link", "set", "switch", "up")
            for number, (name, address) in enumerate(zip(names, addresses, strict=False)):
                port = f"port{number}"
                other = ["type", "veth", "peer", "name", port, "netns", switch]
                ip("-n", name, "link", "add", "wire", *other)
                ip("-n", switch, "link", "set", port, "master", "switch", "up")
                ip("-n", name, "addr", "add", f"{address}/24", "dev", "wire")
                for device in ("wire", "lo"):
                    ip("-n", name, "link", "set", device, "up")
        except subprocess.CalledProcessError as failure:
            reason = failure.stderr.decode().strip()
            pytest.skip(f"no network namespaces here (they need root, veth and bridge): {reason}")
        yield names[:-1]


def inside(namespace: str, command: Sequence[object], **options: object) -> subprocess.Popen[str]:
    """A process on such a machine."""
    words = ["ip", "netns", "exec", namespace, *map(str, command)]
    return subprocess.Popen(words, text=True, **options)  # type: ignore[call-overload, no-any-return]
