"""The HTML page of the laboratory, with scripts of the report (planes, rings, events) and its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sims.report.templates import asset, template

if TYPE_CHECKING:
    from sims.lab.laboratory import Laboratory

LAB = "sims.lab"
_SHARED = (
    "download", "view/draws", "view/spread", "view/plane", "view/ring", "view/player", "charts/scales",
    "charts/svg", "charts/draw",
)  # fmt: skip
_OWN = ("frames", "world", "field", "outline", "curves", "lab")


def lab_page(lab: Laboratory) -> str:
    """Return the page."""
    scripts = [asset(f"{name}.js") for name in _SHARED] + [asset(f"{name}.js", LAB) for name in _OWN]
    styles = [asset("page.css"), asset("charts.css"), asset("view/view.css"), asset("lab.css", LAB)]
    return template("lab.html", LAB).render(
        styles=styles, scripts=scripts, topics=bool(lab.topics), attributes=lab.attributes
    )
