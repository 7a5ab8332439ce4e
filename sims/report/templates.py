"""Files of a package's `assets`: templates, styles and scripts."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup


@cache
def asset(name: str, package: str = "sims.report") -> Markup:
    """Read a file of a package's `assets`, to be included in a page unchanged."""
    return Markup((files(package) / "assets" / name).read_text(encoding="utf-8"))


@cache
def _environment(package: str) -> Environment:
    return Environment(
        loader=PackageLoader(package, "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def template(name: str, package: str = "sims.report") -> Template:
    """Return a template of a package's `assets`; the values filled in are escaped."""
    return _environment(package).get_template(name)
