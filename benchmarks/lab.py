"""Cycles a second that `sub2sub lab` computes and sends to a browser, over its own websocket on loopback.

    python benchmarks/lab.py                       10,000 peers
    python benchmarks/lab.py --peers 20000 --cycles 100

A client of this process takes the browser's place: it follows an event, asks for cycles as fast as they come,
and reads every frame. Printed are cycles a second by the clock and by processor time, and bytes per cycle.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import threading
import time
from pathlib import Path

import uvicorn
from websockets.asyncio.client import connect

from sims.lab.laboratory import Laboratory, experiment_for
from sims.lab.server import LabServer


def head_of(frame: bytes) -> dict[str, object]:
    """The JSON before the arrays of a frame."""
    length = int.from_bytes(frame[:4], "little")
    head: dict[str, object] = json.loads(frame[4 : 4 + length])
    return head


async def follow(port: int, cycles: int) -> None:
    """Run so many cycles, and print how long they took."""
    address = f"ws://127.0.0.1:{port}/live"
    async with connect(address, origin=f"http://127.0.0.1:{port}", max_size=None) as browser:
        await browser.recv()
        await browser.send(json.dumps({"do": "publish", "point": [0.5, 0.5]}))
        await browser.send(json.dumps({"do": "rate", "rate": 0}))
        await browser.send(json.dumps({"do": "run", "on": True}))
        size = frames = 0
        began, processor = time.perf_counter(), time.process_time()
        while True:
            frame = await browser.recv()
            assert isinstance(frame, bytes)
            head, size = head_of(frame), size + len(frame)
            frames += head["kind"] == "cycle"
            if head["kind"] == "cycle" and int(str(head["cycle"])) >= cycles:
                break
        taken, spent = time.perf_counter() - began, time.process_time() - processor
        print(
            f"{cycles / taken:.1f} cycles a second by the clock, {cycles / spent:.1f} a second of processor; "
            f"{frames} frames, {size / cycles / 1000:.0f} kB per cycle; rings complete: {head['rings']:.1%}"
        )


def main() -> None:
    """Serve a laboratory and follow it."""
    parser = argparse.ArgumentParser(description="Cycles a second of the laboratory.")
    parser.add_argument("--peers", type=int, default=10_000)
    parser.add_argument("--cycles", type=int, default=60)
    asked = parser.parse_args()
    Laboratory(experiment_for(None, 100), seed=1).step()  # compiles what is not compiled yet
    lab = Laboratory(experiment_for(None, asked.peers), seed=1, out=Path("unused"))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(LabServer(lab).app, log_level="error", ws="websockets-sansio"))
        thread = threading.Thread(target=lambda: server.run(sockets=[listening]), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        asyncio.run(follow(listening.getsockname()[1], asked.cycles))
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    main()
