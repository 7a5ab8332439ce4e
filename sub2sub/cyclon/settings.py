"""How CYCLON is run: the settings of `sub2sub.cyclon.layer`."""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.errors import InputError

__all__ = ["CyclonSettings"]


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
        Every so many cycles a peer turns to the partner that did not answer instead of its oldest link;
        0 for never, as published.
    tries : int
        Times a request, or a reply, is sent before it is given up; 1 as published.
    """

    view: int = 20
    shuffle: int = 8
    retry: int = 0
    tries: int = 1

    def __post_init__(self) -> None:
        """Refuse settings outside their domain."""
        if not 1 <= self.view <= 63:
            raise InputError(f"cyclon.view: expected 1 to 63 links, got {self.view}")
        if not 1 <= self.shuffle <= self.view:
            raise InputError(f"cyclon.shuffle: expected 1 to view = {self.view}, got {self.shuffle}")
        if self.tries < 1:
            raise InputError(f"cyclon.tries: expected 1 or more, got {self.tries}")
        if self.retry < 0:
            raise InputError(f"cyclon.retry: expected 0 (never) or more cycles, got {self.retry}")
