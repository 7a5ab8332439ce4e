"""Whether a population fits into memory, asked before anything is built."""

from __future__ import annotations

import os

from sims.config.experiment import Experiment
from sims.config.interests import USUAL_SIZE
from sub2sub.errors import InputError

__all__ = ["bytes_needed", "refuse_too_large"]

# A peer of Sub-2-Sub's three layers takes about 4.5 kB (a million peers, 3 attributes: 4.5 GiB, by
# benchmarks/million.py) and a subscription and its index some more; other systems are of that order.
PEER = 5_000
EVENT = 100


def bytes_needed(experiment: Experiment) -> int:
    """About how many bytes a run takes at least.

    Examples
    --------
    >>> from sims.config.experiment import experiment_from
    >>> bytes_needed(experiment_from({"population": {"size": 1_000_000}})) > 4e9
    True
    """
    people = experiment.population
    size = people.size or (USUAL_SIZE if getattr(experiment.workload, "table", None) is None else 0)
    return PEER * (size + people.spare) + EVENT * int(getattr(experiment.workload, "events", 0))


def refuse_too_large(experiment: Experiment) -> None:
    """Refuse an experiment that this machine has no memory for.

    Raises
    ------
    InputError
        With the number of bytes, and how many peers would fit.
    """
    needed, there = bytes_needed(experiment), _memory()
    if there and needed > there:
        raise InputError(
            f"population.size: expected at most about {there // PEER:,} peers, for which this machine has "
            f"memory ({there / 1e9:,.0f} GB); {experiment.population.size:,} need {needed / 1e9:,.0f} GB"
        )


def _memory() -> int:
    """Bytes of memory of this machine; 0 where it does not say."""
    names = getattr(os, "sysconf_names", {})
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if "SC_PHYS_PAGES" in names else 0
