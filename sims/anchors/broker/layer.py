"""The layer of clients and their broker."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sims.anchors.broker.peer import Broker, Client
from sims.anchors.broker.settings import BrokerSettings
from sims.anchors.objects import ObjectLayer


class BrokerLayer(ObjectLayer[Broker | Client]):
    """Clients of one broker, which is one of the n peers; a subscription has `attributes` ranges.

    Examples
    --------
    >>> from sub2sub.compiled.common.network import Network
    >>> layer = BrokerLayer(5, broker=2, attributes=1, settings=BrokerSettings(), seed=1)
    >>> layer.step(1, Network.whole(5))["messages"], layer.subscribed().tolist()
    (8, [True, True, False, True, True])
    """

    name = "broker"

    def __init__(self, n: int, broker: int, attributes: int, settings: BrokerSettings, seed: int) -> None:
        self.broker, self.attributes = broker, attributes
        super().__init__(n, settings, seed)

    def fresh(self, peer: int) -> Broker | Client:
        """The broker, or a client."""
        if peer == self.broker:
            return Broker(self.settings)
        return Client(peer, self.broker, self.attributes, self.settings)

    def subscribed(self) -> NDArray[np.bool_]:
        """Which subscriptions the broker has."""
        broker = self.peers[self.broker]
        assert isinstance(broker, Broker)
        known = np.zeros(len(self.peers), bool)
        known[list(broker.heard)] = True
        return known
