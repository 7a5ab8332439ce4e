"""Which members a live member sends an event to, by the simulator's rules."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hierarchy.camcast.dissemination import choose_targets, choose_upward
from hierarchy.contacts import Contact
from sub2sub.kernels.dice import Dice


def choose_receivers(
    above: Sequence[Sequence[Contact]], view: Sequence[Contact], p_sel: float, p_a: float, dice: Dice
) -> tuple[list[Contact], list[Contact]]:
    """Choose super-processes, and the whole topic table, which SCAMP sizes for that.

    Parameters
    ----------
    above : sequence of sequences of Contact
        Super-topic tables.
    view : sequence of Contact
        The topic table.
    p_sel, p_a : float
        Probability to act as a link, and to send to each entry of a super-topic table then.
    dice : Dice

    Examples
    --------
    >>> one, two = (Contact(number, "h", 1, ".") for number in (1, 2))
    >>> upward, within = choose_receivers([[one]], [two], p_sel=1.0, p_a=1.0, dice=Dice(1))
    >>> [each.id for each in upward], [each.id for each in within]
    ([1], [2])
    """
    supers = [entry for entries in above for entry in entries]
    rows = [len(entries) for entries in above]
    table, first = np.full((len(rows), max(*rows, 1)), -1, np.int32), 0
    for slot, size in enumerate(rows):
        table[slot, :size] = np.arange(first, first + size)
        first += size
    upward, key = np.empty((table.size, 2), np.int64), np.uint64(dice.key)
    count, k = choose_upward(table, p_sel, p_a, key, upward)
    row, out = np.arange(len(view), dtype=np.int32), np.empty(len(view), np.int32)
    within, _ = choose_targets(row, len(view), key, k, out)
    return [supers[i] for i in upward[:count, 0].tolist()], [view[i] for i in out[:within].tolist()]
