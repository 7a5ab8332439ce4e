"""The HTML page of the laboratory, with scripts of the report (planes, rings, events) and its own."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sims.report.html import asset

if TYPE_CHECKING:
    from sims.lab.laboratory import Laboratory

_SHARED = (
    "download", "view/draws", "view/spread", "view/plane", "view/ring", "view/player", "charts/scales",
    "charts/svg", "charts/draw",
)  # fmt: skip
_OWN = ("frames", "world", "field", "outline", "curves", "lab")


@cache
def _own(name: str) -> Markup:
    return Markup((files("sims.lab") / "assets" / name).read_text(encoding="utf-8"))


def lab_page(lab: Laboratory) -> str:
    """Return the page."""
    environment = Environment(
        loader=PackageLoader("sims.lab", "assets"), autoescape=True, undefined=StrictUndefined
    )
    scripts = [asset(f"{name}.js") for name in _SHARED] + [_own(f"{name}.js") for name in _OWN]
    styles = [asset("page.css"), asset("charts.css"), asset("view/view.css"), _own("lab.css")]
    return environment.get_template("lab.html").render(
        styles=styles, scripts=scripts, topics=bool(lab.topics), attributes=lab.attributes
    )
