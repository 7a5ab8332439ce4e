"""Correlated interests: a Gaussian copula over the attributes' uniform numbers.

Uniform numbers are mapped to normal ones, multiplied by the Cholesky factor of the correlation matrix, and
mapped back to uniform ones. Each attribute then applies its own distribution, whose shape is not changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from statistics import NormalDist

import numpy as np

from sub2sub.errors import InputError
from workloads.arrays import Floats
from workloads.spec.quantiles import interpolate, tabulate

_REACH = 8.0  # standard deviations; 10^-15 of the draws lie beyond
_STEPS = 256  # knots per deviation


def factor(correlation: Sequence[Sequence[float]], d: int) -> Floats:
    """The Cholesky factor of a correlation matrix of d attributes.

    Examples
    --------
    >>> factor([[1.0, 0.6], [0.6, 1.0]], 2).round(6).tolist()
    [[1.0, 0.0], [0.6, 0.8]]
    """
    if len(correlation) != d or any(len(row) != d for row in correlation):
        lengths = ", ".join(str(len(row)) for row in correlation)
        raise InputError(f"correlation: expected {d} rows of {d} numbers, got rows of {lengths}")
    matrix = np.asarray(correlation, np.float64)
    if not (np.allclose(matrix, matrix.T) and np.allclose(np.diag(matrix), 1.0)):
        raise InputError("correlation: expected a symmetric matrix with 1 on the diagonal")
    lower = np.zeros((d, d))
    # Not np.linalg.cholesky: its blocked algorithm may round differently on another machine.
    for i in range(d):
        for j in range(i + 1):
            rest = matrix[i, j] - sum(lower[i, k] * lower[j, k] for k in range(j))
            if i == j and rest <= 0:
                raise InputError("correlation: expected a positive definite matrix")
            lower[i, j] = np.sqrt(rest) if i == j else rest / lower[j, j]
    return lower


@cache
def _normal_table() -> Floats:
    normal = NormalDist()
    return tabulate(lambda u: normal.inv_cdf(u) if 0.0 < u < 1.0 else (2 * u - 1) * _REACH)


@cache
def _distribution_table() -> tuple[Floats, Floats]:
    z = np.arange(-_REACH * _STEPS, _REACH * _STEPS + 1) / _STEPS
    normal = NormalDist()
    return z, np.rint(np.array([normal.cdf(x) for x in z.tolist()]) * 2.0**40) / 2.0**40


def correlate(u: Floats, lower: Floats) -> Floats:
    """Correlated uniform numbers (rows, d) from independent ones.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> v = correlate(rng.random((20_000, 2)), factor([[1, 0.8], [0.8, 1]], 2))
    >>> bool(0.75 < np.corrcoef(v.T)[0, 1] < 0.82)
    True
    """
    normal = np.stack([interpolate(_normal_table(), column) for column in u.T])
    z, cdf = _distribution_table()
    out = np.empty_like(u)
    for i in range(u.shape[1]):
        mixed = np.zeros(len(u))
        for j in range(i + 1):
            mixed += lower[i, j] * normal[j]
        out[:, i] = np.minimum(np.interp(mixed, z, cdf), 1.0 - 2.0**-53)
    return out
