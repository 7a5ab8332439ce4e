"""Views that strangers cannot fill: who gets a place, which links requests take, whom gateways tell of."""

from __future__ import annotations

from typing import Any

from hierarchy.contacts import Contact, Sends
from hierarchy.live import candidates
from hierarchy.live import messages as m
from hierarchy.live.shared_out_view import DIRECT, LEAST, SharedOutView
from hierarchy.membership.scamp.peer import Link
from hierarchy.membership.scamp.settings import ScampSettings
from sub2sub.kernels.dice import Dice

OWN = ScampSettings(c=1, lease=20, indirection=4)
GATEWAY = Contact(0, "192.0.2.99", 7000, ".")


def contact(id: int, host: int | None = None) -> Contact:
    return Contact(id, f"192.0.2.{id if host is None else host}", 7000 + id, ".")


def view_of(*members: Contact, **given: Any) -> SharedOutView:
    """A view with some members, each of which has answered."""
    view = SharedOutView(contact(1), OWN, 256, 10, **given)
    list(view.join(None, 0, Dice(1)))
    for each in members:
        list(view.keep(each, 50, 0))
        take_answers(view)
    return view


def take_answers(view: SharedOutView, cycle: int = 0) -> list[m.Send]:
    asked = list(view.ask_candidates(cycle, Dice(cycle + 7)))
    return [send for each in asked for send in view.answered(each.message.exchange, cycle)]


def ids(view: SharedOutView) -> list[int]:
    return [link.peer.id for link in view.view]


def kinds(sends: Sends) -> list[str]:
    return [type(send.message).__name__ for send in sends]


def test_nobody_is_kept_that_has_not_answered_at_its_address() -> None:
    view = view_of()
    assert not list(view.keep(contact(2), 50, 0)), "it is not told before, either"
    (asked,) = view.ask_candidates(0, Dice(1))
    assert asked.to == contact(2)
    assert not list(view.answered(asked.message.exchange ^ 1, 0)), "a guess is no answer"
    assert not ids(view)
    assert kinds(view.answered(asked.message.exchange, 1)) == ["Kept"]
    assert ids(view) == [2]
    assert view.view[0].expires == 0 + 50 + view.grace, "the lease began when it was told of"


def test_those_that_do_not_answer_are_asked_once_a_cycle_and_given_up() -> None:
    view = view_of()
    list(view.keep(contact(2), 50, 0))
    asked = [len(list(view.ask_candidates(cycle // 2, Dice(1)))) for cycle in range(20)]
    assert sum(asked) == candidates.CYCLES + 1
    assert not any(asked[1::2])
    assert not len(view.candidates)


def test_one_host_has_few_that_wait_for_an_answer() -> None:
    view = view_of(gateways=[GATEWAY])
    view.teller = "192.0.2.66"
    for k in range(2, 50):
        list(view.keep(contact(k), 50, 0))
    assert len(view.candidates) == candidates.OF_A_TELLER
    view.teller = "192.0.2.67"
    list(view.keep(contact(60), 50, 0))
    view.teller = GATEWAY.host
    for k in range(70, 80):
        list(view.keep(contact(k), 50, 0))
    assert set(view.candidates.ids()) >= {60, *range(70, 80)}


def test_a_host_makes_room_for_others_down_to_its_share() -> None:
    view = view_of(*(contact(k, host=66) for k in range(2, 40)))
    assert len(view.view) == 8
    for k in range(40, 46):
        list(view.keep(contact(k), 50, 0))
        take_answers(view)
    assert set(ids(view)) == {2, 3, *range(40, 46)}, "the first stay, and every other host gets in"
    assert len(view.ways()) == 7, "a host counts once"


def test_on_one_machine_nobody_is_asked_and_nothing_is_shared_out() -> None:
    own, *others = (Contact(k, "127.0.0.1", 7000 + k, ".") for k in range(1, 30))
    view = SharedOutView(own, OWN)
    for each in others:
        assert kinds(view.keep(each, 50, 0)) == ["Kept"]
    assert len(view.view) == len(view.ways()) == len(others)


def test_a_copy_without_room_goes_on() -> None:
    view = view_of(*(contact(k, host=66) for k in range(2, 10)), contact(20))
    for k in range(1, 20):  # also where chance would have it kept
        (sent,) = view.receive(m.Copy(contact(50, host=66), 50, 9), 5, 0, Dice(k))
        assert sent.message == m.Copy(contact(50, host=66), 50, 8)


def test_a_copy_that_a_gateway_sends_is_kept_unless_many_are() -> None:
    crowd = [contact(k) for k in range(2, 40)]
    view = view_of(*crowd, gateways=[GATEWAY])
    view.teller, told = GATEWAY.host, range(100, 120)
    for k in told:
        list(view.receive(m.Copy(contact(k, host=k), 50, 9), 5, 0, Dice(k)))
    kept = set(view.candidates.ids())
    assert set(told[: 2 * LEAST]) <= kept
    assert len(kept & set(told)) < 2 * LEAST + 4, "further ones with the chance that all copies have"
    take_answers(view)
    assert {link.peer.id for link in view.ways()} <= kept, "requests and copies go to these"
    view.teller = "192.0.2.66"
    assert kinds(view.receive(m.Copy(contact(130), 50, 9), 5, 0, Dice(3))) == ["Copy"], "strangers' are not"


def test_a_weight_that_cannot_be_true_is_not_believed() -> None:
    view = view_of(contact(2), contact(3))
    list(view.weigh())
    list(view.receive(m.Weighed(1.0, 1e-9), 2, 0, Dice(1)))
    list(view.receive(m.Weighed(1.0, 4.0), 3, 0, Dice(1)))
    assert [link.weight for link in view.view] == [1.0, 0.25]


def test_only_a_holder_that_says_so_itself_ends_an_earlier_lease() -> None:
    def renewed() -> SharedOutView:
        view = view_of()
        list(view.receive(m.Kept(contact(2)), 2, 0, Dice(1)))
        list(view.renew(view.lease_end, Dice(1)))
        return view

    view = renewed()
    view.teller = "192.0.2.66"
    assert not list(view.receive(m.Kept(contact(3)), 3, 40, Dice(1)))
    assert view.inward == [contact(3)]
    view.teller = contact(3).host
    (sent,) = renewed_with(renewed(), contact(3))
    assert sent.to == contact(2)
    assert isinstance(sent.message, m.Replace)


def renewed_with(view: SharedOutView, holder: Contact) -> list[m.Send]:
    view.teller = holder.host
    return list(view.receive(m.Kept(holder), holder.id, 40, Dice(1)))


def test_a_host_has_its_share_of_those_that_say_they_hold_a_member() -> None:
    view = view_of()
    for k in range(2, 60):
        list(view.receive(m.Kept(contact(k, host=66)), k, 0, Dice(1)))
    assert len(view.inward) == 8


def test_who_is_in_need_subscribes_through_a_gateway_and_then_in_another_way() -> None:
    view = view_of(contact(2), gateways=[GATEWAY])
    (founder,) = view.subscribe(0, 5, Dice(1))
    assert founder.to == contact(2), "no gateway has answered yet"
    list(view.receive(m.Served(contact(2), 50), 2, 5, Dice(1)))
    view.contact = GATEWAY
    (first,) = view.subscribe(0, 5, Dice(1))
    assert (first.to, first.message.steps) == (GATEWAY, 0)
    (other,) = view.undelivered(first.message, 5, Dice(1))
    assert (other.to, other.message.steps) == (contact(2), OWN.indirection), "it could not be reached"
    (first,) = view.subscribe(0, 6, Dice(1))
    assert first.to == contact(2), "the gateway has not answered either"
    list(view.receive(m.Served(contact(2), 50), 2, 6, Dice(1)))
    (again,) = view.subscribe(0, 7, Dice(1))
    assert again.to == GATEWAY
    view.in_need = False
    list(view.receive(m.Served(contact(2), 50), 2, 7, Dice(1)))
    (proven,) = view.subscribe(0, 8, Dice(1))
    assert proven.to == contact(2), "SCAMP's way"


def serving() -> SharedOutView:
    """A gateway with a view of one host's members, that others have turned to."""
    view = view_of(*(contact(k, host=66) for k in range(2, 9)))
    view.further = lambda: [contact(k) for k in range(20, 32)]
    return view


def ask(view: SharedOutView, newcomer: Contact, cycle: int = 0, steps: int = 0) -> list[m.Send]:
    view.teller = newcomer.host
    request = m.Subscribe(newcomer, 50, 0, steps)
    return list(view.receive(request, newcomer.id, cycle, Dice(newcomer.id)))


def test_a_gateway_tells_those_of_a_newcomer_that_have_turned_to_it() -> None:
    view, newcomer = serving(), contact(50)
    served, *copies = ask(view, newcomer)
    assert served.to == newcomer
    assert served.message.server in view.further(), "not everybody links to the gateway"
    copies = [send for send in copies if isinstance(send.message, m.Copy)]
    assert {send.to for send in copies} <= set(view.further())
    assert len({send.to for send in copies}) == LEAST
    assert 50 in view.candidates.ids(), "it links to some of those that it serves"


def test_a_gateway_serves_each_host_once_a_cycle_and_only_so_many() -> None:
    view = serving()
    assert kinds(ask(view, contact(50)))[0] == "Served"
    assert kinds(ask(view, contact(51, host=50))) == ["Subscribe"], "it goes along links, as of SCAMP"
    answers = [kinds(ask(view, contact(k)))[0] for k in range(60, 100)]
    assert answers.count("Served") == DIRECT - 1
    assert kinds(ask(view, contact(50), cycle=1))[0] == "Served"


def test_an_entry_by_an_earlier_lease_stays_until_its_member_has_answered() -> None:
    """A view was empty for the time of an answer, and an event that came then went nowhere."""
    own, other = (Contact(i, f"192.0.2.{i}", 7000, ".") for i in (1, 2))
    view = SharedOutView(own, ScampSettings(), grace=10)
    view.view = [Link(other, expires=12)]
    list(view.receive(m.Copy(other, 20, 9), 3, cycle=1, dice=Dice(1)))
    assert [(link.peer, link.expires) for link in view.view] == [(other, 12)]
    (question,) = view.ask_candidates(cycle=1, dice=Dice(1))
    list(view.answered(question.message.exchange, cycle=1))
    assert [(link.peer, link.expires) for link in view.view] == [(other, 31)]


def test_a_member_that_has_asked_nobody_has_not_been_served() -> None:
    view = SharedOutView(contact(1), OWN)
    list(view.receive(m.Served(contact(66), 50), 66, 0, Dice(1)))
    assert not view.served
    list(view.join(contact(2), 0, Dice(1)))
    list(view.receive(m.Served(contact(2), 50), 2, 0, Dice(1)))
    assert view.served


def test_a_few_members_that_were_found_in_a_p_grid_are_linked_to() -> None:
    view, found = view_of(), [contact(k) for k in range(2, 20)]
    list(view.link_to(found, 50, 0))
    take_answers(view)
    assert ids(view) == list(range(2, 2 + LEAST))
    list(view.link_to(found[::-1], 50, 1))
    assert not len(view.candidates), "no more while these are there"
    local = SharedOutView(Contact(1, "127.0.0.1", 7001, "."), OWN)
    assert not list(local.link_to([Contact(2, "127.0.0.1", 7002, ".")], 50, 0))
