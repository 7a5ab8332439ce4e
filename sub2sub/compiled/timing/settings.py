"""How long messages take: the settings of a network with latencies and limited uplinks.

A message from one host to another waits until the uplink of its sender is free, occupies it for the time that
its bytes need, and then travels. The travel time depends on the pair of hosts. It is the same in both
directions and in all systems; `jitter` adds a random time to each message. There are five models:

- constant: `ms` between any two hosts;
- uniform: from `ms (1 - spread)` to `ms (1 + spread)`, drawn for each pair of hosts;
- log-normal: with median `ms`; `spread` is the standard deviation of the logarithm;
- regions: from a file, see `sub2sub.compiled.timing.region_files`;
- sphere: hosts are at random points of the earth; a message takes `ms` plus the great circle at `speed`.

Simplifications:

- Every event has the network to itself: messages of different events do not share uplinks.
- Only messages that carry the event occupy an uplink; acknowledgements, announcements and requests are small.
- An acknowledgement that is not lost arrives before the sender's timer ends, `AGAIN` ticks after the message.
  A message that is sent again does not wait for the uplink.
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
        Milliseconds one way. constant: of every pair; uniform: the mean; log-normal: the median; sphere: a
        constant part.
    spread : float
        uniform: a share of `ms`, at most 1; log-normal: the standard deviation of the logarithm.
    jitter : float
        A message takes up to this share longer, drawn uniformly for each message.
    regions : Path, optional
        A CSV file with the latencies between regions.
    speed : float
        Kilometres per millisecond along a great circle. Light in fibre covers 200; cables take detours.
    bandwidth : float
        Megabits per second of each host's uplink; 0 for no limit.
    event_bytes : int
        Bytes of a message that carries an event.
    tick : float
        Milliseconds: the unit of the protocols' timers, for example a round of gossip. A message that is not
        acknowledged is sent again after three ticks.
    cycle : float
        Seconds between two cycles of upkeep.
    seed : int
        Seed of the positions of hosts and the latencies of pairs; the seed of a run is added.

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
            raise InputError(f"network.spread: expected at most 1 for latency 'uniform', got {self.spread}")
        if (self.latency == "regions") != (self.regions is not None):
            raise InputError(
                "network.regions: expected a CSV file with latency = 'regions', and only there, got "
                f"{self.regions} with {self.latency!r}"
            )

    @property
    def occupied(self) -> float:
        """Milliseconds that a message with an event occupies an uplink."""
        return self.event_bytes * 8 / (self.bandwidth * 1000) if self.bandwidth > 0 else 0.0
