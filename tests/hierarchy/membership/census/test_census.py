"""Members count their community: the kernels as the peers do, and both come near the true size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.camcast import Communities, StaticTables
from hierarchy.compiled.census.layer import Census
from hierarchy.compiled.common.channel import channel_of
from hierarchy.live.wire import MAX_EPOCH, PROTOCOL
from hierarchy.peers.census import CHOOSE, COMPARE, LAST, STREAM, TELL, CensusPeer, Tally
from hierarchy.peers.contacts import Contact
from hierarchy.peers.settings import CensusSettings
from sub2sub.compiled.common.network import Network
from sub2sub.errors import InputError
from sub2sub.live.wire.framing import Frame
from sub2sub.peers.draws import Dice, cycle_key

EVERYBODY = [Contact(i + 1, "h", i + 1, ".") for i in range(12)]


class Driver:
    """Peers in the simulator's order, with the simulator's draws."""

    def __init__(self, census: Census, tables) -> None:
        self.seed, self.tables = census.seed, tables
        keys = census.counts.key
        self.peers = [CensusPeer(int(keys[i]), census.settings) for i in range(len(EVERYBODY))]

    def step(self, cycle: int, network: Network) -> list[bool]:
        key = Dice(cycle_key(self.seed, STREAM, 1 + cycle))
        live = [i for i in range(len(self.peers)) if network.alive[i]]
        for i in live:
            self.peers[i].advance(cycle)
        for i in live:
            dice = key.of_peer(TELL).of_peer(i)
            view = [EVERYBODY[j] for j in self.tables[i] if j >= 0]
            for send in self.peers[i].tell(view, dice):
                j = send.to.id - 1
                if dice.next_unit() >= network.loss and network.alive[j]:
                    self.peers[j].take(send.message, cycle)
        askers = [i for i in live if self.peers[i].wants_to_ask(key.of_peer(CHOOSE).of_peer(i))]
        apart = []
        for i in askers:
            dice, j = key.of_peer(COMPARE).of_peer(i), (i + 1) % len(self.peers)
            question = self.peers[i].ask(EVERYBODY[j], Dice(7)).message
            through = (
                dice.next_unit() >= network.loss and network.alive[j] and dice.next_unit() >= network.loss
            )
            answer = self.peers[j].answer(question, EVERYBODY[j], 5)
            apart.append(bool(through) and self.peers[i].is_apart(answer))
        return apart


@given(st.integers(0, 2**32), st.integers(1, 3), st.sampled_from([3, 8, 20]), st.data())
@settings(deadline=None, max_examples=40)
def test_the_kernels_count_as_the_peers_do(seed, fan, period, data) -> None:
    own = CensusSettings(minima=5, fan=fan, period=period, askers=4)
    tables = np.full((12, 3), -1, np.int32)
    for i in range(12):
        known = data.draw(st.lists(st.integers(0, 11).filter(lambda j, i=i: j != i), max_size=3, unique=True))
        tables[i, : len(known)] = known
    census = Census(12, seed, own)
    census.join(np.arange(12), 0)
    driver = Driver(census, tables)
    network = Network.whole(12)
    for cycle in range(40):
        if cycle % 8 == 0:
            network.alive[:] = data.draw(st.lists(st.booleans(), min_size=12, max_size=12))
            network.loss = data.draw(st.sampled_from([0.0, 0.3]))
        channel = channel_of(network)
        census.step(cycle, tables, channel)
        members = census.askers(cycle, channel)
        apart = census.apart(members, (members + 1) % 12, cycle, channel)
        assert driver.step(cycle, network) == apart.tolist()
        c = census.counts
        for i, peer in enumerate(driver.peers):
            assert [peer.epoch, peer.begun, peer.counted, peer.merged] == [
                x[i] for x in (c.epoch, c.begun, c.counted, c.merged)
            ]
            assert peer.minima == c.minima[i].tolist()
            assert peer.estimate() == pytest.approx(census.sizes()[i])


@pytest.mark.parametrize("n", [1, 3, 10, 100, 1000, 10_000])
@pytest.mark.parametrize("loss", [0.0, 0.15])
def test_members_come_near_the_true_size(n, loss) -> None:
    """Within four standard deviations of 1/sqrt(minima - 2), and all alike."""
    tables = StaticTables(Communities.chain(n)).draw(1).topic_table
    census, network = Census(n, seed=3), Network.whole(n)
    network.loss = loss
    census.join(np.arange(n), 0)
    for cycle in range(50):
        census.step(cycle, tables, channel_of(network))
    sizes = census.sizes()
    off = 4 / np.sqrt(census.settings.minima - 2)
    assert np.all((n * (1 - off) < sizes) & (sizes < n * (1 + off)))
    assert np.ptp(sizes) < 0.02 * n


def test_those_who_have_gone_are_forgotten() -> None:
    tables = StaticTables(Communities.chain(200)).draw(1).topic_table
    census, network = Census(200, seed=1), Network.whole(200)
    census.join(np.arange(200), 0)
    for cycle in range(150):
        network.alive[20:] = cycle < 40
        census.step(cycle, tables, channel_of(network))
    # The 20 left know few of one another, so only an upper bound holds for all of them.
    assert census.sizes()[:20].max() < 40


def test_a_newcomer_believes_the_others() -> None:
    tables = StaticTables(Communities.chain(300)).draw(1).topic_table
    census, network = Census(300, seed=1), Network.whole(300)
    census.join(np.arange(1, 300), 0)
    for cycle in range(50):
        census.step(cycle, tables, channel_of(network))
    census.join([0], 50)
    assert census.sizes()[0] < 2
    for cycle in range(50, 56):
        census.step(cycle, tables, channel_of(network))
    assert census.sizes()[0] == pytest.approx(300, rel=0.4)


@pytest.mark.parametrize("field", ["minima", "fan", "period", "askers"])
def test_settings_outside_their_domain_are_refused(field) -> None:
    with pytest.raises(InputError, match=rf"census.{field}: expected \d or more"):
        CensusSettings(**{field: -1})


def lied_to(lie: Callable[[CensusPeer, int], Tally | None], cycles: int = 200) -> list[CensusPeer]:
    """Ten members that count for a while; one of them hears lies."""
    members = [CensusPeer(key, CensusSettings(period=16), 0) for key in range(1, 11)]
    for cycle in range(cycles):
        for number, member in enumerate(members):
            member.advance(cycle)
            for send in member.tell([Contact(k, "h", 1, ".") for k in range(10)], Dice(97 * cycle + number)):
                members[send.to.id].take(send.message, cycle)
        lies = lie(members[0], cycle)
        if lies:
            members[0].take(lies, cycle)
        if cycle > 40:
            assert max(member.safe_estimate() for member in members) < 20
    return members


def test_numbers_that_nobody_has_drawn_spoil_one_count_and_no_decision() -> None:
    """One tally of zeros had everybody believe in four thousand million members: no event went upwards."""

    def zeros(member: CensusPeer, cycle: int) -> Tally | None:
        return Tally(member.epoch + 1, 1e12, (0,) * 64) if cycle % 64 == 0 else None

    assert max(member.size for member in lied_to(zeros, 90)) > 1e9
    assert all(member.estimate() < 20 for member in lied_to(zeros, 128))


def test_a_count_of_any_number_is_followed_by_others_that_can_be_sent() -> None:
    """The largest number there is was entered, and every tally after the next count ended its connection."""

    def far_ahead(member: CensusPeer, cycle: int) -> Tally | None:
        return Tally(LAST if cycle % 2 else MAX_EPOCH, 0.0, (2**31,) * 64) if cycle in (50, 51) else None

    for member in lied_to(far_ahead):
        assert LAST < member.epoch < MAX_EPOCH
        (send,) = member.tell([Contact(1, "h", 1, ".")], Dice(1))
        PROTOCOL.decode(PROTOCOL.encode(Frame(1, 2, send.message))[4:])
