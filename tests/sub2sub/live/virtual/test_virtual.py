"""The event loop in virtual time, and the network it simulates."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Awaitable, Callable
from contextlib import closing

import pytest

from sub2sub.live.virtual.conditions import Conditions, Network
from sub2sub.live.virtual.loop import VirtualLoop
from sub2sub.live.virtual.machine import Machine

CALM = Conditions(latency=(0.1, 0.1), jitter=0.0)
Play = Callable[[Network, Machine, Machine], Awaitable[None]]


def play(test: Play, conditions: Conditions = CALM) -> VirtualLoop:
    """Run a test with two machines."""
    network = Network(1, conditions)
    loop = VirtualLoop(network)

    async def both() -> None:
        await test(network, network.machine("a"), network.machine("b"))

    loop.run(both())
    return loop


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with closing(writer):
        while data := await reader.read(1000):
            writer.write(data)


async def dial(data: bytes = b"x", least: int = 1) -> bytes:
    reader, writer = await asyncio.open_connection("b", 1)
    with closing(writer):
        writer.write(data)
        return await reader.readexactly(least)


def test_a_round_trip_takes_the_time_of_four_messages() -> None:
    async def test(network: Network, a: Machine, b: Machine) -> None:
        await b.start(asyncio.start_server(echo, "b", 1))
        before = asyncio.get_running_loop().time()
        assert await a.start(dial(b"hello", 5)) == b"hello"
        assert asyncio.get_running_loop().time() - before == pytest.approx(0.4)

    assert play(test).broken == []


def test_a_connection_to_an_address_without_a_listener_is_refused() -> None:
    async def test(network: Network, a: Machine, b: Machine) -> None:
        with pytest.raises(ConnectionRefusedError):
            await a.start(dial())

    play(test)


def test_a_machine_that_crashed_silently_neither_accepts_nor_refuses_connections() -> None:
    async def test(network: Network, a: Machine, b: Machine) -> None:
        await b.start(asyncio.start_server(echo, "b", 1))
        b.crash(silent=True)
        connecting = a.start(asyncio.open_connection("b", 1))
        done, _ = await asyncio.wait([connecting], timeout=1000.0)
        assert not done
        assert network.counts["connections to nobody"] == 10  # after 0, 1, 3, 7, ... seconds

    assert play(test).broken == []


def test_a_connection_that_is_begun_during_a_partition_is_made_soon_after_it() -> None:
    async def test(network: Network, a: Machine, b: Machine) -> None:
        await b.start(asyncio.start_server(echo, "b", 1))
        network.cut = {("a", "b")}
        asking = a.start(dial())
        await asyncio.sleep(2.0)
        network.cut = set()
        assert await asking == b"x"
        assert 3.0 < asyncio.get_running_loop().time() < 4.0

    play(test)


def test_a_stopped_machine_answers_when_it_is_resumed() -> None:
    async def test(network: Network, a: Machine, b: Machine) -> None:
        await b.start(asyncio.start_server(echo, "b", 1))
        b.stop()
        asking = a.start(dial())
        await asyncio.sleep(100.0)
        assert not asking.done()
        b.resume()
        assert await asking == b"x"
        assert asyncio.get_running_loop().time() == pytest.approx(100.1)

    play(test)


@pytest.mark.parametrize("silent", [True, False])
def test_a_crash_resets_connections_unless_it_is_silent(silent: bool) -> None:
    async def test(network: Network, a: Machine, b: Machine) -> None:
        await b.start(asyncio.start_server(echo, "b", 1))
        asking = a.start(dial(least=2))
        await asyncio.sleep(1.0)
        b.crash(silent)
        done, _ = await asyncio.wait([asking], timeout=1000.0)
        assert bool(done) is not silent
        if done:
            assert isinstance(asking.exception(), OSError | EOFError)

    play(test)


@pytest.mark.parametrize("crashes", [True, False])
def test_what_was_sent_arrives_even_if_its_sender_crashes_or_stops_at_once(crashes: bool) -> None:
    """Goodbyes of nodes whose machine was switched off after they had left did not arrive."""

    async def test(network: Network, a: Machine, b: Machine) -> None:
        heard = []

        async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with closing(writer):
                heard.append(await reader.read(10))

        async def talk() -> None:
            _, writer = await asyncio.open_connection("b", 1)
            writer.write(b"goodbye")

        await b.start(asyncio.start_server(listen, "b", 1))
        await a.start(talk())
        if crashes:
            a.crash()
        else:
            a.stop()
        await asyncio.sleep(1.0)
        assert heard == [b"goodbye"]
        a.resume()

    play(test)


def test_a_cut_stops_messages_in_one_direction_only() -> None:
    async def test(network: Network, a: Machine, b: Machine) -> None:
        heard = []

        async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with closing(writer):
                heard.append(await reader.read(10))
                writer.write(b"answer")

        await b.start(asyncio.start_server(listen, "b", 1))
        asking = a.start(dial())
        await asyncio.sleep(0.25)
        network.cut.add(("b", "a"))
        done, _ = await asyncio.wait([asking], timeout=60.0)
        assert heard == [b"x"]
        assert not done

    play(test)


def test_a_reader_that_does_not_read_holds_its_writer_back() -> None:
    async def test(network: Network, a: Machine, b: Machine) -> None:
        async def sleep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with closing(writer):
                await asyncio.sleep(1e6)

        async def flood() -> int:
            _, writer = await asyncio.open_connection("b", 1)
            sent = 0
            try:
                async with asyncio.timeout(1000.0):
                    with closing(writer):
                        while True:
                            writer.write(bytes(10_000))
                            sent += 10_000
                            await writer.drain()
            except TimeoutError:
                return sent

        await b.start(asyncio.start_server(sleep, "b", 1))
        assert await a.start(flood()) < 1_000_000

    play(test)


def test_messages_are_lost_duplicated_and_overtaken_as_often_as_conditions_say() -> None:
    counted: dict[str, int] = {}

    async def test(network: Network, a: Machine, b: Machine) -> None:
        arrived = []

        async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with closing(writer):
                while data := await reader.read(1):
                    arrived.append(data[0])

        async def talk() -> None:
            _, writer = await asyncio.open_connection("b", 1)
            with closing(writer):
                for k in range(200):
                    writer.write(bytes([k]))
                await asyncio.sleep(100.0)

        await b.start(asyncio.start_server(listen, "b", 1))
        await a.start(talk())
        assert 200 - len(set(arrived)) == network.counts["lost"] > 0
        assert len(arrived) - len(set(arrived)) == network.counts["doubled"] > 0
        assert arrived != sorted(arrived)
        counted.update(network.counts)

    play(test, Conditions(latency=(0.1, 0.1), jitter=0.1, loss=0.2, duplicated=0.2, overtaking=0.2))
    assert counted["overtaking"] > 0


def test_callbacks_of_the_same_time_run_in_the_order_in_which_they_were_scheduled() -> None:
    async def test(network: Network, a: Machine, b: Machine) -> None:
        done: list[int] = []
        for number in range(20):
            a.loop.call_at(5.0 if number != 7 else 4.0, done.append, number)
        await asyncio.sleep(6.0)
        assert done == [7, *(number for number in range(20) if number != 7)]

    play(test)


def test_no_history_depends_on_garbage_collection() -> None:
    """A task with no reference but that of the stream that it read from was sometimes collected."""
    ended, waited_for = list[str](), list[weakref.ref[asyncio.Future[str]]]()

    async def wait() -> None:
        future = asyncio.get_running_loop().create_future()
        waited_for.append(weakref.ref(future))
        ended.append(await future)

    async def test() -> None:
        asyncio.get_running_loop().create_task(wait())
        await asyncio.sleep(0)
        gc.collect()
        if future := waited_for[0]():
            future.set_result("there")
        await asyncio.sleep(0)

    VirtualLoop(Network(1)).run(test())
    assert ended == ["there"]


def test_a_task_that_fails_is_noted() -> None:
    async def test(network: Network, a: Machine, b: Machine) -> None:
        async def fail() -> None:
            raise ValueError("a defect")

        a.loop.create_task(fail())
        await asyncio.sleep(1.0)

    assert "a defect" in str(play(test).broken)


def test_a_loop_without_timers_and_callbacks_raises_an_error_instead_of_hanging() -> None:
    async def forever() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(RuntimeError, match="no timer is set"):
        VirtualLoop(Network(1)).run(forever())
