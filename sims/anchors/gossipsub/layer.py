"""The layer of GossipSub."""

from __future__ import annotations

from sims.anchors.gossipsub.peer import GossipSubPeer
from sims.anchors.objects import ObjectLayer


class GossipSub(ObjectLayer[GossipSubPeer]):
    """GossipSub with one topic for each peer; its settings are `GossipSubSettings`."""

    name, kind = "gossipsub", GossipSubPeer
