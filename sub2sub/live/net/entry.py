"""A publisher's search for a peer that wants its event, over the network (Sub-2-Sub, end of Section 4.1).

The way is `sub2sub.peers.publisher`'s. What is added is that answers take time: a publisher does not wait
for a peer that is slow, but asks the next after `hedge` seconds as well; and it says that it does not know
whether anybody wants the event when peers it had to ask were silent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from sub2sub.live.core import messages as m
from sub2sub.peers.descriptors import Descriptor
from sub2sub.peers.publisher import Move, Walk

AT_ONCE = 6  # requests under way


@dataclass(frozen=True)
class Published:
    """What became of publishing.

    Attributes
    ----------
    name : bytes
        The event's.
    entry : int or None
        ID of the peer that took it first.
    steps : int
        Steps of the search.
    silent : int
        Peers that were asked and did not answer.
    answered : int
        Peers that did.
    """

    name: bytes
    entry: int | None
    steps: int
    silent: int = 0
    answered: int = 0

    @property
    def outcome(self) -> str:
        """ "taken", "nobody" (all that were asked know nobody that wants it), or "unknown".

        Examples
        --------
        >>> Published(b"x", None, 1, silent=0, answered=3).outcome
        'nobody'
        >>> Published(b"x", None, 1, silent=1, answered=3).outcome
        'unknown'
        """
        if self.entry is not None:
            return "taken"
        return "unknown" if self.silent or not self.answered else "nobody"


class EntrySearch:
    """One event's search.

    Parameters
    ----------
    event : Event
    walk : Walk
        With the peers to begin with.
    request : callable
        request(peer, event or None for a question) -> its answer, None for silence.
    hedge : float
        Seconds after which a silent peer is not waited for alone.

    Attributes
    ----------
    avoid : set of (address, bool)
        Those that were silent, and whether they were handed the event. Nobody is asked there again, and
        after the event itself was not answered, nobody is handed it there.
    """

    def __init__(
        self,
        event: m.Event,
        walk: Walk,
        request: Callable[[Descriptor, m.Event | None], Awaitable[Any | None]],
        hedge: float,
    ) -> None:
        self.event, self.walk, self.request, self.hedge = event, walk, request, hedge
        self.avoid: set[tuple[object, bool]] = set()
        self.entry: int | None = None
        self.silent: list[Descriptor] = []
        self.heard: list[Descriptor] = []
        self.answered = 0
        self._pending: dict[asyncio.Task[Any], Move] = {}

    async def run(self) -> None:
        """Search until somebody has taken the event, or there is nobody left to ask."""
        try:
            while self.entry is None:
                self._begin_next()
                if not self._pending:
                    return
                await self._wait()
        finally:
            for task in self._pending:
                task.cancel()

    def published(self) -> Published:
        """What came of it."""
        return Published(self.event.name, self.entry, self.walk.steps, len(self.silent), self.answered)

    def _begin_next(self) -> None:
        """Begin one more request, if there is anybody left."""
        if len(self._pending) >= AT_ONCE:
            return
        while (move := self.walk.next()) and move.peer and self._is_avoided(move.peer, move.hand_over):
            pass
        if move and move.peer:
            asked = self.request(move.peer, self.event if move.hand_over else None)
            self._pending[asyncio.ensure_future(asked)] = move

    def _is_avoided(self, peer: Descriptor, hand_over: bool) -> bool:
        return (peer.address, True) in self.avoid or (not hand_over and (peer.address, False) in self.avoid)

    async def _wait(self) -> None:
        """Wait for an answer, but not for long."""
        patience = self.hedge if len(self._pending) < AT_ONCE else None
        done, _ = await asyncio.wait(self._pending, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        for task in sorted(done, key=list(self._pending).index):
            move = self._pending.pop(task)
            assert move.peer is not None
            answer = task.result()
            if answer is None:
                self.silent.append(move.peer)
                self.avoid.add((move.peer.address, move.hand_over))
            else:
                self.answered += 1
            if isinstance(answer, m.Taken) and answer.took and self.entry is None:
                self.entry = move.peer.id
            elif isinstance(answer, m.Answer):
                found = [peer for peer in answer.links.peers if peer.d == move.peer.d]
                self.heard += found
                self.walk.answered(move.peer, found)
