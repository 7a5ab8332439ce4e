"""CAMCAST: community-aware multicast over a topic hierarchy."""

from typing import TYPE_CHECKING

from hierarchy.lazily import lazily

if TYPE_CHECKING:
    from hierarchy.camcast.communities import Communities, populated_supertopics
    from hierarchy.camcast.community import Community, CommunityManager, Event, Subscriber, Transport
    from hierarchy.camcast.settings import (
        MemberParameters,
        Parameters,
        Settings,
        for_topics,
        member_parameters,
        parameters,
    )
    from hierarchy.compiled.camcast.dissemination import Spread, disseminate
    from hierarchy.compiled.camcast.tables import StaticTables, Tables, thin
    from hierarchy.compiled.super_tables.flood import Flood
    from hierarchy.compiled.super_tables.layer import Finder, SuperTables
    from hierarchy.compiled.super_tables.rules import Search
    from hierarchy.compiled.super_tables.slots import Slots, slots_of
    from hierarchy.peers.settings import TopicSettings

__all__ = [
    "Communities", "Community", "CommunityManager", "Event", "Finder", "Flood", "MemberParameters",
    "Parameters", "Search", "Settings", "Slots", "Spread", "StaticTables", "Subscriber", "SuperTables",
    "Tables", "TopicSettings", "Transport", "disseminate", "for_topics", "member_parameters", "parameters",
    "populated_supertopics", "slots_of", "thin",
]  # fmt: skip

__getattr__ = lazily(
    __name__,
    {
        "hierarchy.camcast.communities": ["Communities", "populated_supertopics"],
        "hierarchy.camcast.community": ["Community", "CommunityManager", "Event", "Subscriber", "Transport"],
        "hierarchy.camcast.settings": [
            "MemberParameters",
            "Parameters",
            "Settings",
            "for_topics",
            "member_parameters",
            "parameters",
        ],
        "hierarchy.compiled.camcast.dissemination": ["Spread", "disseminate"],
        "hierarchy.compiled.camcast.tables": ["StaticTables", "Tables", "thin"],
        "hierarchy.compiled.super_tables.flood": ["Flood"],
        "hierarchy.compiled.super_tables.layer": ["Finder", "SuperTables"],
        "hierarchy.compiled.super_tables.rules": ["Search"],
        "hierarchy.compiled.super_tables.slots": ["Slots", "slots_of"],
        "hierarchy.peers.settings": ["TopicSettings"],
    },
)
