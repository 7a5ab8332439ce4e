"""Gossip multicast with one table for each topic (alternative (b) of CAMCAST, Sections 3.1 and 4.2).

A subscriber of a topic is a member of its group and of the group of every subtopic, with a CYCLON view in
each. An event is gossiped in the group of its topic only: no subscriber receives unwanted events, and a
subscriber of the root keeps a view for every topic.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sims.systems.broadcast import Fanout, fanouts
from sims.systems.gossip import Choices, TableGossip
from sims.systems.interface import Integers, Knob, Unable
from sims.systems.sampled import Sampled
from sims.systems.several_memberships import SeveralMemberships
from sims.systems.topic_workload import TopicWorkload
from sub2sub.compiled.events.outcome import Outcome

MOST_MEMBERS = 2_000_000  # memberships, about 1 GB of views and counts


class Multicast(SeveralMemberships, TableGossip):
    """A membership for each subscriber and topic whose events it receives, sorted by host, then topic."""

    name = "multicast"
    workload = TopicWorkload
    dissemination = Fanout
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
        entries = np.bincount(self.host, weights=self.overlay.sizes(), minlength=self.wanted.n)
        return {"groups": entries.astype(np.int64)}

    def publish(
        self, events: Integers, publishers: Integers, settings: Fanout, salt: int, record: bool = False
    ) -> Outcome:
        """Gossip in the group of the event's topic, from the publisher's membership there."""
        topics, n = self.wanted.tree, len(self.host)
        topic, capacity = self.overlay.group, topics.ranges.tree.capacity
        place = self.host * capacity + topic
        starts = np.searchsorted(place, publishers * capacity + topics.of_event[events])
        tables = self.overlay.table(), np.full((n, 1, 1), -1, np.int32), Choices.flat(n, settings.fanout)
        return self.spread(tables, events, publishers, settings, salt, record, starts)
