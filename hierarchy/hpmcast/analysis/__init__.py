"""The equations of hpmcast, one function for each that defines a quantity."""

from hierarchy.hpmcast.analysis.chain import (
    expected_infected,
    expected_rounds,
    infected_distribution,
    reach_probability,
    rounds_to_everybody,
    transition_matrix,
)
from hierarchy.hpmcast.analysis.delivery import (
    Regular,
    entity_infection,
    expected_delivery,
    infected_entities,
)
from hierarchy.hpmcast.analysis.sizes import (
    interest_probability,
    known_participants,
    level_rounds,
    level_view_size,
    represented,
    total_rounds,
    view_size,
)
from hierarchy.hpmcast.analysis.upkeep import (
    best_depth,
    delegates_of_level,
    informed_of_level,
    mean_level,
    mean_level_estimate,
    mean_updates,
    view_size_curvature,
    view_size_slope,
)

__all__ = [
    "Regular", "best_depth", "delegates_of_level", "entity_infection", "expected_delivery",
    "expected_infected", "expected_rounds", "infected_distribution", "infected_entities",
    "informed_of_level", "interest_probability", "known_participants", "level_rounds", "level_view_size",
    "mean_level", "mean_level_estimate", "mean_updates", "reach_probability", "represented",
    "rounds_to_everybody", "total_rounds", "transition_matrix", "view_size", "view_size_curvature",
    "view_size_slope",
]  # fmt: skip
