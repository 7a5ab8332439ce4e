"""Settings of clients and their broker."""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.errors import require


@dataclass(frozen=True)
class BrokerSettings:
    """Settings of a broker.

    Attributes
    ----------
    keepalive : int
        Cycles between two keep-alive messages of a client. The broker drops a client that was silent for one
        and a half times as long. Shorter intervals cost messages; longer ones, events sent to dead clients.
    tries : int
        Copies of a message before its target counts as unreachable.
    """

    keepalive: int = 6
    tries: int = 3

    def __post_init__(self) -> None:
        require(self, "broker", keepalive=1, tries=1)
