"""One peer of Plumtree: which of its HyParView links are branches of the tree.

Leitão, Pereira, Rodrigues: *Epidemic Broadcast Trees*, SRDS 2007, Sections 3.3 to 3.6. Every new link is
*eager*, part of the tree. A peer that receives a message a second time makes the link *lazy*, and tells the
sender (`Prune`). Along lazy links messages are only announced. A peer that misses an announced message makes
the link eager again and requests the message (`Graft`).

The optimisation of Section 3.8 (shorter paths) is left out.
"""

from __future__ import annotations

from typing import ClassVar

from sims.anchors.hyparview.peer import HyParViewPeer
from sims.anchors.hyparview.settings import HyParViewSettings


class PlumtreePeer(HyParViewPeer):
    """A HyParView peer whose active links are eager or lazy.

    Attributes
    ----------
    lazy : list of int
        Those of the active links that are no branches of the tree.
    heard : int
        The last cycle in which a beacon came.

    Examples
    --------
    >>> peer = PlumtreePeer(1, HyParViewSettings())
    >>> peer.active = [2, 3]
    >>> peer.prune(3)
    >>> peer.eager(), peer.lazy
    ([2], [3])
    >>> peer.graft(3)
    >>> peer.eager(), peer.lazy
    ([2, 3], [])
    """

    kept: ClassVar[tuple[str, ...]] = (*HyParViewPeer.kept, "lazy", "heard")

    def __init__(self, own: int, settings: HyParViewSettings) -> None:
        super().__init__(own, settings)
        self.lazy: list[int] = []
        self.heard = 0

    def eager(self) -> list[int]:
        """Branches of the tree."""
        return [other for other in self.active if other not in self.lazy]

    def prune(self, other: int) -> None:
        """Take a link out of the tree."""
        if other in self.active and other not in self.lazy:
            self.lazy.append(other)

    def graft(self, other: int) -> None:
        """Make a link a branch of the tree."""
        if other in self.lazy:
            self.lazy.remove(other)

    def _close(self, other: int) -> None:
        super()._close(other)
        self.graft(other)
