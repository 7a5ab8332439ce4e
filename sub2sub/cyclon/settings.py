"""Settings of CYCLON (`sub2sub.cyclon.layer`)."""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.errors import require


@dataclass(frozen=True)
class CyclonSettings:
    """Settings of CYCLON.

    Attributes
    ----------
    view : int
        Links that a peer keeps, at most 63. More survive larger crashes; the CYCLON paper mostly uses 20.
    shuffle : int
        Links sent in one exchange, at most `view`. More links cost more traffic and mix views faster.
    retry : int
        A peer shuffles with a partner that did not answer, instead of with its oldest link, in every
        `retry`-th cycle; 0 for never, as published.
    tries : int
        Copies of a request, or of a reply, that are sent while they are lost; 1 as published.
    """

    view: int = 20
    shuffle: int = 8
    retry: int = 0
    tries: int = 1

    def __post_init__(self) -> None:
        require(self, "cyclon", view=(1, 63), shuffle=(1, self.view), tries=1, retry=0)
