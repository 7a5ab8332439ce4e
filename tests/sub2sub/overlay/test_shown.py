"""How results show themselves: in a console, in a notebook, and to other libraries."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np

from sub2sub import Overlay, Published, Stack, Table
from sub2sub.compiled.cyclon.layer import Cyclon


def cells(html: str) -> list[list[str]]:
    """The cells of a table, by row."""
    rows: list[list[str]] = []

    class Parser(HTMLParser):
        open = False

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert tag != "script"
            if tag == "tr":
                rows.append([])
            self.open = tag in ("td", "th")

        def handle_data(self, data: str) -> None:
            if self.open:
                rows[-1].append(data)

    Parser().feed(html)
    return rows


def published() -> tuple[Overlay, Published]:
    lows = np.random.default_rng(1).random((40, 2)) * 0.5
    overlay = Overlay.of(lows, lows + 0.4, seed=1).run(10)
    return overlay, overlay.publish([[0.5, 0.5]])


def test_a_long_table_shows_its_ends_in_a_notebook() -> None:
    table = Table({"event": np.arange(20), "what": np.array([f"<b>{k}" for k in range(20)])})
    rows = cells(table._repr_html_())
    assert rows[0] == ["event", "what"]
    assert rows[1] == ["0", "<b>0"]
    assert rows[4] == ["...", "..."]
    assert rows[-1] == ["19", "<b>19"]
    assert table._repr_html_().endswith("<p>20 rows</p>")


def test_a_table_without_columns_shows_that() -> None:
    assert Table({})._repr_html_() == "<table><tr></tr></table><p>0 rows</p>"


def test_published_events_and_overlays_show_their_line_and_a_table() -> None:
    overlay, events = published()
    assert repr(events)[1:-1] in events._repr_html_()
    assert cells(events._repr_html_())[0] == ["event", "subscription", "hop"]
    names = [row[0] for row in cells(overlay._repr_html_())[1:]]
    assert names == [layer.name for layer in overlay.layers]


def test_a_graph_has_the_live_peers_and_the_links_of_all_layers() -> None:
    overlay, _ = published()
    overlay.network.alive[3] = 0
    graph = overlay.to_networkx()
    assert graph.number_of_nodes() == 39
    gone = int(overlay.population.row[3])
    for layer in overlay.layers:
        holders, peers, _since = layer.links()
        rows = overlay.population.row
        expected = {(int(rows[a]), int(rows[b])) for a, b in zip(holders, peers, strict=True)}
        kept = {ends for ends in expected if gone not in ends}
        assert {(a, b) for a, b, key in graph.edges(keys=True) if key == layer.name} == kept


def test_peers_without_subscriptions_have_a_graph_too() -> None:
    graph = Stack(10, [Cyclon(10, seed=1)], seed=1).run(5).to_networkx()
    assert graph.number_of_nodes() == 10
    assert {key for *_, key in graph.edges(keys=True)} == {"cyclon"}
