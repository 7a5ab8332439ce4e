"""By which route a publisher of the shared overlay sends an event: CAMCAST's, or along the rings.

Not in the papers, each of which has one. Both routes follow a ring (of a community, of all that match), and
both send copies besides it: CAMCAST's ln N + c - 2 a member, and a few upward from every community; the rings
`shortcuts` a peer. So CAMCAST's route costs less where communities are small, the rings where they are large.
Range subscribers get an event by Sub-2-Sub's forwarding on either route, but members send it to those beside
them on top of that: where there are any, the rings cost less.

The publisher counts what it knows, and asks for the rest: its own community (`TablePeer.community_size`);
range subscribers among the peers that it knows and that match the event; and, if neither has decided,
community after community upward, each time a member of the tightest supertopic known (`ask`). A question and
its answer, with the size and the tightest super-topic entry of its sender, are messages, and may be lost. One
that does not learn all sizes publishes along the rings, which need none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import floor, log
from typing import NamedTuple

from hierarchy.peers.settings import CamcastRoute
from sub2sub.peers.draws import stream_number
from sub2sub.peers.settings import DisseminationSettings

STREAM = stream_number("route choice")
TRIES = 3  # copies of a question, or of its answer, that are sent while they are lost
OTHERS = 3  # members of a community that are asked, one after the other, until one answers


class RouteChoice(NamedTuple):
    """A route, why it was chosen, and the messages that this took."""

    route: CamcastRoute | DisseminationSettings
    why: str
    messages: int = 0


def extra_copies(sizes: Sequence[float], camcast: CamcastRoute) -> float:
    """Copies that CAMCAST's route sends besides the rings of communities of these sizes, the lowest first.

    Examples
    --------
    >>> extra_copies([10.0, 10.0], CamcastRoute()), extra_copies([1000.0], CamcastRoute())
    (7.0, 4000.0)
    """
    within = sum(size * max(floor(log(size) + camcast.c) - 2, 0) for size in sizes)
    return within + (len(sizes) - 1) * camcast.a * (2 * camcast.g + 1)


def choose_route(
    own_size: float,
    sees_ranges: bool,
    ask: Callable[[], Iterable[tuple[float | None, int]]],
    camcast: CamcastRoute,
    rings: DisseminationSettings,
) -> RouteChoice:
    """Choose a route for an event of a topic.

    Parameters
    ----------
    own_size : float
        The publisher's estimate of the size of its community.
    sees_ranges : bool
        Whether it knows a range subscriber that matches the event.
    ask : callable
        The sizes of the communities above, the tightest first, as they are asked, None for one of which
        nobody answers; with the messages that each took.

    Examples
    --------
    >>> choose_route(12.0, False, lambda: [(9.0, 2)], CamcastRoute(), DisseminationSettings()).why
    'communities of 12, 9: 7 copies besides their rings, 21 along the rings of all'
    >>> choose_route(900.0, False, lambda: [], CamcastRoute(), DisseminationSettings()).why
    'a community of 900: 3600 copies besides its ring, 900 along the rings of all'
    """
    if sees_ranges:
        return RouteChoice(rings, "range subscribers match the event, too")
    sizes = [own_size]
    if extra_copies(sizes, camcast) >= rings.shortcuts * own_size:
        return RouteChoice(rings, _why(sizes, camcast, rings))
    sent = 0
    for size, messages in ask():
        sent += messages
        if size is None:
            return RouteChoice(rings, f"nobody answered in the community above that of {sizes[-1]:.0f}", sent)
        sizes.append(size)
    is_less = extra_copies(sizes, camcast) < rings.shortcuts * sum(sizes)
    return RouteChoice(camcast if is_less else rings, _why(sizes, camcast, rings), sent)


def _why(sizes: Sequence[float], camcast: CamcastRoute, rings: DisseminationSettings) -> str:
    named = ", ".join(f"{size:.0f}" for size in sizes)
    what, whose = ("a community", "its ring") if len(sizes) == 1 else ("communities", "their rings")
    copies, along = extra_copies(sizes, camcast), rings.shortcuts * sum(sizes)
    return f"{what} of {named}: {copies:.0f} copies besides {whose}, {along:.0f} along the rings of all"
