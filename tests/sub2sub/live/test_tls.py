"""Nodes that trust one another's certificates, and nobody else's."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from dataclasses import replace
from pathlib import Path

import pytest
import trustme

from sub2sub.errors import InputError
from sub2sub.live import Limits, Node, Tls, run
from sub2sub.live.core import messages as m
from sub2sub.live.net.connections import HANDSHAKE
from sub2sub.live.net.identity import bound_id, is_bound
from sub2sub.live.wire.format import Frame, encode
from sub2sub.overlay.descriptors import Descriptor
from tests.sub2sub.live.loopback import HARD_LIMIT, live, until


def certificates(folder: Path, authority: trustme.CA, name: str) -> Tls:
    own = authority.issue_cert("127.0.0.1")
    paths = [folder / f"{name}-{part}.pem" for part in ("authority", "certificate", "key")]
    authority.cert_pem.write_to_path(paths[0])
    own.cert_chain_pems[0].write_to_path(paths[1])
    own.private_key_pem.write_to_path(paths[2])
    return Tls(*paths)


def test_peers_with_certificates_of_one_authority_meet_and_others_are_kept_out(tmp_path: Path) -> None:
    authority = trustme.CA()
    ours = certificates(tmp_path, authority, "ours")
    also_ours = certificates(tmp_path, authority, "also")
    theirs = certificates(tmp_path, trustme.CA(), "theirs")

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


def test_files_that_are_no_certificates_are_named(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("")
    with pytest.raises(InputError, match=r"tls.authority.*empty\.pem"):
        Node(1, tls=Tls(tmp_path / "empty.pem", tmp_path / "none.pem", tmp_path / "none.pem"))


def test_handshakes_count_as_connections(tmp_path: Path) -> None:
    tls, limits = certificates(tmp_path, trustme.CA(), "ours"), Limits(incoming=4, reserved=1, handshake=99.0)

    async def test() -> None:
        async with Node(attributes=1, tls=tls, limits=limits) as node:
            both = [await asyncio.open_connection(*node.address) for _ in range(8)]  # that say nothing
            await until(lambda: node.connections.counts["refused"] == 5)
            assert len(node.connections._incoming) == 3
            for _, writer in both:
                writer.close()

    live(test)


def test_handshakes_have_a_time_limit(tmp_path: Path) -> None:
    tls, limits = certificates(tmp_path, trustme.CA(), "ours"), Limits(handshake=0.3)

    async def test() -> None:
        async with Node(attributes=1, tls=tls, limits=limits) as node:
            _, writer = await asyncio.open_connection(*node.address)  # that says nothing
            async with asyncio.timeout(HARD_LIMIT / 2):  # asyncio's own limit is a minute
                await until(lambda: node.connections.counts["handshakes failed"] == 1)
            assert not node.connections._incoming
            writer.close()

    live(test)


def test_handshakes_are_paid_for_and_strangers_pay_together(tmp_path: Path) -> None:
    async def test() -> None:
        limits = Limits(processor=HANDSHAKE / 10, handshake=50.0)
        async with Node(
            1, tls=certificates(tmp_path, trustme.CA(), "ours"), limits=limits, period=9.0
        ) as node:
            begun, refused = node.connections._from, node.connections.counts

            async def connect(host: str) -> asyncio.StreamWriter:
                return (await asyncio.open_connection(*node.address, local_addr=(host, 0)))[1]

            flood = [await connect(f"127.0.0.{2 + k % 3}") for k in range(60)]  # that say nothing
            await until(lambda: refused["refused"] + begun.total() + refused["handshakes failed"] == 60)
            assert refused["refused"] > 45, "only so many handshakes are begun, whatever the number of hosts"
            node._known_hosts = {"127.0.0.9"}
            before = refused["refused"]
            flood.append(await connect("127.0.0.9"))
            await until(lambda: begun["127.0.0.9"] == 1)
            assert refused["refused"] == before
            for writer in flood:
                writer.close()

    live(test)


def test_handshakes_that_fail_do_not_keep_newcomers_with_a_certificate_out(tmp_path: Path) -> None:
    """Eight hosts without certificates kept two of five newcomers out, and the others for 3 s."""
    authority = trustme.CA()
    ours, theirs = (certificates(tmp_path, authority, name) for name in ("ours", "theirs"))

    async def test() -> None:
        async with Node(1, tls=ours, limits=Limits(processor=20 * HANDSHAKE, handshake=1.5)) as node:
            flood = [
                (await asyncio.open_connection(*node.address, local_addr=("127.0.0.2", 0)))[1]
                for _ in range(100)
            ]
            await until(lambda: node.connections.counts["refused"] > 50)
            async with Node(1, contact=node.address, tls=theirs, reply=30.0):
                pass
            for writer in flood:
                writer.close()

    live(test)


def test_whoever_comes_without_a_certificate_blocks_nobody_on_uvloop_either(tmp_path: Path) -> None:
    """On uvloop `start_tls` lost what had come before it: every handshake of a fast client hung for 3 s."""
    authority = trustme.CA()
    ours, theirs = (certificates(tmp_path, authority, name) for name in ("ours", "theirs"))
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
    authority = trustme.CA()
    ours, theirs = (certificates(tmp_path, authority, name) for name in ("ours", "theirs"))
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
            await until(lambda: own.core.counts["failed"] == 1)  # it was probed where nobody is
            writer.close()

    live(test)


def test_a_certificate_has_few_ids_and_one_that_is_shared_is_noticed(tmp_path: Path) -> None:
    tls = certificates(tmp_path, trustme.CA(), "ours")

    async def test() -> None:
        async with Node(attributes=1, tls=tls, limits=Limits(subscriptions=2)) as node:
            for _ in range(2):
                await node.subscribe([0.0], [1.0])
            with pytest.raises(InputError, match=r"limits\.subscriptions"):
                await node.subscribe([0.0], [1.0])
            async with Node(attributes=1, contact=node.address, tls=tls):
                assert node.counts["own certificate"] == 1
            async with Node(attributes=1, tls=replace(tls, bind=False)) as free:
                assert free.identity is None

    live(test)
