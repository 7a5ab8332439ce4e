"""A simulated network between machines: the delays and the faults of messages.

Every ordered pair of machines has a latency, to which each message adds jitter. `Conditions` defines how
often messages are lost, duplicated or overtaken, and connections refused or reset. The network may be cut
between two machines, also in one direction only. Random numbers are drawn in the order in which messages are
sent, so a seed determines them.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import random
from collections import Counter
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sub2sub.live.virtual.machine import Machine
from sub2sub.live.virtual.transport import End

if TYPE_CHECKING:
    from sub2sub.live.virtual.loop import VirtualLoop

Address = tuple[str, int]
AGAIN = 1.0  # seconds until a connection that nobody answers is tried again (RFC 6298); twice as long then
NEXT = 1e-6  # seconds between the arrivals of two messages of a connection, at least
LOST = -1.0  # time of arrival of a message that is lost, in the digest
FIRST_PORT = 40_000  # of the ports given to sockets that ask for any


@dataclass(frozen=True)
class Conditions:
    """The delays and the faults of a network.

    Attributes
    ----------
    latency : (float, float)
        Least and greatest seconds between two machines; drawn once for each ordered pair.
    jitter : float
        Mean of the seconds added to each message, exponentially distributed.
    loss, duplicated, overtaking : float
        Probabilities that a message is lost, arrives twice, or may overtake earlier ones of its connection.
    refused, reset : float
        Probabilities that a connection is refused, and that a message resets its connection.
    """

    latency: tuple[float, float] = (0.005, 0.05)
    jitter: float = 0.005
    loss: float = 0.0
    duplicated: float = 0.0
    overtaking: float = 0.0
    refused: float = 0.0
    reset: float = 0.0


class _Name:
    """Stands for the socket of an asyncio server."""

    def __init__(self, address: Address) -> None:
        self._address = address

    def getsockname(self) -> Address:
        return self._address


class Listener:
    """A server at an address of a machine, with the methods of asyncio's servers."""

    def __init__(
        self, network: Network, machine: Machine, factory: Callable[[], asyncio.Protocol], at: Address
    ) -> None:
        self.network, self.machine, self.factory, self.address = network, machine, factory, at
        self.sockets = [_Name(at)]

    def close(self) -> None:
        """Accept no more connections."""
        if self.network.listeners.get(self.address) is self:
            del self.network.listeners[self.address]

    async def wait_closed(self) -> None:
        """There is nothing to wait for."""


class Network:
    """Machines and the connections between them.

    Parameters
    ----------
    seed : int
    conditions : Conditions

    Attributes
    ----------
    machines : list of Machine
    listeners : dict of address to Listener
    cut : set of (str, str)
        Pairs (sender, receiver) of hosts between which nothing arrives.
    counts : Counter
        Messages and bytes sent, and each kind of fault.
    """

    def __init__(self, seed: int, conditions: Conditions | None = None) -> None:
        self.conditions = conditions or Conditions()
        self.loop: VirtualLoop
        self.machines: list[Machine] = []
        self.listeners: dict[Address, Listener] = {}
        self.cut: set[tuple[str, str]] = set()
        self.counts: Counter[str] = Counter()
        self._seed, self._dice = seed, random.Random(f"network {seed}")
        self._ports = itertools.count(FIRST_PORT)
        self._history = hashlib.blake2b(digest_size=16)
        self._distances: dict[tuple[str, str], float] = {}
        self._under_way = Context()  # of no machine: what was sent arrives, also if its sender stops
        self._down = False

    def machine(self, host: str) -> Machine:
        """A new machine at an address, without the state of one that crashed there."""
        for old in self.machines:
            if old.host == host:
                old.silent = False
        self.machines.append(Machine(host, self.loop))
        return self.machines[-1]

    def digest(self) -> str:
        """Digest of all messages so far: their bytes, connections and times of arrival."""
        return self._history.hexdigest()

    def listen(self, machine: Machine, factory: Callable[[], asyncio.Protocol], at: Address) -> Listener:
        """Accept connections; port 0 stands for a free port."""
        address = (at[0], at[1] or next(self._ports))
        old = self.listeners.get(address)
        if old and not old.machine.crashed:
            raise OSError(f"{address[0]}:{address[1]} is in use")
        self.listeners[address] = Listener(self, machine, factory, address)
        return self.listeners[address]

    async def connect(
        self, machine: Machine, factory: Callable[[], asyncio.Protocol], to: Address
    ) -> tuple[asyncio.Transport, asyncio.Protocol]:
        """Open a connection, after the delays of a message and of its answer.

        Where nobody answers it is tried again and again, as TCP does, until the connecting end gives up.
        """
        await asyncio.sleep(self._delay(machine.host, to[0]))
        pause = AGAIN
        while self._is_cut(machine.host, to[0]) or self._is_silent(to):
            self.counts["connections to nobody"] += 1
            await asyncio.sleep(pause)
            pause *= 2
        listener = self.listeners.get(to)
        if listener is None or listener.machine.crashed or self._hits(self.conditions.refused, "refused"):
            await asyncio.sleep(self._delay(to[0], machine.host))
            raise ConnectionRefusedError(f"{to[0]}:{to[1]} refuses the connection")
        here: Address = (machine.host, next(self._ports))
        near, far = End(self, machine, here, to), End(self, listener.machine, to, here)
        near.other, far.other = far, near
        self.loop.call_soon(_begin, far, listener.factory, context=listener.machine.context)
        try:
            await asyncio.sleep(self._delay(to[0], machine.host))
        except asyncio.CancelledError:
            near.die(silent=False)
            raise
        if near.is_closing():
            raise ConnectionResetError(f"{to[0]}:{to[1]} resets the connection")
        protocol = factory()
        near.begin(protocol)
        return near, protocol

    def carry(self, end: End, data: bytes) -> None:
        """Deliver a message to the other end, unless it is lost."""
        conditions = self.conditions
        if self._down:
            return
        self.counts["messages"] += 1
        self.counts["bytes"] += len(data)
        if self._is_cut(end.here[0], end.there[0]) or self._hits(conditions.loss, "lost"):
            self._write_down(LOST, end, data)
            end.credit(data)
            return
        if self._hits(conditions.reset, "reset"):
            end.reset()
            end.other.reset()
            return
        for _ in range(2 if self._hits(conditions.duplicated, "doubled") else 1):
            at = self.loop.time() + self._delay(end.here[0], end.there[0])
            if not self._hits(conditions.overtaking, "overtaking"):
                at = end.last_arrival = max(at, end.last_arrival + NEXT)
            self._write_down(at, end, data)
            self.loop.call_at(at, end.other.arrive, data, context=self._under_way)

    def say_end(self, end: End) -> None:
        """Signal the end of the stream to the other end, after the messages that are under way."""
        if not self._down and not self._is_cut(end.here[0], end.there[0]):
            at = max(self.loop.time() + self._delay(end.here[0], end.there[0]), end.last_arrival + NEXT)
            self.loop.call_at(at, end.other.arrive, None, context=self._under_way)

    def shut_down(self) -> None:
        """End all connections, and let the tasks of crashed and stopped machines end."""
        self._down = True
        for machine in self.machines:
            for end in list(machine.ends):
                end.die(silent=True)
            machine.crashed = False
            machine.resume()

    def _delay(self, one: str, other: str) -> float:
        distance = self._distances.get((one, other))
        if distance is None:
            dice = random.Random(f"{self._seed} {one} {other}")
            distance = self._distances[one, other] = dice.uniform(*self.conditions.latency)
        return distance + (
            self._dice.expovariate(1.0 / self.conditions.jitter) if self.conditions.jitter else 0.0
        )

    def _hits(self, chance: float, name: str) -> bool:
        if chance <= 0.0 or self._dice.random() >= chance:
            return False
        self.counts[name] += 1
        return True

    def _is_silent(self, to: Address) -> bool:
        return to in self.listeners and self.listeners[to].machine.silent

    def _is_cut(self, one: str, other: str) -> bool:
        if not self.cut or (one, other) not in self.cut:
            return False
        self.counts["cut off"] += 1
        return True

    def _write_down(self, arrives: float, end: End, data: bytes) -> None:
        self._history.update(b"%.9f %b %b" % (arrives, end.name, data))


def _begin(end: End, factory: Callable[[], asyncio.Protocol]) -> None:
    end.begin(factory())
