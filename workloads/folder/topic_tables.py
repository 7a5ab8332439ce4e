"""Foreign tables of topics: trees, and subscriptions to and events of their topics.

A topic is a path: names with a separator between them, and optionally one in front. Paths are stored with
dots, `.sport.soccer`, the root as `.`; tables may use another separator. A name that contains the separator
is in double quotes, `."Soccer 2.0"`; a dot within a name is stored as %2E. Supertopics that a tree does not
list are added only on request. So a name with a dot and without quotes is refused, not read as a subtopic.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workloads.arrays import Integers
from workloads.folder.pieces import Conversion, Pieces
from workloads.folder.tables import Rows, Source, TextForm
from workloads.generate.topic_ranges import depth_first, last_below
from workloads.generate.topics import names_in


def path_of(value: Any, separator: str | None = None) -> str | None:
    """A topic as a path with dots; None if the value is not a path.

    Examples
    --------
    >>> path_of("Sport :: Soccer 2.0", "::"), path_of('."Soccer 2.0".Cup'), path_of("sport")
    ('.Sport.Soccer 2%2E0', '.Soccer 2%2E0.Cup', None)
    """
    if not isinstance(value, str):
        return None
    if value.strip() == (separator or "."):
        return "."
    names = _split(value, separator or ".")
    leading = bool(names) and not names[0]
    names = names[1:] if leading else names
    if not (leading or separator) or not names or not all(names):
        return None
    return "." + ".".join(re.sub(r"%(?=2E|25)", "%25", name).replace(".", "%2E") for name in names)


def _split(text: str, separator: str) -> list[str]:
    """The names between separators, without surrounding spaces; names in quotes may contain separators."""
    if '"' not in text:
        return [name.strip() for name in text.split(separator)]
    quoted = r'\s*"((?:[^"]|"")*)"\s*'
    names, place = [], 0
    while True:
        found = re.compile(quoted).match(text, place)
        if found and (found.end() == len(text) or text.startswith(separator, found.end())):
            names.append(found[1].replace('""', '"'))
            place = found.end()
        else:
            end = text.find(separator, place)
            end = len(text) if end < 0 else end
            names.append(text[place:end].strip())
            place = end
        if place >= len(text):
            return names
        place += len(separator)


@dataclass(frozen=True)
class TopicColumn(Pieces):
    """A column of topics, as their numbers.

    Attributes
    ----------
    rows : Rows
    column : str
    number : mapping
        The number of each topic, by path.
    separator : str, optional
        Text between the names of a path; a dot, with one in front, if not given.
    last : array, optional
        For subscriptions, which are ranges of topics: the last topic at or below each topic.
    key : str, optional
        Column with the names of the subscribers.
    """

    rows: Rows
    column: str
    number: Mapping[str, int]
    separator: str | None = None
    last: Integers | None = None
    key: str | None = None

    def names(self) -> list[str]:
        """The one column."""
        return [self.column]

    def convert(self, conversion: Conversion) -> list[NDArray[Any]]:
        """Low and high of subscriptions, or the number of events."""
        encoded = conversion.batch.column(self.column).dictionary_encode()
        different = [*encoded.dictionary.to_pylist(), None]
        paths = [path_of(value, self.separator) for value in different]
        numbers = np.array([self.number.get(path or "", -1) for path in paths], np.int64)
        places = encoded.indices.fill_null(len(different) - 1).to_numpy(zero_copy_only=False)
        topic = numbers[places]
        conversion.reject(
            topic < 0, lambda row: _against(self.column, different[places[row]], paths[places[row]])
        )
        columns = [topic] if self.last is None else [topic, self.last[topic]]
        return [column.astype(np.float64) for column in columns]


def topic_columns(
    paths: Sequence[str],
    subscriptions: Rows,
    events: Rows | None,
    *,
    column: str = "topic",
    event_column: str = "topic",
    separator: str | None = None,
    key: str | None = None,
) -> tuple[tuple[str, ...], TopicColumn, TopicColumn | None]:
    """The topics of a tree in depth-first order, and the columns of subscriptions to and events of them."""
    topics = depth_first(tuple(paths))
    number = {path: place for place, path in enumerate(topics)}
    boxes = TopicColumn(subscriptions, column, number, separator, last_below(topics), key)
    points = None if events is None else TopicColumn(events, event_column, number, separator)
    return topics, boxes, points


def _against(column: str, value: Any, path: str | None) -> str:
    if path is None:
        return f"{column}: expected a path such as .a.b, got {value!r}"
    return f"unknown topic {path!r}"


def read_tree(
    source: Source,
    column: str | None = None,
    *,
    form: TextForm | None = None,
    separator: str | None = None,
    implied: bool = False,
) -> tuple[list[str], dict[int, str]]:
    """The topics of a tree, one path per row, each once and below another topic; the root is optional.

    The second value has the reasons against invalid rows, by their numbers.

    Parameters
    ----------
    column : str, optional
        By default `path` or `topic`, whichever exists.
    separator : str, optional
        Text between the names of a path; a dot, with one in front, if not given.
    implied : bool
        Add supertopics that the tree does not list, instead of rejecting the topics below them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> tree = pa.table({"path": [".sport", ".sport.soccer", ".art.jazz", ".sport"]})
    >>> topics, against = read_tree(tree)
    >>> topics, against[3]
    (['.', '.sport', '.sport.soccer'], "topic '.sport' again")
    >>> against[2].partition(":")[0]
    "supertopic of '.art.jazz' is unknown"
    """
    rows = Rows(source, form)
    column = column or ("path" if "path" in rows.names else "topic")
    batch, against = rows.batch([column]), dict(rows.ragged)
    first: dict[str, int] = {}
    for row, value in zip(batch.numbers.tolist(), batch.column(column).to_pylist(), strict=True):
        path = path_of(value, separator)
        if path is None:
            against[row] = _against(column, value, None)
        elif first.setdefault(path, row) != row:
            against[row] = f"topic {path!r} again"
    known = {"."}
    if implied:
        known.update(above for path in first for above in _supertopics(path))
    for path in sorted(first, key=lambda path: path.count(".")):
        if path == "." or (path.rpartition(".")[0] or ".") in known:
            known.add(path)
        else:
            hint = 'list it, ask for implied supertopics, or quote a name with a dot: ."a.b"'
            against[first[path]] = f"supertopic of {path!r} is unknown: {hint}"
    kept = [path for path, row in first.items() if row not in against]
    more = {above for path in kept for above in _supertopics(path)} if implied else {"."}
    return sorted(more - set(kept)) + kept, against


def _supertopics(path: str) -> list[str]:
    """All topics above a topic.

    Examples
    --------
    >>> _supertopics(".a.b.c"), _supertopics(".")
    (['.', '.a', '.a.b'], [])
    """
    names = names_in(path)
    return ["." + ".".join(names[:depth]) for depth in range(len(names))]
