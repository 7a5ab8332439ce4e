"""Settings of GossipSub."""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.errors import InputError, require


@dataclass(frozen=True)
class GossipSubSettings:
    """Settings of GossipSub, with the names and defaults of its specification (v1.0 and v1.1).

    Attributes
    ----------
    D, D_lo, D_hi : int
        Desired number of mesh links, and the bounds at which a peer grafts or prunes. More links are faster
        and more reliable; each costs a copy of every event.
    D_out : int
        Least number of mesh links that the peer opened itself (v1.1).
    backoff : int
        Cycles (heartbeats) before a link that was pruned may be grafted again (v1.1; 60 there).
    connections : int
        Peers of its topic that a peer is connected to, and gossips with. libp2p leaves it to discovery.
    keepalive : int
        Cycles between two keep-alive messages on a connection.
    tries : int
        Copies of a message before its target counts as unreachable.
    """

    D: int = 6
    D_lo: int = 5
    D_hi: int = 12
    D_out: int = 2
    backoff: int = 10
    connections: int = 16
    keepalive: int = 4
    tries: int = 3

    def __post_init__(self) -> None:
        if not 0 < self.D_lo <= self.D <= self.D_hi <= 2 * self.connections:
            raise InputError(
                "gossipsub: expected 0 < D_lo <= D <= D_hi <= 2 connections, got "
                f"{self.D_lo}, {self.D}, {self.D_hi}, {self.connections}"
            )
        if not 0 <= self.D_out <= self.D // 2 or (self.D_out >= self.D_lo):
            raise InputError(f"gossipsub.D_out: expected less than D_lo and at most D / 2, got {self.D_out}")
        require(self, "gossipsub", backoff=1, keepalive=1, tries=1)
