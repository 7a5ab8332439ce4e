"""`python -m sub2sub` and the command `sub2sub`: run the command line, or say what to install for it.

`warm` works without it: the library alone has kernels to compile.
"""

from __future__ import annotations

import sys
from importlib import import_module

from sub2sub.version import DISTRIBUTION


def main() -> None:
    """Call the command line of `sims`, which is not installed with the library alone."""
    try:
        program = import_module("sims.cli.app").main
    except ModuleNotFoundError as error:
        if sys.argv[1:] == ["warm"]:
            for part in import_module("sub2sub.warming").warm():
                print(f"ready: {part}")
            return
        sys.exit(f'sub2sub: the command line needs {error.name}: pip install "{DISTRIBUTION}[sims]"')
    program(prog_name="sub2sub")


if __name__ == "__main__":
    main()
