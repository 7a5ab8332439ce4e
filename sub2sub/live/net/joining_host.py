"""How a node finds the overlay, and finds it again: contacts, peers heard of, and nodes that fell silent.

A node asks an address for peers (`Join`) and is told some (`Welcome`). It asks the contacts that the user has
given when it joins, and later those or peers heard of, when one of its cores has too few random links.
Addresses that fell silent are asked now and then (`sub2sub.live.core.lost_hosts`): a partition may be over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any

from sub2sub.live.core import messages as m
from sub2sub.live.core.live_peer import Core
from sub2sub.live.core.lost_hosts import LostHosts
from sub2sub.live.core.settings import CoreSettings
from sub2sub.live.net.connections import Address
from sub2sub.live.net.host import Host, is_address
from sub2sub.peers.descriptors import Descriptor

ANYBODY = 0  # receiver of a newcomer's first request: it knows no ID yet


class JoiningHost(Host):
    """A host that joins a Sub-2-Sub overlay.

    Attributes
    ----------
    attributes, contact, settings
        As of `sub2sub.live.net.node.Node`.
    contacts : list of Descriptor
        Some peers heard of, to begin with.
    hosts : LostHosts
        Hosts that have answered, and those of them that fell silent.
    """

    attributes: int
    contact: Address | Sequence[Address] | None
    settings: CoreSettings

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.contacts: list[Descriptor] = []
        self.hosts = LostHosts()
        self._asking: dict[str, asyncio.Task[None]] = {}

    def seek_others(self, core: Core) -> None:
        """Ask for a contact, or a host that fell silent, if it is time; call this in each tick of a core.

        A core that knows nobody asks in each tick.
        """
        if (core.wants_contact() or not core.random.view) and "contact" not in self._asking:
            self._ask("contact", self._ask_again(core))
        if "lost" not in self._asking:  # a host that stays silent keeps nobody from a contact
            lost = self.hosts.due(self._cycles(), lambda to: not self.connections.backs_off(to))
            if lost:  # if it is there again, a partition may be over
                self._ask("lost", self._meet_for(core, lost))

    def _ask(self, name: str, question: Coroutine[Any, Any, Any]) -> None:
        """Ask, and note that this is under way."""
        self._asking[name] = asyncio.create_task(question)
        self._asking[name].add_done_callback(lambda task: self._asking.pop(name, None))

    async def stop_asking(self) -> None:
        """End the questions that are under way."""
        for each in (questions := list(self._asking.values())):
            each.cancel()
        await asyncio.gather(*questions, return_exceptions=True)

    def _bootstrap(self) -> list[Address]:
        """The addresses that the user has given."""
        given: Any = self.contact or []
        return list(given) if isinstance(given, list | tuple) and not is_address(given) else [given]

    async def _meet_all(self) -> None:
        """Ask all addresses that the user has given for peers; one has to answer, if there are any."""

        async def failure_to_meet(contact: Address) -> Any:
            self.connections.try_again(contact)
            try:
                await self._meet(contact)
            except ConnectionError as error:
                return error

        failures = await asyncio.gather(*map(failure_to_meet, self._bootstrap()))
        for failure in failures[:1] if all(failures) else ():
            raise failure

    async def _meet(self, contact: Address) -> Descriptor | None:
        """Ask an address for peers to begin with; returns the one that answers, if it has a subscription."""
        answer = await self.request(Descriptor(ANYBODY, (), (), contact), m.Join(self.dice.getrandbits(63)))
        if not isinstance(answer, m.Welcome):
            raise ConnectionError(f"contact: nobody answers at {contact[0]}:{contact[1]}")
        self.hosts.answered(contact, self._cycles())
        self._keep(answer.links.peers)
        return next((peer for peer in answer.links.peers if peer.d == self.attributes), None)

    async def _ask_again(self, core: Core) -> None:
        """Ask a contact, or one of those heard of since, for peers, and let a core begin anew with one.

        A contact is asked every other time, if it can be reached: those heard of since may all be on one side
        of a partition. Of these, peers that the core does not know come first: they may be on the other side.
        The core begins with the peer that has just answered; nobody knows whether others are there.
        """
        given = [each for each in self._bootstrap() if not self.connections.backs_off(each)]
        known = {*self.cores, *(each.id for each in core.known())}
        heard = [each for each in self.contacts if each.id not in known] or self.contacts
        peer = self.dice.choice(heard) if heard else None
        if given and (peer is None or self.dice.random() < 0.5):
            await self._meet_for(core, self.dice.choice(given))
        elif peer and not await self._meet_for(core, peer.address):
            self._drop_contacts([peer])

    async def _meet_for(self, core: Core, contact: Address) -> bool:
        """Ask an address for peers; a core shuffles with the one that answers. Returns whether one does.

        The peer may be a ring neighbour: after a partition all other links to its side are too old. A core
        that is on no ring asks it for neighbours, as a newcomer does.
        """
        try:
            peer = await self._meet(contact)
        except ConnectionError:
            return False
        if peer:
            core.introduce(peer)
            enter = core.ring_exchanges.hear_of(peer) if core.ring.view else core.enter([peer])
            self.dispatch(core, enter)
        return True

    def _note(self, peer: Descriptor, answered: bool) -> None:
        """Note whether a peer of another node has answered."""
        if peer.address and peer.address != self.address:
            (self.hosts.answered if answered else self.hosts.silent)(peer.address, self._cycles())

    def _cycles(self) -> float:
        """The time in cycles."""
        return asyncio.get_running_loop().time() / self.period

    def _keep(self, peers: Iterable[Descriptor]) -> None:
        """Keep the latest contacts."""
        known = {peer.id: peer for peer in self.contacts}
        known.update((peer.id, peer) for peer in peers if peer.d == self.attributes)
        self.contacts = list(known.values())[-self.settings.offers :]

    def _drop_contacts(self, gone: Iterable[Descriptor]) -> None:
        """Forget contacts that did not answer."""
        ids = {peer.id for peer in gone}
        self.contacts = [peer for peer in self.contacts if peer.id not in ids]
