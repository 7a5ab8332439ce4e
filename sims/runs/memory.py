"""Whether a population fits into memory, estimated before anything is built.

The numbers are measured (`python benchmarks/memory.py`): what a run of some thousand peers holds after a few
cycles, rounded down, so that nothing is refused that would fit.
"""

from __future__ import annotations

from pathlib import Path

from sims.config.experiment import Experiment
from sims.config.interests import USUAL_SIZE, WorkloadSettings
from sub2sub.errors import InputError
from workloads.files.environment import memory
from workloads.spec.files import resolve

EVENT = 100
# Bytes per peer by system. Sub-2-Sub's ring views grow with the number of attributes: see `_per_peer`.
PEER = {
    "camcast": 3_500, "hpmcast": 10_000, "multicast": 1_100, "broadcast": 450, "hierarchical": 1_200,
    "broker": 1_000, "plumtree": 1_900, "gossipsub": 1_600, "poldercast": 2_500, "scribe": 15_000,
    "meghdoot": 10_000, "camcast on rings": 900, "protocols": 20,
}  # fmt: skip
PAIR = {"pmcast": 64, "rfpbcast": 16}  # bytes per pair of peers: everybody has a view of everybody
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
    pairs = PAIR.get(experiment.system, 0) * peers * peers
    return pairs + _per_peer(experiment) * peers + EVENT * int(getattr(experiment.workload, "events", 0))


def refuse_too_large(experiment: Experiment) -> None:
    """Refuse an experiment that this machine has no memory for.

    Raises
    ------
    InputError
        With the number of bytes, and how many peers would fit.
    """
    needed, available = bytes_needed(experiment), _memory()
    if available and needed > available:
        low, high = 0, experiment.population.size
        while high - low > 1:  # not a quotient, because some systems need memory for every pair
            middle = (low + high) // 2
            low, high = (middle, high) if bytes_needed(experiment, middle) <= available else (low, middle)
        raise InputError(
            f"population.size: expected at most about {low:,} peers, for which this machine has "
            f"memory ({available / 1e9:,.0f} GB); {experiment.population.size:,} need {needed / 1e9:,.0f} GB"
        )


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
