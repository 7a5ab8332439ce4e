"""What others may cost a node: frames, bytes and processor time, refilled as time passes."""

from __future__ import annotations

from collections import OrderedDict


class Bucket:
    """An allowance that is refilled at a rate, up to a limit.

    Examples
    --------
    >>> bucket = Bucket(rate=10.0, most=5.0, now=0.0)
    >>> bucket.charge(5.0, now=0.0), bucket.charge(10.0, now=0.0), bucket.charge(0.0, now=0.5)
    (0.0, 1.0, 0.5)
    """

    __slots__ = ("left", "most", "rate", "then")

    def __init__(self, rate: float, most: float, now: float) -> None:
        self.rate, self.most, self.left, self.then = rate, most, most, now

    def charge(self, cost: float, now: float) -> float:
        """Take from the allowance; returns for how many seconds it is overdrawn."""
        left = self.left + (now - self.then) * self.rate
        self.left = left = (left if left < self.most else self.most) - cost  # twice as fast as min and max
        self.then = now
        return -left / self.rate if left < 0.0 else 0.0


class Buckets:
    """An allowance for each name, of which only so many are remembered."""

    def __init__(self, rate: float, most: float, remembered: int) -> None:
        self.rate, self.most, self.remembered = rate, most, remembered
        self._of: OrderedDict[str, Bucket] = OrderedDict()

    def spent(self, name: str, now: float) -> float:
        """How much of the allowance of a name is not refilled yet."""
        bucket = self._of.get(name)
        return bucket.most - bucket.left - (now - bucket.then) * bucket.rate if bucket else 0.0

    def charge(self, name: str, cost: float, now: float) -> float:
        """Take from the allowance of a name; returns for how many seconds it is overdrawn."""
        bucket = self._of.get(name)
        if bucket is None:
            bucket = self._of[name] = Bucket(self.rate, self.most, now)
            if len(self._of) > self.remembered:
                self._of.popitem(last=False)
        return bucket.charge(cost, now)
