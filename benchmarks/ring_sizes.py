"""Which reading of the paper's workload gives the paper's rings?

Sub-2-Sub, Section 5 and Figure 7a: 10,000 subscribers, 10,000 events with at least two matches each;
rings of 2 to 246 subscribers with 3 attributes and power law, "2-3" with 5 attributes. Prints, for each
reading of "power law" for interest and for width, the rings of both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads import Attribute, Spec
from workloads.match.bitmaps import count_matches
from workloads.spec.distributions import Distribution, Normal, PowerLaw, Uniform, Zipf
from workloads.spec.quantiles import interpolate, tabulate

SEEDS = range(3)


class FourthPower:
    """w = u^4: density proportional to w^(-3/4)."""

    def values(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        return interpolate(tabulate(lambda p: p**4), u)


class Pareto:
    """Density proportional to (1 + w / 0.05)^-4, cut off at 1."""

    def values(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        mass = 1 - 21.0**-3
        return interpolate(tabulate(lambda p: 0.05 * ((1 - p * mass) ** (-1 / 3) - 1)), u)


INTERESTS: dict[str, Distribution] = {
    "uniform": Uniform(),
    "1 - 2|c - 1/2|": PowerLaw(1, 0.5),
    "(1 - 2|c - 1/2|)^2": PowerLaw(2, 0.5),
    "(1 - 2|c - 1/2|)^4": PowerLaw(4, 0.5),
    "Zipf, 100 parts": Zipf(100, order="centre", spread=True),
    "normal, 0.15": Normal(0.5, 0.15),
}
WIDTHS: dict[str, Distribution] = {
    "(1 - w)^4": PowerLaw(4),
    "(1 - w)^3": PowerLaw(3),
    "w = u^4": FourthPower(),
    "(1 + 20 w)^-4": Pareto(),
}


def rings(interest: Distribution, width: Distribution, d: int) -> str:
    spec = Spec("reading", tuple(Attribute(f"a{k}", interest, width) for k in range(d)))
    least, middle, most = [], [], []
    for seed in SEEDS:
        lows, highs = spec.subscriptions(10_000, seed)
        try:
            sizes = count_matches(lows, highs, spec.events(10_000, seed, lows, highs))
        except InputError:
            return "too sparse"
        least.append(sizes.min())
        middle.append(np.median(sizes))
        most.append(sizes.max())
    return f"{min(least):4} {np.mean(middle):6.0f} {np.mean(most):6.0f}"


def main() -> None:
    print(f"{'interest':20} {'width':14} | 3: min median    max | 5: min median    max")
    for width_name, width in WIDTHS.items():
        for name, interest in INTERESTS.items():
            three, five = (rings(interest, width, d) for d in (3, 5))
            print(f"{name:20} {width_name:14} | {three:>20} | {five:>20}", flush=True)


if __name__ == "__main__":
    main()
