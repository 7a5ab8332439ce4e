"""Pages: everything inside, nothing taken for HTML that is not, nothing asked of a network."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from sims.report.cells import plain_number
from sims.report.html import Page
from sub2sub.errors import InputError

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class _Reader(HTMLParser):
    """The tags of a page, and the text outside scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside not in ("script", "style"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_whatever_is_handed_in_is_shown_and_not_obeyed(text: str) -> None:
    before = _Reader(Page("t", "s").heading("h").table({"n": ["c"]}, "c").html()).tags
    page = Page(text, text).heading(text).table({text: [text]}, text)
    reader = _Reader(page.html())
    assert [tag for tag, _ in reader.tags] == [tag for tag, _ in before]
    assert reader.text.count(text) >= 6


def test_html_in_markdown_is_shown_and_pictures_are_not_fetched() -> None:
    page = Page("x").text("<script>alert(1)</script> ![a](http://a.example/b.png) [j](javascript:alert(1))")
    tags = _Reader(page.html()).tags
    assert [tag for tag, _ in tags].count("script") == 1  # the page's own
    assert "img" not in [tag for tag, _ in tags]
    assert not any("javascript:" in (attrs.get("href") or "") for _, attrs in tags)


def test_a_page_forbids_itself_every_request(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PIXEL)
    html = Page("x").heading("y").figure(tmp_path / "a.png", "a pixel").html()
    tags = _Reader(html).tags
    policy = next(a["content"] for tag, a in tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    sources = [attrs[name] or "" for _, attrs in tags for name in ("src", "href") if name in attrs]
    assert sources
    assert all(source.startswith(("data:", "#")) for source in sources)
    assert not re.search(r"@import|url\(", html)


def test_figures_come_from_files_and_from_matplotlib(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    (tmp_path / "a.png").write_bytes(PIXEL)
    (tmp_path / "b.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    drawn = Figure()
    drawn.subplots().plot([0, 1])
    html = Page("x").figure(tmp_path / "a.png").figure(str(tmp_path / "b.svg")).figure(drawn, "c < d").html()
    images = [attrs for tag, attrs in _Reader(html).tags if tag == "img"]
    assert [(image["src"] or "").split(";")[0] for image in images] == [
        "data:image/png", "data:image/svg+xml", "data:image/png",
    ]  # fmt: skip
    assert images[2]["alt"] == "c < d"
    assert base64.b64decode((images[0]["src"] or "").split(",")[1]) == PIXEL
    assert images[2]["width"] == "640"  # as wide as matplotlib drew it: 6.4 inches


@pytest.mark.parametrize(("name", "what"), [("no.png", "No such file"), ("a.txt", "expected a .png")])
def test_a_picture_that_is_none_is_one_clear_line(tmp_path: Path, name: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        Page("x").figure(tmp_path / name)


def test_headings_of_the_same_name_are_told_apart() -> None:
    html = Page("x").heading("Rings").heading("Rings", 3).heading("Rings").heading("环").html()
    anchors = [attrs["id"] for tag, attrs in _Reader(html).tags if tag in ("h2", "h3")]
    assert anchors == ["rings", "rings-2", "rings-3", "section"]
    assert [f"#{a}" for a in anchors] == [
        attrs["href"] for tag, attrs in _Reader(html).tags if tag == "a" and attrs["href"] != "#content"
    ]


def test_tables_come_as_columns_or_as_rows() -> None:
    columns = Page("x").table({"a": np.array([1, 2]), "b": ["u", None]}).html()
    rows = Page("x").table([{"a": 1, "b": "u"}, {"a": 2}]).html()
    assert columns == rows
    assert Markup('<td class="number">2</td>') in columns
    assert "<td><b>!</b></td>" in Page("x").table([{"a": Markup("<b>!</b>")}]).html()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.int64(10_000), "10,000"),
        (123456.7, "123,457"),
        (float("nan"), "nan"),
        (None, "—"),
        (np.True_, "yes"),
    ],
)
def test_numbers_are_written_for_people(value: object, shown: str) -> None:
    assert plain_number(value) == shown


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Page("x").write(tmp_path / "deep" / "x.html")
    before = path.read_text()

    def fail(*_: object, **__: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(OSError, match="no space"):
        Page("y").write(path)
    assert path.read_text() == before
    assert [file.name for file in path.parent.iterdir()] == ["x.html"]


def test_a_name_that_is_no_unicode_does_not_stop_a_page(tmp_path: Path) -> None:
    assert "a?b" in Page("a\udcffb").write(tmp_path / "x.html").read_text()
