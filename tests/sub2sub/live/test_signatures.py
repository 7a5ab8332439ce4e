"""Events signed by their publishers."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from hierarchy.live.messages import Event as CommunityEvent
from hierarchy.shared.live.table_messages import Routed
from sub2sub.errors import InputError
from sub2sub.live import Node, Signer
from sub2sub.live.core.messages import Event
from sub2sub.live.net.signatures import accepts
from tests.sub2sub.live.loopback import live, until

EVENT = Event(bytes(16), (0.25, 0.5), 3, b"data")


def test_nothing_that_is_signed_can_be_changed() -> None:
    signer = Signer.generate()
    event = signer.sign(EVENT)
    assert accepts(event, None)
    assert accepts(replace(event, hops=7), [signer.public])
    for lie in (
        replace(event, name=bytes(15) + b"x"),
        replace(event, point=(0.25, 0.75)),
        replace(event, data=b"other"),
        replace(event, signature=bytes(64)),
        replace(event, signature=b""),
        replace(event, signer=Signer.generate().public),
        replace(event, signer=bytes(32)),
    ):
        assert not accepts(lie, None)
        assert not accepts(lie, [signer.public])


def test_a_signature_is_of_one_kind_of_event() -> None:
    """An event along rings is none by tables, and none of a community, whatever its bytes."""
    signer, head = Signer.generate(), (bytes(16), (0.25,), 0)
    event = signer.sign(Event(*head, b"data"))
    routed = Routed(*head, 1.0, 2.0, 3.0, b"data", event.signer, event.signature)
    community = CommunityEvent(bytes(16), ".a", 1, 0, -1.0, b"data", event.signer, event.signature)
    assert [accepts(each, None) for each in (event, routed, community)] == [True, False, False]
    starts = [each.signed[: each.signed.index(bytes(16))] for each in (event, routed, community)]
    assert not any(one.startswith(other) for one, other in permutations(starts, 2))


def test_who_trusts_some_takes_nobody_elses_events() -> None:
    signer = Signer.generate()
    assert accepts(EVENT, None)
    assert not accepts(EVENT, [signer.public])
    assert not accepts(Signer.generate().sign(EVENT), [signer.public])


def test_events_of_others_are_neither_delivered_nor_passed_on() -> None:
    signer = Signer.generate()

    async def test() -> None:
        async with Node(attributes=1, period=0.1, trusted=[signer.public]) as alice:
            events = await alice.subscribe([0.0], [1.0])
            for own, outcome in ((None, "nobody"), (Signer.generate(), "nobody"), (signer, "taken")):
                async with Node(attributes=1, contact=alice.address, signer=own, reply=30.0) as publisher:
                    assert (await publisher.publish([0.5], b"hello")).outcome == outcome
            await until(lambda: alice.counts["delivered"] == 1)
            assert (await anext(events)).signer == signer.public
            assert alice.counts["refused events"] >= 2

    live(test)


def test_keys_are_loaded_from_pem_files_and_others_are_named(tmp_path: Path) -> None:
    written = {
        "good.pem": ed25519.Ed25519PrivateKey.generate(), "curve.pem": ec.generate_private_key(ec.SECP256R1())
    }  # fmt: skip
    for name, key in written.items():
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (tmp_path / name).write_bytes(pem)
    (tmp_path / "empty.pem").write_text("")
    signer = Signer.load(tmp_path / "good.pem")
    assert accepts(signer.sign(EVENT), [written["good.pem"].public_key().public_bytes_raw()])  # type: ignore[union-attr]
    for name in ("curve.pem", "empty.pem", "none.pem"):
        with pytest.raises(InputError, match=f"signer: .*{name}"):
            Signer.load(tmp_path / name)
