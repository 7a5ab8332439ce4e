"""The server of the laboratory: one HTML page, and a websocket for commands and frames.

Only this machine can use it: the server listens on the loopback address, answers only requests for the names
of this machine (which prevents DNS rebinding), and accepts websockets only from its own page. Cycles are
computed in a thread (kernels release the interpreter lock), so commands are answered meanwhile. A slow
browser skips cycles and does not delay them.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from sims.lab.browser_view import BrowserView
from sims.lab.laboratory import Laboratory
from sims.report.cells import asset, template
from sub2sub.errors import InputError
from sub2sub.overlay.explorer import frame

NAMES = ("127.0.0.1", "localhost")
RATE = 10.0  # cycles per second at the start
MOST = 1 << 20  # most bytes of a command


class LabServer:
    """Steps a laboratory and serves its page.

    Attributes
    ----------
    app : Starlette
        The application, to be served on the loopback address.
    """

    def __init__(self, lab: Laboratory, start: bool = False) -> None:
        self.lab, self._start = lab, start  # whether to run as soon as a browser watches
        self.running, self.rate, self.left = False, RATE, 0
        self.problem = ""
        self.took = 0.0  # seconds that the last cycle took
        self._changed = asyncio.Event()
        self._wake = asyncio.Event()
        self.app = Starlette(
            routes=[Route("/", self._page), WebSocketRoute("/live", self._live)],
            middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(NAMES), www_redirect=False)],
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        stepping = asyncio.create_task(self._step_on())
        yield
        stepping.cancel()
        with suppress(asyncio.CancelledError):
            await stepping

    async def _page(self, request: Request) -> Response:
        policy = (
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
            f"connect-src ws://{request.url.netloc}; frame-ancestors 'none'"
        )
        return HTMLResponse(lab_page(self.lab), headers={"Content-Security-Policy": policy})

    async def _step_on(self) -> None:
        """Step while running, or the number of cycles asked for, no faster than the rate."""
        while True:
            if not (self.running or self.left):
                self._wake.clear()
                await self._wake.wait()
                continue
            began = time.monotonic()
            self.left = max(self.left - 1, 0)
            try:
                await asyncio.to_thread(self.lab.step)
            except InputError as error:
                self.problem, self.running = str(error), False
            self.took = time.monotonic() - began
            self._notify()
            await asyncio.sleep(max(0.0, 1 / self.rate - self.took) if self.rate else 0.0)

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _state(self) -> dict[str, Any]:
        return {"running": self.running, "rate": self.rate, "took": self.took, "problem": self.problem}

    async def _live(self, socket: WebSocket) -> None:
        if socket.headers.get("origin") not in {f"http://{name}:{socket.url.port}" for name in NAMES}:
            await socket.close(1008)
            return
        await socket.accept()
        view = BrowserView(self.lab)
        await socket.send_bytes(await asyncio.to_thread(view.start))
        if self._start:
            self.running, self._start = True, False
            self._wake.set()
        sending = asyncio.create_task(self._send_on(socket, view))
        try:
            while True:
                text = await socket.receive_text()
                answer = (
                    await self._execute(text, view) if len(text) <= MOST else frame({"kind": "problem"}, {})
                )
                if answer is not None:
                    await socket.send_bytes(answer)
        except WebSocketDisconnect:
            pass
        finally:
            sending.cancel()
            with suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await sending

    async def _send_on(self, socket: WebSocket, view: BrowserView) -> None:
        """Send the changes after each cycle, as fast as the browser reads them."""
        while True:
            changed = self._changed
            await socket.send_bytes(await asyncio.to_thread(view.cycle, self._state()))
            await changed.wait()

    async def _execute(self, text: str, view: BrowserView) -> bytes | None:
        """Execute a command of the browser; answer an invalid one with one line."""
        try:
            order = json.loads(text)
            if not isinstance(order, Mapping) or order.get("do") not in self._orders():
                raise InputError(f"do: expected one of {', '.join(self._orders())}")
            return await asyncio.to_thread(self._orders()[str(order["do"])], order, view)
        except (InputError, ValueError, TypeError, KeyError, OverflowError) as error:
            return frame({"kind": "problem", "text": str(error).partition("\n")[0]}, {})
        finally:
            self._wake.set()
            self._notify()

    def _orders(self) -> dict[str, Callable[[Mapping[str, Any], BrowserView], bytes | None]]:
        lab = self.lab
        return {
            "run": lambda order, _: self._set(running=bool(order["on"]), problem=""),
            "step": lambda order, _: self._set(running=False, left=int(order.get("cycles", 1)), problem=""),
            "rate": lambda order, _: self._set(rate=min(max(float(order["rate"]), 0.0), 1000.0)),
            "loss": lambda order, _: lab.set_loss(float(order["probability"])),
            "churn": lambda order, _: lab.set_churn(float(order["share"])),
            "k": lambda order, _: lab.set_shortcuts(int(order["k"])),
            "recover": lambda order, _: lab.recover(),
            "crash": lambda order, _: self._crash(order),
            "publish": lambda order, view: view.publish(order["point"], str(order.get("routing", "rings"))),
            "save": lambda order, _: frame({"kind": "saved", "path": str(lab.save())}, {}),
        }

    def _crash(self, order: Mapping[str, Any]) -> bytes:
        hit = self.lab.crash_region(int(order["x"]), int(order["y"]), order["outline"])
        return frame({"kind": "crashed", "peers": hit}, {})

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            setattr(self, name, value)


if TYPE_CHECKING:
    from sims.lab.laboratory import Laboratory

LAB = "sims.lab"
OVERLAY = "sub2sub.overlay"
_SHARED = ("draws", "spread", "plane", "ring", "player", "frames", "world")
_CHARTS = ("download", "charts/scales", "charts/svg", "charts/draw")
_OWN = ("field", "outline", "curves", "tour", "lab")


def lab_page(lab: Laboratory) -> str:
    """Return the page."""
    packages = {OVERLAY: _SHARED, "sims.report": _CHARTS, LAB: _OWN}
    scripts = [asset(f"{name}.js", package) for package, names in packages.items() for name in names]
    styles = [asset("page.css"), asset("charts.css"), asset("links.css", OVERLAY), asset("view/view.css")]
    styles += [asset("lab.css", LAB)]
    return template("lab.html", LAB).render(
        styles=styles, scripts=scripts, topics=bool(lab.topics), attributes=lab.attributes
    )
