"""What attackers cost a live node: frames made to cost much to handle, and floods of TLS handshakes.

    python benchmarks/hostile.py frames
    python benchmarks/hostile.py tls --seconds 10

`frames`: an attacker that answers all probes fills a ring view with peers whose ranges are hard to tell apart
(16 attributes), and sends the largest messages there are. Printed is the most processor time that one frame,
and one tick, took.

`tls`: clients without a certificate, clients that stop in the middle of a handshake, and clients that say
nothing, from eight addresses. Printed is how long a node with a certificate needs to join and to publish in
the meantime, and what the attacked node used.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import multiprocessing
import os
import random
import resource
import ssl
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

from sub2sub.kernels.dice import Dice
from sub2sub.live import Core, Node, Tls, run
from sub2sub.live.core import messages as m
from sub2sub.live.wire import format as wire
from sub2sub.overlay.descriptors import Descriptor

D = 16
OWN = Descriptor.of(1 << 63, [0.0] * D, [1.0] * D, ("10.0.0.1", 1))
Box = tuple[list[float], list[float]]


def equal(dice: random.Random, k: int) -> Box:
    return [0.0] * D, [1.0] * D


def nested(dice: random.Random, k: int) -> Box:
    return [k * 1e-7] * D, [1.0 - k * 1e-7] * D


def touching(dice: random.Random, k: int) -> Box:
    """Slabs that touch one another, in an attribute of their own."""
    low, high = [0.0] * D, [1.0] * D
    low[k % D], high[k % D] = (k // D) / 64, (k // D + 1) / 64
    return low, high


def crossing(dice: random.Random, k: int) -> Box:
    """Narrow in two attributes, anywhere; wide in all others."""
    low, high = [0.0] * D, [1.0] * D
    for a in dice.sample(range(D), 2):
        low[a] = dice.random() * 0.5
        high[a] = low[a] + 0.5
    return low, high


def corners(dice: random.Random, k: int) -> Box:
    """Nearly everything but for one side of each attribute."""
    sides = [dice.random() < 0.5 for _ in range(D)]
    return [0.1 * dice.random() * side for side in sides], [
        1.0 - 0.1 * dice.random() * (not s) for s in sides
    ]


def halves(dice: random.Random, k: int) -> Box:
    return [0.4 * dice.random() for _ in range(D)], [0.6 + 0.4 * dice.random() for _ in range(D)]


def attack_core(box: Callable[[random.Random, int], Box], messages: int) -> tuple[float, float, int]:
    """The most that a frame and a tick cost, and the size of the view in the end."""
    dice, core = random.Random(1), Core(OWN, lambda event: None, unit=wire.UNIT)
    longest, ticks, made = 0.0, 0.0, 0

    def draws(stream: int) -> Dice:
        return Dice(dice.getrandbits(63))

    def invent(count: int) -> Iterator[Descriptor]:
        nonlocal made
        for _ in range(count):
            made += 1
            id = (OWN.id + dice.choice([-1, 1]) * dice.randrange(1, 1 << 62)) % 2**64
            yield Descriptor.of(id, *box(dice, made), (f"10.{made % 200}.{made // 200 % 200}.1", 1))

    for number in range(messages):
        ring, fed = (m.Mentions(tuple(invent(count)), (0,) * count) for count in (1024, 256))
        frame = wire.encode(wire.Frame(OWN.id, ring.peers[0].id, m.Ring(1, ring.peers[0], fed, ring)))
        began = time.process_time()
        told = wire.decode(frame[4:])
        waiting = core.receive(told.message, told.sender, draws, "10.8.0.1")
        longest = max(longest, time.process_time() - began)
        for _ in range(200):  # what is probed answers
            if not waiting:
                break
            send = waiting.pop()
            if send.to and isinstance(send.message, m.Probe):
                began = time.process_time()
                answer = m.Probed(send.message.exchange)
                waiting += core.receive(answer, send.to.id, draws, "10.8.0.1")
                longest = max(longest, time.process_time() - began)
        if number % 2:
            began = time.process_time()
            core.tick(draws)
            ticks = max(ticks, time.process_time() - began)
    return longest, ticks, len(core.ring.view)


def measure_frames(messages: int) -> None:
    attack_core(equal, 2)  # compiles
    for box in (equal, nested, touching, crossing, corners, halves):
        frame, tick, size = attack_core(box, messages)
        print(
            f"{box.__name__}: a frame {1000 * frame:.0f} ms, a tick {1000 * tick:.0f} ms, {size} neighbours"
        )


def certificates(folder: Path, name: str, authority: object) -> Tls:
    own = authority.issue_cert("127.0.0.1")  # type: ignore[attr-defined]
    paths = [folder / f"{name}-{part}.pem" for part in ("authority", "certificate", "key")]
    authority.cert_pem.write_to_path(paths[0])  # type: ignore[attr-defined]
    own.cert_chain_pems[0].write_to_path(paths[1])
    own.private_key_pem.write_to_path(paths[2])
    return Tls(*paths)


def be_attacked(tls: Tls, pipe: Connection) -> None:
    async def serve() -> None:
        async with Node(1, tls=tls) as node:
            await node.subscribe([0.0], [1.0])
            pipe.send(node.address)
            most = 0
            while not pipe.poll():
                most = max(most, len(os.listdir("/proc/self/fd")))
                await asyncio.sleep(0.05)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            pipe.send((time.process_time(), memory, most, dict(node.connections.counts)))

    run(serve())


def flood(address: tuple[str, int], kind: str) -> None:
    """Attack until ended."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    hello = ssl.MemoryBIO()
    greeting = context.wrap_bio(ssl.MemoryBIO(), hello)
    with contextlib.suppress(ssl.SSLWantReadError):
        greeting.do_handshake()
    first = hello.read()

    async def client(number: int) -> None:
        host = f"127.0.0.{2 + number % 8}"
        secure = context if kind == "bare" else None
        while True:
            with contextlib.suppress(OSError, EOFError, TimeoutError):
                async with asyncio.timeout(20.0):
                    reader, writer = await asyncio.open_connection(*address, ssl=secure, local_addr=(host, 0))
                    writer.write({"bare": b"x", "half": first, "silent": b""}[kind])
                    await reader.read()
                    writer.close()
            await asyncio.sleep(0.001)

    async def attack() -> None:
        await asyncio.gather(*(client(number) for number in range(400)))

    asyncio.run(attack())


async def join_and_publish(tls: Tls, address: tuple[str, int], seconds: float) -> list[float]:
    """Seconds that joining and publishing took, each time; infinite where it failed."""
    taken, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        try:
            async with Node(1, contact=address, tls=tls) as node:
                done = (await node.publish([0.5], b"hello")).outcome == "taken"
        except ConnectionError:
            done = False
        taken.append(time.monotonic() - began if done else float("inf"))
        await asyncio.sleep(0.2)
    return taken


def measure_tls(seconds: float) -> None:
    import trustme

    authority, spawn = trustme.CA(), multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = (certificates(Path(folder), name, authority) for name in ("ours", "theirs"))
        for kind in ("nobody", "bare", "half", "silent"):
            here, there = spawn.Pipe()
            attacked = spawn.Process(target=be_attacked, args=(ours, there))
            attacked.start()
            address = here.recv()
            attacker = spawn.Process(target=flood, args=(address, kind))
            if kind != "nobody":
                attacker.start()
            time.sleep(2.0)
            taken = run(join_and_publish(theirs, address, seconds))
            here.send("end")
            processor, memory, descriptors, counts = here.recv()
            attacked.join()
            if kind != "nobody":
                attacker.kill()
                attacker.join()
            print(
                f"{kind}: joined and published in {median(taken):.2f} s, {max(taken):.2f} s at most "
                f"({len(taken)} times); {processor:.1f} s of processor, "
                f"{memory:.0f} MB, {descriptors} descriptors, {counts}"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["frames", "tls"])
    parser.add_argument("--messages", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    if given.what == "frames":
        measure_frames(given.messages)
    else:
        measure_tls(given.seconds)
