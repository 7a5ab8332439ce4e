"""Topics from elsewhere: trees, and subscriptions to and events of their topics.

A topic is a path: names with a separator between them, which may also stand in front. Here it is written
with dots, `.sport.soccer`, the root `.`; tables may have another separator. A name that contains it
is written in double quotes, `."Soccer 2.0"`; a dot within a name is kept as %2E. Supertopics that a tree does
not list are added only where that is asked for: so a name with a dot that nobody has quoted is refused and
not taken for a subtopic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workloads.folder.pieces import Piece
from workloads.folder.rejected import OnBad, Rejected
from workloads.folder.tables import Rows, TextForm

if TYPE_CHECKING:
    from workloads.folder.tables import Source


@dataclass(frozen=True)
class TreeForm:
    """How topics are written.

    Attributes
    ----------
    separator : str, optional
        Between the names of a path; a dot, with one in front, if not given.
    implied : bool
        Add supertopics that a tree does not list, instead of rejecting the topics below them.
    """

    separator: str | None = None
    implied: bool = False


def path_of(value: Any, separator: str | None = None) -> str | None:
    """A topic as a path with dots; None where it is none.

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
    """The names between separators; those in quotes may contain one. Spaces around names do not count."""
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
class TopicColumn:
    """A column of topics, batch by batch, as their numbers.

    Attributes
    ----------
    rows : Rows
    column : str
    number : mapping
        Path to number, of the topics there are.
    form : TreeForm
    last : array, optional
        The last topic at or below each: subscriptions are then ranges of topics, events are points without.
    key : str, optional
        A column that names the subscribers.
    """

    rows: Rows
    column: str
    number: Mapping[str, int]
    form: TreeForm
    last: Any = None
    key: str | None = None

    def pieces(self) -> Iterator[Piece]:
        """Low and high of subscriptions, the number alone of events; the key where there is one."""
        for batch in self.rows.batches([self.column, *([self.key] if self.key else [])]):
            column = batch.column(self.column)
            encoded = column.dictionary_encode()
            different = [*encoded.dictionary.to_pylist(), None]
            paths = [path_of(value, self.form.separator) for value in different]
            numbers = np.array([self.number.get(path or "", -1) for path in paths], np.int64)
            places = encoded.indices.fill_null(len(different) - 1).to_numpy(zero_copy_only=False)
            topic = numbers[places]
            against = {
                int(batch.numbers[row]): _against(self.column, different[places[row]], paths[places[row]])
                for row in np.flatnonzero(topic < 0).tolist()
            }
            good = topic >= 0
            columns: list[Any] = [topic.astype(np.float64)]
            if self.last is not None:
                columns.append(self.last[topic].astype(np.float64))
            if self.key:
                keys = batch.column(self.key).to_pylist()
                columns.append(np.array([str(key) for key in keys], object))
                for row in [row for row, key in enumerate(keys) if key is None]:
                    good[row] = False
                    against.setdefault(int(batch.numbers[row]), f"{self.key}: expected a key, got none")
            yield Piece([column[good] for column in columns], against)


def _against(column: str, value: Any, path: str | None) -> str:
    if path is None:
        return f"{column}: expected a path such as .a.b, got {value!r}"
    return f"unknown topic {path!r}"


def _paths(rows: Rows, column: str, separator: str | None) -> tuple[list[tuple[int, str]], dict[int, str]]:
    """Row numbers and paths of a column, and reasons against the rows that are none."""
    found, against = [], {}
    for batch in rows.batches([column]):
        for number, value in zip(batch.numbers.tolist(), batch.column(column).to_pylist(), strict=True):
            path = path_of(value, separator)
            if path is None:
                against[number] = _against(column, value, None)
            else:
                found.append((number, path))
    return found, against | rows.ragged


def _rejected(against: Mapping[int, str], on_bad: OnBad) -> Rejected:
    rows = np.array(sorted(against), np.int64)
    rejected = Rejected(rows, [against[row] for row in rows.tolist()])
    if on_bad == "refuse":
        rejected.refuse("topics")
    return rejected


def read_topics(source: Source, column: str = "topic") -> list[str]:
    """Topic paths such as `.sport.soccer`, one per row.

    Raises
    ------
    InputError
        For the first row that is no path.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_topics(pa.table({"topic": [".sport", ".news"]}))
    ['.sport', '.news']
    """
    found, against = _paths(Rows(source), column, None)
    _rejected(against, "refuse")
    return [path for _, path in found]


def read_tree(
    source: Source,
    column: str | None = None,
    *,
    on_bad: OnBad = "refuse",
    form: TextForm | None = None,
    separator: str | None = None,
    implied: bool = False,
) -> tuple[list[str], Rejected]:
    """The topics of a tree, a path per row, each once and under one of the others; the root may be left out.

    Parameters
    ----------
    column : str, optional
        `path` or `topic`, whichever there is, if not given.
    separator, implied
        As in `TreeForm`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> tree = pa.table({"path": [".sport", ".sport.soccer", ".art.jazz", ".sport"]})
    >>> topics, rejected = read_tree(tree, on_bad="set aside")
    >>> topics, rejected.reasons[1]
    (['.', '.sport', '.sport.soccer'], "topic '.sport' again")
    >>> rejected.reasons[0].partition(":")[0]
    "supertopic of '.art.jazz' is unknown"
    """
    rows = Rows(source, form)
    column = column or ("path" if "path" in rows.names else "topic")
    found, against = _paths(rows, column, separator)
    first: dict[str, int] = {}
    for row, path in found:
        if first.setdefault(path, row) != row:
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
    rejected = _rejected(against, on_bad)
    kept = [path for row, path in found if row not in against]
    more = {above for path in kept for above in _supertopics(path)} if implied else {"."}
    return sorted(more - set(kept)) + kept, rejected


def _supertopics(path: str) -> list[str]:
    """All topics above one.

    Examples
    --------
    >>> _supertopics(".a.b.c"), _supertopics(".")
    (['.', '.a', '.a.b'], [])
    """
    names = path[1:].split(".") if path != "." else []
    return ["." + ".".join(names[:depth]) for depth in range(len(names))]
