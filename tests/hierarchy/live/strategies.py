"""Any message a CAMCAST process may receive, honest or not."""

from __future__ import annotations

from hypothesis import strategies as st

from hierarchy.live import messages as m
from hierarchy.live.messages import Contact
from hierarchy.live.wire import MAX_CYCLES, MAX_EPOCH, MAX_STEPS, MAX_WEIGHT

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
    m.Position,
    contacts,
    st.integers(0, 2**64 - 1),
    st.integers(0, 32),
    st.lists(lists, max_size=4).map(tuple),
    lists,
)
postings = st.lists(st.builds(m.Posting, contacts, cycles), max_size=6).map(tuple)
weights = st.floats(0.0, MAX_WEIGHT) | st.just(MAX_WEIGHT)
event_names = st.sampled_from([bytes(16), b"x" * 16])
minima = st.lists(st.integers(0, 2**32 - 1), min_size=64, max_size=64).map(tuple)
anything = st.one_of(
    st.builds(m.Tally, epochs, weights, minima | st.just((1, 2))),
    st.builds(m.Compare, small, names),
    st.builds(m.Compared, small, contacts, epochs, minima | st.just(()), cycles),
    st.builds(m.Find, small, st.lists(names, min_size=1, max_size=4).map(tuple)),
    *(st.builds(kind, small, lists) for kind in (m.Found, m.Checked)),
    st.builds(m.Subscribe, contacts, cycles, st.integers(0, 16), steps),
    st.builds(m.Served, contacts, cycles),
    st.builds(m.Copy, contacts, cycles, steps),
    st.builds(m.Kept, contacts),
    st.builds(m.Replace, st.lists(contacts, max_size=1).map(tuple), cycles),
    st.just(m.Beat()),
    st.just(m.Dropped()),
    st.builds(m.Weigh, contacts, weights),
    st.builds(m.Weighed, weights, weights),
    st.builds(m.Check, small),
    st.builds(m.Supers, lists),
    st.builds(m.Meet, small, stands, postings),
    st.builds(m.Met, small, stands, lists, postings),
    st.builds(m.Route, small, contacts, st.integers(0, 3), st.integers(0, 2**64 - 1), names, steps),
    st.builds(m.Placed, small, stands, postings),
    st.builds(m.Listed, small, small, lists),
    st.builds(m.Post, postings),
    st.builds(
        m.Event,
        event_names,
        names,
        small,
        small,
        st.sampled_from([-1.0, 0.0, 0.5, 1.0]),
        st.binary(max_size=9),
    ),
)
