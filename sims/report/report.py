"""A page of one or several results: the overlay to play with, findings and pictures, the rest folded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from sims.report import sections
from sims.report.charts import add_charts
from sims.report.curves import CURVES
from sims.report.html import Page
from sims.report.overlay import MEGABYTES, add_overlays
from sims.report.sections import Sources
from sims.report.sources import Source, find_sources


def report(paths: Iterable[Path], title: str | None = None, megabytes: float = MEGABYTES) -> Page:
    """Build the page of all results in some folders.

    Parameters
    ----------
    paths : iterable of Path
        Folders that `sub2sub run`, `reproduce`, `compare`, `sweep` or `stats` wrote, or folders of such.
    title : str, optional
    megabytes : float
        Size limit of all interactive overlays together.

    Raises
    ------
    InputError
        If a path is not a folder or contains no results.

    Examples
    --------
    >>> import tempfile
    >>> from sims.runs.folder import RunWriter
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with RunWriter.create(Path(folder) / "r", kind="run", name="example", seed=1) as writer:
    ...         path = writer.write_table("rings", {"cycle": [0], "complete": [0.0], "links": [0.1]})
    ...     page = report([Path(folder)])
    >>> page.title, "Ring construction" in page.html()
    ('example', True)
    """
    sources = _named(find_sources(paths))
    page = Page(title or _title(sources), _subtitle(sources))
    hero = next(iter(CURVES)) if all(source.has_table("rings") for source in sources.values()) else None
    parts: list[Callable[[Page, Sources], None]] = [
        partial(add_overlays, megabytes=megabytes),  # plays as soon as it is seen
        sections.add_comparisons,
        sections.add_finding,
        sections.add_sweeps,
        sections.add_claims,
        sections.add_side_by_side,
        *([partial(_add_curves, heading=hero, folded=False)] if hero else []),
        sections.add_results,
        *(partial(_add_curves, heading=heading) for heading in CURVES if heading != hero),
        sections.add_other_files,
        sections.add_numbers,
        sections.add_faults,
        sections.add_settings,
        sections.add_manifests,
    ]
    for add in parts:
        add(page, sources)
        for name, source in sources.items():
            for line in (f"{name}: {problem}" for problem in source.problems):
                if line not in page.problems:
                    page.problems.append(line)
                    page.note(f"{line}.")
    return page


def _add_curves(page: Page, sources: Sources, heading: str, folded: bool = True) -> None:
    """Add a section of curves; name the runs that lack its table."""
    tables, draw = CURVES[heading]
    # In other folders, tables of these names have another meaning.
    kinds = ("run", "stats", "statistics") if "ring-lengths" in tables else ("run",)
    having = {
        name: source
        for name, source in sources.items()
        if source.kind in kinds and any(map(source.has_table, tables))
    }
    charts = draw(having)
    lacking = [name for name, source in sources.items() if name not in having and source.kind == "run"]
    if not (charts or lacking):
        return
    with page.fold(heading) if folded else nullcontext(page.heading(heading)):
        if charts:
            add_charts(page, *charts)
        if lacking:
            page.aside(f"No table {' or '.join(tables)} was recorded by {', '.join(lacking)}.")


def _named(sources: list[Source]) -> dict[str, Source]:
    """Give every source a unique name: its own, with its folder if others have the same."""
    attempts: list[Callable[[Source], str]] = [
        lambda source: source.name,
        lambda source: f"{source.name}, seed {source.manifest.get('seed')}",
        lambda source: f"{source.name} ({source.path})",
    ]
    for attempt in attempts:
        names = {attempt(source): source for source in sources}
        if len(names) == len(sources):
            break
    return names


def _title(sources: Sources) -> str:
    if len(sources) > 1:
        return f"{len(sources)} results"
    ((name, source),) = sources.items()
    return str(source.settings().get("title") or name)


def _subtitle(sources: Sources) -> str:
    days = sorted({str(s.manifest["started"])[:10] for s in sources.values() if "started" in s.manifest})
    when = [" to ".join(dict.fromkeys((days[0], days[-1])))] if days else []
    return ", ".join(["sub2sub report", *when])
