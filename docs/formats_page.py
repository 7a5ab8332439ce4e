"""Writes the parts of docs/formats.md that the code knows: the keys of files from their schemas.

    python docs/formats_page.py

Text between `<!-- NAME -->` and `<!-- end -->` is replaced; `tests/docs/test_formats.py` asks whether it is
current.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from sims.config.json_schemas import SCHEMAS
from sims.engine import checkpoint
from sims.reproduce.claims import Claim
from workloads.settings.parameters import documented

PAGE = Path(__file__).parent / "formats.md"


def keys_of(schema: dict[str, Any], title: str) -> Iterator[str]:
    """A row for each key of a file, with its meaning and its default."""
    part = next(option for option in schema["anyOf"] if option["title"] == title)
    root = schema["$defs"][part["$ref"].rpartition("/")[2]] if "$ref" in part else part
    yield from ("| key | meaning | default |", "|---|---|---|")
    for key, own in root["properties"].items():
        inner = schema["$defs"][own["$ref"].rpartition("/")[2]] if "$ref" in own else own
        meaning = (
            (own.get("description") or inner.get("description") or "").replace("\n", " ").replace("|", "\\|")
        )
        default = "" if own.get("default") in (None, [], {}, "") else f"`{own['default']}`"
        yield f"| `{key}` | {meaning} | {default} |"


def claims() -> Iterator[str]:
    """A row for each field of a claim."""
    meanings = documented(Claim)
    yield from ("| field | meaning |", "|---|---|")
    for each in fields(Claim):
        yield f"| `{each.name}` | {meanings[each.name]} |"


PARTS: dict[str, Callable[[], Iterator[str]]] = {
    "claims": claims,
    "experiment": lambda: keys_of(SCHEMAS["experiment"](), "sub2sub"),
    "sweep": lambda: keys_of(SCHEMAS["sweep"](), "sweep"),
    "checkpoint": lambda: iter([f"Format {checkpoint.FORMAT}."]),
}


def current(text: str) -> str:
    """The page with its generated parts written anew."""
    for name, rows in PARTS.items():
        made = f"<!-- {name} -->\n\n" + "\n".join(rows()) + "\n\n<!-- end -->"
        part = rf"<!-- {name} -->.*?<!-- end -->"
        text, count = re.subn(part, lambda _, made=made: made, text, flags=re.DOTALL)
        if count != 1:
            raise ValueError(f"{PAGE}: expected one part {name!r}, found {count}")
    return text


if __name__ == "__main__":
    PAGE.write_text(current(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
