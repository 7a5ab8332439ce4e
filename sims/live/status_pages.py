"""What a running node tells of itself, over HTTP: a unix socket for its owner, and a port on loopback.

Both answer `/healthz` and `/metrics` (Prometheus); the socket also answers `/status`, `/members`, and
`/monitor`, which streams the log. `curl --unix-socket alice.sock http://node/status` works, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import logging
import os
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sims.live.json_logs import JsonLines
from sims.live.node_file import NodeFile
from sub2sub.errors import InputError

PATIENCE = 5.0  # seconds for a request; and cycles without a tick after which a node is not healthy
WAITING = 1000  # lines of the log that wait for a slow reader, which loses others
TEXT, PROMETHEUS = "text/plain; charset=utf-8", "text/plain; version=0.0.4; charset=utf-8"
LOCAL, OPEN = ("/status", "/members", "/monitor"), ("/healthz", "/metrics")


class StatusPages:
    """Answers questions about a node while a `with` block lasts.

    Parameters
    ----------
    node : Host
    settings : NodeFile
        Its `control` and `metrics` say where.

    Attributes
    ----------
    port : int or None
        The one on loopback.
    """

    def __init__(self, node: Any, settings: NodeFile) -> None:
        self.node, self.settings, self.began = node, settings, time.time()
        self.port: int | None = None
        self._servers: list[asyncio.Server] = []
        self._asked: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> StatusPages:
        path, port = self.settings.control, self.settings.metrics
        if path:
            server = await asyncio.start_unix_server(self._answer_owner, sock=_bound(path))
            self._servers.append(server)
        if port is not None:
            server = await asyncio.start_server(self._answer_all, "127.0.0.1", port)
            self._servers.append(server)
            self.port = server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        for server in self._servers:
            server.close()
        for task in self._asked:
            task.cancel()
        if self.settings.control:
            self.settings.control.unlink(missing_ok=True)

    def status(self) -> dict[str, Any]:
        """Return what the node is, and has done."""
        node, cores = self.node, list(self.node.cores.values())
        tls = node.tls
        return {
            "address": "{}:{}".format(*node.address),
            "healthy": self.is_healthy(),
            "seconds": round(time.time() - self.began, 1),
            "subscriptions": list(self.settings.subscribe),
            "peers": [f"{core.own.id:#018x}" for core in cores],
            "members known": len(self.members()),
            "connections": node.connections.open,
            "certificate until": f"{tls.expires():%Y-%m-%d}" if tls else None,
            "counts": dict(sorted(node.counts.items())),
        }

    def members(self) -> list[dict[str, Any]]:
        """Return the peers of others that the node knows, which may be gone by now."""
        known = {peer.id: peer for core in self.node.cores.values() for peer in core.known()}
        return [
            {"address": "{}:{}".format(*peer.address), "peer": f"{id:#018x}", **_interest(peer)}
            for id, peer in sorted(known.items())
            if peer.address != self.node.address
        ]

    def is_healthy(self) -> bool:
        """Whether the node's clock runs."""
        return bool(self.node.is_open and self.node.part_of_cycle() < PATIENCE)

    def metrics(self) -> str:
        """Return numbers in Prometheus's text format."""
        node, tls = self.node, self.node.tls
        gauges = {
            "up": int(self.is_healthy()),
            "subscriptions": len(node.cores),
            "members_known": len(self.members()),
            "connections": node.connections.open,
            **({"certificate_expiry_timestamp_seconds": tls.expires().timestamp()} if tls else {}),
        }
        counters = {re.sub(r"\W", "_", name): count for name, count in sorted(node.counts.items())}
        counters["processor_seconds"] = time.process_time()
        lines = [f"# TYPE sub2sub_{name} gauge\nsub2sub_{name} {value}" for name, value in gauges.items()]
        lines += [
            f"# TYPE sub2sub_{name}_total counter\nsub2sub_{name}_total {value}"
            for name, value in counters.items()
        ]
        return "\n".join(lines) + "\n"

    async def _answer_owner(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._answer(reader, writer, (*OPEN, *LOCAL))

    async def _answer_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._answer(reader, writer, OPEN)

    async def _answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, paths: tuple[str, ...]
    ) -> None:
        """Answer one request, and close."""
        task = asyncio.current_task()
        assert task
        self._asked.add(task)
        try:
            async with asyncio.timeout(PATIENCE):
                request = await reader.readuntil(b"\r\n\r\n")
            words = request.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
            path = words[1] if len(words) == 3 and words[0] == "GET" else ""
            if path == "/monitor" and path in paths:
                await _monitor(writer)
            else:
                writer.write(_response(*self._page(path if path in paths else "")))
                await writer.drain()
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError):
            pass  # whoever asked is gone, or does not speak HTTP
        finally:
            self._asked.discard(task)
            writer.close()

    def _page(self, path: str) -> tuple[int, str, str]:
        if path == "/healthz":
            return (200, TEXT, "ok\n") if self.is_healthy() else (503, TEXT, "its clock does not run\n")
        if path == "/metrics":
            return 200, PROMETHEUS, self.metrics()
        if path:
            return 200, "application/json", json.dumps(self.status() if path == "/status" else self.members())
        return 404, TEXT, "not found\n"


def _interest(peer: Any) -> dict[str, Any]:
    if hasattr(peer, "topic"):
        return {"topic": peer.topic}
    return {"ranges": ",".join(f"{low:g}:{high:g}" for low, high in zip(peer.low, peer.high, strict=True))}


def _response(status: int, kind: str, text: str) -> bytes:
    body = text.encode()
    head = f"HTTP/1.0 {status} {http.client.responses[status]}\r\nContent-Type: {kind}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def _monitor(writer: asyncio.StreamWriter) -> None:
    """Send every line of the log from now on, whatever the level of the node's own log."""
    lines: asyncio.Queue[str] = asyncio.Queue(WAITING)

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            with contextlib.suppress(asyncio.QueueFull):
                lines.put_nowait(self.format(record))

    handler, root = Lines(logging.DEBUG), logging.getLogger()
    handler.setFormatter(JsonLines())
    writer.write(b"HTTP/1.0 200 OK\r\nContent-Type: application/jsonl\r\n\r\n")
    root.addHandler(handler)
    try:
        while True:
            writer.write(f"{await lines.get()}\n".encode())
            await writer.drain()
    finally:
        root.removeHandler(handler)


def _bound(path: Path) -> socket.socket:
    """Return a socket at a path, which nobody but the owner can use from the first moment on."""
    if path.is_socket():
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as other:
            other.connect(str(path))
            raise InputError(f"control: expected no other node at {path}, there is one")
        path.unlink()  # of a node that was killed
    own, mask = socket.socket(socket.AF_UNIX), os.umask(0o177)
    try:
        own.bind(str(path))
    except OSError as error:
        own.close()
        raise InputError(f"control: expected a path for a socket, got {path}: {error}") from None
    finally:
        os.umask(mask)
    return own


def ask(path: Path, page: str) -> Iterator[str]:
    """Ask the node behind a socket for a page; yield its lines as they come."""
    with socket.socket(socket.AF_UNIX) as to_node:
        try:
            to_node.connect(str(path))
        except OSError as error:
            raise InputError(f"socket: expected that of a running node, got {path}: {error}") from None
        to_node.sendall(f"GET {page} HTTP/1.0\r\n\r\n".encode())
        answer = http.client.HTTPResponse(to_node)
        answer.begin()
        for line in answer:
            yield line.decode().rstrip("\n")
