"""Confidence intervals of a comparison: over seeds, and over events where there are many in each seed.

A cost is a mean over seeds, and its interval Student's: with few seeds it is wide, as it should be. The hit
ratio by which working points are chosen is a mean over a thousand events, and seeds alone would waste them:
with two seeds Student's factor is 12.7. If events were independent, the variance of their mean would be their
variance over their number. Events of one seed share an overlay, so it may be larger; how much larger, the
means of the seeds tell. The larger of the two estimates is taken, and the degrees of freedom are those of as
many independent events as would give it (Kish: *Survey Sampling*, 1965: effective sample size), at least
those of the seeds. Where seeds differ no more than their events make them this is the interval over events,
and where they do it is that over seeds.
"""

from __future__ import annotations

import numpy as np

CONFIDENCE = 0.95


def reach_over_seeds(deviation: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """Half of Student's interval of means over seeds, NaN for a single one.

    Examples
    --------
    >>> reach_over_seeds(np.array([1.0]), np.array([3])).round(3)
    array([2.484])
    """
    reach: np.ndarray = _quantile(np.maximum(seeds - 1, 1)) * deviation / np.sqrt(seeds)
    return reach


def reach_over_events(variance: float, events: float, deviation: float, seeds: int) -> float:
    """Half of the interval of a mean over events of several seeds.

    Parameters
    ----------
    variance, events : float
        Variance over the events of a seed, and their number in all.
    deviation : float
        Standard deviation of the means of the seeds.
    seeds : int

    Examples
    --------
    >>> round(reach_over_events(0.01, 1000, 0.0001, 2), 4)  # seeds agree
    0.0062
    >>> round(reach_over_events(0.01, 1000, 0.1, 2), 3)  # they do not
    0.898
    """
    if seeds < 2:
        return float("nan")
    apart, together = variance / events, deviation**2 / seeds
    if together <= 0 and apart <= 0:
        return 0.0
    error = max(apart, together)
    freedom = max(events * apart / error - 1, seeds - 1)
    return float(_quantile(np.array(freedom)) * np.sqrt(error))


def _quantile(freedom: np.ndarray) -> np.ndarray:
    from scipy import special

    found: np.ndarray = special.stdtrit(freedom, 0.5 + CONFIDENCE / 2)
    return found
