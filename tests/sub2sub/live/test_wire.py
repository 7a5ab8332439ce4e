"""The wire format: decoding inverts encoding, and refuses all else."""

from __future__ import annotations

import contextlib
import struct

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sub2sub.live.core.messages import Event, Hello, Mentions, Probe, Shuffle
from sub2sub.live.wire import format as wire
from sub2sub.live.wire.format import decode, encode, pack, unpack
from sub2sub.live.wire.framing import MAX_FRAME, Frame, WireError, size_of
from sub2sub.peers.descriptors import Descriptor
from tests.sub2sub.live.strategies import descriptors, messages, numbers

PEER = Descriptor.of(7, [0.25, 0.0], [0.5, 1.0], ("127.0.0.1", 9000))


def body(*values: object) -> bytes:
    packed: bytes = msgpack.packb(list(values))
    return packed


@given(numbers, numbers, messages())
def test_a_frame_is_read_as_it_was_written(to: int, sender: int, message: object) -> None:
    data = encode(Frame(to, sender, message))  # type: ignore[arg-type]
    assert size_of(data[:4]) == len(data) - 4
    assert decode(data[4:]) == Frame(to, sender, message)  # type: ignore[arg-type]


@given(descriptors())
def test_a_descriptor_is_read_as_it_was_written(peer: Descriptor) -> None:
    assert unpack(pack(peer)) == peer


@given(st.binary(max_size=200))
def test_any_bytes_are_a_frame_or_refused(data: bytes) -> None:
    with contextlib.suppress(WireError):
        decode(data)


@given(messages(), st.data())
def test_a_frame_with_a_byte_changed_or_cut_off_is_a_frame_or_refused(
    message: object, data: st.DataObject
) -> None:
    good = encode(Frame(1, 2, message))[4:]  # type: ignore[arg-type]
    place = data.draw(st.integers(0, len(good) - 1))
    changed = good[:place] + bytes([data.draw(st.integers(0, 255))]) + good[place + 1 :]
    for bad in (good[:place], changed):
        with contextlib.suppress(WireError):
            decode(bad)


json = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(), st.binary(max_size=40)
    ),
    lambda inner: st.lists(inner, max_size=5),
    max_leaves=12,
)


@given(st.integers(0, 20), st.lists(json, max_size=6))
def test_any_values_in_place_of_fields_are_a_frame_or_refused(kind: int, values: list[object]) -> None:
    try:
        frame = decode(body(wire.VERSION, kind, 1, 2, *values))
    except WireError:
        return
    assert decode(encode(frame)[4:]) == frame


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([wire.VERSION + 1, 8, 1, 2, 3], "version"),
        ([True, 8, 1, 2, 3], "version"),
        ([wire.VERSION, 99, 1, 2], "kind"),
        ([wire.VERSION, 8.0, 1, 2, 3], "kind"),
        ([wire.VERSION, 8, -1, 2, 3], "to"),
        ([wire.VERSION, 8, 1, True, 3], "from"),
        ([wire.VERSION, 8, 1, 2], "1 fields"),
        ([wire.VERSION, 8, 1, 2, 3, 4], "1 fields"),
        ([wire.VERSION, 1, 1, 2, 3, [[b""], [0], []]], "bytes or more"),
        ([wire.VERSION, 1, 1, 2, 3, [[pack(PEER)], [-1], []]], "links"),
        ([wire.VERSION, 1, 1, 2, 3, [[pack(PEER)], [0], [wire.MAX_AGE + 1]]], "links"),
        ([wire.VERSION, 1, 1, 2, 3, [[pack(PEER)], [0]]], "links"),
        ([wire.VERSION, 1, 1, 2, 3, [[pack(PEER)], [0, 0], []]], "as many"),
        ([wire.VERSION, 1, 1, 2, 3, [[pack(PEER)], [True], []]], "ages"),
        ([wire.VERSION, 1, 1, 2, 3, [[pack(PEER)], [0.5], []]], "ages"),
        ([wire.VERSION, 1, 1, 2, 3, [[7], [0], []]], "as bytes"),
        ([wire.VERSION, 10, 1, 2, b"short", [0.5], 0, b""], "name"),
        ([wire.VERSION, 10, 1, 2, bytes(16), [float("nan")], 0, b""], "finite"),
        ([wire.VERSION, 10, 1, 2, bytes(16), [float("inf")], 0, b""], "finite"),
        ([wire.VERSION, 10, 1, 2, bytes(16), [1], 0, b""], "floats"),
        ([wire.VERSION, 10, 1, 2, bytes(16), [], 0, b""], "point"),
        ([wire.VERSION, 10, 1, 2, bytes(16), [0.5], -1, b""], "hops"),
        ([wire.VERSION, 11, 1, 2, bytes(16), 1], "true or false"),
    ],
)
def test_an_error_names_the_field_and_the_expected_value(values: list[object], says: str) -> None:
    with pytest.raises(WireError, match=says):
        decode(body(*values))


@pytest.mark.parametrize(
    ("low", "high", "port", "host", "d"),
    [
        (0.6, 0.5, 9000, b"h", 1),
        (float("nan"), 0.5, 9000, b"h", 1),
        (0.0, float("inf"), 9000, b"h", 1),
        (0.0, 0.5, 0, b"h", 1),
        (0.0, 0.5, 9000, b"", 1),
        (0.0, 0.5, 9000, b"a b", 1),
        (0.0, 0.5, 9000, b"\xff", 1),
        (0.0, 0.5, 9000, b"h" * 254, 1),
        (0.0, 0.5, 9000, b"h", 0),
        (0.0, 0.5, 9000, b"h", 17),
    ],
)
def test_invalid_descriptors_are_refused(low: float, high: float, port: int, host: bytes, d: int) -> None:
    data = struct.pack(">QHB", 1, port, d) + struct.pack(">2d", low, high) + host
    with pytest.raises(WireError):
        unpack(data)


def test_lengths_out_of_range_are_refused() -> None:
    for length in (0, MAX_FRAME + 1, 2**32 - 1):
        with pytest.raises(WireError, match="length"):
            size_of(struct.pack(">I", length))


def test_more_links_than_a_message_may_have_are_refused() -> None:
    n = wire.MAX_LINKS + 1
    with pytest.raises(WireError):
        decode(body(wire.VERSION, 1, 1, 2, 3, [[pack(PEER)] * n, [0] * n, []]))


def test_frames_that_are_too_long_are_not_sent() -> None:
    peers = tuple(Descriptor.of(k, [0.0] * 16, [1.0] * 16, ("h" * 200, 1)) for k in range(2048))
    links = Mentions(2 * peers, (0,) * 2 * len(peers))
    with pytest.raises(WireError, match="at most"):
        encode(Frame(1, 2, Shuffle(3, links)))


def test_the_documented_bytes_are_the_bytes_sent() -> None:
    assert encode(Frame(7, 8, Probe(5))).hex() == "00000006" + "95" + "0308" + "0708" + "05"
    small = Descriptor.of(1, [0.0], [1.0], ("h", 2))
    peer = "0000000000000001" + "0002" + "01" + "0000000000000000" + "3ff0000000000000" + "68"
    assert encode(Frame(0, 0, Hello(small))).hex() == "00000023" + "95" + "0307" + "0000" + "c41c" + peer
    event = encode(Frame(0, 0, Event(bytes(16), (0.5,), 1, b"x")))
    head = "98" + "030a" + "0000" + "c410" + "00" * 16
    assert event.hex()[8:] == head + "91cb3fe0000000000000" + "01" + "c40178"
