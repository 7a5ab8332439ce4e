"""Named workloads: `uniform-D` and `power-law-D`, those of Section 5 of Sub-2-Sub.

The paper has 1 to 5 attributes, ranges in [0, 1], interest "uniform" or "power law" with more overlap
around the centre, widths "power law centered at 0, with alpha = 4", and no formulas. The ring sizes in
Figure 7a decide between interpretations: with power law, 2 to 246 subscribers for 3 attributes and 2 to 3 for
5. Used here: width density proportional to (1 - w)^4 and interest proportional to 1 - 2 |c - 1/2|. They give
rings of 2 to 247 (mean over seeds) with 3 attributes; with 5, a median of 3 but a maximum of 25.
The maximum with 3 attributes for others: steeper interest (a square: 538, a fourth power: 1234), Zipf over
100 parts (1817), normal (562), widths of (1 - w)^3 (384) and w = u^4 (252, which also fits). None gives rings
of only 2 and 3 with 5 attributes. `benchmarks/ring_sizes.py` prints them all.
"""

from __future__ import annotations

import re
from pathlib import Path

from sub2sub.errors import InputError
from workloads.spec.distributions import PowerLaw, Uniform
from workloads.spec.spec import Attribute, Spec

_MOST_ATTRIBUTES = 16


def named(name: str) -> Spec:
    """The workload called `name`: `uniform-D` or `power-law-D` for D attributes (1 to 16).

    Examples
    --------
    >>> named("power-law-3").names
    ['a1', 'a2', 'a3']
    """
    known = re.fullmatch(r"(uniform|power-law)-(\d+)", name)
    if known is None or not 1 <= int(known[2]) <= _MOST_ATTRIBUTES:
        raise InputError(
            f"workload = {name!r}: expected uniform-D or power-law-D, D = 1 to {_MOST_ATTRIBUTES} attributes"
        )
    interest = Uniform() if known[1] == "uniform" else PowerLaw(alpha=1, centre=0.5)
    width = PowerLaw(alpha=4)
    return Spec(name, tuple(Attribute(f"a{axis}", interest, width) for axis in range(1, int(known[2]) + 1)))


def resolve(name: str) -> Spec:
    """The workload of a TOML file if `name` ends in .toml, else the named workload.

    Examples
    --------
    >>> resolve("uniform-2").names
    ['a1', 'a2']
    """
    if not name.endswith(".toml"):
        return named(name)
    from workloads.spec.files import load  # and all that files may have

    return load(Path(name))
