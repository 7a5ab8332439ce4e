"""Overlays of anchors as tests build them: everybody starts at once, or one after the other."""

from __future__ import annotations

import numpy as np

from sims.rivals.base.groups import Groups, GroupStack
from sub2sub.compiled.common.layer import Layer
from sub2sub.overlay.population import Population


def stack_of(layer: Layer, n: int, seed: int = 1, spare: int = 0) -> GroupStack:
    """All in one group."""
    people = Population.of(np.zeros((n, 1)), np.ones((n, 1)), spare=spare, seed=seed)
    return GroupStack(people, Groups(people), [layer], seed)


def grow(stack: GroupStack, cycles: int, loss: float = 0.0) -> list[int]:
    """Start everybody and step; messages of each cycle."""
    stack.network.loss = loss
    stack.bootstrap()
    return go_on(stack, 1, cycles)


def go_on(stack: GroupStack, first: int, last: int) -> list[int]:
    costs = [stack.step(cycle) for cycle in range(first, last + 1)]
    return [sum(cost["messages"] for cost in each.values()) for each in costs]


def reached(links: dict[int, list[int]], start: int) -> set[int]:
    """Who can be reached along links."""
    found, waiting = {start}, [start]
    while waiting:
        for other in links[waiting.pop()]:
            if other in links and other not in found:
                found.add(other)
                waiting.append(other)
    return found
