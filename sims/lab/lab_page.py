"""The HTML page of the laboratory, with scripts of the report (planes, rings, events) and its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sims.report.cells import asset, template

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
