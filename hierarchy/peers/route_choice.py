"""By which route a publisher of the shared overlay sends an event: CAMCAST's, or along the rings.

Not in the papers, each of which has one. Both routes follow a ring (of a community, of all that match), and
both send copies besides it. The rings: `shortcuts` a peer. CAMCAST's: ln N + c - 2 a member, a few upward
from every community, and one from each member to the range subscribers beside it on the event's ring, which
forward the event as they do on the other route. So CAMCAST's route costs less where communities are small
and most of those that match are members, the rings elsewhere.

A publisher knows the size of its community (`TablePeer.community_size`) and which of the peers in its views
match the event. If that does not decide, it asks community after community upward, each time a member of the
tightest supertopic known (`ask`). A question and its answer, with the size, the counts and the tightest
super-topic entries of its sender, are messages, and may be lost. A publisher that does not learn all sizes
publishes along the rings, which need none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import floor, log
from typing import NamedTuple

from hierarchy.peers.settings import CamcastRoute
from sub2sub.peers.descriptors import AROUND
from sub2sub.peers.draws import stream_number
from sub2sub.peers.settings import DisseminationSettings

STREAM = stream_number("route choice")
TRIES = 3  # copies of a question, or of its answer, that are sent while they are lost
LOSSES = 3  # factor by which a count has to be too small
STRANGER = "the publisher is no member of the topic, or not ready"
OTHERS = 3  # members of a community that are asked, one after the other, until one answers


class Known(NamedTuple):
    """What a member knows: the size of its community, and how many in its views match an event.

    Attributes
    ----------
    size : float or None
        None for a community of which nobody answered.
    ranges, matching : int
        Range subscribers, and all peers, that match the event.
    messages : int
        What it took to learn this.
    """

    size: float | None
    ranges: int = 0
    matching: int = 0
    messages: int = 0


def likely_size(counted: float, ways: Sequence[int], neighbours: int, around: int = AROUND) -> float:
    """The size of a community, counted unless its members are far nearer than so few would be.

    After a crash a table that is not full has lost entries, not members.

    Parameters
    ----------
    ways : sequence of int
        The distances along the ring to the members in the table.
    neighbours : int
        How many of them, at either end, are the nearest there are.

    Examples
    --------
    >>> likely_size(5.0, [100, 200, 800, 900], 2, around=1000), likely_size(5.0, [1, 2, 998, 999], 2, 1000)
    (5.0, 1000.0)
    """
    if len(ways) < 2 * neighbours:
        return counted
    steps = sorted(ways)
    estimate = 2 * neighbours * around / max(steps[neighbours - 1] - steps[-neighbours] + around, 1)
    return max(counted, estimate) if estimate >= LOSSES * counted else counted


class RouteChoice(NamedTuple):
    """A route, why it was chosen, and the messages that this took."""

    route: CamcastRoute | DisseminationSettings
    why: str
    messages: int = 0


def extra_copies(sizes: Sequence[float], ranges: float, camcast: CamcastRoute) -> float:
    """Copies that CAMCAST's route sends besides the rings of communities of these sizes, the lowest first.

    Parameters
    ----------
    ranges : float
        The share of range subscribers among those that match.

    Examples
    --------
    >>> extra_copies([10.0, 10.0], 0.0, CamcastRoute()), extra_copies([1000.0], 0.5, CamcastRoute())
    (7.0, 5000.0)
    """
    within = sum(size * max(floor(log(size) + camcast.c) - 2, 0) for size in sizes)
    return within + (len(sizes) - 1) * camcast.a * (2 * camcast.g + 1) + 2 * ranges * sum(sizes)


def choose_route(
    own: Known, ask: Callable[[], Iterable[Known]], camcast: CamcastRoute, rings: DisseminationSettings
) -> RouteChoice:
    """Choose a route for an event of a topic.

    Parameters
    ----------
    own : Known
        What the publisher knows.
    ask : callable
        What members of the communities above answer, the tightest first, as they are asked.

    Examples
    --------
    >>> choose_route(Known(12.0), lambda: [Known(9.0)], CamcastRoute(), DisseminationSettings()).why
    'communities of 12, 9, 0% ranges: 7 copies besides their rings, 21 along the rings of all'
    >>> choose_route(Known(900.0), lambda: [], CamcastRoute(), DisseminationSettings()).why
    'communities of 900, 0% ranges: 3600 copies besides their rings, 900 along the rings of all'
    """
    sizes, known = [own.size or 1.0], [own]

    def weigh() -> tuple[bool, str]:
        """Whether CAMCAST's route costs less, by what is known so far; and the sentence."""
        ranges = sum(each.ranges for each in known) / max(sum(each.matching for each in known), 1)
        copies, along = extra_copies(sizes, ranges, camcast), rings.shortcuts * sum(sizes)
        named = ", ".join(f"{size:.0f}" for size in sizes)
        return copies < along, (
            f"communities of {named}, {ranges:.0%} ranges: {copies:.0f} copies besides their rings, "
            f"{along:.0f} along the rings of all"
        )

    is_less, why = weigh()
    if not is_less:
        return RouteChoice(rings, why)
    for answer in ask():
        known.append(answer)
        if answer.size is None:
            why = f"nobody answered in the community above that of {sizes[-1]:.0f}"
            return RouteChoice(rings, why, sum(each.messages for each in known))
        sizes.append(answer.size)
    is_less, why = weigh()
    return RouteChoice(camcast if is_less else rings, why, sum(each.messages for each in known))
