"""`Layer`: the interface of a protocol, like PeerSim's `CDProtocol`, but for a whole population at once.

A layer keeps its state in arrays with one row per peer, and steps all live peers once per cycle. The engine
calls the methods of all layers in the order of its list. A layer whose population can grow has one more
method (`sub2sub.compiled.common.growth`).

`LayerBase` implements what most layers have in common.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.views import LinkTable, table_links


@runtime_checkable
class Layer(Protocol):
    """A protocol that all peers run. `examples/custom_layer.py` is a small one."""

    name: str

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer take its turn; the cost as counts (`messages`, `bytes`, ...)."""

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Start `peers` anew: clear their rows. Each knows only its contact (one per peer, -1 for none)."""

    def links(self) -> LinkTable:
        """All links as (holders, peers, stamps); empty arrays for a layer without links.

        A stamp is the cycle in which a link was made or renewed, 0 if the layer does not keep it.
        """

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All state that a checkpoint stores, by name."""

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that `arrays` returned."""


class SavedState:
    """Saves the state of an object in checkpoints, and restores it.

    Attributes
    ----------
    saved : tuple of str
        The names of the attributes that are the state: arrays, named tuples of arrays, and objects with
        `arrays` and `load`. The arrays of such an object are saved under its name and theirs.

    Examples
    --------
    >>> class Counter(SavedState):
    ...     saved = ("heard",)
    ...     heard = np.zeros(2)
    >>> counter = Counter()
    >>> counter.load({"heard": np.array([3.0, 4.0])})
    >>> counter.arrays()
    {'heard': array([3., 4.])}
    """

    saved: tuple[str, ...] = ()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All state that a checkpoint stores, by name."""
        found: dict[str, NDArray[Any]] = {}
        for name in self.saved:
            held = getattr(self, name)
            if isinstance(held, np.ndarray):
                found[name] = held
            elif hasattr(held, "_asdict"):
                found |= held._asdict()
            else:
                found |= {f"{name} {own}": array for own, array in held.arrays().items()}
        return found

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that `arrays` returned."""
        for name in self.saved:
            held, before = getattr(self, name), f"{name} "
            if isinstance(held, np.ndarray):
                setattr(self, name, _restored(held, arrays[name]))
            elif hasattr(held, "_asdict"):
                fields = held._asdict()
                setattr(self, name, held._make(_restored(fields[own], arrays[own]) for own in fields))
            else:
                held.load({own.removeprefix(before): arrays[own] for own in arrays if own.startswith(before)})


def _restored(held: NDArray[Any], saved: NDArray[Any]) -> NDArray[Any]:
    """The saved values. If the shape is the same they go into the existing array: others may refer to it."""
    if held.shape != saved.shape:
        return np.array(saved)
    held[...] = saved
    return held


class LayerBase(SavedState):
    """A layer that saves its state (`saved`). By default `join` does nothing and there are no links."""

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Do nothing."""

    def links(self) -> LinkTable:
        """No links."""
        return table_links()
