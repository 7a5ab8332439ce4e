"""How CYCLON is run: the settings of `sub2sub.cyclon.layer`."""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.errors import require


@dataclass(frozen=True)
class CyclonSettings:
    """Settings of CYCLON.

    Attributes
    ----------
    view : int
        Links a peer keeps, at most 63. More survive larger crashes; 20 is the CYCLON paper's usual choice.
    shuffle : int
        Links sent in one exchange, at most `view`. Traffic grows with it, mixing gets faster.
    retry : int
        Cycles after which a peer turns to a partner that did not answer instead of its oldest link;
        0 for never, as published.
    tries : int
        Times a request, or a reply, is sent before it is given up; 1 as published.
    """

    view: int = 20
    shuffle: int = 8
    retry: int = 0
    tries: int = 1

    def __post_init__(self) -> None:
        require(self, "cyclon", view=(1, 63), shuffle=(1, self.view), tries=1, retry=0)
