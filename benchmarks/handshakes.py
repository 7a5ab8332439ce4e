"""A flood of broken handshakes against a node, while members join and publish.

    PYTHONPATH=. python benchmarks/handshakes.py --connections 25000

Strangers connect from eight addresses, a few hundred at a time: some speak plain text, some have no
certificate, some a certificate of another authority, some stop in the middle, some say nothing. Members with
a certificate join and publish before and meanwhile. Printed is how long that took them, the frames that the
node has parsed, and what it used.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import resource
import ssl
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from sub2sub.live import Node, Tls, run
from sub2sub.live.authority import Authority

AT_ONCE, WAITS = 400, 20.0
ALONE = 20  # times that members join and publish before the flood
KINDS = ("plain", "no certificate", "another authority", "half", "silent")


def be_attacked(tls: Tls, pipe: Connection) -> None:
    async def serve() -> None:
        async with Node(1, tls=tls) as node:
            await node.subscribe([0.0], [1.0])
            pipe.send(node.address)
            while not pipe.poll():
                await asyncio.sleep(0.05)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            pipe.send((time.process_time(), memory, dict(node.connections.counts)))

    run(serve())


def flood(address: tuple[str, int], connections: int, theirs: Tls, pipe: Connection) -> None:
    """Begin so many handshakes, none of which can succeed; tell how many of each kind there were."""
    nobody, (_, other) = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), theirs.contexts()
    nobody.check_hostname, nobody.verify_mode = False, ssl.CERT_NONE
    hello = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        nobody.wrap_bio(ssl.MemoryBIO(), hello).do_handshake()
    first = hello.read()
    left, made = list(range(connections)), Counter[str]()

    async def stranger(number: int) -> None:
        kind = KINDS[number % len(KINDS)]
        secure = {"no certificate": nobody, "another authority": other}.get(kind)
        with contextlib.suppress(OSError, EOFError, TimeoutError):
            async with asyncio.timeout(WAITS):
                made[kind] += 1
                host = f"127.0.0.{2 + number % 8}"
                reader, writer = await asyncio.open_connection(*address, ssl=secure, local_addr=(host, 0))
                try:
                    if kind != "silent":
                        writer.write(first if kind == "half" else b"\x00\x00\x00\x05hello")
                    await reader.read()
                finally:
                    writer.transport.abort()

    async def client() -> None:
        while left:
            await stranger(left.pop())

    async def attack() -> None:
        await asyncio.gather(*(client() for _ in range(AT_ONCE)))

    asyncio.run(attack())
    pipe.send(dict(made))


async def be_members(tls: Tls, address: tuple[str, int], is_over: Callable[[int], bool]) -> list[float]:
    """Join, publish and leave until it is over; return the seconds that each time took, sorted."""
    taken: list[float] = []
    while not is_over(len(taken)):
        began = time.monotonic()
        try:
            async with Node(1, contact=address, tls=tls) as node:
                done = (await node.publish([0.5], b"hello")).outcome == "taken"
                took = time.monotonic() - began
        except ConnectionError:
            done = False
        taken.append(took if done else float("inf"))
        await asyncio.sleep(0.1)
    return sorted(taken)


def measure(connections: int) -> dict[str, object]:
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        swarm = Authority.create(Path(folder) / "swarm")
        ours, member = (Tls(swarm.issue(name)) for name in ("alice", "bob"))
        theirs = Authority.create(Path(folder) / "others").issue("mallory")
        (theirs / "authority.pem").write_bytes((swarm.folder / "authority.pem").read_bytes())
        (theirs / "revoked.pem").write_bytes((swarm.folder / "revoked.pem").read_bytes())
        node, its_end = spawn.Pipe()
        attacked = spawn.Process(target=be_attacked, args=(ours, its_end))
        attacked.start()
        address = node.recv()
        alone = run(be_members(member, address, lambda times: times == ALONE))
        attack, other_end = spawn.Pipe()
        attacker = spawn.Process(target=flood, args=(address, connections, Tls(theirs), other_end))
        began = time.monotonic()
        attacker.start()
        taken = run(be_members(member, address, lambda times: attack.poll()))
        strangers, seconds = attack.recv(), time.monotonic() - began
        node.send("end")
        processor, memory, counts = node.recv()
        for process in (attacked, attacker):
            process.join()
    return {
        "strangers": strangers, "seconds": round(seconds, 1), "members joined and published": len(taken),
        "median and most seconds": _spread(taken), "before the flood": _spread(alone),
        "failed": taken.count(float("inf")), "processor seconds": round(processor, 1),
        "MB": round(memory), "load": os.getloadavg()[0], "counts": counts,
    }  # fmt: skip


def _spread(taken: list[float]) -> tuple[float, float]:
    return round(taken[len(taken) // 2], 3), round(taken[-1], 3)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--connections", type=int, default=25_000)
    print(json.dumps(measure(parser.parse_args().connections), indent=2))
