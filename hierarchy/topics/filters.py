"""Topic filters with wildcards, as unions of nested ranges.

Two languages, which the separators and wildcards tell apart:

- MQTT 5.0 (OASIS, Section 4.7): levels are separated by `/`; `+` is any one level; `#`, at the end, is any
  number of levels, *none included*, so `sport/#` matches `sport`. Levels may be empty. A filter that starts
  with a wildcard does not match topics that start with `$`.
- NATS: tokens are separated by `.`; `*` is any one token; `>`, at the end, is *one or more* tokens, so
  `sport.>` does not match `sport`.

In both, a filter without wildcards matches the topic of that name alone, without its subtopics.

An event of a topic is the first number of its range (`hierarchy.topics.encoding`). So a topic with its
subtopics is one range, all its subtopics without itself are one range, and a topic without its subtopics is
a single number. Only filters with levels after a wildcard need more: one range for each topic that matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from hierarchy.topics.encoding import NestedRanges
from sub2sub.errors import InputError

Language = Literal["mqtt", "nats"]
ANY = "+"  # any one level, in a parsed filter


class Filter(NamedTuple):
    """A parsed filter: its levels, `ANY` for a wildcard, and the levels that may follow.

    Attributes
    ----------
    below : int or None
        How many levels have to follow, at least; None if none may.
    language : "mqtt" or "nats"
    """

    levels: tuple[str, ...]
    below: int | None
    language: Language

    @property
    def has_wildcards(self) -> bool:
        """Whether it may match several topics."""
        return self.below is not None or ANY in self.levels


def levels_of(topic: str, field: str = "topic") -> tuple[str, ...]:
    """The levels of a topic: between `/` if there is one, else between `.`; a first `.` is CAMCAST's root.

    Examples
    --------
    >>> levels_of("sport/soccer"), levels_of("sport.soccer"), levels_of(".sport"), levels_of("/finance")
    (('sport', 'soccer'), ('sport', 'soccer'), ('sport',), ('', 'finance'))
    """
    if not isinstance(topic, str) or not topic:
        raise InputError(f"{field}: expected the path of a topic, got {topic!r}")
    if "/" in topic:
        return tuple(topic.split("/"))
    levels = tuple(topic.removeprefix(".").split(".")) if topic != "." else ()
    if "" in levels:
        raise InputError(f"{field}: expected a path without empty parts, got {topic!r}")
    return levels


def parse(text: str) -> Filter:
    """Parse a filter; MQTT's if it has a `/`, `+` or `#`, else NATS's.

    Raises
    ------
    InputError
        If a wildcard is only a part of a level, or levels follow after `#` or `>`.

    Examples
    --------
    >>> parse("sport/+/player1"), parse("time.us.>").below
    (Filter(levels=('sport', '+', 'player1'), below=None, language='mqtt'), 1)
    """
    levels = levels_of(text, "filter")
    language: Language = "mqtt" if any(sign in text for sign in "/+#") else "nats"
    one, rest = ("+", "#") if language == "mqtt" else ("*", ">")
    below = None
    if levels and levels[-1] == rest:
        levels, below = levels[:-1], 0 if language == "mqtt" else 1
    for level in levels:
        if level != one and (one in level or rest in level):
            raise InputError(
                f"filter: expected {one!r} as a whole level and {rest!r} as the last one, got {text!r}"
            )
    return Filter(tuple(ANY if level == one else level for level in levels), below, language)


def matches(wanted: Filter, topic: Sequence[str]) -> bool:
    """Whether a topic, given by its levels, matches a filter.

    Examples
    --------
    >>> [matches(parse(text), levels_of("sport")) for text in ("sport/#", "sport.>", "+", "sport/+")]
    [True, False, True, False]
    """
    if wanted.language == "mqtt" and topic[0].startswith("$") and wanted.levels[:1] in ((), (ANY,)):
        return False
    more = len(topic) - len(wanted.levels)
    if more < 0 or (more > 0 if wanted.below is None else more < wanted.below):
        return False
    return all(level in (ANY, own) for level, own in zip(wanted.levels, topic, strict=False))


def ranges_of(
    wanted: Filter, nested: NestedRanges, label: Callable[[int], str], name: str, most: int
) -> list[tuple[int, int]]:
    """The closed ranges whose events match a filter: disjoint, ascending, as few as there are.

    Parameters
    ----------
    label : callable
        The last level of a topic, by its number.
    name : str
        The filter as it was written, for the error.
    most : int
        Ranges that it may need, at most; each is one virtual peer of its subscriber.
    """
    tree, levels, below = nested.tree, list(wanted.levels), wanted.below
    while below is not None and levels and levels[-1] == ANY:
        levels, below = levels[:-1], below + 1  # any one level and then any: so many levels in any case
    topics, at_root = [0], True

    def under(level: str) -> list[int]:
        """The subtopics of all topics so far whose label is `level`."""
        hidden = "$" if at_root and wanted.language == "mqtt" and level == ANY else None
        children = (child for topic in topics for child in tree.subtopics(topic))
        return [c for c in children if label(c) == level or (level == ANY and label(c)[:1] != hidden)]

    for level in levels:
        topics, at_root = under(level), False
    hides = wanted.language == "mqtt" and any(label(topic)[:1] == "$" for topic in tree.subtopics(0))
    while below is not None and (below > 1 or (at_root and hides)):
        topics, at_root, below = under(ANY), False, max(below - 1, 0)
    found = []
    for topic in topics:
        if below is None:
            found.append((nested.point(topic), nested.point(topic)))
            continue
        rows = [(low, high - 1) for low, high in nested.ranges(topic).tolist()]
        rows[0] = rows[0][0] + below, rows[0][1]  # without the topic itself: its events are the first number
        found += [(low, high) for low, high in rows if low <= high]
    joined = _joined(found)
    if len(joined) > most:
        shorter = "/".join(levels[: levels.index(ANY)] if ANY in levels else levels)
        raise InputError(
            f"filter {name!r}: needs {len(joined)} ranges, one for each topic that matches, expected at most "
            f"{most}; subscribe to {shorter + '/#' if shorter else '#'!r} (1 range) and drop what is not "
            f"wanted, or allow more with Topics.of(..., most={len(joined)})"
        )
    return joined


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Closed ranges of whole numbers, those that touch joined."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(joined[-1][1], high)
        else:
            joined.append((low, high))
    return joined
