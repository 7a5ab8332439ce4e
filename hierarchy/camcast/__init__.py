"""CAMCAST: community-aware multicast over a topic hierarchy."""

from hierarchy.camcast.communities import Communities, populated_supertopics
from hierarchy.camcast.dissemination import Spread, disseminate
from hierarchy.camcast.settings import Parameters, TopicSettings, parameters
from hierarchy.camcast.tables import StaticTables, Tables, thin

__all__ = [
    "Communities",
    "Parameters",
    "Spread",
    "StaticTables",
    "Tables",
    "TopicSettings",
    "disseminate",
    "parameters",
    "populated_supertopics",
    "thin",
]
