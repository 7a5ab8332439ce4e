"""Subscriptions that come, change and go while an overlay runs, by their rows or labels.

A host has one subscription or several, and is up or down with all of them. Who goes tells nobody, so that
others find out by messages, as everywhere; who comes starts from one random live contact, and misses events
until others know it: mostly for one cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.compiled.common.network import Network
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import Floats, closed, normalise
from sub2sub.overlay.population import Population
from sub2sub.overlay.stack import LayerOrMaker, Stack
from sub2sub.peers.draws import cycle_key, stream_number

if TYPE_CHECKING:
    from sub2sub.geometry.space import AttributeSpace

Rows = NDArray[np.int64]
SLOTS, CONTACTS = stream_number("subscribers/slots"), stream_number("subscribers/contacts")


class Subscribers(Stack):
    """A stack whose peers subscribe, by rows: those that it was made of, then those that have joined.

    `rows`, in all methods, is a row, a label, or a list of either.

    Attributes
    ----------
    space : AttributeSpace or None
        The names and types of the attributes, if there are any.
    labels : dict
        The row of each label.
    """

    def __init__(
        self,
        population: Population | int,
        layers: Sequence[LayerOrMaker] = (),
        seed: int = 0,
        network: Network | None = None,
    ) -> None:
        super().__init__(population, layers, seed, network)
        self.space: AttributeSpace | None = None
        self.labels: dict[str, int] = {}

    def label(self, rows: Sequence[int], labels: Iterable[str] | None) -> dict[str, int]:
        """Check new labels; the row of each."""
        if labels is None:
            return {}
        named = list(labels)
        for place, label in enumerate(named):
            if not isinstance(label, str) or label in self.labels or label in named[:place]:
                raise InputError(f"labels row {place}: expected a new text, got {label!r}")
        if len(named) != len(rows):
            raise InputError(f"labels: expected {len(rows)}, one a subscription, got {len(named)}")
        return dict(zip(named, rows, strict=True))

    def join(self, lows: Any, highs: ArrayLike | None = None, *, labels: Iterable[str] | None = None) -> Rows:
        """Let newcomers join, each on a host of its own; return their rows.

        Parameters
        ----------
        lows, highs : (n, d) array_like
            Closed ranges; if attributes have names, subscriptions instead of both, as in `Overlay.of`.
        labels : n texts, optional

        Examples
        --------
        >>> from sub2sub import Overlay
        >>> overlay = Overlay.of([[0.0], [0.5], [0.2]], [[0.6], [1.0], [0.3]], seed=1).run(5)
        >>> overlay.join([[0.5]], [[0.7]], labels=["late"])
        array([3])
        >>> sorted(overlay.run(5).publish([[0.55]]).received["subscription"].tolist())
        [0, 1, 3]
        """
        return self._enter(lows, highs, labels)

    def subscribe(
        self, lows: Any, highs: ArrayLike | None = None, *, by: Any, labels: Iterable[str] | None = None
    ) -> Rows:
        """Let the host of a subscription (`by`: its row or label) have further ones; return their rows.

        Examples
        --------
        >>> from sub2sub import Overlay
        >>> overlay = Overlay.of([[0.0], [0.5], [0.2]], [[0.6], [1.0], [0.3]], seed=1).run(5)
        >>> overlay.subscribe([[0.8]], [[0.9]], by=0)
        array([3])
        >>> overlay.crash(0)  # the host with both of its subscriptions
        array([0, 3])
        """
        (peer,) = self._one(by, "by")
        return self._enter(lows, highs, labels, at=peer)

    def resubscribe(self, rows: Any, lows: Any, highs: ArrayLike | None = None) -> Rows:
        """Change subscriptions; return their new rows, which their labels name from now on.

        A peer leaves and another one joins on the same host, which may tell others so
        (`RingSettings.tell_changes`).

        Examples
        --------
        >>> from sub2sub import Overlay
        >>> overlay = Overlay.of([[0.0], [0.5], [0.2]], [[0.6], [1.0], [0.3]], seed=1).run(5)
        >>> overlay.resubscribe(0, [[0.9]], [[1.0]])
        array([3])
        >>> overlay.run(5).publish([[0.55]]).received["subscription"].tolist()
        [1]
        """
        from sub2sub.overlay.arrivals import depart

        changing = self._up(rows)
        if (twice := np.flatnonzero(np.diff(np.sort(changing)) == 0)).size:
            row = self.population.row[np.sort(changing)[twice[0]]]
            raise InputError(f"rows: expected each subscription once, got {row} twice")
        old_rows = self.population.row[changing]
        newcomers = self._peers_at(self._enter(lows, highs, None, hosts_of=changing), "rows")
        changing = self._peers_at(old_rows, "rows")  # their numbers may have changed
        depart(self, changing)
        if hasattr(self, "change"):
            self.change(changing, newcomers)
        new_rows: Rows = self.population.row[newcomers]
        renamed = dict(zip(old_rows.tolist(), new_rows.tolist(), strict=True))
        self.labels.update({label: renamed[row] for label, row in self.labels.items() if row in renamed})
        return new_rows

    def unsubscribe(self, rows: Any) -> None:
        """Cancel subscriptions for good; their hosts stay if they have others.

        Examples
        --------
        >>> from sub2sub import Overlay
        >>> overlay = Overlay.of([[0.0], [0.5], [0.2]], [[0.6], [1.0], [0.3]], seed=1).run(5)
        >>> overlay.unsubscribe(0)
        >>> overlay.publish([[0.55]]).received["subscription"].tolist()
        [1]
        """
        self._go(self.peers_of(rows))

    def leave(self, rows: Any) -> Rows:
        """Let the hosts of subscriptions leave for good, with all they have; return the rows that are gone.

        Examples
        --------
        >>> from sub2sub import Overlay
        >>> overlay = Overlay.of([[0.0], [0.5], [0.2]], [[0.6], [1.0], [0.3]], hosts=[7, 8, 7])
        >>> overlay.leave(0)
        array([0, 2])
        """
        peers = self._hosted(rows)
        gone: Rows = np.sort(self.population.row[peers])
        self._go(peers)
        return gone

    def crash(self, rows: Any) -> Rows:
        """Let the hosts of subscriptions crash, with all they have; return the rows that are down.

        Examples
        --------
        >>> from sub2sub import Overlay
        >>> overlay = Overlay.of([[0.0], [0.5], [0.2]], [[0.6], [1.0], [0.3]], labels=["a", "b", "c"], seed=1)
        >>> overlay.run(5).crash("b")
        array([1])
        >>> overlay.publish([[0.55]]).received["subscription"].tolist(), overlay.recover("b")
        ([0], array([1]))
        """
        return self._set_alive(self._hosted(rows), 0)

    def recover(self, rows: Any) -> Rows:
        """Let the hosts of subscriptions come back with the links they had; return the rows that are up."""
        return self._set_alive(self._hosted(rows), 1)

    def peers_of(self, rows: Any, field: str = "rows") -> NDArray[np.int64]:
        """The numbers of the peers of subscriptions; they change when the population grows."""
        asked = np.atleast_1d(np.asarray(rows))
        if asked.dtype.kind in "UO" and asked.ndim == 1 and self.labels:
            unknown = [label for label in asked.tolist() if label not in self.labels]
            if unknown:
                raise InputError(f"{field}: expected a row or label of a subscription, got {unknown[0]!r}")
            asked = np.array([self.labels[label] for label in asked.tolist()])
        if asked.ndim != 1 or (asked.dtype.kind not in "iu" and asked.size):
            raise InputError(
                f"{field}: expected rows or labels of subscriptions, got {asked.dtype} of shape {asked.shape}"
            )
        return self._peers_at(asked, field)

    def _peers_at(self, rows: NDArray[Any], field: str) -> NDArray[np.int64]:
        row = self.population.row
        order = np.argsort(row, kind="stable")
        peers = order[np.minimum(np.searchsorted(row[order], rows), row.size - 1)]
        bad = np.flatnonzero((row[peers] != rows) | (rows < 0))
        if bad.size:
            raise InputError(f"{field} row {bad[0]}: expected a subscription, got {rows[bad[0]]}")
        return peers.astype(np.int64)

    def _one(self, rows: Any, field: str) -> NDArray[np.int64]:
        if len(found := self._up(rows, field)) != 1:
            raise InputError(f"{field}: expected one subscription, got {len(found)}")
        return found

    def _up(self, rows: Any, field: str = "rows") -> NDArray[np.int64]:
        peers = self.peers_of(rows, field)
        down = np.flatnonzero(self.network.alive[peers] == 0)
        if down.size:
            raise InputError(
                f"{field} row {down[0]}: expected a subscription whose host is up, got "
                f"{self.population.row[peers[down[0]]]}, which is down"
            )
        return peers

    def _hosted(self, rows: Any) -> NDArray[np.int64]:
        """The peers of all subscriptions on the hosts of these."""
        population = self.population
        mine = np.isin(population.host, population.host[self.peers_of(rows)])
        return np.flatnonzero(mine & population.present)

    def _set_alive(self, peers: NDArray[np.int64], alive: int) -> Rows:
        self.network.alive[peers] = alive
        rows: Rows = np.sort(self.population.row[peers])
        return rows

    def _go(self, peers: NDArray[np.int64]) -> None:
        from sub2sub.overlay.arrivals import depart

        gone = set(self.population.row[peers].tolist())
        for label in [label for label, row in self.labels.items() if row in gone]:
            del self.labels[label]
        depart(self, peers)

    def _enter(
        self,
        lows: Any,
        highs: ArrayLike | None,
        labels: Iterable[str] | None,
        at: int | None = None,
        hosts_of: NDArray[np.int64] | None = None,
    ) -> Rows:
        """Let newcomers join on hosts of their own, on the host of one peer, or in the places of some."""
        from sub2sub.overlay.arrivals import enter

        low, high = self.closed_ranges(lows, highs)
        first, wanted = int(self.population.row.max()) + 1, len(low)
        if hosts_of is not None and len(hosts_of) != wanted:
            raise InputError(f"lows: expected {len(hosts_of)} subscriptions, one a row, got {wanted}")
        named = self.label(range(first, first + wanted), labels)
        if not self.started:
            self.bootstrap(self.cycle)
        hosts = None if hosts_of is None else self.population.host[hosts_of]
        if at is not None:
            hosts = np.full(wanted, self.population.host[at])
        keys = cycle_key(self.seed, SLOTS, first), cycle_key(self.seed, CONTACTS, first)
        enter(self, keys, self.cycle, low, high, hosts, hosts_of)
        self.labels |= named
        return np.arange(first, first + wanted)

    def closed_ranges(self, lows: Any, highs: ArrayLike | None) -> tuple[Floats, Floats]:
        """Subscriptions as validated closed ranges: of the attributes' names and types, if they have any."""
        if self.space is not None:
            if highs is not None:
                raise InputError("highs: expected none, subscriptions by name have both ends")
            return self.space.subscriptions(lows)
        if highs is None:
            raise InputError("highs: expected the upper ends of the ranges")
        low, high = normalise(lows, highs)
        if low.shape[1] != self.population.d:
            raise InputError(f"lows: expected {self.population.d} attributes, got {low.shape[1]}")
        return closed(low, high)
