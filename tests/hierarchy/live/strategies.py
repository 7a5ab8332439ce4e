"""Any message a CAMCAST process may receive, honest or not."""

from __future__ import annotations

from hypothesis import strategies as st

from hierarchy.live.messages import Event
from hierarchy.live.wire import MAX_CYCLES, MAX_EPOCH, MAX_STEPS, MAX_WEIGHT
from hierarchy.peers.census import Compare, Compared, Tally
from hierarchy.peers.contacts import Contact
from hierarchy.peers.pgrid import Listed, Meet, Met, Placed, Position, Post, Posting, Route
from hierarchy.peers.scamp_messages import (
    Beat,
    Copy,
    Dropped,
    Kept,
    Replace,
    Served,
    Subscribe,
    Weigh,
    Weighed,
)
from hierarchy.peers.super_table import Check, Checked, Find, Found, Supers

TOPICS = (".", ".d", ".d.g")
names = st.sampled_from([*TOPICS, ".x", ".d.g.h"])
hosts = st.sampled_from(["h", "192.0.2.1", "192.0.2.2"])
contacts = st.builds(Contact, st.integers(0, 2**64 - 1), hosts, st.integers(1, 65535), names)
lists = st.lists(contacts, max_size=6).map(tuple)
small = st.integers(0, 300)
cycles = small | st.just(MAX_CYCLES)
steps = small | st.just(MAX_STEPS)
epochs = st.integers(-1, 300) | st.just(MAX_EPOCH)
stands = st.builds(
    Position,
    contacts,
    st.integers(0, 2**64 - 1),
    st.integers(0, 32),
    st.lists(lists, max_size=4).map(tuple),
    lists,
)
postings = st.lists(st.builds(Posting, contacts, cycles), max_size=6).map(tuple)
weights = st.floats(0.0, MAX_WEIGHT) | st.just(MAX_WEIGHT)
event_names = st.sampled_from([bytes(16), b"x" * 16])
minima = st.lists(st.integers(0, 2**32 - 1), min_size=64, max_size=64).map(tuple)
anything = st.one_of(
    st.builds(Tally, epochs, weights, minima | st.just((1, 2))),
    st.builds(Compare, small, names),
    st.builds(Compared, small, contacts, epochs, minima | st.just(()), cycles),
    st.builds(Find, small, st.lists(names, min_size=1, max_size=4).map(tuple)),
    *(st.builds(kind, small, lists) for kind in (Found, Checked)),
    st.builds(Subscribe, contacts, cycles, st.integers(0, 16), steps),
    st.builds(Served, contacts, cycles),
    st.builds(Copy, contacts, cycles, steps),
    st.builds(Kept, contacts),
    st.builds(Replace, st.lists(contacts, max_size=1).map(tuple), cycles),
    st.just(Beat()),
    st.just(Dropped()),
    st.builds(Weigh, contacts, weights),
    st.builds(Weighed, weights, weights),
    st.builds(Check, small),
    st.builds(Supers, lists),
    st.builds(Meet, small, stands, postings),
    st.builds(Met, small, stands, lists, postings),
    st.builds(Route, small, contacts, st.integers(0, 3), st.integers(0, 2**64 - 1), names, steps),
    st.builds(Placed, small, stands, postings),
    st.builds(Listed, small, small, lists),
    st.builds(Post, postings),
    st.builds(
        Event,
        event_names,
        names,
        small,
        small,
        st.sampled_from([-1.0, 0.0, 0.5, 1.0]),
        st.binary(max_size=9),
    ),
)
