"""Render the animated picture of the README: an event on its way round its ring, in the page of a run.

    sub2sub run demo --out out/demo && sub2sub report out/demo --out out/index.html
    python benchmarks/ring_picture.py out/index.html docs/ring.webp

The page is opened in a Chromium (`chromium` on the PATH, or that of playwright), its controls are moved as a
reader would move them, and each frame is a picture of its stage.
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

FRAMES_PER_HOP, MILLISECONDS, WIDTH = 4, 110, 900
SEEK = """(bar, at) => {
    bar.step = 'any';
    bar.value = at;
    bar.dispatchEvent(new Event('input', {bubbles: true}));
}"""


def frames(page_file: Path, cycle: int = 22) -> list[Image.Image]:
    """Pictures of the stage of the first overlay, from the event's entry to its last hop."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 900}, device_scale_factor=1)
        page.goto(page_file.resolve().as_uri())
        overlay = page.locator("section.overlay").first
        overlay.locator("[data-role=cycle]").first.evaluate(SEEK, cycle)
        hop = overlay.locator("[data-role=hop]").first
        stage = overlay.locator(".stage").first
        stage.scroll_into_view_if_needed()
        pictures = []
        for step in range(FRAMES_PER_HOP * int(hop.get_attribute("max")) + 1):
            hop.evaluate(SEEK, step / FRAMES_PER_HOP)
            pictures.append(Image.open(io.BytesIO(stage.screenshot())).convert("RGB"))
        browser.close()
    return pictures


def main() -> None:
    source, target = map(Path, sys.argv[1:3])
    pictures = frames(source)
    size = WIDTH, round(pictures[0].height * WIDTH / pictures[0].width)
    first, *others = [picture.resize(size, Image.Resampling.LANCZOS) for picture in pictures]
    times = [MILLISECONDS] * len(others) + [1500]
    first.save(target, save_all=True, append_images=others, duration=times, loop=0, quality=70, method=6)
    print(f"{target}: {len(pictures)} frames, {target.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
