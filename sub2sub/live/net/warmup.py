"""Compiling, or loading, every kernel a live peer needs before anybody waits for it."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np

from sub2sub.events.publishing import PublisherSettings
from sub2sub.kernels.randomness import cycle_key, peer_key
from sub2sub.live.core.core import Core
from sub2sub.live.core.descriptors import Descriptor
from sub2sub.live.core.messages import Event
from sub2sub.live.core.walking import Walk, nearest_to

__all__ = ["warm_up"]


@cache
def warm_up() -> None:
    """Let three peers gossip for a few cycles and spread an event, without sockets; once in a process."""
    numbers = itertools.count()

    def keys(stream: int) -> np.uint64:
        return np.uint64(peer_key(cycle_key(0, stream, 0), next(numbers)))

    peers = [Descriptor.of(1 << k, "127.0.0.1", 1 + k, [0.0], [1.0]) for k in range(3)]
    cores = {peer.id: Core(peer, lambda event: None) for peer in peers}
    for core in cores.values():
        core.join(peers)
    event = Event(bytes(16), (0.5,), 0, b"")
    for _ in range(3):
        waiting = [(core, core.tick(keys)) for core in cores.values()]
        waiting.append((cores[1], cores[1].publish(event, keys)))
        for core, sends in waiting:
            for send in sends:
                if send.to:
                    answers = cores[send.to.id].receive(send.message, core.own.id, keys)
                    for answer in answers:
                        if answer.to is None:
                            core.receive(answer.message, send.to.id, keys)
    core = cores[1]
    if begun := core.random.begin(core.turn, core.now, keys(0)):
        core.random.fail(begun[0])
    walk = Walk(event.point, PublisherSettings())
    walk.learn(nearest_to(event.point, peers, 2))
    walk.hand_over()
