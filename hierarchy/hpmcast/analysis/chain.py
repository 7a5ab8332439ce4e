"""The Markov chain of infected participants (hpmcast, Sections 2.1.2 and 2.2.2, equations 1 to 9).

In a system of n participants, each infected one gossips to F others a round. With j infected, each of the
others stays susceptible with probability q^j, independently, so the next number of infected is binomial.
pmcast is the same chain in a system of n p participants with fanout F p.

Differences from the paper:

- Equations 3 and 8 sum from j = k/(1 + F) on, because j participants cannot infect more than j F others. But
  equation 2 gives such steps a positive probability, which that sum omits. Here all terms are summed.
- A number of interested participants n p that is not whole is rounded, to at least one.
- The chain treats the choices of one gossiper as independent, though they are distinct. So it has slow first
  rounds that gossip does not have, and infects fewer; `pmcast-chain` shows the difference.
"""

from __future__ import annotations

from math import ceil, lgamma

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast.gossiping import pittel_rounds
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.errors import InputError

NEGLIGIBLE = 1e-18


def expected_rounds(
    size: float, fanout: float, loss: float = 0.0, crash: float = 0.0, c: float = 0.0
) -> float:
    """Rounds to infect a system (equation 5; 9 with n p and F p): T(n, F).

    Examples
    --------
    >>> round(expected_rounds(100, 2), 2), round(expected_rounds(100 * 0.2, 2 * 0.2), 2)
    (6.49, 16.39)
    """
    return float(pittel_rounds(float(size), float(fanout), float(loss), float(crash), float(c)))


def reach_probability(size: float, fanout: float, loss: float = 0.0, crash: float = 0.0) -> float:
    """Probability that a gossip reaches a given participant, p(n, F) (equation 1; 6 with n p and F p).

    Examples
    --------
    >>> reach_probability(101, 2, loss=0.5)
    0.01
    """
    if size <= 1:
        return 0.0
    return min(1.0, fanout / (size - 1) * (1 - loss) * (1 - crash))


def log_factorials(n: int) -> NDArray[np.float64]:
    """log k! for k = 0, ..., n.

    Examples
    --------
    >>> np.exp(log_factorials(4)).round().tolist()
    [1.0, 1.0, 2.0, 6.0, 24.0]
    """
    return np.array([lgamma(k + 1) for k in range(n + 1)])


@kernel
def binomials(trials, success, logs, out):
    """Write the binomial distribution with `trials` trials to out[0], ..., out[trials]."""
    if success <= 0.0 or success >= 1.0:
        for k in range(trials + 1):
            out[k] = 0.0
        out[trials if success >= 1.0 else 0] = 1.0
        return
    up, down = np.log(success), np.log1p(-success)
    for k in range(trials + 1):
        out[k] = np.exp(logs[trials] - logs[k] - logs[trials - k] + k * up + (trials - k) * down)


@kernel
def _step(before, reach, logs, after, row):
    n = before.shape[0] - 1
    after[:] = 0.0
    for j in range(n + 1):
        if before[j] > NEGLIGIBLE:
            binomials(n - j, 1.0 - (1.0 - reach) ** j, logs, row)
            for k in range(n - j + 1):
                after[j + k] += before[j] * row[k]


def _check(n: int, reach: float) -> None:
    if n < 1:
        raise InputError(f"n: expected at least 1 participant, got {n}")
    if not 0 <= reach <= 1:
        raise InputError(f"reach: expected a probability, got {reach}")


def infected_distribution(n: int, reach: float, rounds: int, initial: int = 1) -> NDArray[np.float64]:
    """P[s(t) = k] for t = 0, ..., rounds: how many are infected (equations 3 and 8).

    Returns
    -------
    (rounds + 1, n + 1) float64

    Examples
    --------
    >>> infected_distribution(3, 0.5, rounds=1).round(6).tolist()
    [[0.0, 1.0, 0.0, 0.0], [0.0, 0.25, 0.5, 0.25]]
    """
    _check(n, reach)
    logs, row = log_factorials(n), np.empty(n + 1)
    chances = np.zeros((rounds + 1, n + 1))
    chances[0, min(initial, n)] = 1.0
    for t in range(rounds):
        _step(chances[t], reach, logs, chances[t + 1], row)
    return chances


def expected_infected(n: int, reach: float, rounds: float, initial: int = 1) -> float:
    """E[s(T)] after T rounds, a real number: rounded up, none if it is negative.

    Examples
    --------
    >>> round(expected_infected(3, 0.5, rounds=0.3), 6)
    2.0
    """
    last = infected_distribution(n, reach, max(0, ceil(rounds)) if np.isfinite(rounds) else 0, initial)[-1]
    return float(last @ np.arange(n + 1))


def rounds_to_everybody(n: int, reach: float, tolerance: float = 1e-9) -> float:
    """The expected round in which the last participant is infected, by the chain instead of the asymptote.

    Examples
    --------
    >>> round(rounds_to_everybody(300, reach_probability(300, 5, loss=0.15)), 2)
    5.66
    """
    _check(n, reach)
    if n > 1 and reach == 0:
        raise InputError("reach: expected a probability above 0, or nobody is ever infected")
    logs, row = log_factorials(n), np.empty(n + 1)
    now, then = np.zeros(n + 1), np.empty(n + 1)
    now[1] = 1.0
    total = 0.0
    while (missing := now[:n].sum()) > tolerance:
        total += missing
        _step(now, reach, logs, then, row)
        now, then = then, now
    return float(total)
