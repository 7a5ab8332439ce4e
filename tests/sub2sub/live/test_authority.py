"""A closed swarm: who has no certificate of its authority, or no valid one, ends at the handshake."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import shutil
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from stat import S_IMODE
from typing import Any

import pytest
from cryptography import x509

from sub2sub.errors import InputError
from sub2sub.live import Node, Tls
from sub2sub.live.authority import Authority
from sub2sub.live.core import messages as m
from sub2sub.live.net.connections import Connections
from sub2sub.live.wire import format as wire
from sub2sub.live.wire.framing import Frame
from tests.sub2sub.live.loopback import live, until

SOON = 1e-9  # days: a certificate that ends now


@pytest.fixture
def swarm(tmp_path: Path) -> Authority:
    return Authority.create(tmp_path / "swarm")


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lengths of what has been read as a frame by any node."""
    found: list[int] = []
    true = wire.PROTOCOL.decode

    def decode(own: Any, body: bytes) -> Any:
        found.append(len(body))
        return true(body)

    monkeypatch.setattr(type(wire.PROTOCOL), "decode", decode)
    return found


def contexts_of(kind: str, swarm: Authority, folder: Path) -> ssl.SSLContext | None:
    """What a stranger of a kind begins a connection with."""
    if kind == "plain":
        return None
    if kind == "without a certificate":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context
    if kind == "of another authority":
        theirs = Authority.create(folder / "others" / "swarm").issue("alice")
        shutil.copy(swarm.folder / "authority.pem", theirs)  # it knows ours
        shutil.copy(swarm.folder / "revoked.pem", theirs)
        return Tls(theirs).contexts()[1]
    folder = swarm.issue("late" if kind == "expired" else "gone", SOON if kind == "expired" else 1.0)
    kept = Path(shutil.copytree(folder, folder.parent.parent / "kept"))
    if kind == "revoked":
        swarm.revoke("gone")
    return Tls(kept).contexts()[1]


@pytest.mark.parametrize(
    "kind", ["plain", "without a certificate", "of another authority", "expired", "revoked"]
)
def test_a_stranger_ends_at_the_handshake_before_a_byte_is_parsed(
    kind: str, swarm: Authority, tmp_path: Path, parsed: list[int]
) -> None:
    ours, context = Tls(swarm.issue("alice")), contexts_of(kind, swarm, tmp_path)
    frame = wire.encode(Frame(0, 1, m.Join(1)))

    async def test() -> None:
        await asyncio.sleep(1.1 if kind == "expired" else 0.0)  # OpenSSL counts seconds
        async with Node(1, tls=ours) as node:
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_connection(*node.address, ssl=context)
                writer.write(frame)
                assert not await reader.read() or kind == "plain", "which gets an alert of TLS"
            await until(lambda: not node.connections.open)
            assert parsed == []
            assert node.counts["frames in"] == node.counts["malformed"] == 0
            member = Tls(swarm.issue("bob")).contexts()[1]  # and this is what a member gets
            reader, writer = await asyncio.open_connection(*node.address, ssl=member)
            writer.write(frame)
            assert await reader.readexactly(4)
            writer.close()
        assert parsed

    live(test)


def test_nodes_read_the_list_again_and_lose_no_connection(swarm: Authority, tmp_path: Path) -> None:
    alice, bob, carol = (Tls(swarm.issue(name)) for name in ("alice", "bob", "carol"))
    kept = Tls(Path(shutil.copytree(carol.folder, tmp_path / "carol")))

    async def test() -> None:
        async with Node(1, tls=alice, period=0.1) as first:
            events = await first.subscribe([0.0], [1.0])
            async with Node(1, contact=first.address, tls=bob, period=0.1) as second:
                await second.publish([0.5], b"before")
                async with Node(1, contact=first.address, tls=kept, period=0.1):
                    pass
                opened = second.connections.counts["opened"]
                swarm.revoke("carol")
                with pytest.raises(ConnectionError):
                    async with Node(1, contact=first.address, tls=kept, reply=1.0):
                        pass
                await second.publish([0.5], b"after")
                assert second.connections.counts["opened"] == opened == 1
            assert [(await anext(events)).data for _ in range(2)] == [b"before", b"after"]

    live(test)


def test_a_member_that_is_revoked_while_it_is_connected_is_cut_off(swarm: Authority, tmp_path: Path) -> None:
    alice = Tls(swarm.issue("alice"))
    kept = Tls(Path(shutil.copytree(swarm.issue("carol"), tmp_path / "carol")))

    async def test() -> None:
        async with Node(1, tls=alice, period=0.1) as first:
            await first.subscribe([0.0], [1.0])
            async with Node(1, contact=first.address, tls=kept, period=0.1, reply=0.5) as carol:
                await carol.publish([0.5])
                assert carol.connections.open == first.connections.open == 1
                swarm.revoke("carol")
                await until(lambda: first.connections.open == 0)
                assert (await carol.publish([0.5])).outcome == "unknown"

    live(test)


def test_a_renewed_certificate_is_shown_at_once_and_has_the_same_ids(swarm: Authority) -> None:
    alice, bob = Tls(swarm.issue("alice", SOON)), Tls(swarm.issue("bob"))
    swarm.renew("alice", 1.0)

    async def test() -> None:
        async with Node(1, tls=alice, period=0.1) as first:
            identity = first.identity
            await first.subscribe([0.0], [1.0])
            swarm.renew("alice", 2.0)
            async with Node(1, contact=first.address, tls=bob, period=0.1) as second:
                assert (await second.publish([0.5])).outcome == "taken"
                (channel,) = second.connections._outgoing.values()
                assert channel.identity() == identity == alice.identity()
                shown = channel.transport.get_extra_info("peercert")["notAfter"]
                assert ssl.cert_time_to_seconds(shown) == alice.expires().timestamp()

    live(test)


def test_half_of_a_file_does_not_stop_a_node(swarm: Authority) -> None:
    alice, bob = (Tls(swarm.issue(name)) for name in ("alice", "bob"))
    whole = (alice.folder / "revoked.pem").read_text()

    async def test() -> None:
        async with Node(1, tls=alice) as node:
            for text in (whole[:80], whole):
                (alice.folder / "revoked.pem").write_text(text)
                async with Node(1, contact=node.address, tls=bob):
                    pass

    live(test)


def test_nobody_but_the_owner_can_read_a_key_at_any_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    true, made = os.open, []

    def watched(path: Any, flags: int, mode: int = 0o777, **more: Any) -> int:
        file = true(path, flags, mode, **more)
        made.append((Path(path).name, S_IMODE(os.fstat(file).st_mode)))
        return file

    monkeypatch.setattr(os, "open", watched)
    mask = os.umask(0)
    try:
        Authority.create(tmp_path / "swarm").issue("alice")
    finally:
        os.umask(mask)
    keys = [mode for name, mode in made if "key" in name]
    assert keys == [0o600, 0o600]
    files = {path: S_IMODE(path.stat().st_mode) for path in (tmp_path / "swarm").rglob("*key.pem")}
    assert len(files) == 2
    assert set(files.values()) == {0o600}
    assert S_IMODE((tmp_path / "swarm").stat().st_mode) == 0o700


def test_all_certificates_of_a_member_are_revoked_also_earlier_ones(swarm: Authority) -> None:
    first = swarm.issue("alice")
    earlier = shutil.copytree(first, swarm.folder.parent / "earlier")
    swarm.renew("alice")
    swarm.issue("bob")
    swarm.revoke("alice")
    serials = Tls(swarm.folder).revoked()
    old = x509.load_pem_x509_certificate((Path(earlier) / "certificate.pem").read_bytes())
    assert {old.serial_number} < serials
    assert len(serials) == 2
    assert [*swarm.members()] == ["bob"]
    swarm.issue("alice")
    swarm.revoke("alice")
    assert len(Tls(swarm.folder / "bob").revoked()) == 3


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda swarm: Authority.create(swarm.folder), "does not exist yet"),
        (lambda swarm: Authority.open(swarm.folder / "none"), "ca init"),
        (lambda swarm: swarm.issue("../alice"), "letters"),
        (lambda swarm: (swarm.issue("bob"), swarm.issue("bob")), "there already"),
        (lambda swarm: swarm.renew("bob"), "expected a member"),
        (lambda swarm: swarm.revoke("bob"), "expected a member"),
    ],
)
def test_mistakes_with_an_authority_are_named(
    act: Callable[[Authority], Any], says: str, swarm: Authority
) -> None:
    with pytest.raises(InputError, match=says):
        act(swarm)


def test_a_node_does_not_start_with_a_certificate_that_has_expired(swarm: Authority) -> None:
    with pytest.raises(InputError, match="ca renew"):
        Node(1, tls=Tls(swarm.issue("late", SOON)))


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "127.0.0.1.example"])
def test_an_address_of_others_needs_tls_or_the_wish_to_be_insecure(
    host: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.WARNING, "sub2sub.live.net.tls")  # whatever level others have set
    opened: Iterator[int] = itertools.count()

    async def listen(connections: Connections, host: str, port: int) -> tuple[str, int]:
        return host, 7000 + next(opened)

    monkeypatch.setattr(Connections, "listen", listen)

    async def test() -> None:
        with pytest.raises(InputError, match=f"listen: expected TLS at {host}.*sub2sub live ca.*insecure"):
            async with Node(1, listen=(host, 7000), advertise=("192.0.2.1", 7000)):
                pass
        assert next(opened) == 0, "it never listened"
        assert not caplog.records
        async with Node(1, listen=(host, 7000), advertise=("192.0.2.1", 7000), insecure=True):
            assert "everybody who reaches" in caplog.text

    live(test)
