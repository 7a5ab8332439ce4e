"""Latencies between eight cities, from geography alone: nothing here was measured.

Milliseconds one way: the great circle between two cities at 100 km per millisecond (light in fibre covers
200; cables take detours), plus 3 ms for the access networks at both ends. `share` is the percentage of hosts
in each region. Prints `sims/examples/network/regions.csv`.
"""

from __future__ import annotations

import csv
import math
import sys

# Degrees north and east, and the share of hosts.
CITIES = {
    "Frankfurt": (50.1, 8.7, 22),
    "London": (51.5, -0.1, 13),
    "Virginia": (39.0, -77.5, 22),
    "Oregon": (45.6, -121.2, 13),
    "Sao Paulo": (-23.5, -46.6, 7),
    "Mumbai": (19.1, 72.9, 8),
    "Tokyo": (35.7, 139.7, 10),
    "Sydney": (-33.9, 151.2, 5),
}
EARTH, SPEED, ACCESS = 6371.0, 100.0, 3.0


def latency(one: tuple[float, float, int], other: tuple[float, float, int]) -> float:
    """Milliseconds between two cities."""
    (a, b), (c, d) = (tuple(map(math.radians, city[:2])) for city in (one, other))
    angle = math.acos(min(1.0, math.sin(a) * math.sin(c) + math.cos(a) * math.cos(c) * math.cos(b - d)))
    return EARTH * angle / SPEED + ACCESS


if __name__ == "__main__":
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["region", "share", *CITIES])
    for name, city in CITIES.items():
        out.writerow([name, city[2], *(f"{latency(city, other):.1f}" for other in CITIES.values())])
