"""A page of headings, text, tables and figures as a single HTML file.

The file contains everything that the page shows: pictures as data, styles and scripts inline. A content
security policy forbids the browser to request anything else. So a page can be mailed, archived with its run,
and opened years later without a network.

All text is escaped; only `Page.raw`, and cells that are `markupsafe.Markup`, are taken as HTML.
"""

from __future__ import annotations

import base64
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from markdown_it import MarkdownIt
from markupsafe import Markup

from sims.report.cells import asset, table_html, template
from sub2sub.errors import InputError
from workloads.files.atomic import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TYPES = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}
_SCRIPTS = ("download", "page", "tables", "choices", "print")
_FIGURE_DPI, _SCREEN_DPI = 150, 100  # figures have a higher resolution than most screens


@cache
def _markdown() -> MarkdownIt:
    # HTML in a text is escaped; pictures are disabled, because the browser would request them.
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")


class Page:
    """A page, filled from top to bottom; all methods return the page.

    Parameters
    ----------
    title : str
    subtitle : str
        The line below the title.

    Attributes
    ----------
    problems : list of str
        What could not be read; the page says so where it is missing.

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
        self.problems: list[str] = []
        self._parts: list[Markup] = []
        self._contents: list[tuple[int, str, str]] = []
        self._styles: list[Markup] = []
        self._scripts: list[Markup] = []

    def heading(self, text: str, level: int = 2) -> Self:
        """Begin a section (level 2) or a part of one (level 3); both appear in the table of contents."""
        if level not in (2, 3):
            raise InputError(f"heading level: expected 2 or 3, got {level}")
        anchor = self._anchor(text)
        self._contents.append((level, anchor, text))
        return self.raw(Markup('<h{0} id="{1}">{2}</h{0}>').format(level, anchor, text))

    def _anchor(self, text: str) -> str:
        taken = {anchor for _, anchor, _ in self._contents}
        anchor = base = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "section"
        for k in range(2, len(taken) + 3):
            if anchor not in taken:
                break
            anchor = f"{base}-{k}"
        return anchor

    def text(self, markdown: str) -> Self:
        """Add paragraphs, lists and tables written in Markdown."""
        framed = _markdown().render(markdown).replace("<table>", '<div class="table"><table>')
        return self.raw(framed.replace("</table>", "</table></div>"))

    def note(self, text: str) -> Self:
        """Add a warning, such as a table that could not be read."""
        return self.raw(Markup('<p class="note">{}</p>').format(text))

    def aside(self, text: str) -> Self:
        """Add a remark in small print."""
        return self.raw(Markup('<p class="aside">{}</p>').format(text))

    def table(
        self,
        content: Mapping[str, Sequence[Any]] | Iterable[Mapping[str, Any]],
        caption: str = "",
        *,
        fit: bool = False,
        name: str = "table",
    ) -> Self:
        """Add a table, which can be sorted, filtered and downloaded.

        Parameters
        ----------
        content : columns by name, or rows that map names to cells
            Cells are formatted by `plain_number`, or taken as HTML if they are `Markup`; a `Cell` is sorted
            by its value. The columns of rows are all names in the order in which they first appear.
        caption : str
        fit : bool
            Whether column names may wrap, so that many columns fit into the window.
        name : str
            Name of the file to download.
        """
        return self.raw(table_html(content, caption, fit=fit, name=name))

    def choices(
        self,
        selects: Mapping[str, Sequence[str]],
        parts: Iterable[Markup],
        first: tuple[int, ...] | None = None,
    ) -> Self:
        """Add several parts of which the reader selects one.

        Parameters
        ----------
        selects : mapping
            Selections and their options; selections of the same name are linked throughout the page.
        parts : iterable
            The part for each combination of options; the options of the last selection vary fastest.
        first : tuple of int
            The combination that is selected at first, by the numbers of its options.
        """
        chosen = first or (0,) * len(selects)
        named = [(name, options, k) for (name, options), k in zip(selects.items(), chosen, strict=True)]
        numbers = itertools.product(*(range(len(options)) for options in selects.values()))
        cases = [
            (" ".join(map(str, case)), html, case == chosen)
            for case, html in zip(numbers, parts, strict=True)
        ]
        return self.raw(template("choices.html").render(selects=named, cases=cases))

    def finding(self, *paragraphs: str) -> Self:
        """Add what was found, in Markdown, where it is seen first."""
        self.raw('<div class="finding">')
        for paragraph in paragraphs:
            self.text(paragraph)
        return self.raw("</div>")

    @contextmanager
    def fold(self, text: str) -> Iterator[Self]:
        """Begin a folded section; it contains everything that is added within the block."""
        anchor = self._anchor(text)
        self._contents.append((2, anchor, text))
        head = Markup('<details class="section"><summary><h2 id="{}">{}</h2></summary>')
        self.raw(head.format(anchor, text))
        yield self
        self.raw("</details>")

    def figure(self, picture: Path | str | Figure, caption: str = "") -> Self:
        """Add a PNG, JPEG or SVG file, or a matplotlib figure (which stays open).

        Raises
        ------
        InputError
            If the file does not exist or is not a picture.
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
        """Add HTML unchanged."""
        self._parts.append(Markup(html))
        return self

    def style(self, css: str) -> Self:
        """Add a style sheet, unless it has been added."""
        if css not in self._styles:
            self._styles.append(Markup(css))
        return self

    def script(self, javascript: str) -> Self:
        """Add a script that runs when the page has loaded, unless it has been added."""
        if javascript not in self._scripts:
            self._scripts.append(Markup(javascript))
        return self

    def html(self) -> str:
        """Return the page as HTML."""
        return template("page.html").render(
            title=self.title,
            subtitle=self.subtitle,
            contents=self._contents,
            body=Markup("\n").join(self._parts),
            styles=[asset("page.css"), *self._styles],
            scripts=[Markup("\n").join(asset(f"{name}.js") for name in _SCRIPTS), *self._scripts],
        )  # fmt: skip

    def write(self, path: Path | str) -> Path:
        """Write the page atomically, and return its path."""
        path = Path(path)
        with atomic_write(path) as draft:
            draft.write_text(self.html(), encoding="utf-8", errors="replace")
        return path


def _width(kind: str, data: bytes) -> int | None:
    """Return the width of a picture in CSS pixels, if the file states its resolution."""
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
