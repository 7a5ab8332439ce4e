"""Live members renew their leases: who has them by the earlier one is told when others have the later one."""

from __future__ import annotations

from hierarchy.live import Member, MemberSettings
from hierarchy.live.messages import Beaten
from hierarchy.peers.contacts import Contact
from hierarchy.peers.scamp import ScampPeer
from hierarchy.peers.scamp_messages import Beat, Kept, Replace, Served, Subscribe
from hierarchy.peers.settings import ScampSettings
from hierarchy.peers.super_table import Check
from sub2sub.peers.draws import Dice

OWN = ScampSettings(c=1, lease=12, indirection=4, isolation=5)


def test_a_member_objects_to_no_goodbye_that_it_has_said_itself() -> None:
    """A forged goodbye was believed of members whose lease was over: for cycles nobody's view had them."""
    holder, other = (Contact(i, "h", i, ".") for i in (2, 3))
    member = Member(Contact(1, "h", 1, "."), lambda event: None, MemberSettings(scamp=OWN))
    list(member.join(holder, Dice(1)))
    list(member.receive(Served(holder, 9), 2, Dice(1)))
    list(member.receive(Kept(holder), 2, Dice(1)))
    assert list(member.receive(Check(7), 2, Dice(1)))
    list(member.scamp.renew(member.scamp.lease_end, Dice(1)))
    assert list(member.receive(Check(7), 2, Dice(1))), "nobody has the later lease yet"
    (goodbye,) = member.receive(Kept(other), 3, Dice(1))
    assert (goodbye.to, goodbye.message) == (holder, Replace((), 0))
    assert not list(member.receive(Check(7), 2, Dice(1)))
    assert list(member.receive(Check(7), 3, Dice(1)))
    list(member.receive(Kept(holder), 2, Dice(1)))
    assert list(member.receive(Check(7), 2, Dice(1)))


def test_each_holder_of_a_later_lease_takes_the_place_of_one_of_the_earlier() -> None:
    """The first took the place of all, and those two were in no other view: seed 1210015 of the histories."""
    held = [Contact(i, "h", i, ".") for i in range(8)]
    member = Member(Contact(9, "h", 9, "."), lambda event: None, MemberSettings(scamp=OWN))

    def goodbyes(holder: int) -> list[int]:
        sends = list(member.receive(Kept(held[holder]), holder, Dice(1)))
        assert all(send.message == Replace((), 0) for send in sends)
        return [send.to.id for send in sends if send.to]

    def objects(holder: int) -> bool:
        return bool(list(member.receive(Check(7), holder, Dice(1))))

    list(member.join(held[1], Dice(1)))
    assert [goodbyes(holder) for holder in (1, 2, 2, 3, 4)] == [[]] * 5
    list(member.scamp.renew(member.scamp.lease_end, Dice(1)))
    assert goodbyes(5) == [1]
    assert goodbyes(5) == [], "a message that the network has doubled"
    assert goodbyes(3) == [], "it had the earlier lease itself"
    assert goodbyes(6) == [2]
    assert [objects(holder) for holder in (1, 2, 3, 4)] == [False, False, True, True]
    assert goodbyes(7) == [4]


def test_who_is_held_by_nobody_since_it_renewed_asks_again() -> None:
    """Served by one that knows nobody else who is there: seed 3013 of the histories."""
    own, server = ScampSettings(lease=10, isolation=1000), Contact(2, "h", 2, ".")
    peer = ScampPeer(Contact(1, "h", 1, "."), own, grace=10)
    list(peer.join(server, 0, Dice(1)))
    list(peer.receive(Kept(server), 2, 0, Dice(1)))
    renewed = peer.lease_end
    list(peer.renew(renewed, Dice(2)))
    list(peer.receive(Served(server, 10), 2, renewed, Dice(3)))
    assert not peer.is_due(renewed + own.patience - 1)
    assert peer.is_due(renewed + own.patience)
    list(peer.receive(Kept(server), 2, renewed, Dice(4)))
    assert not peer.is_due(renewed + own.patience)


def test_who_renews_asks_others_than_a_contact_that_takes_messages_and_does_not_answer() -> None:
    """A gateway asked the other one, which had crashed, for forty cycles: seed 1300129 of the histories."""
    silent, known = (Contact(i, "h", i, ".") for i in (2, 3))
    gateways = {".": [Contact(0, "h", 2, ".")]}
    member = Member(Contact(1, "h", 1, "."), lambda event: None, MemberSettings(scamp=OWN), gateways)
    list(member.join(silent, Dice(1)))
    list(member.receive(Served(silent, 100), 2, Dice(1)))
    member.scamp.drop(2)
    list(member.scamp.keep(known, 100, cycle=0))
    asked = []
    for cycle in range(1, 2 * OWN.lease):
        for send in member.tick(Dice(cycle)):
            if isinstance(send.message, Subscribe):
                asked.append(send.to)
        list(member.receive(Beaten(), 3, Dice(cycle)))
        list(member.receive(Beat(), 3, Dice(cycle)))
    assert asked[0] == silent
    assert set(asked[1:]) == {known}
