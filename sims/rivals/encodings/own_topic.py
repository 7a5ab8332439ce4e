"""A topic column of one's own data: subscribers join the topic of their exact value.

They drop the events of it that they do not want. It needs an attribute of which every subscriber wants one
value, such as a category or a place.
"""

from __future__ import annotations

import numpy as np

from sims.rivals.base.entrants import Look, Unable
from sims.rivals.base.system import Integers
from sims.rivals.below.encoded import Cells, Encoded, Floats


class OwnTopic(Encoded):
    """The values of the first attribute that is exact, as topics below the root."""

    name = "own topic"
    worlds = ()
    look = Look("sky", "s", "-")

    def topic_cells(self, points: Floats) -> Integers:
        """One for each value."""
        exact = np.flatnonzero((self.wanted.lows == self.wanted.highs).all(axis=0))
        if not exact.size:
            raise Unable("not run: no attribute of which every subscriber wants one value")
        values: Integers = points[:, exact[0]].astype(np.int64)
        return values | np.int64(1) << np.int64(self.wanted.bits)

    def memberships(self) -> Cells:
        """One each."""
        return np.arange(self.wanted.n), self.topic_cells(self.wanted.lows)
