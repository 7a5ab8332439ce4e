"""Nodes by their files: events as JSON lines in and out, and what they tell of themselves."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging
import os
import sys
import tomllib
from pathlib import Path
from stat import S_IMODE
from typing import Any

import jsonschema
import pytest

from sims.config.json_schemas import node_schema
from sims.config.shipped import EXAMPLES
from sims.live.node_file import TABLES, NodeFile
from sims.live.serving import Printer, serve
from sims.live.status_pages import StatusPages, ask
from sub2sub.errors import InputError
from sub2sub.live import Tls
from sub2sub.live.authority import Authority
from tests.sub2sub.live.loopback import live, until
from workloads.settings.documents import Document

PERIOD = {"period": 0.1}


def settings(kind: str, **given: Any) -> NodeFile:
    found: NodeFile = Document(Path("node.toml"), "", {**PERIOD, **given}).read(TABLES[kind])
    return found


async def get(path: str, *, port: int | None = None, socket: Path | None = None) -> tuple[str, str]:
    """The first line of an answer, and its body."""
    if socket:
        reader, writer = await asyncio.open_unix_connection(socket)
    else:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: node\r\n\r\n".encode())
    head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    return head.splitlines()[0], body


@pytest.mark.parametrize(
    ("kind", "own", "events"),
    [
        ("peer", {"subscribe": ["0:0.5,0:1"]}, [{"point": [0.25, 0.5], "data": "hello"}]),
        ("topic", {"subscribe": [".soccer"]}, [{"topic": ".soccer.italy", "data": "goal"}]),
        (
            "shared",
            {"subscribe": [".soccer", "0:1,5:6"], "topics": [".soccer.italy", ".news"], "attributes": 2},
            [{"topic": ".soccer.italy", "data": "goal"}, {"point": [0.5, 5.5], "data": "a range"}],
        ),
    ],
)
def test_what_one_node_reads_another_prints(
    kind: str, own: dict[str, Any], events: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    caplog.set_level(logging.INFO, "sims")
    printed: list[dict[str, Any]] = []
    lines = ["not JSON", '{"point": "x"}', "[1]", *map(json.dumps, events)]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
    monkeypatch.setattr(Printer, "show", lambda printer, event: printed.append(event))

    async def test() -> None:
        subscriber = settings(kind, **own)
        async with subscriber.node() as node:
            for what in subscriber.subscribe:
                await subscriber.enter(node, what, printed.append)
            contact = "{}:{}".format(*node.address)
            shape = {key: own[key] for key in ("topics", "attributes") if key in own}
            shape |= {"attributes": 2} if kind == "peer" else {}
            await serve(settings(kind, contacts=[contact], **shape), publish=True)
            await until(lambda: len(printed) >= len(events))

    live(test)
    for event in events:
        assert any(event.items() <= {**each, "point": [*each.get("point", ())]}.items() for each in printed)
    assert caplog.text.count("of standard input") == 3
    assert caplog.text.count("published: ") == len(events)


def test_a_node_tells_what_it_is_to_its_owner_and_numbers_to_this_machine(tmp_path: Path) -> None:
    swarm = Authority.create(tmp_path / "swarm")
    alice, bob = (str(swarm.issue(name)) for name in ("alice", "bob"))
    socket = tmp_path / "alice.sock"

    async def test() -> None:
        first = settings("peer", subscribe=["0:1"], tls=alice, control=str(socket), metrics=0)
        async with first.node() as node, StatusPages(node, first) as pages:
            await first.enter(node, "0:1", lambda event: None)
            contact = "{}:{}".format(*node.address)
            second = settings("peer", subscribe=["0:0.5"], tls=bob, contacts=[contact])
            async with second.node() as other:
                other.contact = second.known()
                await second.enter(other, "0:0.5", lambda event: None)
                await until(lambda: bool(pages.members()))
                port = pages.port
                assert port
                members = json.loads((await get("/members", socket=socket))[1])
                assert [each["address"] for each in members] == ["{}:{}".format(*other.address)]
                assert members[0]["ranges"] == "0:0.5"
                status = json.loads((await get("/status", socket=socket))[1])
                assert (status["healthy"], status["subscriptions"]) == (True, ["0:1"])
                assert status["certificate until"] == f"{Tls(Path(alice)).expires():%Y-%m-%d}"
                head, text = await get("/metrics", port=port)
                assert head.endswith("200 OK")
                numbers = dict(line.split(" ") for line in text.splitlines() if line[0] != "#")
                assert numbers["sub2sub_members_known"] == "1"
                assert float(numbers["sub2sub_frames_in_total"]) > 0
                assert {line.split(" ")[2] for line in text.splitlines() if line[0] == "#"} == set(numbers)
                assert (await get("/healthz", port=port))[1] == "ok\n"
                for page in ("/status", "/members", "/monitor", "/", "nonsense"):
                    assert "404" in (await get(page, port=port))[0], "only the owner is told"
        assert not socket.exists()

    live(test)


def test_a_node_whose_clock_has_stopped_is_not_healthy() -> None:
    async def test() -> None:
        first = settings("peer", metrics=0)
        async with first.node() as node, StatusPages(node, first) as pages:
            node._ticking.cancel()
            await asyncio.sleep(0.7)
            assert "503" in (await get("/healthz", port=pages.port))[0]

    live(test)


def test_the_monitor_streams_the_log_with_deliveries(tmp_path: Path) -> None:
    socket = tmp_path / "alice.sock"

    async def test() -> None:
        first = settings("peer", control=str(socket))
        async with first.node() as node, StatusPages(node, first):
            logging.getLogger("sims").setLevel(logging.DEBUG)
            reader, writer = await asyncio.open_unix_connection(socket)
            writer.write(b"GET /monitor HTTP/1.0\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
            Printer(io.StringIO(), lambda: None).show({"point": [0.5]})
            line = json.loads(await reader.readline())
            assert (line["text"], line["level"], line["event"]) == ("delivered", "debug", {"point": [0.5]})
            writer.close()

    live(test)


def test_nobody_but_the_owner_can_use_the_socket_and_only_one_node_has_it(tmp_path: Path) -> None:
    socket = tmp_path / "alice.sock"
    first = settings("peer", control=str(socket))

    async def test() -> None:
        mask = os.umask(0)
        try:
            async with first.node() as node, StatusPages(node, first):
                assert S_IMODE(socket.stat().st_mode) == 0o600
                with pytest.raises(InputError, match="no other node"):
                    await StatusPages(node, first).__aenter__()
                os.rename(socket, tmp_path / "left")
                os.link(tmp_path / "left", socket)
            os.link(tmp_path / "left", socket)  # as after kill -9
            async with first.node() as node, StatusPages(node, first):
                assert (await get("/healthz", socket=socket))[1] == "ok\n"
        finally:
            os.umask(mask)

    live(test)
    with pytest.raises(InputError, match="running node"):
        list(ask(socket, "/status"))


def test_a_reader_that_does_not_read_loses_events_and_does_not_stop_the_node(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(Printer.show.__globals__, "WAITING", 10)
    read, write = os.pipe()
    ended: list[bool] = []
    printer = Printer(os.fdopen(write, "w"), lambda: ended.append(True))
    with os.fdopen(read) as reader:
        for number in range(10_000):
            printer.show({"data": "x" * 1000, "number": number})
        assert 9_900 < printer.lost < 10_000
        assert json.loads(reader.readline())["number"] == 0
        assert not ended
    printer.join(10.0)
    assert ended, "nobody reads any more"
    with contextlib.suppress(BrokenPipeError):
        printer._out.close()


@pytest.mark.parametrize(
    ("kind", "given", "says"),
    [
        ("peer", {"listen": "7000"}, "listen: expected HOST:PORT"),
        ("peer", {"contacts": ["x"]}, "contacts: expected HOST:PORT"),
        ("peer", {"subscribe": [".a"]}, "subscribe: expected LOW:HIGH"),
        ("peer", {"listen": "192.0.2.1:7000"}, "sub2sub live ca"),
        ("topic", {"subscribe": ["a"]}, "topic"),
        ("shared", {"subscribe": [".a"]}, "a"),
    ],
)
def test_mistakes_in_a_file_are_named_before_anything_runs(
    kind: str, given: dict[str, Any], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        asyncio.run(serve(settings(kind, **given)))


def test_the_schema_accepts_the_files_of_the_example_and_refuses_other_keys() -> None:
    schema = node_schema()
    files = [tomllib.loads(path.read_text()) for path in sorted((EXAMPLES / "swarm").glob("*.toml"))]
    assert len(files) == 3
    for data in files:
        jsonschema.validate(data, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**data, "topix": []}, schema)
