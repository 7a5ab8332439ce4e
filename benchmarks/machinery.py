"""What the compiler's machinery is worth: the whole stack and a first overlay with and without each part.

    python benchmarks/machinery.py                         every part of
    `sub2sub/compiled/machinery/switch.py`, then all python benchmarks/machinery.py references callees
    only these python benchmarks/machinery.py plain --rounds 4        SUB2SUB_PLAIN=1: numba as it is

Turns with all parts and without one alternate, each in a process of its own; processor time of one thread.
`stack` is the least time that the cycles of `benchmarks/against.py` took without the part, divided by the
least with all: 1.00 means that the part saves nothing. `first overlay` is the same for a first cycle with an
empty cache (`benchmarks/overlay.py --start`). A part that is about 1.00 in both can go.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

from against import ROOT, turn
from overlay import FIRST_CYCLE

from sub2sub.compiled.machinery.switch import PARTS


def first_overlay() -> float:
    """Processor seconds until a first overlay is imported, compiled and stepped."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": folder, "SUB2SUB_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, "-c", FIRST_CYCLE], env=env, cwd=ROOT, check=True, stdout=subprocess.PIPE
        )
    return sum(float(word) for word in done.stdout.split())


def measured(part: str, size: list[str], cold: bool) -> tuple[float, float, str]:
    """Seconds of the whole stack and of a first overlay without a part ("" for none), and the views."""
    os.environ["SUB2SUB_PLAIN"] = str(int(part == "plain"))
    os.environ["SUB2SUB_WITHOUT"] = "" if part == "plain" else part
    result = turn(ROOT, "", size)
    return sum(result["times"].values()), first_overlay() if cold else 0.0, result["digest"]


def main() -> None:
    """Print a line for each part."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    names = [*PARTS, "plain"]
    parser.add_argument("parts", nargs="*", metavar="part", help=f"{', '.join(names)}; all by default")
    parser.add_argument("--peers", type=int, default=10_000)
    parser.add_argument("--cycles", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if unknown := set(given.parts) - set(names):
        parser.error(f"expected parts among {', '.join(names)}, got {unknown.pop()}")
    size = [str(given.peers), "3", str(given.cycles)]
    print(f"{'without':>12}  stack  first overlay")
    for part in given.parts or names:
        pairs = [[measured(each, size, k == 0) for each in ("", part)] for k in range(given.rounds)]
        stack = [min(pair[side][0] for pair in pairs) for side in (0, 1)]
        cold = [pairs[0][side][1] for side in (0, 1)]
        same = len({one[2] for pair in pairs for one in pair}) == 1
        ratios = f"{stack[1] / stack[0]:5.2f}  {cold[1] / cold[0]:5.2f} ({cold[1]:.1f} s, {cold[0]:.1f} s)"
        views = "" if same else "  views: DIFFERENT"
        print(f"{part:>12}  {ratios}  {PARTS.get(part, 'numba as it is')}{views}", flush=True)


if __name__ == "__main__":
    main()
