"""Hosts that fell silent after they had answered for a while: who is remembered, and asked how often."""

from __future__ import annotations

import asyncio

import pytest

from sub2sub.live import Node
from sub2sub.live.core.lost_hosts import ANSWERING, EVERY, FORGOTTEN, GAP, LOST, STEADY, LostHosts
from sub2sub.live.virtual.conditions import Conditions, Network
from sub2sub.live.virtual.loop import VirtualLoop
from sub2sub.live.virtual.machine import Machine
from tests.histories.rings import RingHistory

PORT = 7000


def at(number: int) -> tuple[str, int]:
    """An address at a host of its own."""
    return f"127.0.{number // 256}.{number % 256}", PORT


def steady(hosts: LostHosts, number: int, first: float, last: float) -> None:
    """A host that answers once a cycle for some time."""
    now = first
    while now <= last:
        hosts.answered(at(number), now)
        now += 1.0


def lose(hosts: LostHosts, number: int, first: float, last: float) -> None:
    steady(hosts, number, first, last)
    hosts.silent(at(number), last + 1.0)


def test_a_host_that_has_answered_for_a_while_is_remembered() -> None:
    hosts = LostHosts()
    lose(hosts, 1, 0.0, STEADY)
    assert hosts.due(10.0) == at(1)


def test_neither_strangers_nor_passers_by_are_remembered() -> None:
    hosts = LostHosts()
    hosts.silent(at(1), 1.0)
    lose(hosts, 2, 0.0, STEADY - 1.0)
    assert hosts.due(10.0) is None


def test_two_chance_meetings_are_no_acquaintance() -> None:
    hosts = LostHosts()
    hosts.answered(at(1), 0.0)
    hosts.answered(at(1), GAP + 1.0)
    hosts.silent(at(1), GAP + 2.0)
    assert hosts.due(GAP + 3.0) is None


def test_a_host_that_answers_again_is_not_asked_but_still_known() -> None:
    hosts = LostHosts()
    lose(hosts, 1, 0.0, 20.0)
    hosts.answered(at(1), 30.0)
    assert hosts.due(31.0) is None
    hosts.silent(at(1), 31.0)
    assert hosts.due(32.0) == at(1)


def test_passers_by_do_not_take_the_places_of_acquaintances() -> None:
    hosts = LostHosts()
    steady(hosts, 1, 0.0, 10.0)
    for number in range(2, 3 * ANSWERING):
        hosts.answered(at(number), 10.0)
    hosts.silent(at(1), 11.0)
    assert len(hosts.answering) <= ANSWERING
    assert hosts.due(12.0) == at(1)


def test_hosts_that_are_not_asked_any_more_make_room() -> None:
    hosts = LostHosts()
    for number in range(ANSWERING):
        steady(hosts, number, 0.0, 20.0)
    later = 20.0 + GAP + 1.0
    lose(hosts, 999, later, later + STEADY)
    assert hosts.due(later + 10.0) == at(999)


def test_of_too_many_those_stay_that_answered_for_longest() -> None:
    hosts = LostHosts()
    lose(hosts, 999, 0.0, 50.0)
    for number in range(2 * LOST):
        lose(hosts, number, 40.0, 50.0)
    assert len(hosts.lost) == LOST
    assert at(999) in {each.address for each in hosts.lost.values()}


def test_every_node_counts_of_several_on_one_machine() -> None:
    hosts = LostHosts()
    for port in (1000, 1001):
        for now in (0.0, STEADY):
            hosts.answered(("127.0.0.1", port), now)
        hosts.silent(("127.0.0.1", port), STEADY + 1.0)
    assert len(hosts.lost) == 2


def test_one_host_is_asked_every_few_cycles_in_turn() -> None:
    hosts = LostHosts()
    for number in (1, 2, 3):
        lose(hosts, number, 0.0, 10.0)
    asked = [address for now in range(20, 20 + 6 * EVERY) if (address := hosts.due(float(now)))]
    assert asked == [at(1), at(2), at(3), at(1), at(2), at(3)]


def test_nobody_is_asked_that_must_not_be_dialled_yet() -> None:
    hosts = LostHosts()
    lose(hosts, 1, 0.0, 10.0)
    assert hosts.due(20.0, lambda address: False) is None
    assert hosts.due(20.0) == at(1)


def test_a_host_is_forgotten_in_the_end() -> None:
    hosts = LostHosts()
    lose(hosts, 1, 0.0, 10.0)
    assert hosts.due(FORGOTTEN + 9.0) == at(1)
    assert hosts.due(FORGOTTEN + 19.0) is None
    assert not hosts.lost


class Nodes:
    """Nodes under virtual time, each on a machine of its own, that all joined through the first."""

    def __init__(self, count: int) -> None:
        self.network = Network(1, Conditions(latency=(0.001, 0.01), jitter=0.0))
        self.count = count
        self.nodes: list[Node] = []
        self.machines: list[Machine] = []

    async def join(self) -> None:
        for number in range(self.count):
            machine = self.network.machine(at(number)[0])
            self.machines.append(machine)
            self.nodes.append(await machine.start(self._enter(number)))

    async def _enter(self, number: int) -> Node:
        node = Node(1, at(0) if number else None, at(number), seed=number + 1, reply=2.0)
        await node.__aenter__()
        await node.subscribe([0.0], [1.0])
        return node

    def cut(self, *some: int) -> None:
        hosts = [at(number)[0] for number in range(self.count)]
        side = {at(number)[0] for number in some}
        self.network.cut = {(a, b) for a in hosts for b in hosts if (a in side) != (b in side)}

    def known(self, number: int) -> set[str]:
        (core,) = self.nodes[number].cores.values()
        return {peer.address[0] for peer in core.known()}


def lived(nodes: Nodes, story: object) -> None:
    VirtualLoop(nodes.network).run(story)  # type: ignore[arg-type]


@pytest.mark.parametrize("cycles", [60.0, 300.0])
def test_sides_of_a_long_partition_find_together_without_the_contact(cycles: float) -> None:
    """All were given the address of node 0, which is gone when the partition ends.

    One more is gone on either side: it is the one that CYCLON tries again, not somebody on the other side.
    """
    nodes = Nodes(8)
    sides = (1, 2), (4, 5)

    async def story() -> None:
        await nodes.join()
        await asyncio.sleep(10.0)
        nodes.cut(1, 2, 3)
        for gone in (0, 3, 6, 7):
            await asyncio.sleep(12.0)
            nodes.machines[gone].crash(silent=True)
        await asyncio.sleep(cycles)
        assert not nodes.known(1) & {at(number)[0] for number in sides[1]}, "the sides know one another"
        nodes.network.cut = set()
        # A host is asked again within the longest back-off (8 s), and CYCLON turns to it within 10 cycles.
        await asyncio.sleep(40.0)
        for number in (*sides[0], *sides[1]):
            others = {at(other)[0] for side in sides for other in side} - {at(number)[0]}
            assert nodes.known(number) >= others

    lived(nodes, story())


def test_a_publisher_does_not_wait_until_back_off_from_the_only_subscriber_is_over() -> None:
    nodes = Nodes(2)

    async def story() -> None:
        await nodes.join()
        (theirs,) = nodes.nodes[0].subscriptions.values()
        await nodes.machines[0].start(nodes.nodes[0].change(theirs, [5.0], [6.0]))
        await asyncio.sleep(10.0)
        nodes.cut(1)
        await asyncio.sleep(300.0)
        publisher = nodes.nodes[1]
        while not publisher.connections.backs_off(at(0)):
            await asyncio.sleep(0.5)
        nodes.network.cut = set()
        await asyncio.sleep(0.01)
        assert publisher.connections.backs_off(at(0)), "it would wait for up to 8 s"
        published = await nodes.machines[1].start(publisher.publish([5.5]))
        assert published.outcome == "taken"

    lived(nodes, story())


def test_a_publisher_says_unknown_if_a_peer_was_silent_that_it_does_not_ask_again() -> None:
    nodes = Nodes(3)

    async def story() -> None:
        await nodes.join()
        await asyncio.sleep(5.0)
        nodes.machines[2].crash(silent=True)
        began = asyncio.get_running_loop().time()
        published = await nodes.machines[1].start(nodes.nodes[1].publish([5.5]))
        assert published.outcome == "unknown"
        assert asyncio.get_running_loop().time() - began < 3.0, "it waited for a silent peer twice"

    lived(nodes, story())


def test_a_goodbye_reaches_neighbours_to_which_no_connection_is_open() -> None:
    nodes = Nodes(4)

    async def story() -> None:
        await nodes.join()
        await asyncio.sleep(10.0)
        leaving, ids = nodes.nodes[3], set(nodes.nodes[3].cores)
        (core,) = leaving.cores.values()
        told = {each.peer.id for each in core.ring.in_order()}
        for channel in list(leaving.connections._outgoing.values()):
            channel.close()
        doubting = [core for node in nodes.nodes for core in node.cores.values() if core.own.id in told]
        await nodes.machines[3].start(leaving.leave())
        await asyncio.sleep(0.05)
        assert len(told) == 2
        assert all(core.ring_exchanges._doubted.keys() == ids for core in doubting)

    lived(nodes, story())


def test_nodes_at_rest_ask_nobody_and_a_dead_host_costs_little() -> None:
    nodes = Nodes(4)

    async def story() -> None:
        await nodes.join()
        await asyncio.sleep(60.0)
        assert not any(node.hosts.lost for node in nodes.nodes)
        nodes.machines[3].crash(silent=True)
        await asyncio.sleep(200.0)  # until its connections are closed, and back-off is longest
        failed = [node.connections.counts["unreachable"] for node in nodes.nodes[:3]]
        await asyncio.sleep(300.0)
        for node, before in zip(nodes.nodes, failed, strict=False):
            assert node.hosts.lost
            assert 1 <= node.connections.counts["unreachable"] - before <= 38, "once in 8 s"

    lived(nodes, story())


def test_a_host_that_stays_silent_keeps_nobody_from_a_contact() -> None:
    nodes = Nodes(2)

    async def story() -> None:
        await nodes.join()
        await asyncio.sleep(5.0)
        node = nodes.nodes[1]
        (core,) = node.cores.values()
        nodes.network.cut = {(at(1)[0], at(9)[0])}
        now = asyncio.get_running_loop().time()
        lose(node.hosts, 9, now - 20.0, now)

        async def ask() -> set[str]:
            node.seek_others(core)
            core.wants_contact = lambda: True  # type: ignore[method-assign]
            node.seek_others(core)
            return set(node._asking)

        assert await nodes.machines[1].start(ask()) == {"lost", "contact"}

    lived(nodes, story())


@pytest.mark.parametrize(
    "seed",
    [9950034, 9950306],
    ids=["a publisher backs off from the only subscriber", "only old links lead across a partition"],
)
def test_a_history_that_broke_a_rule_after_a_long_partition_holds(seed: int) -> None:
    assert RingHistory(seed).run().violations == []
