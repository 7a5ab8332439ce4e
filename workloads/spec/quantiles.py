"""Inverse distribution functions as tables, the same to the last bit on every machine.

NumPy's `**`, `exp` and `log` differ in the last bit between processors, so a workload would depend on the
machine that generated it. So a quantile function is evaluated once, at knots, and rounded to a multiple of
2^-32, which is far larger than the difference between maths libraries. Rows are interpolated between knots
with additions and multiplications only, whose results IEEE 754 defines.

Knots are dense where probabilities are small, at both ends: 256 in each of [1/4, 1/2), [1/8, 1/4), ...
down to 2^-33, and their mirror image. Between two knots the distribution is uniform; its distribution
function is within 10^-5 of the exact one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sub2sub.plain_numba import jitted
from workloads.arrays import Floats

_OCTAVES = 32
_PER_OCTAVE = 256
_LEAST = 2.0**-33
_GRID = 2.0**32


def knots() -> Floats:
    """The points at which quantile functions are evaluated, from 0 to 1/2; the upper half mirrors them.

    Examples
    --------
    >>> k = knots()
    >>> len(k), float(k[0]), float(k[1]) == 2**-33, float(k[-1])
    (8194, 0.0, True, 0.5)
    """
    steps = 1.0 + np.arange(_PER_OCTAVE) / _PER_OCTAVE
    octaves = [np.ldexp(steps, -2 - octave) for octave in range(_OCTAVES - 1, -1, -1)]
    return np.concatenate([[0.0], *octaves, [0.5]])


def tabulate(quantile: Callable[[float], float]) -> Floats:
    """The table (2, knots) of a quantile function: its values at the knots, and at 1 minus the knots.

    Examples
    --------
    >>> table = tabulate(lambda u: u)
    >>> interpolate(table, np.array([0.0, 0.3, 0.75])).round(9).tolist()
    [0.0, 0.3, 0.75]
    """
    at = knots()
    values = np.array([[quantile(u) for u in at.tolist()], [quantile(u) for u in (1.0 - at).tolist()]])
    return np.rint(values * _GRID) / _GRID


@jitted
def _interpolate(table, u, out):
    last = table.shape[1] - 1
    for row in range(len(u)):
        side = 0
        v = u[row]
        if v >= 0.5:
            side = 1
            v = 1.0 - v
        if v == 0.5:
            out[row] = table[side, last]
        elif v < _LEAST:
            out[row] = table[side, 0] + (table[side, 1] - table[side, 0]) * (v / _LEAST)
        else:
            # frexp splits v = mantissa * 2^exponent exactly, mantissa in [1/2, 1): the step and the octave.
            mantissa, exponent = math.frexp(v)
            place = (2.0 * mantissa - 1.0) * _PER_OCTAVE
            step = int(place)
            k = 1 + (exponent + _OCTAVES) * _PER_OCTAVE + step
            out[row] = table[side, k] + (table[side, k + 1] - table[side, k]) * (place - step)


def interpolate(table: Floats, u: Floats) -> Floats:
    """The quantile at each u of [0, 1], from a table made by `tabulate`."""
    out = np.empty_like(u)
    _interpolate(table, np.ascontiguousarray(u), out)
    return out
