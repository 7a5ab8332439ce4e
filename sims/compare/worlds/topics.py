"""Worlds of topics: a tree, generated or from a file, with Zipf popularity.

Topics are nested ranges (`hierarchy.topics.NestedRanges`), so that systems for ranges see the same interests
as systems for topics. Events follow the popularity of topics as subscriptions do; a topic that nobody
subscribes to, or whose events only one subscriber would want, has no events.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hierarchy.topics import NestedRanges, TopicTree
from sims.compare.worlds.world import World
from sims.systems.subscriptions import Topics
from sub2sub.errors import InputError
from workloads.folder.topic_tables import read_topics
from workloads.generate.topics import TopicSpec, regular_tree

__all__ = ["TREE", "read_tree", "topic_world"]

TREE = regular_tree((5, 5, 4))  # 131 topics, depth 3
EXPONENT = 1.0


def read_tree(path: Path) -> tuple[str, ...]:
    """The topics of a file: one path such as .sport.soccer a line, or a table with a column `topic`.

    Topics on the way to one need not be listed.
    """
    if path.suffix in (".txt", ""):
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as failure:
            raise InputError(f"{path}: {failure}") from None
        paths = [line.strip() for line in lines if line.strip()]
    else:
        paths, _ = read_topics(path)
    if not paths:
        raise InputError(f"{path}: expected at least one topic, such as .sport.soccer")
    try:
        tree = TopicTree.from_paths(dict.fromkeys(paths))
    except InputError as failure:
        raise InputError(f"{path}: {failure}") from None
    return tuple(tree.name(topic) for topic in tree)


def topic_world(
    n: int,
    events: int,
    probes: int,
    seed: int,
    paths: tuple[str, ...] = TREE,
    name: str = "topics",
    choosing: int = 0,
) -> World:
    """A world of n subscribers of topics.

    Examples
    --------
    >>> world = topic_world(200, events=20, probes=5, seed=1)
    >>> world.n, len(world.points), int(world.matches.sizes().min()) >= 2
    (200, 25, True)
    """
    tree = TopicTree.numbered(paths)
    ranges = NestedRanges(tree)
    spec = TopicSpec(paths, exponent=EXPONENT, event_exponent=EXPONENT)
    of = spec.subscriptions(n, seed)
    sizes = np.bincount(of, minlength=tree.capacity)
    audience = np.array([sizes[[t, *tree.supertopics(t)]].sum() for t in range(tree.capacity)])
    worthy = (sizes > 0) & (audience > 1)
    wanted = events + probes + choosing
    drawn = spec.events(max(1000, 20 * wanted), seed)
    of_event = drawn[worthy[drawn]][:wanted]
    if of_event.size < wanted:
        raise InputError(
            f"events: {of_event.size} of the {drawn.size} drawn have a publisher and a subscriber besides"
            f": expected {wanted}, use more subscribers or fewer topics"
        )
    bounds = ranges.bounds().astype(np.float64)
    low, high = bounds[of, :1], bounds[of, 1:] - 1.0
    topics = Topics(ranges, of, of_event)
    return World(name, seed, low, high, bounds[of_event, :1], probes, 0, topics, choosing)
