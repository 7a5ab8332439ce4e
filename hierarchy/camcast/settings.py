"""Settings of a community, which trade reliability for messages.

CAMCAST, Sections 3.2, 3.5 and 6.1; the technical report (IC/2003/73), Section VII, for b. Symbols:
p_sel = g/N is the probability that a process acts as a link to the super-community, p_a = a/z the probability
that a link sends to an entry of its super-topic table of z entries, ln N + c the number of targets within the
community.

Interpretation: ln N + c is rounded down, to at least one. The loop in Figure 8 runs once more than that, but
only rounding down gives Table 2 of the paper. `rounding="up"` is the other interpretation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.peers.settings import TopicSettings
from hierarchy.topics import TopicTree
from sub2sub.errors import InputError

Settings = TopicSettings | Mapping[str | int, TopicSettings]
"""Settings for all topics, or by topic, with the key "*" for the other topics."""


class Parameters(NamedTuple):
    """Settings as the dissemination kernel reads them, indexed by topic."""

    fanout: NDArray[np.int32]
    p_sel: NDArray[np.float64]
    p_a: NDArray[np.float64]


class MemberParameters(NamedTuple):
    """The same indexed by member, from the member's estimate of the size of its community."""

    fanout: NDArray[np.int32]
    p_sel: NDArray[np.float64]
    p_a: NDArray[np.float64]
    topics: int


def for_topics(settings: Settings | None, topics: int, tree: TopicTree | None = None) -> list[TopicSettings]:
    """Resolve settings into one for each topic number.

    Parameters
    ----------
    settings : TopicSettings or mapping from topic to TopicSettings, optional
        For all topics, or by topic, with the key "*" for the other topics.
    topics : int
        Number of topics.
    tree : TopicTree, optional
        Required for a mapping.

    Examples
    --------
    >>> tree = TopicTree.from_paths([".soccer.italy"])
    >>> own = for_topics({".soccer": TopicSettings(c=1), "*": TopicSettings(c=2)}, 3, tree)
    >>> [s.c for s in own]
    [2, 1, 2]
    """
    if settings is None or isinstance(settings, TopicSettings):
        return [settings or TopicSettings()] * topics
    if not isinstance(settings, Mapping):
        raise InputError(
            f"settings: expected TopicSettings, or a mapping of topics to them, got {settings!r}"
        )
    chosen = [settings.get("*", TopicSettings())] * topics
    for topic, own in settings.items():
        if not isinstance(own, TopicSettings):
            raise InputError(f"settings[{topic!r}]: expected TopicSettings, got {own!r}")
        if topic != "*":
            if tree is None:
                raise InputError("tree: expected the topic tree beside settings of single topics")
            chosen[tree.number(topic)] = own
    return chosen


def parameters(
    sizes: NDArray[np.int64], settings: Settings | None = None, tree: TopicTree | None = None
) -> Parameters:
    """Resolve settings for communities of known sizes, as `for_topics` does.

    Examples
    --------
    >>> parameters(np.array([10, 100, 1000])).fanout
    array([ 7,  9, 11], dtype=int32)
    """
    pairs = [(s, int(n)) for s, n in zip(for_topics(settings, len(sizes), tree), sizes, strict=True)]
    return Parameters(
        np.array([s.fanout(n) for s, n in pairs], np.int32),
        np.array([s.select(n) for s, n in pairs], np.float64),
        np.array([s.forward for s, _ in pairs], np.float64),
    )


def link_probabilities(
    sizes: NDArray[np.float64], topic: NDArray[np.int32], own: Sequence[TopicSettings]
) -> NDArray[np.float64]:
    """p_sel of each member, given its estimate of the size of its community.

    Examples
    --------
    >>> link_probabilities(np.array([2.0, 50.0]), np.array([0, 0]), [TopicSettings(g=5)])
    array([1. , 0.1])
    """
    fixed = np.array([np.nan if s.p_sel is None else s.p_sel for s in own])[topic]
    g = np.array([s.g for s in own])[topic]
    return np.where(np.isnan(fixed), np.minimum(1.0, g / np.maximum(sizes, 1.0)), fixed)


def member_parameters(
    sizes: NDArray[np.float64],
    topic: NDArray[np.int32],
    settings: Settings | None = None,
    tree: TopicTree | None = None,
) -> MemberParameters:
    """Resolve settings for members with these estimates of the sizes of their communities.

    Examples
    --------
    >>> found = member_parameters(np.array([10.0, 12.0, 900.0]), np.array([0, 0, 0]))
    >>> found.fanout, found.p_sel.round(3)
    (array([ 7,  7, 11], dtype=int32), array([0.5  , 0.417, 0.006]))
    """
    topics = tree.capacity if tree is not None else int(topic.max(initial=0)) + 1
    own = for_topics(settings, topics, tree)
    c = np.array([s.c for s in own])[topic]
    up = np.array([s.rounding == "up" for s in own])[topic]
    targets = np.log(np.maximum(sizes, 1.0)) + c
    fanout = np.maximum(1, np.where(up, np.ceil(targets), np.floor(targets))).astype(np.int32)
    return MemberParameters(
        fanout, link_probabilities(sizes, topic, own), np.array([s.forward for s in own])[topic], topics
    )
