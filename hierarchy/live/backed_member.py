"""When a live member does what `hierarchy.live.backing` and `hierarchy.live.shared_out_view` are for."""

from __future__ import annotations

from math import ceil

from hierarchy.live import messages as m
from hierarchy.live.backing import Backing
from hierarchy.live.member_settings import Gateways, MemberSettings
from hierarchy.live.shared_out_view import SharedOutView
from hierarchy.live.topic_graph import TopicGraph
from hierarchy.live.topics_above import TopicsAbove
from hierarchy.membership.scamp.settings import ScampSettings
from sub2sub.kernels.dice import Dice

MOST = 256  # entries of a view; (c + 1) ln n are far fewer


class BackedMember(TopicsAbove):
    """A member with a view that is shared out among hosts, and gateways that it stays in touch with.

    Attributes
    ----------
    scamp : SharedOutView
    backing : Backing
    """

    def __init__(
        self, own: m.Contact, settings: MemberSettings, scamp: ScampSettings, gateways: Gateways,
        graph: TopicGraph,
    ) -> None:  # fmt: skip
        super().__init__(own, settings, gateways, graph)
        known = self.gateways_elsewhere(own.topic)
        self.backing = Backing(own, known, scamp.lease)
        self.scamp = SharedOutView(own, scamp, MOST, ceil(settings.grace * scamp.lease), known)
        self.scamp.further = self.backing.dependants.members

    @property
    def teller(self) -> str:
        """The host whose message is being handled, "" during the member's own turns."""
        return self.scamp.teller

    @teller.setter
    def teller(self, host: str) -> None:
        self.scamp.teller = host

    def stay_in_touch(self, dice: Dice) -> m.Sends:
        """Turn to a gateway; one that is handed events by gateways only subscribes again, by a gateway."""
        self.backing.dependants.expire(self.cycle)
        self.scamp.in_need = self.backing.in_need(self.cycle)
        if self.scamp.lease_end > 0 and self.backing.is_due(self.cycle):
            yield from self.backing.turn_to_gateway(self.cycle)
            if self.scamp.served and self.backing.supply.is_short(self.cycle):
                yield from self.scamp.subscribe(0, self.cycle, dice)

    def ask_newcomers(self, dice: Dice) -> m.Sends:
        """Ask those that are to be kept, or turn to this one, whether they are there."""
        yield from self.scamp.ask_candidates(self.cycle, dice)
        yield from self.backing.dependants.ask(self.cycle, dice)

    def take_answer(self, exchange: int) -> m.Sends:
        """Take the answer of one that was asked whether it is there."""
        self.backing.dependants.answered(exchange, self.cycle)
        yield from self.scamp.answered(exchange, self.cycle)

    def note_copy(self, event: m.Event) -> None:
        """Take note of who brings an event."""
        self.backing.supply.came(event.name, self.teller in self.backing.hosts, self.cycle)

    def hand_on(self, event: m.Event, others: list[m.Contact], dice: Dice) -> list[m.Contact]:
        """Whom an event goes to besides the tables."""
        is_own = event.publisher == self.own.id and event.round == 0
        return self.backing.receivers(is_own, others, dice)
