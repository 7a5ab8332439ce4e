"""The experiments that come with the package: `sims/config/experiments/`, and those of `sims/examples/`.

An example is a folder of data, specs and experiments with a README. Its experiment `debian/run-ranges.toml`
has the name `debian-ranges`.
"""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path

from sub2sub.errors import InputError

FOLDER = Path(__file__).parent / "experiments"
EXAMPLES = Path(__file__).parents[1] / "examples"


def examples() -> dict[str, str]:
    """Return names and titles of the examples: the folders, and the headings of their READMEs.

    Examples
    --------
    >>> "debian" in examples()
    True
    """
    return {
        path.parent.name: path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        for path in sorted(EXAMPLES.glob("*/README.md"))
    }


def _files() -> dict[str, Path]:
    """Return the files of the experiments by name."""
    named = {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}
    for path in sorted(EXAMPLES.glob("*/run*.toml")):
        named[path.parent.name + path.stem.removeprefix("run")] = path
    return named


def shipped() -> dict[str, str]:
    """Return names and titles of the experiments that come with the package.

    Examples
    --------
    >>> "sub2sub-fig5" in shipped()
    True
    """
    return {
        name: tomllib.loads(path.read_text(encoding="utf-8")).get("title", "")
        for name, path in _files().items()
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
    files = _files()
    if source not in files:
        near = difflib.get_close_matches(source, files, 1)
        hint = f"did you mean {near[0]!r}?" if near else "`sub2sub run` lists them"
        raise InputError(f"{source}: expected a .toml file or the name of an experiment; {hint}")
    return files[source]
