"""CAMCAST: to which members one member sends an event that it has received (Section 3.5, Figures 7 and 8).

With probability p_sel a member acts as a link to the communities above, and sends the event to each entry of
its super-topic tables with probability p_a. In any case it sends the event to `fanout` random members of its
own community. So no member gets an event of a topic that it has not subscribed to: there are no parasites.

Reading of the paper: the pseudo-code forwards upward if `RAND() >= p_sel`; the prose, the analysis and every
figure say *with probability* p_sel, which is done here.

`hierarchy.compiled.camcast.dissemination` does the same for a population; live members run this module, and
so does the shared overlay, on its own tables (`hierarchy.peers.router`). A member has numbered draws for an
event. The draw that decides whether a message is lost has a number, too, which live members leave out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from sub2sub.peers.draws import Dice

MemberT = TypeVar("MemberT")


class Target(NamedTuple, Generic[MemberT]):
    """A member to send an event to, and the number of the draw that decides whether the message is lost."""

    member: MemberT
    draw: int


def choose_upward(
    super_tables: Iterable[Iterable[MemberT]], p_sel: float, p_a: float, dice: Dice
) -> tuple[list[Target[MemberT]], int]:
    """Choose entries of super-topic tables, none for a member that is no link; and return the next draw."""
    targets: list[Target[MemberT]] = []
    k = 1
    if dice.unit(0) >= p_sel:
        return targets, k
    for table in super_tables:
        for entry in table:
            if dice.chance(k, p_a):
                k += 1
                targets.append(Target(entry, k))
            k += 1
    return targets, k


def choose_within(topic_table: Sequence[MemberT], fanout: int, k: int, dice: Dice) -> list[Target[MemberT]]:
    """Choose `fanout` entries of the topic table, or all, with the draws from number k on."""
    entries = list(topic_table)
    if len(entries) > fanout:
        for place in range(fanout):
            other = place + dice.below(k + place, len(entries) - place)
            entries[place], entries[other] = entries[other], entries[place]
        entries, k = entries[:fanout], k + fanout
    return [Target(entry, k + place) for place, entry in enumerate(entries)]


def choose_targets(
    super_tables: Iterable[Iterable[MemberT]], topic_table: Sequence[MemberT], fanout: int, p_sel: float,
    p_a: float, dice: Dice,
) -> tuple[list[Target[MemberT]], list[Target[MemberT]]]:  # fmt: skip
    """Choose the members above, and those of the own community, to which a member sends an event.

    Examples
    --------
    >>> upward, within = choose_targets([["above"]], ["a", "b", "c"], 2, p_sel=1.0, p_a=1.0, dice=Dice(1))
    >>> [target.member for target in upward], len(within)
    (['above'], 2)
    >>> choose_targets([["above"]], ["a"], 2, p_sel=0.0, p_a=1.0, dice=Dice(1))
    ([], [Target(member='a', draw=1)])
    """
    upward, k = choose_upward(super_tables, p_sel, p_a, dice)
    return upward, choose_within(topic_table, fanout, k, dice)
