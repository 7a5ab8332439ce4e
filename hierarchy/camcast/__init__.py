"""CAMCAST: community-aware multicast over a topic hierarchy."""

from hierarchy.camcast.communities import Communities, populated_supertopics
from hierarchy.camcast.community import Community, CommunityManager, Event, Subscriber, Transport
from hierarchy.camcast.dissemination import Spread, disseminate
from hierarchy.camcast.settings import (
    MemberParameters,
    Parameters,
    Settings,
    TopicSettings,
    for_topics,
    member_parameters,
    parameters,
)
from hierarchy.camcast.tables import StaticTables, Tables, thin
from hierarchy.super_tables.flood import Flood
from hierarchy.super_tables.layer import Finder, SuperTables
from hierarchy.super_tables.rules import Search
from hierarchy.super_tables.slots import Slots, slots_of

__all__ = [
    "Communities", "Community", "CommunityManager", "Event", "Finder", "Flood", "MemberParameters",
    "Parameters", "Search", "Settings", "Slots", "Spread", "StaticTables", "Subscriber", "SuperTables",
    "Tables", "TopicSettings", "Transport", "disseminate", "for_topics", "member_parameters", "parameters",
    "populated_supertopics", "slots_of", "thin",
]  # fmt: skip
