"""A live node that serves until it is told to stop: events out and in as JSON lines, its state for others.

Standard output has the events it subscribes to, one JSON object a line. With `publish`, standard input has
events to publish: {"point": [0.25, 0.5], "data": "hello"} or {"topic": ".soccer", "data": "goal"}. On SIGTERM
or an interrupt the node leaves in good order.
"""

from __future__ import annotations

import asyncio
import json
import logging
import queue
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from sims.live.node_file import NodeFile
from sims.live.status_pages import StatusPages
from sub2sub.errors import InputError

LOG = logging.getLogger(__name__)
PAUSE = 1.0  # seconds before a contact that does not answer is asked again
WAITING = 4096  # events that wait to be printed


class Printer(threading.Thread):
    """Prints JSON lines in a thread of its own: a slow reader does not stop the node, but loses events.

    Attributes
    ----------
    lost : int
        Events that were not printed, since too many waited.
    """

    def __init__(self, out: TextIO, ended: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self.lost = 0
        self._out, self._ended = out, ended
        self._waiting: queue.Queue[dict[str, Any] | None] = queue.Queue(WAITING)
        self.start()

    def show(self, event: dict[str, Any]) -> None:
        """Print an event when it is its turn."""
        LOG.debug("delivered", extra={"event": event})
        try:
            self._waiting.put_nowait(event)
        except queue.Full:
            self.lost += 1

    def run(self) -> None:
        """Print until `finish`, or until nobody reads."""
        try:
            while (event := self._waiting.get()) is not None:
                print(json.dumps(event), file=self._out, flush=True)
        except (OSError, ValueError):
            self._ended()

    def finish(self) -> None:
        """Print what waits, if that is possible within a second."""
        self._waiting.put(None, timeout=1.0)
        self.join(1.0)


async def serve(settings: NodeFile, publish: bool = False) -> None:
    """Run a node until SIGTERM, an interrupt, or the end of what it publishes if it subscribes to nothing."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    printer = Printer(sys.stdout, lambda: void(loop.call_soon_threadsafe(ended.set)))
    async with settings.node() as node, StatusPages(node, settings):
        where = "{}:{}".format(*node.address)
        LOG.info("listening at %s", where, extra={"address": where})
        working = asyncio.create_task(_work(settings, node, printer, publish, ended))
        stopping = asyncio.create_task(ended.wait())
        await asyncio.wait([working, stopping], return_when=asyncio.FIRST_COMPLETED)
        working.cancel()
        stopping.cancel()
        await asyncio.gather(working, stopping, return_exceptions=True)
    LOG.info("left")
    printer.finish()
    if working.done() and not working.cancelled() and (error := working.exception()):
        raise error


def void(result: object) -> None:
    """Drop a result."""


async def _work(settings: NodeFile, node: Any, printer: Printer, publish: bool, ended: asyncio.Event) -> None:
    """Join and subscribe, then publish what comes; end the node after that if it subscribes to nothing."""
    if not hasattr(node, "gateways"):
        node.contact = settings.known()
    for what in settings.subscribe:
        while True:
            try:
                await settings.enter(node, what, printer.show)
                LOG.info("subscribed to %s", what)
                break
            except ConnectionError as error:  # it may be the first to be started
                LOG.warning("%s", error)
                await asyncio.sleep(PAUSE)
    if publish:
        await _publish_lines(settings, node)
        await asyncio.sleep(node.period)  # what was sent last is on its way
    if publish and not settings.subscribe:
        ended.set()
    await ended.wait()


async def _publish_lines(settings: NodeFile, node: Any) -> None:
    """Publish what comes on standard input, one event after the other; a line that is wrong is logged."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    def read() -> None:  # a thread: files cannot be awaited, and a read cannot be interrupted
        for line in sys.stdin:
            asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()
        loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    number = 0
    while (line := await lines.get()) is not None:
        number += 1
        try:
            event = json.loads(line)
            if not isinstance(event, Mapping) or not isinstance(event.get("data", ""), str):
                raise InputError('expected {"point": [...], "data": "..."} or {"topic": ..., "data": ...}')
            outcome = await settings.publish(node, event, event.get("data", "").encode())
            level = logging.INFO if outcome in ("taken", "sent") else logging.WARNING
            LOG.log(level, "published: %s", outcome, extra={"line": number, "outcome": outcome})
        except (KeyError, TypeError, ValueError, ConnectionError) as error:
            LOG.error("line %d of standard input: %r", number, error)
