"""Gossip multicast with one table for each topic (alternative (b) of CAMCAST, Sections 3.1 and 4.2).

A subscriber of a topic is a member of its group and of the group of every subtopic, with a CYCLON view in
each. An event is gossiped in the group of its topic only: no subscriber receives unwanted events, and a
subscriber of the root keeps a view for every topic.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from sims.config.entries import Kinds
from sims.config.topic_workload import TopicWorkload
from sims.observers.deliveries import Deliveries
from sims.rivals.base.entrants import Knob, Look, SeveralMemberships, Unable
from sims.rivals.base.sampled import Sampled
from sims.rivals.base.system import Integers, Publication
from sims.rivals.papers.broadcast import Fanout, fanouts, gossip
from sub2sub.compiled.events.outcome import Outcome

MOST_MEMBERS = 2_000_000  # memberships, about 1 GB of views and counts


class Multicast(SeveralMemberships):
    """A membership for each subscriber and topic whose events it receives, sorted by host, then topic."""

    name = "multicast"
    workload = TopicWorkload
    dissemination = Fanout
    worlds = ("topics",)
    look = Look("green", "D", "-")
    observers: ClassVar[Kinds] = {"delivery": Deliveries}
    probe = Knob(fanout=6)
    knobs = fanouts((2, 3, 4, 5, 6, 8, 12))
    overlay: Sampled

    def build(self, layers: Any, spare: int) -> Sampled:
        """Build the memberships of all subscribers."""
        topics = self.wanted.tree
        tree = topics.ranges.tree
        below = [np.sort([t, *tree.subtopics_below(t)]) for t in range(tree.capacity)]
        sizes = np.array([len(found) for found in below])[topics.of]
        if sizes.sum() > MOST_MEMBERS:
            raise Unable(f"not run: {sizes.sum():,} memberships, more than {MOST_MEMBERS:,}")
        topic = np.concatenate([below[t] for t in topics.of.tolist()])
        ranges = topics.ranges.bounds()[topic].astype(float)
        hosts = np.repeat(np.arange(self.wanted.n), sizes)
        return Sampled(ranges[:, :1], ranges[:, 1:] - 1, hosts, topic, self.seed)

    def links(self) -> dict[str, Integers]:
        """All views of a host together."""
        return {"groups": self.by_subscriber(self.overlay.sizes())}

    def spread(self, asked: Publication, settings: Fanout) -> Outcome:
        """Gossip in the group of the event's topic, from the publisher's membership there."""
        topics, host = self.wanted.tree, self.overlay.population.host
        capacity = topics.ranges.tree.capacity
        place = host * capacity + self.overlay.group
        starts = np.searchsorted(place, asked.publishers * capacity + topics.of_event[asked.events])
        return gossip(self, self.overlay.table(), asked, settings, starts)
