"""One super-topic table: what it keeps of the tables that members of its community send."""

from __future__ import annotations

from hierarchy.peers.contacts import Contact
from hierarchy.peers.super_table import Supers, SuperTable
from sub2sub.peers.draws import Dice


def test_tables_that_arrive_during_a_check_wait_for_its_end_and_only_the_latest_are_kept() -> None:
    """However many arrive, four tables of z members wait: nobody fills the memory of a member."""
    dice, table = Dice(1), SuperTable(["."], z=2)
    table.merge([Contact(1, "h", 1, ".")])
    checks = list(table.doubt(1, dice))
    assert [check.to.id for check in checks if check.to] == [1]
    for id in range(100, 200, 2):
        told = Supers((Contact(id, "h", id, "."), Contact(id + 1, "h", id + 1, ".")))
        assert list(table.receive(told, dice)) == []
    assert [contact.id for contact in table.entries] == [1]
    assert list(table.conclude(dice)) == []  # 1 has not answered
    assert [contact.id for contact in table.entries] == [192, 193]  # the first of the last eight
