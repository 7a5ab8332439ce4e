"""The network that a comparison runs on, as its option names it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from sub2sub.compiled.timing.region_files import read_regions
from sub2sub.compiled.timing.settings import Timing
from sub2sub.errors import InputError
from workloads.files.checked import file_digest
from workloads.settings.documents import Document
from workloads.settings.models import table

HOPS = "hops"
MODELS = ("constant", "uniform", "log-normal", "sphere")


def network_named(name: str) -> Timing | None:
    """A model by its name with the usual settings, those of a TOML file, or None for hops.

    Raises
    ------
    InputError
        For anything else, and for what is wrong with a file.

    Examples
    --------
    >>> network_named("hops"), network_named("sphere").latency
    (None, 'sphere')
    """
    if name == HOPS:
        return None
    if name in MODELS:
        return Timing(latency=cast(Any, name))
    path = Path(name)
    if path.suffix != ".toml":
        raise InputError(f"--network: expected {HOPS}, {', '.join(MODELS)} or a .toml file, got {name!r}")
    found: Timing = Document.open(path, []).read(table(Timing))
    if found.regions is not None:
        read_regions(found.regions)
    return found


def network_text(timing: Timing | None) -> str:
    """A network as text, for units.

    Examples
    --------
    >>> network_of(network_text(Timing(ms=50.0))).ms
    50.0
    """
    return "" if timing is None else json.dumps(asdict(timing), default=str)


def network_of(text: str) -> Timing | None:
    """The network of such a text."""
    if not text:
        return None
    settings = json.loads(text)
    regions = settings.pop("regions")
    return Timing(**settings, regions=Path(regions) if regions else None)


def network_digest(text: str) -> str:
    """Digest of the file of regions, if there is one."""
    timing = network_of(text)
    return file_digest(timing.regions) if timing is not None and timing.regions else ""
