"""How clients keep in touch with a broker."""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.errors import require

__all__ = ["BrokerSettings"]


@dataclass(frozen=True)
class BrokerSettings:
    """Settings of a broker.

    Attributes
    ----------
    keepalive : int
        Cycles between two signs of life of a client. The broker forgets one it has not heard of for one and a
        half times as long. More signs cost messages; fewer, events sent to those who are gone.
    tries : int
        Copies of a message before its target is taken to be gone.
    """

    keepalive: int = 6
    tries: int = 3

    def __post_init__(self) -> None:
        """Refuse settings outside their domain."""
        require(self, "broker", keepalive=1, tries=1)
