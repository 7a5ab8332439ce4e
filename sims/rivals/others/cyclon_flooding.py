"""Flooding over CYCLON: a random view in each group, and every event goes to all of it.

CYCLON (Voulgaris, Gavidia, van Steen: *CYCLON: inexpensive membership management for unstructured P2P
overlays*, JNSM 13(2), 2005) keeps a random view of fixed size in each group; a peer that receives an event
for the first time sends it to everybody in its view but the sender. It is the simplest protocol that survives
faults, and a dear one: as many copies as views have entries.

Readings:

- Views hold only members of one's group, because newcomers get a contact of it and exchanges stay among those
  that know each other. Nobody asks for a contact again.
- A link is used in one direction only, as CYCLON's links are; with views of six a group stays connected.
"""

from __future__ import annotations

from collections.abc import Sequence

from sims.rivals.base.accounts import Retries
from sims.rivals.base.entrants import Knob, Look
from sims.rivals.base.grouped import Grouped
from sims.rivals.base.push_tables import PushRules, PushTables
from sub2sub.compiled.common.layer import Layer
from sub2sub.compiled.common.views import FREE
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.overlay.population import Population
from sub2sub.peers.settings import CyclonSettings

COMPARED = CyclonSettings(view=6, shuffle=3, retry=10, tries=3)


class CyclonFlooding(Grouped):
    """A random graph in each group, all of whose links carry every event."""

    name = "cyclon flooding"
    layers = CyclonSettings
    dissemination = Retries
    base = Retries(retries=0)
    knobs = (Knob(retries=1), Knob(retries=2))
    probe = Knob(retries=0)
    look = Look("black", "v", ":")
    layer_names = ("cyclon",)

    def protocol(self, population: Population, layers: CyclonSettings | None) -> Sequence[Layer]:
        """CYCLON within groups."""
        self.cyclon = Cyclon(len(population), layers or COMPARED, self.seed)
        return [self.cyclon]

    def views(self) -> list[list[int]]:
        """The view of each peer."""
        words = self.cyclon.view
        return [[word & 0xFFFFFFFF for word in row if word != FREE] for row in words.tolist()]

    def tables(self) -> PushTables:
        """The views."""
        return PushTables.of(self.views())

    def rules(self, settings: Retries) -> PushRules:
        """Push to all, and announce nothing."""
        return PushRules(retries=settings.retries)

    def own_links(self) -> dict[str, Sequence[Sequence[int]]]:
        """The views."""
        return {"random": self.views()}
