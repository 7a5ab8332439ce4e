"""What each saving of the ring layer is worth: the whole stack with it, and with it switched off.

    python benchmarks/ring_parts.py                      all of them
    python benchmarks/ring_parts.py shadow --rounds 4    one

A saving is switched off by a changed line in a copy of the tree, so that kernels have no switch for it. Turns
with and without alternate, each in a process of its own that compiles before the clock starts; processor time
of one thread. 1.00 means that a saving saves nothing, and can go. Views have to be the same.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from against import ROOT, turn

ROOM = "sub2sub/compiled"
# Of each saving: the file, a line of it, and what stands in its place.
SAVINGS = {
    "prefetching": (
        f"{ROOM}/machinery/simd.py",
        '    call(builder, "llvm.prefetch.p0i8", ir.VoidType(), [address, I32(0), I32(3), I32(1)])\n',
        "",
    ),
    "tried": (
        f"{ROOM}/ring_views/candidates.py",
        "chosen = present & (entries != peers)",
        "chosen = present & (entries == entries)",
    ),
    "since": (
        f"{ROOM}/ring/offers.py",
        "since = met if pool.last_removal[t] < met else np.int64(-1)",
        "since = np.int64(-1)",
    ),
    "shadow": (
        f"{ROOM}/ring_views/shadow.py",
        "store(shadow[t, side], 0, where(flags(cells), minimum(known, depth), known))",
        "store(shadow[t, side], 0, where(flags(cells), maximum(known, depth), known))",
    ),
}


def without(saving: str, folder: Path) -> Path:
    """A copy of the tree's packages without a saving."""
    tree = folder / saving
    for package in ("sub2sub", "workloads"):
        shutil.copytree(ROOT / package, tree / package, ignore=shutil.ignore_patterns("__pycache__"))
    name, line, instead = SAVINGS[saving]
    text = (tree / name).read_text()
    if text.count(line) != 1:
        raise SystemExit(f"{name}: expected once: {line.strip()}")
    (tree / name).write_text(text.replace(line, instead))
    return tree


def main() -> None:
    """Print a line for each saving."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("savings", nargs="*", metavar="saving", help=f"{', '.join(SAVINGS)}; all by default")
    parser.add_argument("--peers", type=int, default=10_000)
    parser.add_argument("--cycles", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if unknown := set(given.savings) - set(SAVINGS):
        parser.error(f"expected savings among {', '.join(SAVINGS)}, got {unknown.pop()}")
    size = [str(given.peers), "3", str(given.cycles)]
    print(f"{'without':>12}  whole stack")
    with tempfile.TemporaryDirectory() as folder:
        for saving in given.savings or SAVINGS:
            trees = ROOT, without(saving, Path(folder))
            pairs = [[turn(tree, "", size) for tree in trees] for _ in range(given.rounds)]
            there, gone = (min(sum(pair[k]["times"].values()) for pair in pairs) for k in (0, 1))
            same = len({one["digest"] for pair in pairs for one in pair}) == 1
            print(f"{saving:>12}  {gone / there:11.2f}{'' if same else '  views: DIFFERENT'}", flush=True)


if __name__ == "__main__":
    main()
