"""Makes the tables of `sims/examples/debian` from two package indices of Debian 12 ("bookworm").

    lz4 -dc .../dists_bookworm_main_binary-amd64_Packages.lz4 > main
    lz4 -dc .../dists_bookworm-security_main_binary-amd64_Packages.lz4 > security
    python derive.py main security

A package that depends on another has to know when the other gets a security update. So a subscriber is a
dependency of one package on another, with a range of versions (an end that is not given is open). An event is
a security update: a package and its version. The versions of each package that its updates and the
dependencies on it mention are numbered from 0, in dpkg's order.
"""

from __future__ import annotations

import csv
import hashlib
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cmp_to_key
from itertools import zip_longest
from pathlib import Path

ROWS = 2000
DATA = Path(__file__).parents[2] / "sims" / "examples" / "debian"


def packages(file: str) -> Iterator[dict[str, str]]:
    """The paragraphs of an index."""
    for paragraph in Path(file).read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in paragraph.splitlines() if not line.startswith(" ")]
        if fields := dict(line.split(": ", 1) for line in lines if ": " in line):
            yield fields


def compare(one: str, other: str) -> int:
    """Which of two versions is later, as in deb-version(7): epoch, then upstream, then revision."""
    for a, b in zip(_parts(one), _parts(other), strict=True):
        pairs = zip_longest(re.findall(r"(\D*)(\d*)", a), re.findall(r"(\D*)(\d*)", b), fillvalue=("", ""))
        for (text, number), (text_b, number_b) in pairs:
            keys = [[_letter(c) for c in t] + [0] for t in (text, text_b)] + [
                [int(n or 0)] for n in (number, number_b)
            ]
            for low, high in ((keys[0], keys[1]), (keys[2], keys[3])):
                if low != high:
                    return -1 if low < high else 1
    return 0


def _parts(version: str) -> tuple[str, str, str]:
    epoch, colon, rest = version.rpartition(":")
    upstream, _, revision = rest.rpartition("-")
    return (epoch if colon else "0", upstream or revision, revision if upstream else "")


def _letter(c: str) -> int:
    """The order of characters: a tilde before the end of the string, letters before all others."""
    return -1 if c == "~" else ord(c) if c.isalpha() else ord(c) + 256


def relations(package: dict[str, str]) -> dict[str, list[tuple[str, str]]]:
    """The packages on which a package depends, and their versions; of alternatives the first."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for relation in package.get("Depends", "").split(","):
        first = relation.split("|")[0].strip()
        if match := re.fullmatch(r"([a-z0-9.+-]+)(?::any)?\s*(?:\((<<|<=|=|>=|>>)\s*([^)]+)\))?", first):
            found[match[1]] += [(match[2], match[3].strip())] if match[2] else []
    return found


def main(main_index: str, security_index: str) -> None:
    """Write the three tables."""
    known = {p["Package"]: p for p in packages(main_index)}
    updates: dict[str, set[str]] = defaultdict(set)
    for p in packages(security_index):
        if p["Package"] in known:
            updates[p["Package"]].add(p["Version"])
    wanted = [
        (name, on, ends)
        for name, package in known.items()
        for on, ends in relations(package).items()
        if on in updates and on != name
    ]
    # Any 2,000 of them, the same for everybody.
    wanted.sort(key=lambda row: hashlib.sha256(f"{row[0]} {row[1]}".encode()).digest())
    chosen = sorted(wanted[:ROWS], key=lambda row: row[:2])
    named: dict[str, set[str]] = defaultdict(set)
    for _, on, ends in chosen:
        named[on] |= updates[on] | {version for _, version in ends}
    place = {
        on: {version: k for k, version in enumerate(sorted(versions, key=cmp_to_key(compare)))}
        for on, versions in named.items()
    }

    def topic(name: str) -> list[str]:
        source = known[name].get("Source", name).split(" ")[0]
        return [known[name]["Section"].rpartition("/")[2], source, name]

    rows = []
    for name, on, ends in chosen:
        at = place[on]
        low = [at[v] + (sign == ">>") for sign, v in ends if sign in (">=", ">>", "=")]
        high = [at[v] - (sign == "<<") for sign, v in ends if sign in ("<=", "<<", "=")]
        oldest, newest = max(low, default=""), min(high, default="")
        if oldest == "" or newest == "" or oldest <= newest:
            rows.append((name, on, oldest, newest, " :: ".join(topic(on))))
    write("dependencies.csv", ("package", "on", "oldest", "newest", "topic"), rows)
    published = [
        (on, place[on][v], v, " :: ".join(topic(on))) for on in sorted(named) for v in sorted(updates[on])
    ]
    write("updates.csv", ("package", "place", "version", "topic"), published)
    paths = {tuple(topic(on)[:depth]) for on in named for depth in (1, 2, 3)}
    write("topics.csv", ("path",), [(" :: ".join(path),) for path in sorted(paths)])


def write(name: str, head: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    """Write a table."""
    with (DATA / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


if __name__ == "__main__":
    main(*sys.argv[1:])
