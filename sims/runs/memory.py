"""Whether a population fits into memory, estimated before anything is built.

The numbers are measured (`python benchmarks/memory.py`): the memory of a run of some thousand peers after a
few cycles, rounded down, so that no run is refused that would fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from sims.config.experiment import Experiment
from sims.config.interests import USUAL_SIZE, WorkloadSettings
from sub2sub.errors import InputError
from workloads.files.environment import memory
from workloads.spec.catalogue import resolve

EVENT = 100
# Bytes per peer by system. Sub-2-Sub's ring views grow with the number of attributes: see `_per_peer`.
PEER = {
    "camcast": 3_500, "hpmcast": 10_000, "multicast": 1_100, "broadcast": 450, "hierarchical": 1_200,
    "broker": 1_000, "plumtree": 1_900, "gossipsub": 1_600, "poldercast": 2_500, "scribe": 15_000,
    "meghdoot": 10_000, "camcast on rings": 900, "protocols": 20,
}  # fmt: skip
PAIR = {"pmcast": 64, "rfpbcast": 16}  # bytes per pair of peers: each has a view of all others
RING, RING_ATTRIBUTE = 1_600, 800
LAYER = 160  # a layer of protocols with CYCLON's view of 20
LIMIT = Path("/sys/fs/cgroup/memory.max")


def bytes_needed(experiment: Experiment, size: int | None = None) -> int:
    """Estimate how many bytes a run needs at least, with its own number of peers or another one.

    Examples
    --------
    >>> from sims.config.experiment import experiment_from
    >>> for spec in ("power-law-1", "power-law-5"):
    ...     data = {"population": {"size": 1_000_000}, "workload": {"spec": spec}}
    ...     print(f"{bytes_needed(experiment_from(data)) / 1e9:.1f} GB")
    2.4 GB
    5.6 GB
    """
    if size is None:
        named = getattr(experiment.workload, "table", None)
        size = experiment.population.size or (USUAL_SIZE if named is None else 0)
    peers = size + experiment.population.spare
    events = int(getattr(experiment.workload, "events", 0))
    return _of_peers(experiment.system, _per_peer(experiment), peers) + EVENT * events


def refuse_too_large(experiment: Experiment) -> None:
    """Refuse an experiment that does not fit into memory; the error says how many peers would."""
    _refuse("population.size", experiment.population.size, partial(bytes_needed, experiment))


def refuse_too_large_systems(names: Iterable[str], subscribers: int) -> None:
    """Refuse to compare systems with more subscribers than fit into memory."""
    for name in names:
        _refuse(f"subscribers ({name})", subscribers, partial(_of_peers, name, PEER.get(name, RING)))


def _refuse(field: str, size: int, needed: Callable[[int], int]) -> None:
    """Refuse a number of peers that needs more memory than there is."""
    available = _memory()
    if available and needed(size) > available:
        low, high = 0, size
        while high - low > 1:  # not a quotient, because some systems need memory for every pair
            middle = (low + high) // 2
            low, high = (middle, high) if needed(middle) <= available else (low, middle)
        raise InputError(
            f"{field}: expected at most about {low:,} peers, which fit into {available / 1e9:,.0f} GB of "
            f"memory; {size:,} need {needed(size) / 1e9:,.0f} GB"
        )


def _of_peers(system: str, per_peer: int, peers: int) -> int:
    return PAIR.get(system, 0) * peers * peers + per_peer * peers


def _per_peer(experiment: Experiment) -> int:
    """Bytes per peer."""
    if experiment.system == "protocols":
        return PEER["protocols"] + LAYER * len(getattr(experiment.layers, "stack", ()))
    workload = experiment.workload
    rings = RING + RING_ATTRIBUTE
    if isinstance(workload, WorkloadSettings) and not (workload.table or workload.source):
        rings = RING + RING_ATTRIBUTE * len(resolve(workload.spec).names)
    return PEER.get(experiment.system, rings)


def _memory() -> int:
    """Bytes of memory that this process may use; 0 where the machine does not say."""
    total = memory()
    limit = LIMIT.read_text().strip() if LIMIT.is_file() else ""  # of a container
    return min(total, int(limit)) if limit.isdigit() else total
