"""Stacks of any protocols, without subscriptions: for experiments with custom layers.

    system = "protocols"

    [population]
    size = 1000

    [[layers.stack]]
    kind = "cyclon"

    [[layers.stack]]
    kind = "push_sum:PushSum"

Faults, graph observers, checkpoints, run folders, sweeps and reports work as for every other system. A custom
function observes what a protocol computes (`[[observers]] kind = "push_sum:spread"`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sims.config.entries import LINKS
from sims.config.interests import USUAL_SIZE, Subscriptions
from sims.config.layer_entries import LAYER
from sims.rivals.base.system import NoSettings, Publication, System
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.errors import InputError
from sub2sub.overlay.population import Population
from sub2sub.overlay.stack import Stack

if TYPE_CHECKING:
    from sims.config.experiment import Experiment


@dataclass(frozen=True)
class ProtocolLayers:
    """What peers run.

    Attributes
    ----------
    stack : list of tables
        The layers, in the order they are stepped: `kind = "cyclon"`, or `module:Class`, and settings.
    """

    stack: tuple[LAYER, ...] = ()


class Protocols(System):
    """Layers without subscriptions."""

    name = "protocols"
    workload = NoSettings
    layers = ProtocolLayers
    dissemination = NoSettings
    observers = LINKS
    usual = ()
    overlay: Stack

    @classmethod
    def prepare(cls, experiment: Experiment, seed: int) -> Self:
        """Make peers without subscriptions."""
        n = experiment.population.size or USUAL_SIZE
        nothing = Subscriptions(np.empty((n, 0)), np.empty((n, 0)), np.empty((0, 0)))
        return cls(nothing, seed, experiment.layers, experiment.population.spare)

    def build(self, layers: ProtocolLayers, spare: int) -> Stack:
        """The layers as they are listed."""
        if not layers.stack:
            raise InputError("layers.stack: expected at least one layer, [[layers.stack]] kind = ...")
        return Stack(Population.of_size(self.wanted.n, spare, self.seed), layers.stack, self.seed)

    def spread(self, asked: Publication, settings: Any) -> Outcome:
        """Refuse: nothing can be published."""
        raise InputError("system = 'protocols': expected no events, it has no subscriptions")
