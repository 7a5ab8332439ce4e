"""Nodes that trust one another's certificates, and nobody else's."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
from pathlib import Path

import pytest

from sub2sub.errors import InputError
from sub2sub.live import Limits, Node, Tls, run
from sub2sub.live.authority import Authority
from sub2sub.live.core import messages as m
from sub2sub.live.net.handshakes import Handshakes
from sub2sub.live.net.identity import bound_id, is_bound
from sub2sub.live.wire.format import encode
from sub2sub.live.wire.framing import Frame
from sub2sub.peers.descriptors import Descriptor
from tests.sub2sub.live.loopback import HARD_LIMIT, live, until

OF_UVLOOP = 1  # descriptor that it opens with the first connection


def test_peers_with_certificates_of_one_authority_meet_and_others_are_kept_out(tmp_path: Path) -> None:
    authority = Authority.create(tmp_path / "swarm")
    ours = Tls(authority.issue("ours"))
    also_ours = Tls(authority.issue("also"))
    theirs = Tls(Authority.create(tmp_path / "others").issue("theirs"))

    async def test() -> None:
        async with Node(1, tls=ours, period=0.1) as alice:
            events = await alice.subscribe([0.0], [1.0])
            async with Node(1, contact=alice.address, tls=also_ours) as bob:
                await bob.publish([0.5], b"secret")
            assert (await anext(events)).data == b"secret"
            for stranger in (theirs, None):
                with pytest.raises(ConnectionError):
                    async with Node(1, contact=alice.address, tls=stranger, reply=3.0):
                        pass
            reader, writer = await asyncio.open_connection(*alice.address)
            writer.write(b"plain text, and rude")
            assert b"secret" not in await reader.read()
            writer.close()

    live(test)


@pytest.mark.parametrize("name", ["authority", "certificate", "key", "revoked"])
@pytest.mark.parametrize("text", ["", "hello"])
def test_files_that_are_no_certificates_are_named(tmp_path: Path, name: str, text: str) -> None:
    folder = Authority.create(tmp_path / "swarm").issue("ours")
    (folder / f"{name}.pem").write_text(text)
    with pytest.raises(InputError, match=r"tls: expected .*swarm/ours"):
        Node(1, tls=Tls(folder))


def test_of_too_many_handshakes_the_oldest_is_given_up_and_members_get_in(tmp_path: Path) -> None:
    """On both event loops; asyncio alone would let strangers take all descriptors of the process."""
    authority = Authority.create(tmp_path / "swarm")
    ours, theirs = (Tls(authority.issue(name)) for name in ("ours", "theirs"))

    async def test() -> None:
        async with Node(1, tls=ours, limits=Limits(handshakes=4, handshake=99.0), period=9.0) as node:
            counts, door = node.connections.counts, node.connections._server
            assert isinstance(door, Handshakes)
            before = len(os.listdir("/proc/self/fd"))
            silent = [await asyncio.open_connection(*node.address) for _ in range(30)]
            await until(lambda: counts["handshakes failed"] == 26)
            assert len(door._under_way) == 4
            await until(lambda: len(os.listdir("/proc/self/fd")) <= before + 30 + 4 + OF_UVLOOP)
            async with Node(1, contact=node.address, tls=theirs, reply=30.0):
                assert len(node.connections._incoming) == 1
            for _, writer in silent:
                writer.close()
            await until(lambda: not door._under_way)

    live(test)
    run(asyncio.wait_for(test(), HARD_LIMIT))


def test_handshakes_that_fail_leave_nothing_behind(tmp_path: Path) -> None:
    """Plain text, no certificate, another authority's, a hang-up: each ends before a byte of ours is read."""
    authority = Authority.create(tmp_path / "swarm")
    ours = Tls(authority.issue("ours"))
    theirs = Tls(Authority.create(tmp_path / "others").issue("theirs"))
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    contexts = [nobody, theirs.contexts()[1]]
    for context in contexts:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE

    async def test() -> None:
        async with Node(1, tls=ours, period=9.0) as node:
            node.connections.handle = None  # type: ignore[assignment]
            before = len(os.listdir("/proc/self/fd"))
            for context in [*contexts, None] * 5:
                with contextlib.suppress(OSError, EOFError):
                    reader, writer = await asyncio.open_connection(*node.address, ssl=context)
                    writer.write(encode(Frame(0, 1, m.Probe(1))))
                    assert await reader.read() == b""
                writer.close()
            await until(lambda: node.connections.counts["handshakes failed"] == 15)
            assert node.connections.counts["frames in"] == node.connections.counts["malformed"] == 0
            await until(lambda: len(os.listdir("/proc/self/fd")) <= before + OF_UVLOOP)

    live(test)
    run(asyncio.wait_for(test(), HARD_LIMIT))


def test_handshakes_have_a_time_limit(tmp_path: Path) -> None:
    tls, limits = Tls(Authority.create(tmp_path / "swarm").issue("ours")), Limits(handshake=0.3)

    async def test() -> None:
        async with Node(attributes=1, tls=tls, limits=limits) as node:
            _, writer = await asyncio.open_connection(*node.address)  # that says nothing
            async with asyncio.timeout(HARD_LIMIT / 2):  # asyncio's own limit is a minute
                await until(lambda: node.connections.counts["handshakes failed"] == 1)
            assert not node.connections._incoming
            writer.close()

    live(test)


def test_whoever_comes_without_a_certificate_blocks_nobody_on_uvloop_either(tmp_path: Path) -> None:
    """On uvloop `start_tls` lost what had come before it: every handshake of a fast client hung for 3 s."""
    authority = Authority.create(tmp_path / "swarm")
    ours, theirs = (Tls(authority.issue(name)) for name in ("ours", "theirs"))
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    nobody.check_hostname, nobody.verify_mode = False, ssl.CERT_NONE

    def attack(address: tuple[str, int]) -> None:
        for _ in range(4):
            with socket.create_connection(address) as plain, contextlib.suppress(OSError):
                nobody.wrap_socket(plain).close()

    async def test() -> None:
        async with Node(1, tls=ours, limits=Limits(handshake=60.0)) as node:
            await asyncio.get_running_loop().run_in_executor(None, attack, node.address)
            async with Node(1, contact=node.address, tls=theirs):
                pass
            await until(lambda: node.connections.counts["handshakes failed"] == 4)

    run(asyncio.wait_for(test(), 50.0))


def test_a_certificate_says_which_ids_its_holder_may_have(tmp_path: Path) -> None:
    authority = Authority.create(tmp_path / "swarm")
    ours, theirs = (Tls(authority.issue(name)) for name in ("ours", "theirs"))
    mine = theirs.identity()
    assert mine is not None

    async def test() -> None:
        async with Node(attributes=1, tls=ours, period=5.0) as node:
            own = await node.subscribe([0.0], [1.0])
            assert is_bound(own.own.id, ours.identity() or b"", 16)
            _, writer = await asyncio.open_connection(
                *node.address, ssl=theirs.contexts()[1], server_hostname="127.0.0.1"
            )
            chosen, genuine = own.own.id + 1, bound_id(mine, 0)
            claims = [
                (chosen, m.Hello(Descriptor.of(chosen, [0.0], [1.0], ("127.0.0.1", 9)))),
                (genuine, m.Hello(Descriptor.of(chosen, [0.0], [1.0], ("127.0.0.1", 9)))),
                (
                    chosen,
                    m.Near(1, m.Mentions((Descriptor.of(chosen, [0.0], [1.0], ("127.0.0.1", 9)),), (0,))),
                ),
                (chosen, m.Leave()),
            ]
            for sender, message in claims:
                writer.write(encode(Frame(own.own.id, sender, message)))
            await until(lambda: node.counts["forged"] == len(claims))
            assert own.core.counts["failed"] == 0, "nobody was probed"
            assert own.core.known() == []
            peer = Descriptor.of(genuine, [0.0], [1.0], ("127.0.0.1", 9))
            writer.write(encode(Frame(own.own.id, genuine, m.Hello(peer))))
            await until(lambda: [each.id for each in own.core.known()] == [genuine])
            writer.close()

    live(test)


def test_a_certificate_has_few_ids_and_one_that_is_shared_is_noticed(tmp_path: Path) -> None:
    tls = Tls(Authority.create(tmp_path / "swarm").issue("ours"))

    async def test() -> None:
        async with Node(attributes=1, tls=tls, limits=Limits(subscriptions=2)) as node:
            for _ in range(2):
                await node.subscribe([0.0], [1.0])
            with pytest.raises(InputError, match=r"limits\.subscriptions"):
                await node.subscribe([0.0], [1.0])
            async with Node(attributes=1, contact=node.address, tls=tls):
                assert node.counts["own certificate"] == 1

    live(test)
