"""Invariants of a live node: nothing that it stores exceeds its limit, and no tick has failed."""

from __future__ import annotations

from sub2sub.live.core.event_recovery import ASKED, BYTES
from sub2sub.live.core.live_peer import PATIENT, Core
from sub2sub.live.core.lost_hosts import ANSWERING, LOST
from sub2sub.live.core.ring_exchanges import QUESTIONS, VERIFICATIONS
from sub2sub.live.net.host import Host
from sub2sub.live.net.node import Node

ALLOWED_REPLIES = 256  # requests of a host that wait for an answer, at most


def host_excesses(host: Host) -> list[str]:
    """The limits of connections and requests that a host exceeds, and failed ticks."""
    connections, limits = host.connections, host.connections.limits
    channels = [*connections._incoming, *connections._outgoing.values()]
    return beyond(
        ("incoming connections", len(connections._incoming), limits.incoming),
        ("outgoing connections", len(connections._outgoing), limits.outgoing_at_once),
        ("frames in a queue", max((len(each.waiting) for each in channels), default=0), limits.queue),
        ("bytes in a queue", max((each.waiting.held for each in channels), default=0), limits.queue_bytes),
        ("frames unheard of", max((len(each.unheard) for each in channels), default=0), limits.queue),
        ("bytes of unfinished frames", connections.unfinished.total, limits.unfinished),
        ("addresses remembered", len(connections._failures), limits.remembered),
        ("requests", len(host._answers), ALLOWED_REPLIES),
        ("broken ticks", connections.counts["broken ticks"], 0),
        ("broken frames", connections.counts["broken frames"], 0),
    )


def node_excesses(node: Node) -> list[str]:
    """The limits that a Sub-2-Sub node exceeds, apart from those of its peers."""
    return host_excesses(node) + beyond(
        ("addresses that answer", len(node.hosts.answering), ANSWERING),
        ("addresses that fell silent", len(node.hosts.lost), LOST),
        ("contacts", len(node.contacts), node.settings.offers),
    )


def core_excesses(core: Core) -> list[str]:
    """The limits that a Sub-2-Sub peer exceeds."""
    settings = core.settings
    overlay = settings.overlay
    turns = 3 + overlay.ring.exchanges + len(core.ring.view)  # exchanges of a cycle
    return beyond(
        (
            "open exchanges",
            len(core.exchanges.open),
            (PATIENT * settings.patience + 2) * turns + VERIFICATIONS + QUESTIONS,
        ),
        ("random links", len(core.random.view), overlay.cyclon.view),
        ("proximity links", len(core.near.view), overlay.vicinity.view),
        ("ring links", len(core.ring.view), overlay.ring.cap),
        ("events seen", len(core.events.seen), core.events.memory),
        ("events open", len(core.events.open), core.events.memory),
        ("bytes of events open", core.events.held, core.events.space),
        ("events asked for", len(core.recovery.asked), ASKED),
        ("bytes of recent events", sum(len(each.data) for each in core.recovery.events.values()), BYTES),
    )


def beyond(*measured: tuple[str, int, int]) -> list[str]:
    """Those of some measures (name, value, limit) that exceed their limits."""
    return [f"{value} {name}, at most {most}" for name, value, most in measured if value > most]
