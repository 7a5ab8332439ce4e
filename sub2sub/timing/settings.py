"""How long messages take: the settings of a network with latencies and narrow uplinks.

A message from one host to another leaves when the uplink of its sender is free, occupies it for as long as
its bytes take, and then travels. The time it travels belongs to the pair of hosts, is the same both ways, and
is the same whatever system runs; `jitter` adds to it message by message. Five models:

- constant: `ms` between any two hosts;
- uniform: from `ms (1 - spread)` to `ms (1 + spread)`, drawn for each pair of hosts;
- log-normal: with the median `ms` and `spread` as the standard deviation of the logarithm;
- regions: from a file, see `sub2sub.timing.region_files`; hosts are dealt to the regions by their shares;
- sphere: hosts lie anywhere on the earth; a message takes `ms`, and its way along a great circle at `speed`.

Read differently from a real network:

- Every event has the network to itself: uplinks are shared by the messages of one event, not of several.
- Only messages that carry the event occupy an uplink: acknowledgements, announcements and requests are small.
- An acknowledgement that is not lost comes before the sender's timer ends, `AGAIN` ticks after the message;
  a message that is sent again finds the uplink free.
- Messages within one host take no time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sub2sub.errors import InputError

AGAIN = 3  # ticks after which a message that is not acknowledged is sent again


@dataclass(frozen=True)
class Timing:
    """Settings of time in a network.

    Attributes
    ----------
    latency : str
        "constant", "uniform", "log-normal", "regions" or "sphere".
    ms : float
        Milliseconds one way: of every pair, on average, at the median; on a sphere what is added to the way.
    spread : float
        Of a uniform latency, a share of `ms`, at most 1; of a log-normal one, its logarithm's deviation.
    jitter : float
        Share of the latency that a message may take longer, drawn uniformly for each message.
    regions : Path, optional
        A CSV file with the latencies between regions.
    speed : float
        Kilometres a millisecond, along a great circle. Light in fibre covers 200; cables take detours.
    bandwidth : float
        Megabits a second of each host's uplink; 0 for no limit.
    event_bytes : int
        Bytes of a message that carries an event.
    tick : float
        Milliseconds that protocols take a hop to last in their timers: a round of gossip, a hop of waiting. A
        message that is not acknowledged is sent again after three.
    cycle : float
        Seconds between two cycles of upkeep.
    seed : int
        Where hosts are and which pairs are far apart; the seed of a run is added.

    Examples
    --------
    >>> Timing(latency="constant", ms=50.0, bandwidth=8.0, event_bytes=1000).occupied
    1.0
    """

    latency: Literal["constant", "uniform", "log-normal", "regions", "sphere"] = "log-normal"
    ms: float = 40.0
    spread: float = 0.5
    jitter: float = 0.1
    regions: Path | None = None
    speed: float = 100.0
    bandwidth: float = 10.0
    event_bytes: int = 1000
    tick: float = 100.0
    cycle: float = 10.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.latency not in ("constant", "uniform", "log-normal", "regions", "sphere"):
            raise InputError(
                f"network.latency: expected constant, uniform, log-normal, regions or sphere, got "
                f"{self.latency!r}"
            )
        for name in ("ms", "spread", "jitter", "bandwidth", "event_bytes", "seed"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise InputError(f"network.{name}: expected 0 or more, got {getattr(self, name)}")
        for name in ("speed", "tick", "cycle"):
            if not 0 < getattr(self, name) < float("inf"):
                raise InputError(f"network.{name}: expected more than 0, got {getattr(self, name)}")
        if self.latency == "uniform" and self.spread > 1:
            raise InputError(f"network.spread: expected at most 1 of a uniform latency, got {self.spread}")
        if (self.latency == "regions") != (self.regions is not None):
            raise InputError(
                "network.regions: expected a CSV file with latency = 'regions', and only there, got "
                f"{self.regions} with {self.latency!r}"
            )

    @property
    def occupied(self) -> float:
        """Milliseconds that a message with an event occupies an uplink."""
        return self.event_bytes * 8 / (self.bandwidth * 1000) if self.bandwidth > 0 else 0.0
