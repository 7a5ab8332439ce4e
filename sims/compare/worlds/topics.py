"""Worlds of topics: a tree, generated or from a file, with Zipf popularity.

Topics are nested ranges (`hierarchy.topics.NestedRanges`), so that systems for ranges see the same interests
as systems for topics. Events follow the popularity of topics as subscriptions do; a topic without
subscribers, or whose events match a single subscriber, has no events.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from hierarchy.topics import NestedRanges, TopicTree
from sims.compare.worlds.world import Integers, World
from sims.config.interests import Topics
from sub2sub.errors import InputError
from workloads.folder.pieces import refuse
from workloads.folder.topic_tables import read_tree as stored_tree
from workloads.generate.rows import uniforms
from workloads.generate.topic_ranges import depth_first
from workloads.generate.topics import TopicSpec, regular_tree
from workloads.spec.table_files import open_stored

TREE = regular_tree((5, 5, 4))  # 131 topics, depth 3
EXPONENT = 1.0


def read_tree(path: Path, separator: str | None = None, implied: bool = False) -> tuple[str, ...]:
    """The topics of a file: a path such as .sport.soccer a line, or a table with a column `path` or `topic`.

    Supertopics have to be listed unless they are `implied`, so that a name with a dot is not taken for a
    subtopic; it is written in quotes (`."Soccer 2.0"`). `separator` is what stands between names instead.
    """
    if path.suffix in (".txt", ""):
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as failure:
            raise InputError(f"{path}: {failure}") from None
        paths = [line.strip() for line in lines if line.strip()]
        source: Path | pa.Table = pa.table({"path": pa.array(dict.fromkeys(paths), pa.string())})
    else:
        source = path
    try:
        topics, against = stored_tree(source, separator=separator, implied=implied)
        refuse("topics", against)
    except InputError as failure:
        said = str(failure)
        raise InputError(said if said.startswith(f"{path}:") else f"{path}: {said}") from None
    if len(topics) < 2:
        raise InputError(f"{path}: expected at least one topic, such as .sport.soccer")
    return depth_first(tuple(topics))


def stored_topic_world(path: Path, n: int, events: int, probes: int, seed: int, choosing: int = 0) -> World:
    """A world of real topics: each row of a workload folder or of tables that a .toml file describes.

    Events are those of the table, then of topics drawn from the subscriptions. As in other worlds of topics,
    an event needs a subscriber of its own topic, which publishes it, and another one that matches it.
    """
    stored = open_stored(path)
    if stored.topics is None:
        raise InputError(f"{path}: expected topics, got ranges of {', '.join(stored.names)}")
    chosen = stored.order(seed, min(n or len(stored), len(stored)))[: n or None]
    of = stored.lows[chosen, 0].astype(np.int64)
    wanted = events + probes + choosing
    drawn = uniforms(seed, "event/row", 0, max(1000, 20 * wanted))
    candidates = np.append(stored.points[:, 0].astype(np.int64), of[(drawn * len(of)).astype(np.int64)])
    return _world(f"topics {path.stem}", seed, stored.topics, of, candidates, (events, probes, choosing))


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
    spec = TopicSpec(paths, exponent=EXPONENT, event_exponent=EXPONENT)
    wanted = events + probes + choosing
    drawn = spec.events(max(1000, 20 * wanted), seed)
    return _world(name, seed, paths, spec.subscriptions(n, seed), drawn, (events, probes, choosing))


def _world(
    name: str, seed: int, paths: tuple[str, ...], of: Integers, drawn: Integers, counts: tuple[int, int, int]
) -> World:
    """The world of these subscriptions, and of the first events that have a publisher and a receiver."""
    tree = TopicTree.numbered(paths)
    ranges = NestedRanges(tree)
    sizes = np.bincount(of, minlength=tree.capacity)
    audience = np.array([sizes[[t, *tree.supertopics(t)]].sum() for t in range(tree.capacity)])
    worthy = (sizes > 0) & (audience > 1)
    wanted, (_, probes, choosing) = sum(counts), counts
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
