"""How results show themselves: in a console, in a notebook, and to other libraries."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib import pyplot as plt

from hierarchy.topics import TopicTree
from sims.engine import Simulation
from sub2sub import InputError, Overlay, Population, Published, Stack, Table, minimal_regions, select_ring
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.tables import Rows


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


def test_rows_are_a_table_and_a_row_may_lack_a_cell() -> None:
    rows = Rows([{"cycle": 0, "complete": 0.5}, {"cycle": 1, "complete": 1.0, "why": "late"}])
    assert rows.to_pandas().complete.tolist() == [0.5, 1.0]
    assert rows.to_arrow()["why"].to_pylist() == [None, "late"]
    assert cells(rows._repr_html_())[1:] == [["0", "0.5", "None"], ["1", "1", "late"]]


def test_nothing_shows_itself_by_its_address() -> None:
    lows, highs = [[0.0], [2.0]], [[9.0], [5.0]]
    simulation = Simulation(Stack(10, [Cyclon(10, seed=1)], seed=1))
    simulation.overlay.bootstrap()
    simulation.run(2)
    shown = {
        "Stack of 10 live peers after 2 cycles: cyclon>, tables: traffic": simulation,
        "2 regions of 3 boxes": minimal_regions(lows, highs),
        "TopicTree of 3 topics, 3 levels": TopicTree.from_paths([".soccer.italy"]),
        "Population of 2 subscriptions, 1 attribute, room for 3": Population.of(lows, highs, spare=1),
        "array([0, 1])": select_ring([0], [10], 50, [[0], [4], [0]], [[5], [10], [10]], [60, 70, 80]),
    }
    for words, each in shown.items():
        assert words in repr(each)
        if not isinstance(each, Population):
            assert len(cells(each._repr_html_())) > 1


def test_selections_are_equal_if_they_select_the_same_in_the_same_order() -> None:
    lows, highs = [[0], [4], [0]], [[5], [10], [10]]
    one = select_ring([0], [10], 50, lows, highs, [60, 70, 80])
    assert one == select_ring([0], [10], 50, lows, highs, [61, 71, 81])
    assert one != select_ring([0], [10], 50, lows, highs, [70, 60, 80])
    assert one != "something else"


def test_a_ring_is_drawn_in_its_order_with_those_that_missed_the_event() -> None:
    lows = np.zeros((12, 1))
    overlay = Overlay.of(lows, lows + 1, seed=1, ids=np.arange(12)[::-1])
    overlay.network.group[4:7] = 1  # out of reach of the others
    published = overlay.run(5).publish([[0.5]], at=[0])
    assert published.missed.rows
    axes = published.plot()
    received, missed = (len(dots.get_offsets()) for dots in axes.collections[:2])
    assert (received, missed) == (published.received.rows, published.missed.rows)
    assert [text.get_text() for text in axes.texts] == [str(row) for row in range(11, -1, -1)]
    with pytest.raises(InputError, match="event: expected 0 to 0, got 1"):
        published.plot(1)


def test_pictures_are_drawn_into_given_axes() -> None:
    overlay, events = published()
    _, axes = plt.subplots(2)
    assert overlay.plot(axes[0]) is axes[0]
    assert len(axes[0].collections[0].get_paths()) == 40
    assert events.plot(0, axes[1]) is axes[1]
    with pytest.raises(InputError, match="x: expected an attribute from 0 to 1, got 2"):
        overlay.plot(x=2)


def test_a_table_of_a_simulation_is_drawn_a_layer_a_curve() -> None:
    simulation = Simulation(published()[0])
    simulation.run(12)
    axes = simulation.plot("traffic", "messages")
    assert [line.get_label() for line in axes.lines] == [each.name for each in simulation.overlay.layers]
    with pytest.raises(InputError, match="table: expected one of traffic, got 'rings'"):
        simulation.plot("rings")
    with pytest.raises(InputError, match=r"column: expected one of peers, messages, .*, got 'layer'"):
        simulation.plot("traffic", "layer")


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    plt.switch_backend("agg")
    yield
    plt.close("all")
