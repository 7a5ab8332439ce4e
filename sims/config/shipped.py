"""The experiments that come with the package: TOML files in `sims/config/experiments/`."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path

from sub2sub.errors import InputError

FOLDER = Path(__file__).parent / "experiments"


def shipped() -> dict[str, str]:
    """Return names and titles of the experiments that come with the package.

    Examples
    --------
    >>> "sub2sub-fig5" in shipped()
    True
    """
    return {
        path.stem: tomllib.loads(path.read_text(encoding="utf-8")).get("title", "")
        for path in sorted(FOLDER.glob("*.toml"))
    }


def find_file(source: str) -> Path:
    """Find the file of an experiment, given as a path or as the name of one that comes with the package.

    Examples
    --------
    >>> find_file("sub2sub-fig5").name
    'sub2sub-fig5.toml'
    """
    path = Path(source)
    if path.suffix == ".toml" or path.is_file():
        if not path.is_file():
            raise InputError(f"{source}: there is no such file")
        return path
    names = [file.stem for file in FOLDER.glob("*.toml")]
    if source not in names:
        near = difflib.get_close_matches(source, names, 1)
        hint = f"did you mean {near[0]!r}?" if near else "`sub2sub run` lists them"
        raise InputError(f"{source}: expected a .toml file or the name of an experiment; {hint}")
    return FOLDER / f"{source}.toml"
