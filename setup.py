"""Build the package: the page that a registry shows is the README without relative links.

With `Repository` among `[project.urls]` of pyproject.toml, links and pictures lead below that address.
Without it, links are their text, and pictures are left out. Everything else is said in pyproject.toml.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent
RELATIVE = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")


def registry_page(readme: str, repository: str | None) -> str:
    """Return a README without relative links."""

    def link(found: re.Match[str]) -> str:
        mark, text, path = found.groups()
        if repository is None:
            return "" if mark else text
        return f"{mark}[{text}]({repository.rstrip('/')}/{'raw' if mark else 'blob'}/HEAD/{path})"

    return re.sub(r"\n{3,}", "\n\n", RELATIVE.sub(link, readme))


if __name__ == "__main__":
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    setup(
        long_description=registry_page(readme, project.get("urls", {}).get("Repository")),
        long_description_content_type="text/markdown",
    )
