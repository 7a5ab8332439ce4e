"""When a live member does what `hierarchy.live.backing` and `hierarchy.live.shared_out_view` are for."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from hierarchy.live import messages as m
from hierarchy.live.backing import Backing
from hierarchy.live.liveness import Liveness
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
    liveness : Liveness
        Which members of the view answer.
    sought : int
        Number of the request for a contact of the own community, until it is answered; -1 afterwards.
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
        self.liveness = Liveness(scamp.isolation, settings.patience)
        self.sought = -1
        self._seeks = self._unanswered = 0  # such requests in all, and those without an answer since the last

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

    def topic_table(self) -> list[m.Contact]:
        """The members that an event goes to within the community."""
        return [link.peer for link in self.scamp.view]

    def seek_contact(self, dice: Dice) -> m.Sends:
        """Ask a gateway of the own community for a contact: by it one renews, so that parts grow together.

        Once a lease, and every `timeout` cycles while the view is empty or nobody answers. One that is not
        in yet founds the community when it has asked every gateway twice and none has answered, as a process
        does that enters: its contact may have crashed before it was served, and all others with it. One that
        is in forgets a contact that does not answer: messages to a process that has crashed need not fail.
        """
        if self.scamp.served and self.scamp.view and self.scamp.is_lost(self.cycle):
            self.scamp.contact = None
        known = self.gateways.get(self.own.topic, ())
        every = self.settings.timeout if self.is_lost() else max(self.settings.scamp.lease // 2, 1)
        if known and (self.cycle + self.own.id) % every == 0:
            self._unanswered += self.sought >= 0
            if not self.scamp.served and self._unanswered >= 2 * len(known):
                yield from self.scamp.join(None, self.cycle, dice)
            self._seeks, self.sought = self._seeks + 1, dice.next_bits()
            to = known[(self._seeks + self.own.id) % len(known)]
            yield m.Send(to, m.Find(self.sought, (self.own.topic,)))

    def is_lost(self) -> bool:
        """Whether it needs another contact: SCAMP says so, or nobody of the view answers."""
        return self.scamp.is_lost(self.cycle) or self.liveness.is_alone(self.topic_table(), self.cycle)

    def take_contact(self, contacts: Sequence[m.Contact], dice: Dice) -> m.Sends:
        """Accept a contact that a gateway named; alone, subscribe through it at once."""
        self.sought, self._unanswered = -1, 0
        found = [each for each in contacts if each.topic == self.own.topic and each.id != self.own.id]
        if found:
            self.scamp.contact = found[dice.next_below(len(found))]
            if not self.scamp.view:
                yield from self.scamp.subscribe(self.settings.scamp.c, self.cycle, dice)
