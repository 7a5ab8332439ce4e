"""Worlds by name: "topics", "ranges WORKLOAD", "between T"."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

from sims.compare.worlds.between import between_world
from sims.compare.worlds.ranges import BITS, range_world
from sims.compare.worlds.topics import TREE, read_tree, stored_topic_world, topic_world
from sims.compare.worlds.world import World
from sub2sub.errors import InputError
from workloads.files.checked import file_digest
from workloads.folder.tables import is_table
from workloads.spec.table_files import is_stored, stored_files

__all__ = ["World", "build_world", "interests_digest", "world_options"]


def build_world(name: str, n: int, events: int, probes: int, seed: int, choosing: int = 0) -> World:
    """The world of that name: "topics", "topics TREE-FILE", "ranges WORKLOAD" or "between T".

    Options may follow: `bits=12` is the grid that ranges are rounded to, `rows=all` takes every row of a
    folder or table, whatever n, with `publishers=others` events on ranges come from live subscribers that do
    not match them, and with `hosts=4` every subscriber is a host with four ranges. A tree's names may stand
    apart by `separator=::`, and with `implied=topics` it need not list supertopics.

    Examples
    --------
    >>> build_world("between 0.5", n=100, events=5, probes=2, seed=1).name
    'between 0.5'
    """
    kind, _, rest = name.partition(" ")
    rest, options = world_options(rest)
    if options.get("rows") == "all" and is_stored(Path(rest)):
        n = 0
    if kind != "ranges" and (options.keys() & {"publishers", "hosts"}):
        raise InputError(f"world = {name!r}: expected publishers= and hosts= with ranges only")
    if kind == "topics" and rest and is_stored(Path(rest)) and not is_table(Path(rest)):
        return stored_topic_world(Path(rest), n, events, probes, seed, choosing)
    if kind == "topics":
        given = options.get("separator"), "implied" in options
        paths = read_tree(Path(rest), *given) if rest else TREE
        return topic_world(n, events, probes, seed, paths, name, choosing)
    if kind == "ranges" and rest:
        bits = int(options.get("bits", BITS))
        found = range_world(n, events, probes, seed, rest, bits, choosing, int(options.get("hosts", 1)))
        return replace(found, others=True, name=name) if "publishers" in options else found
    if kind == "between" and (t := _number(rest)) is not None:
        return between_world(n, events, probes, seed, t, choosing=choosing)
    raise InputError(f"world = {name!r}: expected topics, topics FILE, ranges WORKLOAD or between T")


@cache
def interests_digest(name: str) -> str:
    """Digest of the files that a world's interests come from; empty for worlds that are drawn at random."""
    path = Path(world_options(name.partition(" ")[2])[0])
    if path.suffix == ".toml" and path.is_file() and not is_stored(path):
        return file_digest(path)
    return file_digest(*stored_files(path)) if path.exists() and is_stored(path) else ""


def world_options(rest: str) -> tuple[str, dict[str, str]]:
    """What a world is made of, and options behind it.

    Examples
    --------
    >>> world_options("orders.csv bits=12 rows=all")
    ('orders.csv', {'bits': '12', 'rows': 'all'})
    """
    words, options = rest.split(" "), {}
    while words and re.fullmatch(
        r"bits=\d+|rows=all|publishers=others|hosts=[2-9]\d*|separator=.+|implied=topics", words[-1]
    ):
        key, _, value = words.pop().partition("=")
        options[key] = value
    return " ".join(words), dict(reversed(options.items()))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
