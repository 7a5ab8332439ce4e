"""What becomes of the copies of one message that is sent again while it is not acknowledged."""

from __future__ import annotations

from sub2sub.peers.draws import Dice, mix

AGAIN = 1 << 32


def copies(dice: Dice, k: int, loss: float, there: bool, retries: int) -> list[bool]:
    """Whether each copy arrives: draw k decides, and the same hashed decides for its acknowledgement."""
    arrived: list[bool] = []
    while len(arrived) <= retries:
        bits = dice.bits(k + AGAIN * len(arrived))
        arrived.append(there and (bits >> 11) * 2.0**-53 >= loss)
        if arrived[-1] and (mix(bits) >> 11) * 2.0**-53 >= loss:
            break
    return arrived
