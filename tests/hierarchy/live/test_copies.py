"""Copies of a subscription that walk among live members."""

from __future__ import annotations

from collections import deque

from hierarchy.live import Member
from hierarchy.live.failures import MOST_COPIES as MOST
from hierarchy.peers.contacts import Contact
from hierarchy.peers.scamp_messages import Copy
from sub2sub.peers.draws import Dice


def test_copies_that_the_network_doubles_at_every_step_end_in_their_cycle() -> None:
    """Thousands of copies delayed all other messages for thirty cycles: seed 1220002 of the histories."""
    newcomer, *others = (Contact(i, "h", i, ".") for i in range(1, 5))
    members = {each.id: Member(each, lambda event: None) for each in others}
    for member in members.values():
        list(member.join(None, Dice(1)))
        for known in (newcomer, *others):
            list(member.scamp.keep(known, 100, cycle=0))
    first = Contact(2, "h", 2, "."), Copy(newcomer, 100, 200)
    waiting, taken = deque([first]), 0
    while waiting and taken < 10_000:
        to, message = waiting.popleft()
        for send in members[to.id].receive(message, 9, Dice(taken)):
            if send.to is not None and send.to != newcomer:
                waiting += [(send.to, send.message)] * 2
        taken += 1
    assert not waiting
    assert taken <= 1 + 2 * MOST * len(members)


def test_a_member_takes_copies_again_in_the_next_cycle_and_those_of_others_at_once() -> None:
    newcomers = [Contact(i, "h", i, ".") for i in (7, 8)]
    member = Member(Contact(1, "h", 1, "."), lambda event: None)
    list(member.join(None, Dice(1)))
    list(member.scamp.keep(newcomers[0], 100, cycle=0))

    def passed(newcomer: Contact) -> bool:
        return bool(list(member.receive(Copy(newcomer, 100, 9), 9, Dice(1))))

    assert [passed(newcomers[0]) for _ in range(MOST + 1)] == [True] * MOST + [False]
    assert passed(newcomers[1])
    list(member.tick(Dice(2)))
    assert passed(newcomers[0])
