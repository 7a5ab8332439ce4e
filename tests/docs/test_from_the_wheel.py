"""README and quickstarts run from the wheel, outside of the clone, with what their install line installs.

An environment has the wheel and those of the distributions installed here that the wheel's metadata asks for,
directly or not; nothing else can be imported in it. Programs need the first install line of the README, the
commands of its second quickstart the second one. `...` in shown output stands for anything.
"""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import venv
from email import message_from_string
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
INSTALLED = re.findall(r"^    pip install \"?sub2sub-overlays(?:\[(.*)\])?", README, re.MULTILINE)
RELATIVE = r"\]\((?!https?:)"
FENCE = r"```{}\n(.*?)```"
PROGRAMS = re.findall(FENCE.format("python") + r"\n\n" + FENCE.format("text"), README, re.DOTALL)
COMMANDS = re.findall(r"\n\n((?:    sub2sub [^\n]*\n)+)\n" + FENCE.format("text"), README, re.DOTALL)
PAGES = sorted((ROOT / "docs").glob("quickstart-*.md"))

pytestmark = pytest.mark.xdist_group("wheel")


class Installed(NamedTuple):
    """An environment with the wheel, and an empty folder."""

    bin: Path
    folder: Path

    def run(self, *words: str) -> str:
        """Run a program of the environment in the folder; what it prints."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        path = f"{self.bin}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            words, cwd=self.folder, env=kept | {"PATH": path}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def _needed(extras: set[str], name: str = "sub2sub-overlays") -> set[str]:
    """Names of the distributions that one needs with some extras, and of all that these need."""
    found: set[str] = set()
    for line in distribution(name).requires or ():
        asked = Requirement(line)
        if asked.marker is None or any(asked.marker.evaluate({"extra": e}) for e in ("", *extras)):
            found |= {asked.name} | _needed(asked.extras, asked.name)
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for package in ("sub2sub", "hierarchy", "workloads", "sims"):
        shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "-w", str(made), str(source)], check=True)
    (found,) = made.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Installed]:
    """An environment for each install line of the README, by its extras."""
    made = {}
    for extras in INSTALLED:
        folder = tmp_path_factory.mktemp("environment")
        venv.create(folder, symlinks=True)
        (site,) = (folder / "lib").glob("python*/site-packages")
        for name in sorted(_needed({extras})):
            here = distribution(name)
            for top in {file.parts[0] for file in here.files or ()} - {"..", "__pycache__"}:
                if not (site / top).exists():
                    (site / top).symlink_to(Path(str(here.locate_file(top))))
        pip = [sys.executable, "-m", "pip", "-q", "--python", str(folder / "bin" / "python"), "install"]
        subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
        made[extras] = Installed(folder / "bin", tmp_path_factory.mktemp("empty"))
    return made


def _is_shown(shown: str, printed: str) -> bool:
    return re.fullmatch(re.escape(shown).replace(r"\.\.\.", ".*?"), printed, re.DOTALL) is not None


def test_the_base_environment_has_numpy_and_numba_only(installed: dict[str, Installed]) -> None:
    assert INSTALLED == ["", "sims"]
    code = "import importlib.util as u; print([n for n in ('numba', 'pandas', 'click') if u.find_spec(n)])"
    assert installed[""].run("python", "-c", code) == "['numba']\n"


def test_the_base_environment_compiles_its_kernels_beforehand(installed: dict[str, Installed]) -> None:
    assert installed[""].run("python", "-m", "sub2sub", "warm").count("ready: ") == 2


def test_data_and_the_scripts_of_the_view_come_with_the_wheel(installed: dict[str, Installed]) -> None:
    code = """
from importlib.resources import files
from sub2sub import datasets
print([datasets.load(name).subscriptions.rows for name in datasets.names()])
print(sorted(file.name for file in (files("sub2sub.overlay") / "assets").iterdir()))
"""
    rows, assets = installed[""].run("python", "-c", code).splitlines()
    assert rows == "[2000, 200, 2000]"
    here = ROOT / "sub2sub" / "overlay" / "assets"
    assert assets == str(sorted(file.name for file in here.iterdir()))


@pytest.mark.parametrize(("code", "shown"), PROGRAMS, ids=range(len(PROGRAMS)))
def test_a_program_of_the_readme_prints_what_it_shows(
    code: str, shown: str, installed: dict[str, Installed]
) -> None:
    printed = installed[""].run("python", "-c", code)
    assert _is_shown(shown, printed), printed


def test_the_registry_page_has_no_link_that_leads_nowhere(wheel: Path) -> None:
    with ZipFile(wheel) as packed:
        (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        page = message_from_string(packed.read(name).decode())
    text = str(page.get_payload())
    assert page["Description-Content-Type"] == "text/markdown"
    assert "## Five minutes" in text
    assert re.findall(RELATIVE, text) == []
    assert len(page.get_all("Classifier") or ()) > 5
    assert page["Keywords"]
    assert page["Author"]


def test_the_registry_page_leads_into_the_repository_only_if_its_address_is_known() -> None:
    registry_page = runpy.run_path(str(ROOT / "setup.py"))["registry_page"]
    alone = registry_page(README, None)
    assert not re.findall(r"!\[|" + RELATIVE, alone)
    assert "one readable class" in alone
    assert "An event travels hop by hop" not in alone  # a picture's words without the picture
    text = registry_page(README, "https://example.org/them/theirs/")
    links = re.findall(r"\]\(https://example.org/them/theirs/(blob|raw)/HEAD/([^)#]+)", text)
    assert len(links) == len(re.findall(RELATIVE, README)) > 20
    assert all((ROOT / path).exists() for _, path in links)
    assert {path for kind, path in links if kind == "raw"} == {"docs/ring.webp", "docs/frontier.png"}
    assert not re.findall(RELATIVE, text)


def test_every_program_of_the_readme_shows_its_output() -> None:
    assert len(PROGRAMS) == README.count("```python\n") == 2
    assert len(COMMANDS) == 1


@pytest.mark.parametrize(("lines", "shown"), COMMANDS, ids=["on my data"])
def test_the_commands_of_a_quickstart_print_what_it_shows(
    lines: str, shown: str, installed: dict[str, Installed]
) -> None:
    typed = re.sub(r"  +#.*", "", lines).replace("    sub2sub", "sub2sub").strip()
    printed = installed["sims"].run("sh", "-e", "-c", typed)
    assert _is_shown(shown, printed), printed


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_the_programs_of_a_quickstart_run_under_its_install_line(
    page: Path, installed: dict[str, Installed]
) -> None:
    text = page.read_text(encoding="utf-8")
    (extras,) = re.findall(r"^    pip install \"?sub2sub-overlays(?:\[(.*)\])?", text, re.MULTILINE)
    code = "\n".join(re.findall(FENCE.format("python"), text, re.DOTALL))
    assert installed[extras].run("python", "-c", code)
