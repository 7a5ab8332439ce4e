"""One page of headings, text, tables and figures, as a single HTML file that needs nothing else.

Everything a page shows travels inside it: pictures as data, style and scripts inline, and a content security
policy that forbids the browser to ask for anything else. So a page can be mailed, archived beside the run it
describes, and opened without a network years later.

What is handed in is text, and is escaped; only `Page.raw`, and cells that are `markupsafe.Markup`, are HTML.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markdown_it import MarkdownIt
from markupsafe import Markup

from sub2sub.errors import InputError
from workloads.files.atomic import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Page", "asset", "plain_number", "template"]

_TYPES = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}
_FIGURE_DPI, _SCREEN_DPI = 150, 100  # figures are drawn finer than most screens show them


@cache
def asset(name: str) -> Markup:
    """A file of this package's `assets`, to be put into a page as it is."""
    return Markup((files("sims.report") / "assets" / name).read_text(encoding="utf-8"))


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("sims.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def template(name: str) -> Template:
    """A template of this package's `assets`; whatever is filled in is escaped."""
    return _environment().get_template(name)


@cache
def _markdown() -> MarkdownIt:
    # HTML in a text is shown, not obeyed; a picture would be fetched from elsewhere.
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")


def plain_number(value: Any) -> str:
    """A cell as people read it: integers whole and in groups of three, other numbers in four digits.

    Examples
    --------
    >>> plain_number(1234567), plain_number(0.123456), plain_number(True), plain_number([1, 2.5])
    ('1,234,567', '0.1235', 'yes', '1, 2.5')
    """
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        value = value.tolist()
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {plain_number(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(plain_number(item) for item in value)
    return str(value)


class Page:
    """A page that is filled from top to bottom; all methods return the page.

    Parameters
    ----------
    title : str
    subtitle : str
        A line below it: what is shown, of when.

    Examples
    --------
    >>> page = Page("Rings & events").heading("Result").text("All rings are **complete**.")
    >>> page = page.table({"cycle": [10, 20], "complete": [0.25, 1.0]}, "Rings over time.")
    >>> html = page.html()
    >>> "Rings &amp; events" in html, "<strong>complete</strong>" in html, "0.25" in html
    (True, True, True)
    """

    def __init__(self, title: str, subtitle: str = "") -> None:
        self.title, self.subtitle = title, subtitle
        self._parts: list[Markup] = []
        self._contents: list[tuple[int, str, str]] = []
        self._styles: list[Markup] = []
        self._scripts: list[Markup] = []

    def heading(self, text: str, level: int = 2) -> Self:
        """Begin a section (level 2) or a part of one (level 3); both appear in the table of contents."""
        if level not in (2, 3):
            raise InputError(f"heading level: expected 2 or 3, got {level}")
        taken = {anchor for _, anchor, _ in self._contents}
        anchor = base = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "section"
        for k in range(2, len(taken) + 3):
            if anchor not in taken:
                break
            anchor = f"{base}-{k}"
        self._contents.append((level, anchor, text))
        return self.raw(Markup('<h{0} id="{1}">{2}</h{0}>').format(level, anchor, text))

    def text(self, markdown: str) -> Self:
        """Add paragraphs, lists and tables written in Markdown."""
        return self.raw(_markdown().render(markdown))

    def note(self, text: str) -> Self:
        """Add a remark that must not be missed, such as a table that could not be read."""
        return self.raw(Markup('<p class="note">{}</p>').format(text))

    def aside(self, text: str) -> Self:
        """Add a remark that need not catch the eye."""
        return self.raw(Markup('<p class="aside">{}</p>').format(text))

    def table(
        self,
        content: Mapping[str, Sequence[Any]] | Iterable[Mapping[str, Any]],
        caption: str = "",
    ) -> Self:
        """Add a table.

        Parameters
        ----------
        content : columns by name, or rows that map names to cells
            Cells are formatted by `plain_number`, or taken as HTML if they are `Markup`. The columns of rows
            are all names in the order in which they first appear.
        caption : str
        """
        if isinstance(content, Mapping):
            names = list(content)
            rows = list(zip(*(content[name] for name in names), strict=True))
        else:
            listed = list(content)
            names = list(dict.fromkeys(name for row in listed for name in row))
            rows = [tuple(row.get(name) for name in names) for row in listed]
        numeric = [_all_numbers(row[k] for row in rows) for k in range(len(names))]
        cells = [[c if isinstance(c, Markup) else plain_number(c) for c in row] for row in rows]
        return self.raw(
            template("table.html").render(names=names, rows=cells, numeric=numeric, caption=caption)
        )

    def figure(self, picture: Path | str | Figure, caption: str = "") -> Self:
        """Add a PNG, JPEG or SVG file, or a matplotlib figure (which stays open).

        Raises
        ------
        InputError
            If there is no such file, or it is no picture.
        """
        if isinstance(picture, Path | str):
            kind, data = _picture(Path(picture))
        else:
            buffer = io.BytesIO()
            picture.savefig(buffer, format="png", dpi=_FIGURE_DPI)
            kind, data = "image/png", buffer.getvalue()
        source = f"data:{kind};base64,{base64.b64encode(data).decode()}"
        width = _width(kind, data)
        size = Markup(' width="{}"').format(width) if width else ""
        shown = Markup('<img src="{}" alt="{}"{}>').format(source, caption or "figure", size)
        below = Markup("<figcaption>{}</figcaption>").format(caption) if caption else ""
        return self.raw(Markup("<figure>{}{}</figure>").format(shown, below))

    def raw(self, html: str) -> Self:
        """Add HTML as it is."""
        self._parts.append(Markup(html))
        return self

    def style(self, css: str) -> Self:
        """Add a style sheet, once however often it is asked for."""
        if css not in self._styles:
            self._styles.append(Markup(css))
        return self

    def script(self, javascript: str) -> Self:
        """Add a script that runs when the page is there, once however often it is asked for."""
        if javascript not in self._scripts:
            self._scripts.append(Markup(javascript))
        return self

    def html(self) -> str:
        """The whole page."""
        return template("page.html").render(
            title=self.title,
            subtitle=self.subtitle,
            contents=self._contents,
            body=Markup("\n").join(self._parts),
            styles=[asset("page.css"), *self._styles],
            scripts=[asset("page.js"), *self._scripts],
        )  # fmt: skip

    def write(self, path: Path | str) -> Path:
        """Write the page, whole or not at all, and return its path."""
        path = Path(path)
        with atomic_write(path) as draft:
            draft.write_text(self.html(), encoding="utf-8", errors="replace")
        return path


def _all_numbers(cells: Iterable[Any]) -> bool:
    """Whether a column reads best aligned to the right."""
    given = [cell for cell in cells if cell is not None]
    return bool(given) and all(isinstance(cell, Real) and not isinstance(cell, bool) for cell in given)


def _width(kind: str, data: bytes) -> int | None:
    """Pixels of the usual density that a picture is wide: as wide as it was drawn, where that is known."""
    if kind != "image/png" or len(data) < 24:
        return None
    return round(int.from_bytes(data[16:20]) * _SCREEN_DPI / _FIGURE_DPI)


def _picture(path: Path) -> tuple[str, bytes]:
    kind = _TYPES.get(path.suffix.lower())
    if kind is None:
        raise InputError(f"figure: expected a .png, .jpg or .svg file, got {path}")
    try:
        return kind, path.read_bytes()
    except OSError as error:
        raise InputError(f"figure {path}: {error.strerror}") from None
