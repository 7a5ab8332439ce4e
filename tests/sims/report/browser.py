"""A headless Chromium that really clicks, where one is installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
REASON = "needs Chromium (Debian: apt-get install chromium) and the Python package playwright"
PATIENCE = 180_000  # milliseconds: a busy machine is no failure
# As root Chromium has no sandbox; the others keep it from asking the network for anything of its own.
FLAGS = [
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
    *(["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),
]  # fmt: skip


def missing() -> bool:
    """Whether there is no browser to test with."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return True
    return CHROMIUM is None


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def wait_until(page: Any, condition: str) -> None:
    """Wait until an expression is true; the pages forbid the browser to evaluate it by itself."""
    for _ in range(PATIENCE // 50):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never came true: {condition}")


class Tab:
    """A page that is open, and what it complained of and asked for."""

    def __init__(self, browser: Any, file: Path, **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1200, "height": 900}, **options)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.resolve().as_uri())

    def wait_for_overlay(self) -> None:
        """Wait until the overlay view can be used; what the page complained of tells why it cannot."""
        from playwright.sync_api import TimeoutError

        try:
            self.page.wait_for_selector("section.overlay[data-ready=true]")
        except TimeoutError:
            raise AssertionError(f"the overlay did not get ready: {self.complaints}") from None

    def role(self, name: str) -> Any:
        """A part of the overlay view."""
        return self.page.locator(f'section.overlay [data-role="{name}"]')

    def data(self, name: str) -> str:
        """What the overlay view says of itself."""
        return str(self.page.locator("section.overlay").get_attribute(f"data-{name}"))

    def counts(self) -> dict[str, int]:
        """What became of the event, in the numbers below the pictures."""
        cells = self.page.locator("section.overlay [data-count]")
        shown = {cell.get_attribute("data-count"): cell.inner_text() for cell in cells.all()}
        return {
            name: int(text.replace(",", "")) for name, text in shown.items() if name not in ("links", "peers")
        }
