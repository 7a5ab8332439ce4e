"""Which files a kernel's machine code comes from: its own, and all that this one imports, however far away.

Machine code contains that of the functions a kernel calls and the constants it mentions, and these come from
files it imports. Only packages of this project, and the package of the file itself, are followed: others
change with their version. Imports are found in the text, so nothing is imported to find out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PROJECT = ("sub2sub", "hierarchy", "workloads", "sims")
HERE = Path(__file__).resolve().parents[2]
IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n]*)|import[ \t]+([^\n]*))", re.M
)
NAME = re.compile(r"[.\w]+")


def root_of(path: Path) -> Path:
    """The folder that a file is imported from: where its outermost package stands.

    Examples
    --------
    >>> root_of(Path(__file__)) == HERE
    True
    """
    root = path.parent
    while (root / "__init__.py").exists():
        root = root.parent
    return root


@cache
def _imported(path: Path) -> frozenset[Path]:
    """The files that one file imports."""
    root = root_of(path)
    inside = path.relative_to(root).parts
    own = inside[0] if len(inside) > 1 else ""
    found: set[Path] = set()
    for module in _modules(path.read_text(), inside[:-1]):
        top, _, _ = module.partition(".")
        if top in PROJECT:
            found |= _files(HERE, module) or _files(root, module)
        elif top == own or not own:
            found |= _files(root, module)
    return frozenset(found - {path})


def _modules(text: str, package: tuple[str, ...]) -> Iterator[str]:
    """The modules that a text may import; `from a import b` may mean a.b as well as a."""
    for source, names, plain in IMPORT.findall(text):
        if plain:
            yield from (part.split()[0] for part in plain.split(",") if part.split())
            continue
        above = len(source) - len(source.lstrip("."))
        if above:
            source = ".".join((*package[: len(package) + 1 - above], *filter(None, [source.lstrip(".")])))
        yield source
        yield from (f"{source}.{name}" for name in NAME.findall(names))


@cache
def _files(root: Path, module: str) -> frozenset[Path]:
    place = root.joinpath(*module.split("."))
    return frozenset(path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file())


@cache
def sources_of(path: Path) -> frozenset[Path]:
    """A file and all files it imports, directly or through others.

    Examples
    --------
    >>> sorted(path.name for path in sources_of(HERE / "sub2sub" / "kernels" / "randomness.py"))
    ['cache.py', 'callees.py', 'compilation.py', 'compile_time.py', 'compilers.py', 'randomness.py',
    'sources.py']
    """
    found, waiting = {path}, [path]
    while waiting:
        new = _imported(waiting.pop()) - found
        found |= new
        waiting += new
    return frozenset(found)


@cache
def digest_of(path: Path) -> str:
    """A digest of all that the kernels of a file are made of, wherever the project is installed."""
    digest = hashlib.sha256()
    for each in sorted(sources_of(path), key=lambda each: each.relative_to(root_of(each)).as_posix()):
        digest.update(each.relative_to(root_of(each)).as_posix().encode() + b"\0" + _content(each))
    return digest.hexdigest()


@cache
def _content(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()
