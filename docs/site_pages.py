"""Adds pages to the site that are made from files outside docs/: examples, changes, contributing.

Links from docs/ to such a file become links to its page, or plain text if there is none.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
PAGES = {
    "../examples/README.md": "examples.md",
    "../CHANGELOG.md": "changelog.md",
    "../CONTRIBUTING.md": "contributing.md",
}
_RELATIVE = re.compile(r"\[([^\]]+)\]\((?!https?:|#)([^)]+)\)")
_LINK = re.compile(r"\[([^\]]+)\]\((\.\./[^)#]+)(#[^)]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made of other files."""
    examples = _RELATIVE.sub(
        r"\1 (`examples/\2`)", (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    )
    for path in sorted((ROOT / "examples").glob("*.py")):
        examples += f"\n## {path.stem}\n\n```python\n{path.read_text(encoding='utf-8')}```\n"
    made = {"examples.md": examples}
    for source, page in PAGES.items():
        if page not in made:
            made[page] = _from_root((ROOT / source[3:]).read_text(encoding="utf-8"))
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        made[f"notebooks/{path.stem}.md"] = page_of(path)
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def page_of(notebook: Path) -> str:
    """An executed notebook as a page: its text, its code, and what that showed."""
    parts = []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        parts += [_result(output) for output in cell.get("outputs", ())]
    return "\n\n".join(parts) + "\n"


def _result(output: Any) -> str:
    """What a cell printed or returned; of several forms the picture, else the table, else the text."""
    data = {kind: "".join(lines) for kind, lines in output.get("data", {}).items()}
    if "image/png" in data:
        return f'<img alt="" src="data:image/png;base64,{data["image/png"].strip()}">'
    if "text/html" in data:
        return f"<div>{data['text/html']}</div>"
    text = "".join(output.get("text", ())) or data.get("text/plain", "")
    return f"```text\n{text.rstrip()}\n```"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace links out of docs/, and to notebooks, by links to the pages made from those files."""
    return _LINK.sub(lambda found: _led(found[1], found[2]), markdown.replace(".ipynb)", ".md)"))


def _led(text: str, target: str) -> str:
    if target in PAGES:
        return f"[{text}]({PAGES[target]})"
    path = f"`{target[3:]}`"
    return path if target.endswith(text) else f"{text} ({path})"


def _from_root(markdown: str) -> str:
    """Make links of a file at the root relative to docs/."""
    return re.sub(r"\]\(docs/", "](", markdown)
