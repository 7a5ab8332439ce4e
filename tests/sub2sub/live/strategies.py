"""Any message that a peer may receive, true or false."""

from __future__ import annotations

from hypothesis import strategies as st

from sub2sub.live.core import messages as m
from sub2sub.live.wire.format import MAX_AGE
from sub2sub.peers.descriptors import Descriptor

numbers = st.integers(0, 2**64 - 1)
# Few IDs, so that lies meet the truth.
ids = st.one_of(st.integers(0, 8), st.sampled_from([2**63, 2**64 - 1]), numbers)
coordinates = st.one_of(
    st.sampled_from([0.0, 0.25, 0.5, 1.0, -1e300, 1e300, 1.7976931348623157e308, 5e-324]),
    st.floats(allow_nan=False, allow_infinity=False),
)


@st.composite
def descriptors(draw: st.DrawFn, d: int | None = None) -> Descriptor:
    size = draw(st.integers(1, 3)) if d is None else d
    ends = [sorted((draw(coordinates) + 0.0, draw(coordinates) + 0.0)) for _ in range(size)]
    host = draw(st.sampled_from(["127.0.0.1", "::1", "example.org"]))
    low, high = (tuple(end[k] for end in ends) for k in (0, 1))
    return Descriptor(draw(ids), low, high, (host, draw(st.integers(1, 65535))))


def mention(peer: Descriptor, age: int, held: int = 0) -> tuple[Descriptor, int, int]:
    return peer, age, held


def mentioned(*mentions: tuple[Descriptor, int, int]) -> m.Mentions:
    peers, ages, held = zip(*mentions, strict=True) if mentions else ((), (), ())
    return m.Mentions(peers, ages, held if any(held) else ())


def mentions(d: int | None = None, most: int = 8) -> st.SearchStrategy[m.Mentions]:
    ages = st.one_of(st.integers(0, 30), st.integers(0, MAX_AGE))
    one = st.builds(mention, descriptors(d), ages, ages)
    return st.lists(one, max_size=most).map(lambda made: mentioned(*made))


def messages(d: int | None = None) -> st.SearchStrategy[m.Message]:
    links, exchange = mentions(d), st.one_of(st.integers(0, 5), numbers)
    point = st.lists(coordinates, min_size=d or 1, max_size=d or 3).map(tuple)
    name = st.one_of(st.sampled_from([bytes(16), b"x" * 16]), st.binary(min_size=16, max_size=16))
    names = st.lists(name, max_size=4).map(tuple)
    return st.one_of(
        *(st.builds(kind, exchange, links) for kind in (m.Shuffle, m.Shuffled, m.Near, m.NearBack)),
        *(st.builds(kind, exchange, links) for kind in (m.Welcome, m.Answer)),
        *(st.builds(kind, exchange) for kind in (m.Probe, m.Probed, m.Join)),
        st.builds(m.Ring, exchange, descriptors(d), links, links),
        st.builds(m.RingBack, exchange, links, links),
        st.builds(m.Hello, descriptors(d)),
        *(st.builds(kind, exchange, descriptors(d)) for kind in (m.Seek, m.Changed)),
        st.builds(m.Lacking, exchange, names),
        st.builds(m.Digest, exchange, names, st.lists(st.integers(0, MAX_AGE), max_size=4).map(tuple)),
        st.builds(m.Event, name, point, st.integers(0, m.MAX_HOPS), st.binary(max_size=64)),
        st.builds(m.Taken, name, st.booleans()),
        st.builds(m.Ask, exchange, point),
        st.just(m.Leave()),
    )
