"""The equations of hpmcast, one function for each that defines a quantity."""

from hierarchy.hpmcast.analysis.chain import (
    expected_infected,
    expected_rounds,
    infected_distribution,
    reach_probability,
    rounds_to_everybody,
)
from hierarchy.hpmcast.analysis.delivery import (
    Regular,
    entity_infection,
    expected_delivery,
    interest_probability,
    level_view_size,
)
from hierarchy.hpmcast.analysis.upkeep import (
    best_depth,
    delegates_of_level,
    mean_level,
    mean_level_estimate,
    mean_updates,
    view_size,
)

__all__ = [
    "Regular", "best_depth", "delegates_of_level", "entity_infection", "expected_delivery",
    "expected_infected", "expected_rounds", "infected_distribution", "interest_probability",
    "level_view_size", "mean_level", "mean_level_estimate", "mean_updates", "reach_probability",
    "rounds_to_everybody", "view_size",
]  # fmt: skip
