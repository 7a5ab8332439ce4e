"""Streams: events that are published one after another and share the uplinks of their hosts.

One agenda has the messages of all events, in the order of time: every event has a copy of each member, and
all copies of a member are on one host, whose uplink they share. So a message waits for those of earlier
events; the kernel of `sims.rivals.base.pushing` spreads them all as if they were one. Announcements,
requests, acknowledgements and messages that are sent again occupy the uplink, too: the first three by their
bytes, the last at once after the message that they repeat. Messages on an event's route to the members that
push it do not. Timers of a member, such as heartbeats, have another phase for each event.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sims.rivals.base.accounts import Ledger, keys_of
from sims.rivals.base.entrants import Unable
from sims.rivals.base.push_tables import PushRules, PushTables, Rows, Starts
from sims.rivals.base.pushing import PushContext, push_event, scratch_for
from sims.rivals.base.system import Floats, Publication, Truth
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.timing.latency import Clock
from sub2sub.peers.descriptors import HEADER, NAME

MOST_LINKS = 10_000_000  # of all copies: about 1 GB


def spread_stream(
    tables: Sequence[PushTables],
    rules: PushRules,
    asked: Publication,
    starts: Starts,
    network: Network,
    truth: Truth,
    at: Floats,
    seed: int,
) -> Outcome:
    """Push events over tables, those of each event; `at` is when each is published.

    The times of the outcome are those since an event was published.
    """
    timing, events, n = network.timing, len(asked.events), len(truth.host)
    if timing is None:
        raise Unable("not run: where hops are counted there are no uplinks")
    links = sum(len(kind.item) for each in tables for kind in each) * max(1, rules.windows)
    if links > MOST_LINKS:
        raise Unable(f"not run: a stream of {events} events takes {links:,} links, more than {MOST_LINKS:,}")
    share = (HEADER + NAME) / timing.event_bytes
    context = PushContext(
        PushTables(*(_copies([each[kind] for each in tables], n) for kind in range(3))),
        rules._replace(control=share),
        Network(np.tile(network.alive, events), np.tile(network.group, events), network.loss).faults(),
        Clock.of(timing, np.tile(truth.places, events)),
    )
    first, payer = (_copies(_split(rows), n) for rows in (starts.first, starts.payer))
    when = starts.when + np.repeat(at, np.diff(starts.first.start))
    whole = np.array([0, len(first.item)]), np.array([0, len(payer.item)])
    together = Starts(Rows(whole[0], first.item), starts.hop, when, Rows(whole[1], payer.item))
    scratch = scratch_for(context, len(first.item))
    push_event(context, together, 0, keys_of(seed, asked.salt, asked.events[:1])[0], scratch)
    ledger = Ledger(truth, network, asked, asked.publishers)
    control = np.diff(np.linspace(0, scratch.control[0], events + 1).astype(np.int64))
    for k in range(events):
        own = slice(k * n, (k + 1) * n)
        since = scratch.when[own] - at[k]
        ledger.enter(k, scratch.first[own], scratch.sent[own], scratch.arrived[own], since, int(control[k]))
    return ledger.outcome(rules.retries > 0)


def _split(rows: Rows) -> list[Rows]:
    """Each row on its own."""
    ends = zip(rows.start[:-1].tolist(), rows.start[1:].tolist(), strict=True)
    return [Rows(np.array([0, last - first]), rows.item[first:last]) for first, last in ends]


def _copies(each: Sequence[Rows], n: int) -> Rows:
    """The rows of all events one after the other, whose items are the copies of members."""
    items = [rows.item + np.int32(k * n) for k, rows in enumerate(each)]
    before = np.cumsum([0, *(len(item) for item in items)])
    start = [rows.start[:-1] + first for rows, first in zip(each, before[:-1].tolist(), strict=True)]
    return Rows(np.append(np.concatenate(start), before[-1]), np.concatenate(items).astype(np.int32))
