"""What a run asks of the overlay it simulates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sims.config.entries import Kinds
from sims.engine import Simulated

if TYPE_CHECKING:
    from sims.config.experiment import Experiment

__all__ = ["Prepared", "System"]


@dataclass(frozen=True)
class Prepared:
    """An overlay nobody has joined yet, and what its observers are supplied with."""

    overlay: Simulated
    supplied: Mapping[str, Any]


@dataclass(frozen=True)
class System:
    """A kind of overlay.

    Attributes
    ----------
    workload, layers, dissemination : type
        Dataclasses whose fields are the settings of the tables of these names.
    layer_names : tuple of str
        Layers whose links can be observed.
    observers : mapping
        What can be observed, by kind.
    usual : tuple of tables
        Observers of an experiment that names none; `at = -1` stands for the last cycle.
    supplied : tuple of str
        Parameters of observers and faults that `prepare` gives.
    prepare : function (experiment, seed) -> Prepared
    """

    workload: type
    layers: type
    dissemination: type
    layer_names: tuple[str, ...]
    observers: Kinds
    usual: tuple[Mapping[str, Any], ...]
    supplied: tuple[str, ...]
    prepare: Callable[[Experiment, int], Prepared]
