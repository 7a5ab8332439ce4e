"""Cores of the shared overlay under anything that can be said to them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.shared.live import table_messages as t
from hierarchy.shared.live.shared_core import SharedCore
from hierarchy.shared.live.table_wire import MOST, PROTOCOL
from sub2sub.live.core import messages as m
from sub2sub.live.wire.framing import Frame
from sub2sub.peers.descriptors import Descriptor
from tests.sub2sub.live.strategies import coordinates, descriptors, ids, mentions, messages
from tests.sub2sub.live.test_core import draws, sound

OWN = Descriptor.of(5, [0.0], [1.0], ("127.0.0.1", 1))


def table_messages(d: int | None = None) -> st.SearchStrategy[m.Message]:
    links, exchange = mentions(d), st.integers(0, 5)
    shares = st.sampled_from([1.0, 16.0, MOST])
    point = st.lists(coordinates, min_size=d or 1, max_size=d or 3).map(tuple)
    return st.one_of(
        *(st.builds(kind, exchange, links) for kind in (t.Alike, t.AlikeBack, t.Ways)),
        *(st.builds(kind, exchange, descriptors(d)) for kind in (t.Greet, t.Inquire)),
        st.builds(t.Greeted, exchange),
        st.builds(t.Tables, exchange, descriptors(d), links, links, links),
        st.builds(t.TablesBack, exchange, links, links, links),
        st.builds(
            t.Routed, st.binary(min_size=16, max_size=16), point, st.sampled_from([0, m.MAX_HOPS]),
            shares | st.just(0.0), shares, shares, st.binary(max_size=9),
        ),
    )  # fmt: skip


said = st.one_of(table_messages(1), table_messages(), messages(1))


@given(st.lists(st.none() | st.tuples(said, ids), max_size=12))
@settings(max_examples=80, deadline=None)
def test_no_messages_break_a_shared_core_and_all_it_sends_can_be_sent(
    steps: list[tuple[m.Message, int] | None],
) -> None:
    core, dice = SharedCore(OWN, lambda event: None), draws()
    tables = core.settings.overlay.tables
    for step in [*steps, None, None, None]:
        sends = core.tick(dice) if step is None else core.receive(*step, dice)
        for send in sends:
            sent = PROTOCOL.encode(Frame(send.to.id if send.to else 0, OWN.id, send.message))
            assert PROTOCOL.encode(PROTOCOL.decode(sent[4:])) == sent
            if send.to and step is None:
                core.unreachable(send.to, send.message)
        sound(core)
        limits = (tables.equals, tables.z, tables.below)
        for table, most in zip(core.tables.tell(), limits, strict=True):
            assert len(table) <= most
            assert OWN.id not in {link.peer.id for link in table}
