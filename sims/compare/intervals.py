"""Confidence intervals of a comparison: over seeds, and over events where there are many in each seed.

A cost is a mean over seeds with Student's interval, which is wide for few seeds. The hit ratio by which
working points are chosen is a mean over a thousand events; an interval over seeds alone would not use their
number (with two seeds Student's factor is 12.7). If events were independent, the variance of their mean would
be their variance divided by their number. Events of one seed share an overlay, so the variance may be larger,
which shows in the means of the seeds. The larger of the two estimates is taken, with the degrees of freedom
of as many independent events as would give it (Kish: *Survey Sampling*, 1965: effective sample size), at
least those of the seeds. So this is the interval over events if seeds differ no more than their events
explain, and otherwise the interval over seeds.
"""

from __future__ import annotations

import numpy as np

from workloads.statistics.intervals import CONFIDENCE


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
    from scipy import special

    if seeds < 2:
        return float("nan")
    apart, together = variance / events, deviation**2 / seeds
    if together <= 0 and apart <= 0:
        return 0.0
    error = max(apart, together)
    freedom = max(events * apart / error - 1, seeds - 1)
    return float(special.stdtrit(freedom, 0.5 + CONFIDENCE / 2) * np.sqrt(error))
