"""Answers of another kind, answers in the name of others, and addresses that are somebody else's."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sub2sub.live import Node
from sub2sub.live.core import messages as m
from sub2sub.live.core.live_peer import Core
from sub2sub.live.core.ring_exchanges import VERIFICATIONS
from sub2sub.live.core.settings import CoreSettings
from sub2sub.live.wire.format import encode
from sub2sub.live.wire.framing import Frame
from sub2sub.peers.descriptors import Descriptor
from sub2sub.peers.settings import DisseminationSettings
from tests.sub2sub.live.loopback import live, until
from tests.sub2sub.live.test_core import acquaint, draws, sound

OWN = Descriptor.of(2**63, [0.0], [1.0], ("10.0.0.1", 1))


def peer(k: int, host: str = "") -> Descriptor:
    return Descriptor.of(k, [0.0], [1.0], (host or f"10.1.{k % 250}.{k // 250 % 250}", 1))


def core() -> Core:
    return Core(OWN, lambda event: None, CoreSettings(dissemination=DisseminationSettings(shortcuts=0)))


def test_answers_of_another_kind_leave_a_question_open_until_it_is_given_up() -> None:
    """Candidates that answered so were taken to be asked for ever, and after 17 nobody could be asked."""
    made = core()
    for k in range(2 * VERIFICATIONS):
        told = m.Mentions((peer(10 + k),), (1,))  # nobody heard from it in this cycle: it has to answer
        for send in made.receive(m.Ring(1, peer(5), m.Mentions(), told), 5, draws()):
            if isinstance(send.message, m.Probe):
                made.receive(m.NearBack(send.message.exchange, m.Mentions()), 10 + k, draws())
    for _ in range(12):
        made.tick(draws())
    assert not made.ring.asking
    acquaint(made, peer(5), draws())
    assert 5 in made.ring.view


def test_a_newcomers_walk_goes_on_past_an_answer_of_another_kind() -> None:
    made, asked = core(), set[int]()
    sends = made.enter([peer(k) for k in range(1, 6)])
    while sends:
        for send in sends:
            assert isinstance(send.message, m.Seek)
            assert send.to
            asked.add(send.to.id)
            made.receive(m.Probed(send.message.exchange), send.to.id, draws())
        sends = []
        for _ in range(4):
            sends += [each for each in made.tick(draws()) if isinstance(each.message, m.Seek)]
    assert asked == set(range(1, 6))


@pytest.mark.parametrize("kind", [m.Shuffle, m.Near, m.Ring, m.Probe])
def test_nobody_changes_to_the_peer_itself(kind: type[Any]) -> None:
    made = core()
    liar = peer(9, "10.0.0.1")  # it may say that it is at this peer's address, and somebody may answer there
    acquaint(made, liar, draws())
    made.join([liar])
    for _ in range(9):
        for send in made.tick(draws()):
            if isinstance(send.message, kind):
                made.receive(m.Changed(send.message.exchange, OWN), liar.id, draws())
        sound(made)


def test_a_frame_that_cannot_be_handled_ends_its_connection_and_nothing_else() -> None:
    """After a frame that had to wait for its turn, the connection stayed for ever."""

    async def test() -> None:
        async with Node(attributes=1, period=0.05) as node:
            own = (await node.subscribe([0.0], [1.0])).own

            def fail(*_: Any) -> Any:
                raise ZeroDivisionError("a defect")

            node.receive_at = fail  # type: ignore[method-assign]
            reader, writer = await asyncio.open_connection(*node.address)
            writer.write(encode(Frame(0, 1, m.Taken(bytes(16), took=True))) * 2)
            writer.write(encode(Frame(own.id, 1, m.Probe(1))) * 3)
            assert await reader.read() == b""
            await until(lambda: node.connections.counts["broken frames"] == 1)
            await until(lambda: node.connections.open == 0)
            writer.close()

    live(test)
