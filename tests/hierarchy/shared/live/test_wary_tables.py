"""Tables of the shared overlay among strangers: inventions, lies about entries, many peers of one host."""

from __future__ import annotations

import pytest

from hierarchy.shared.live import SharedCore, SharedCoreSettings, SharedNode
from hierarchy.shared.live import table_messages as t
from hierarchy.shared.live.shared_core import AGAIN, TRIES
from hierarchy.shared.live.wary_tables import AT, CANDIDATES, REMEMBERED, TOLD
from hierarchy.shared.settings import CamcastRoute
from sub2sub.live.core import messages as m
from sub2sub.overlay.descriptors import Descriptor
from tests.hierarchy.shared.live.table_eclipse import TableAttack, TableEclipse, topics
from tests.sub2sub.live.test_core import draws

LOW, HIGH = (10.0,), (20.0,)
OWN = Descriptor(2**63 + 1, LOW, HIGH, ("10.0.0.1", 1))


def peer(k: int, low: float = 10.0, high: float = 20.0, host: str = "") -> Descriptor:
    """A topic's peer, by default an equal at a host of its own."""
    return Descriptor(2 * k + 1, (low,), (high,), (host or f"10.1.{k // 250}.{k % 250}", 7000 + k % 250))


def core(wary: bool = True) -> SharedCore:
    return SharedCore(OWN, lambda event: None, SharedCoreSettings(wary=wary))


def probed(sends: list[m.Send]) -> dict[int, Descriptor]:
    """Candidates that are asked, by the number of the question."""
    return {send.message.exchange: send.to for send in sends if isinstance(send.message, m.Probe) and send.to}


def tell(made: SharedCore, equals: list[Descriptor], above: list[Descriptor], teller: str) -> list[m.Send]:
    lists = [m.Mentions(tuple(each), (0,) * len(each)) for each in (equals, above, [])]
    return made.receive(t.Tables(1, peer(1), *lists), peer(1).id, draws(), teller)


def acquaint(made: SharedCore, *others: Descriptor) -> None:
    """Let peers greet, and answer when they are asked."""
    for other in others:
        for number, asked in probed(made.receive(t.Greet(1, other), other.id, draws(), str(other))).items():
            made.receive(m.Probed(number), asked.id, draws(), str(other))


def test_nobody_is_taken_that_has_not_answered() -> None:
    for wary in (True, False):
        made, others = core(wary), [peer(k) for k in range(2, 6)]
        sends = tell(made, others[:2], [peer(7, 0.0, 50.0)], "10.9.9.9")
        sends += made.receive(t.Greet(2, others[2]), others[2].id, draws(), "10.9.9.9")
        sends += made.receive(t.Inquire(3, others[3]), others[3].id, draws(), "10.9.9.9")
        held = {link.peer.id for table in made.tables.tell() for link in table}
        everybody = {each.id for each in (peer(1), *others, peer(7))}
        assert held == (set() if wary else everybody)
        assert {each.id for each in probed(sends).values()} == (everybody if wary else set())
        for number, asked in probed(sends).items():
            made.receive(m.Probed(number), asked.id, draws())
        assert {link.peer.id for table in made.tables.tell() for link in table} == everybody


def test_a_candidate_that_is_silent_twice_is_asked_again_only_on_later_news() -> None:
    made, dead = core(), peer(9)
    mention = m.Mentions((dead,), (3,))
    for asked in (True, True, False):
        sends = made.receive(t.Tables(1, peer(1), mention, mention, mention), peer(1).id, draws(), "10.1.0.1")
        assert (dead in probed(sends).values()) == asked
        for send in sends:
            if send.to == dead:
                made.unreachable(dead, send.message)
        made.tables.expire(made.now)
    assert dead.id not in {link.peer.id for link in made.tables.equals}


def test_what_an_entry_said_first_stays() -> None:
    made, first = core(), peer(5)
    acquaint(made, first)
    for lie in (
        Descriptor(first.id, LOW, HIGH, ("10.9.9.9", 9)),
        Descriptor(first.id, (0.0,), (50.0,), first.address),
    ):
        acquaint(made, lie)
        tell(made, [lie], [lie], "10.9.9.9")
        assert [link.peer for table in made.tables.tell() for link in table if link.peer.id == lie.id] == [
            first
        ]


def test_a_host_has_its_share_of_each_table_and_of_the_questions() -> None:
    made, attacker = core(), "10.9.9.9"
    honest = [peer(k) for k in range(10, 18)]
    lies = [Descriptor(OWN.id + 2 * k, LOW, HIGH, (attacker, 9)) for k in range(1, 40)]
    loose = [peer(k, 0.0, 50.0, attacker) for k in range(100, 140)]
    for _ in range(20):
        for other in (*lies, *honest):
            acquaint(made, other)
        asked = probed(tell(made, lies, loose, attacker))
        assert sum(each.address[0] == attacker for each in asked.values()) <= AT
        acquaint(made, *(peer(k, 0.0, 50.0) for k in (20, 21, 22)), *loose)
        made.tables.expire(made.now)
    hosts = [[link.peer.address[0] for link in table] for table in made.tables.tell()]
    assert hosts[0].count(attacker) == 2
    assert hosts[1].count(attacker) <= 2
    assert {link.peer for link in made.tables.equals} >= set(honest)
    assert {peer(k, 0.0, 50.0) for k in (20, 21, 22)} <= {link.peer for link in made.tables.above}


def test_what_others_tell_costs_few_questions() -> None:
    made = core()
    for teller, most in (("10.9.9.1", TOLD), ("10.9.9.1", 0), ("10.9.9.2", TOLD)):
        first = 1000 + 100 * int(teller[-1])
        assert len(probed(tell(made, [peer(first + k) for k in range(64)], [], teller))) == most
    asked = sum(
        len(probed(tell(made, [peer(5000 + 100 * k + j) for j in range(64)], [], f"10.9.8.{k}")))
        for k in range(9)
    )
    assert asked == CANDIDATES - 2 * TOLD
    for k in range(2 * REMEMBERED):
        made.tables.answered(peer(k), made.now, lambda other: None)
    assert len(made.tables._answered) == REMEMBERED


def test_fresh_strangers_do_not_replace_entries_that_were_heard_from_lately() -> None:
    made = core()
    settings = made.tables.settings
    steps = [2000 * k for k in range(-8, 9) if k]
    equals = [Descriptor(OWN.id + step, LOW, HIGH, (f"10.2.{step % 97}.1", 1)) for step in steps]
    above = [peer(k, 0.0, 50.0) for k in range(30, 35)]
    acquaint(made, *equals, *above)
    made.tables.expire(made.now)
    assert (len(made.tables.equals), len(made.tables.above)) == (settings.equals, settings.z)
    far = [peer(k) for k in range(50, 59)]
    made.clock.now += 1
    acquaint(made, *far, *(peer(k, 0.0, 50.0) for k in range(40, 45)))
    assert {link.peer for link in made.tables.above} == set(above)
    assert {link.peer for link in made.tables.equals} == set(equals)
    made.clock.now += settings.suspect_age + 1
    made.tables.expire(made.now)
    acquaint(made, far[0], peer(46, 0.0, 50.0), peer(47, 5.0, 30.0))
    assert far[0] in {link.peer for link in made.tables.equals}
    assert {peer(46, 0.0, 50.0), peer(47, 5.0, 30.0)} < {link.peer for link in made.tables.above}


def test_neighbours_of_one_host_do_not_make_a_community_look_large() -> None:
    made = core()
    others = [Descriptor(k << 59 | 1, LOW, HIGH, (f"10.1.0.{k}", 1)) for k in (*range(1, 7), *range(26, 32))]
    acquaint(made, *others)
    made.tables.expire(made.now)
    before = made.tables.community_size()
    for step, host in ((-2, "10.9.9.8"), (-4, "10.9.9.8"), (2, "10.9.9.9"), (4, "10.9.9.9")):
        acquaint(made, Descriptor(OWN.id + step, LOW, HIGH, (host, 9)))
    assert len(made.tables.equals) == made.tables.settings.equals
    assert made.tables.community_size() <= 2 * before


def test_ranges_that_no_topic_has_are_not_taken() -> None:
    node = SharedNode(topics())
    ranges = [node.topics.closed_ranges(topic)[0].tolist() for topic in (".", ".a", ".a.x", ".b")]
    (low, high), made = ranges[2], core()
    assert all(node._is_topics(peer(1, *each)) for each in ranges)
    for lie in ((low - 0.5, high), (low, high + 1.0), (low - 1.0, high), (-5.0, 1e300), (1e300, 1e300)):
        assert not node._is_topics(peer(1, *lie))
    made.tables.is_known_range = node._is_topics
    assert probed(made.receive(t.Greet(1, peer(2)), peer(2).id, draws(), "10.1.0.2")) == {}


def test_events_that_cannot_be_sent_take_no_more_memory_than_they_may() -> None:
    made = core()
    for k in range(4 * TRIES * AGAIN):
        made.unreachable(peer(k), t.Routed(k.to_bytes(16, "big"), (15.0,), 0, 2.0, 10.0, 1.0, b""))
        made.send_again(draws()) if k % AGAIN == AGAIN - 1 else None
    assert len(made._tries) <= TRIES * AGAIN
    assert len(made._again) <= AGAIN


def test_of_one_host_a_view_of_points_takes_few_links() -> None:
    for wary in (True, False):
        made = core(wary)
        lies = [peer(100 + k, host="10.9.9.9") for k in range(40)]
        for k in range(0, 40, 8):
            part = m.Mentions(tuple(lies[k : k + 8]), (0,) * 8)
            made.receive(t.Alike(1, part), lies[k].id, draws(), "10.9.9.9")
        assert (len(made.points.view) <= made.settings.of_a_host) == wary


@pytest.mark.parametrize("wary", [True, False])
def test_members_right_beside_a_peer_do_not_break_it(wary: bool) -> None:
    """Their distance rounds to nothing, and the number of members was something divided by it."""
    made = core(wary)
    acquaint(made, *(Descriptor(OWN.id + 2 * step, LOW, HIGH, (f"10.9.{step % 99}.9", 9)) for step in (
        *range(-8, 0), *range(1, 9))))  # fmt: skip
    event = t.Routed(bytes(16), (15.0,), 0, 2.0, 10.0, 1.0, b"")
    assert len(made.route(event, draws())) == made.tables.settings.equals
    assert CamcastRoute().g / made.tables.community_size() < 1e-9


def test_tables_full_of_inventions_stop_hardly_any_event() -> None:
    """Half of the deliveries took place where inventions were believed."""
    for attack in (TableAttack(), TableAttack(listens=False, tighter=True)):
        hits = TableEclipse(10, attack).run()
        assert (hits.before, hits.after) == (1.0, 1.0)
        assert hits.during > 0.97
    assert TableEclipse(10, TableAttack(), wary=False).run().during < 0.8
