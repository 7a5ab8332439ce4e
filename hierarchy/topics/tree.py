"""A hierarchy of topics: which topics are supertopics of others, and which topics include others.

CAMCAST (Baehni, Guerraoui et al.), Section 2.1, and Section 3.6 for topics with several parents.

Topics have names and numbers. The number of a topic never changes and is never reused, so arrays indexed by
topic stay valid when topics are added or removed. The first parent of a topic is its parent in the spanning
tree, which the nested-range encoding follows. Further parents make the hierarchy a directed acyclic graph.

The papers write a topic as a path, `.soccer.italy`, with `.` for the root. Here a path is a name like any
other, except that the parent need not be given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, SupportsIndex

import networkx as nx
import numpy as np

from sub2sub.errors import InputError
from sub2sub.tables import Table, shown

ROOT = "."


class TopicTree:
    """Topics under one root.

    Parameters
    ----------
    root : str
        Name of the root topic, number 0.

    Examples
    --------
    >>> tree = TopicTree.from_paths([".soccer.italy", ".soccer.france", ".tennis"])
    >>> tree.includes(".soccer", ".soccer.italy"), tree.includes(".tennis", ".soccer.italy")
    (True, False)
    >>> tree.add(".soccer.italy.cup")
    5
    >>> [tree.name(u) for u in tree.supertopics(".soccer.italy.cup")]
    ['.soccer.italy', '.soccer', '.']
    """

    def __init__(self, root: str = ROOT) -> None:
        _check_name(root, "root")
        self._names: list[str | None] = [root]
        self._number = {root: 0}
        self._parents: list[list[int]] = [[]]
        self._children: list[list[int]] = [[]]
        self._further_parents = 0
        self.changes = 0  # number of changes so far, for users of the tree that have to follow them

    @classmethod
    def from_paths(cls, paths: Iterable[str]) -> TopicTree:
        """Build the tree of all `paths`; supertopics need not be listed.

        Examples
        --------
        >>> len(TopicTree.from_paths([".soccer.italy"]))  # the root and .soccer come with it
        3
        """
        tree = cls()
        given: set[str] = set()
        for row, path in enumerate(paths):
            _check_path(path, f"paths[{row}]")
            if path in given:
                raise InputError(f"paths[{row}]: topic {path!r} is listed twice, expected each path once")
            given.add(path)
            missing = []
            while path not in tree._number:
                missing.append(path)
                path = _parent_path(path)
            for name in reversed(missing):
                tree.add(name)
        return tree

    @classmethod
    def numbered(cls, topics: Sequence[str]) -> TopicTree:
        """Build the tree in which the number of each topic is its position in the list.

        Code that draws topics by position (`workloads.generate.topics.TopicSpec`) can use these numbers.

        Raises
        ------
        InputError
            Unless the root is first and every topic comes after its supertopic.

        Examples
        --------
        >>> tree = TopicTree.numbered([".", ".soccer", ".tennis", ".soccer.italy"])
        >>> tree.number(".tennis"), tree.number(".soccer.italy")
        (2, 3)
        """
        tree = cls.from_paths(topic for topic in topics if topic != ROOT)
        for place, topic in enumerate(topics):
            if tree.number(topic) != place:
                raise InputError(
                    f"topics[{place}]: expected {tree.name(place)!r}, a topic comes after its supertopic, "
                    f"got {topic!r}"
                )
        return tree

    @classmethod
    def from_dict(cls, topics: Mapping[str, Any]) -> TopicTree:
        """Build a tree from nested dicts: each key is one part of a path, each value its subtopics.

        Examples
        --------
        >>> tree = TopicTree.from_dict({"soccer": {"italy": {}, "france": {}}, "tennis": {}})
        >>> [tree.name(t) for t in tree]
        ['.', '.soccer', '.tennis', '.soccer.italy', '.soccer.france']
        """
        tree = cls()
        waiting: list[tuple[str, Any]] = [(ROOT, topics)]
        for path, subtopics in waiting:
            if not isinstance(subtopics, Mapping):
                raise InputError(f"topics[{path!r}]: expected a dict of subtopics, got {subtopics!r}")
            for part, below in subtopics.items():
                if not isinstance(part, str) or not part or "." in part:
                    raise InputError(
                        f"topics[{path!r}]: expected the name of a subtopic without dots, got {part!r}"
                    )
                name = path.rstrip(".") + "." + part
                tree.add(name, [path])
                waiting.append((name, below))
        return tree

    @classmethod
    def from_graph(cls, graph: nx.DiGraph) -> TopicTree:
        """Build a hierarchy from a graph with an edge from each supertopic to each of its subtopics.

        Nodes are the names of topics. If one node has no supertopic, it is the root; if several have none,
        a root `.` is added above them. The first incoming edge of a node gives its spanning parent.

        Examples
        --------
        >>> import networkx as nx
        >>> tree = TopicTree.from_graph(nx.DiGraph([("sport", "soccer"), ("italy", "serie-a"),
        ...                                         ("sport", "italy"), ("soccer", "serie-a")]))
        >>> tree.name(0), [tree.name(p) for p in tree.parents("serie-a")]
        ('sport', ['italy', 'soccer'])
        """
        if not isinstance(graph, nx.DiGraph) or graph.number_of_nodes() == 0:
            raise InputError("graph: expected a networkx.DiGraph with at least one topic")
        for node in graph:
            _check_name(node, "graph")
        try:
            order = list(nx.topological_sort(graph))
        except nx.NetworkXUnfeasible:
            edges = [str(edge[0]) for edge in nx.find_cycle(graph)]
            raise InputError(
                f"graph: topics {' -> '.join([*edges, edges[0]])} form a cycle, expected none"
            ) from None
        roots = [node for node in order if graph.in_degree(node) == 0]
        if len(roots) > 1 and ROOT in graph:
            raise InputError(
                f"graph: topic {roots[1]!r} has no supertopic, expected the root {ROOT!r} to be the only one"
            )
        tree = cls(roots[0] if len(roots) == 1 else ROOT)
        for node in order:
            if node not in tree._number:
                tree.add(node, list(graph.predecessors(node)) or [ROOT])
        return tree

    def __len__(self) -> int:
        return len(self._number)

    def __repr__(self) -> str:
        return f"<TopicTree of {len(self)} topics, {self.depth() + 1} levels>"

    def _repr_html_(self) -> str:
        """For a notebook: the topics, each with its parents and its number of subtopics."""
        topics = list(self)
        columns = {
            "topic": np.array([self.name(topic) for topic in topics]),
            "below": np.array([", ".join(map(self.name, self.parents(topic))) for topic in topics]),
            "subtopics": np.array([len(self.subtopics(topic)) for topic in topics]),
        }
        return shown(repr(self), Table(columns))

    def __iter__(self) -> Iterator[int]:
        """Numbers of all topics, each after its spanning parent."""
        waiting = [0]
        for topic in waiting:
            yield topic
            waiting += self.children(topic)

    def topological(self) -> list[int]:
        """Numbers of all topics, each after all of its parents."""
        order = list(self)
        if not self.has_further_parents:
            return order
        missing = {topic: len(self._parents[topic]) for topic in order}
        ready = [0]
        for topic in ready:
            for child in self._children[topic]:
                missing[child] -= 1
                if missing[child] == 0:
                    ready.append(child)
        return ready

    def __contains__(self, topic: object) -> bool:
        return topic in self._number or (isinstance(topic, int) and self._is_number(topic))

    @property
    def capacity(self) -> int:
        """Length of an array indexed by topic: one more than the largest topic number ever assigned."""
        return len(self._names)

    def number(self, topic: str | int) -> int:
        """Number of a topic given by name or by number; refuses unknown topics."""
        if isinstance(topic, str):
            if topic in self._number:
                return self._number[topic]
        elif isinstance(topic, SupportsIndex) and self._is_number(int(topic)):
            return int(topic)
        raise InputError(f"topic: {topic!r} is unknown, expected one of the {len(self)} topics of the tree")

    def name(self, topic: int) -> str:
        """Name of topic number `topic`."""
        name = self._names[self.number(topic)]
        assert name is not None
        return name

    def parents(self, topic: str | int) -> list[int]:
        """Direct supertopics; the spanning parent first. The root has none."""
        return list(self._parents[self.number(topic)])

    def children(self, topic: str | int) -> list[int]:
        """Subtopics whose spanning parent is `topic`, in the order of their creation."""
        number = self.number(topic)
        return [child for child in self._children[number] if self._parents[child][0] == number]

    def subtopics(self, topic: str | int) -> list[int]:
        """All direct subtopics, including those that have `topic` as a further parent."""
        return list(self._children[self.number(topic)])

    def supertopics(self, topic: str | int) -> list[int]:
        """All topics that include `topic`, nearest first; the papers' super(t), super(super(t)), ..."""
        return self._reach(self.number(topic), self._parents)

    def subtopics_below(self, topic: str | int) -> list[int]:
        """All topics that `topic` includes, except itself, nearest first."""
        return self._reach(self.number(topic), self._children)

    @property
    def has_further_parents(self) -> bool:
        """Whether any topic has more than one parent."""
        return self._further_parents > 0

    def includes(self, upper: str | int, lower: str | int) -> bool:
        """Whether `upper` is `lower` or one of its supertopics."""
        u, t = self.number(upper), self.number(lower)
        return u == t or u in self.supertopics(t)

    def spanning_path(self, topic: str | int) -> list[int]:
        """The topic and its ancestors in the spanning tree, up to the root."""
        path = [self.number(topic)]
        while parents := self._parents[path[-1]]:
            path.append(parents[0])
        return path

    def depth(self) -> int:
        """Highest level of all topics, dpt(S)."""
        level: dict[int, int] = {}
        for topic in self:
            level[topic] = level[self._parents[topic][0]] + 1 if self._parents[topic] else 0
        return max(level.values())

    def add(self, name: str, parents: Sequence[str | int] | None = None) -> int:
        """Add a topic and return its number.

        Parameters
        ----------
        name : str
            A new name; a path such as `.soccer.italy` if `parents` is not given.
        parents : sequence of topics, optional
            Direct supertopics, the spanning parent first. By default the parent in the path.

        Examples
        --------
        >>> TopicTree().add("soccer", ["."])
        1
        """
        _check_name(name, "name")
        if name in self._number:
            raise InputError(f"name: topic {name!r} is there already, expected a new name")
        if parents is None:
            _check_path(name, "name")
            parents = [_parent_path(name)]
        numbers = [self.number(parent) for parent in parents]
        if not numbers or len(set(numbers)) < len(numbers):
            raise InputError(f"parents: expected one or more different topics above {name!r}")
        topic = len(self._names)
        self._names.append(name)
        self._number[name] = topic
        self._parents.append(numbers)
        self._children.append([])
        self._further_parents += len(numbers) - 1
        for parent in numbers:
            self._children[parent].append(topic)
        self.changes += 1
        return topic

    def add_parent(self, topic: str | int, parent: str | int) -> None:
        """Add a further supertopic to `topic`; the spanning tree does not change."""
        t, p = self._below(topic, parent)
        if p in self._parents[t]:
            raise InputError(f"parent: {self.name(p)!r} is above {self.name(t)!r} already")
        self._parents[t].append(p)
        self._children[p].append(t)
        self._further_parents += 1
        self.changes += 1

    def move(self, topic: str | int, parent: str | int) -> None:
        """Give a topic another spanning parent, the last of that one's subtopics; names stay."""
        t, p = self._below(topic, parent)
        if p in self._parents[t][1:]:
            raise InputError(f"parent: {self.name(p)!r} is above {self.name(t)!r} already")
        self._children[self._parents[t][0]].remove(t)
        self._parents[t][0] = p
        self._children[p].append(t)
        self.changes += 1

    def rename(self, topic: str | int, name: str) -> None:
        """Give a topic another name; those above and below it stay."""
        t = self.number(topic)
        _check_name(name, "name")
        if t == 0:
            raise InputError("topic: expected a topic below the root, got the root")
        if name in self._number:
            raise InputError(f"name: topic {name!r} is there already, expected a new name")
        del self._number[self.name(t)]
        self._names[t], self._number[name] = name, t

    def remove(self, topic: str | int) -> None:
        """Remove a topic without subtopics. Its number is not used again."""
        t = self.number(topic)
        if t == 0 or self._children[t]:
            what = "the root" if t == 0 else "a topic with subtopics"
            raise InputError(f"topic: {self.name(t)!r} is {what}, expected a topic without subtopics")
        for parent in self._parents[t]:
            self._children[parent].remove(t)
        self._further_parents -= len(self._parents[t]) - 1
        self._parents[t] = []
        del self._number[self.name(t)]
        self._names[t] = None
        self.changes += 1

    def _below(self, topic: str | int, parent: str | int) -> tuple[int, int]:
        """Numbers of a topic and of one that may be above it: one that it does not include."""
        t, p = self.number(topic), self.number(parent)
        if self.includes(t, p):
            raise InputError(
                f"parent: {self.name(p)!r} above {self.name(t)!r} would close a cycle, expected a topic "
                f"that {self.name(t)!r} does not include"
            )
        return t, p

    def _is_number(self, topic: int) -> bool:
        return 0 <= topic < len(self._names) and self._names[topic] is not None

    def _reach(self, start: int, neighbours: list[list[int]]) -> list[int]:
        found = [start]
        seen = {start}
        for topic in found:
            for other in neighbours[topic]:
                if other not in seen:
                    seen.add(other)
                    found.append(other)
        return found[1:]


def _check_name(name: Any, field: str) -> None:
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"{field}: expected the name of a topic, got {name!r}")


def _check_path(path: Any, field: str) -> None:
    _check_name(path, field)
    if path != ROOT and (not path.startswith(ROOT) or any(not part for part in path[1:].split("."))):
        raise InputError(
            f"{field}: expected a path such as '.soccer.italy' without empty parts, got {path!r}"
        )


def _parent_path(path: str) -> str:
    return path.rpartition(".")[0] or ROOT
