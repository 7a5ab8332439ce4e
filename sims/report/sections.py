"""Parts of a report besides its curves: overview, claims, overlays, faults, other files, settings, manifests.

Each adds what the sources have of its kind to a page, and nothing where they have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from markupsafe import Markup

from sims.report.html import Page, plain_number, template
from sims.report.overlay import add_overlay, encode
from sims.report.sources import Source
from sub2sub.errors import InputError
from sub2sub.events.dissemination import DisseminationSettings

__all__ = [
    "Sources",
    "add_claims",
    "add_faults",
    "add_manifests",
    "add_other_files",
    "add_overlays",
    "add_overview",
    "add_settings",
]

Sources = Mapping[str, Source]
"""Sources by the names they go by in a page."""

ROWS, COLUMNS = 60, 16  # of a table that is shown as it is
MOST_LINKS = 50_000_000  # that are read for an overlay to play with
SIDE_BY_SIDE = 5  # results that fit beside one another
_SHARES = {"rings_complete", "ring_links", "hit_ratio", "deliveries_complete"}
_CHARTED = {"rings", "delivery", "load", "traffic", "events", "peers", "links", "ring-lengths"}


def _badge(good: bool, text: str) -> Markup:
    return Markup('<span class="badge {}">{}</span>').format("good" if good else "bad", text)


def add_overview(page: Page, sources: Sources) -> None:
    """What each source is, and the numbers it came to."""
    rows = []
    for name, source in sources.items():
        manifest = source.manifest
        row: dict[str, Any] = {"result": name, "kind": source.kind}
        if "state" in manifest:
            row["state"] = _badge(manifest["state"] == "done", str(manifest["state"]))
        row |= {key: manifest[key] for key in ("seed", "cycles", "seconds") if manifest.get(key) is not None}
        final = manifest.get("final")
        if isinstance(final, Mapping):
            row |= {key.replace("_", " "): _share(key, value) for key, value in final.items()}
        rows.append(row)
    if len(rows) == 1:
        facts = [(key, v if isinstance(v, Markup) else plain_number(v)) for key, v in rows[0].items()]
        page.raw(template("facts.html").render(facts=facts))
    elif len(rows) <= SIDE_BY_SIDE:
        keys = dict.fromkeys(key for row in rows for key in row if key != "result")
        columns = [{"": key} | {row["result"]: row.get(key) for row in rows} for key in keys]
        page.table(columns, "The results side by side.")
    else:
        page.table(rows, "All results.")
    for name, source in sources.items():
        if source.manifest.get("state") in ("running", "interrupted", "failed"):
            page.note(f"{name} is {source.manifest['state']}: what follows is what it has written so far.")


def _share(name: str, value: Any) -> Any:
    """A final number as it is shown: shares as percentages."""
    return f"{100 * value:.4g} %" if name in _SHARES and isinstance(value, int | float) else value


def add_claims(page: Page, sources: Sources) -> None:
    """The papers' values beside the measured ones."""
    rows = []
    for name, source in sources.items():
        for claim in source.claims():
            holds = claim["holds"]
            verdict = "observation" if holds is None else "holds" if holds else "does not hold"
            rows.append(
                {
                    "experiment": claim.get("id", name),
                    "claim": claim["claim"],
                    "paper": plain_number(claim.get("paper")),
                    "measured": plain_number(claim.get("measured")),
                    "holds": verdict if holds is None else _badge(bool(holds), verdict),
                }
            )
    if rows:
        judged = [row for row in rows if row["holds"] != "observation"]
        good = sum("good" in row["holds"] for row in judged)
        page.heading("Claims").text(f"**{good} of {len(judged)}** claims hold for what was measured.")
        page.table(rows, "What the papers say, and what was measured here.")


def add_overlays(page: Page, sources: Sources, megabytes: float) -> None:
    """Overlays to play with, of the runs that recorded their links."""
    recorded = {name: run for name, run in sources.items() if run.rows("links")}
    if not recorded:
        return
    page.heading("Place an event and watch it travel")
    for name, run in recorded.items():
        if len(recorded) > 1:
            page.heading(name, 3)
        if run.rows("links") > MOST_LINKS:
            page.note(f"{name} recorded {run.rows('links'):,} links: too many for a page.")
            continue
        peers, links = run.table("peers"), run.table("links")
        if peers is None or links is None:
            page.note(f"{name} has links, but no table peers.")
            continue
        try:
            view = encode(
                peers, links, seed=int(run.manifest.get("seed") or 0), settings=_dissemination(run),
                attributes=_attributes(run), megabytes=megabytes / len(recorded),
            )  # fmt: skip
        except InputError as error:
            page.note(f"{name}: {error}")
            continue
        if view.left_out:
            cycles = ", ".join(map(str, view.left_out))
            page.text(f"Recorded, but left out to keep the page small: cycles {cycles}.")
        add_overlay(page, view, f"Overlay of {name}")


def _dissemination(run: Source) -> DisseminationSettings:
    given = run.settings().get("dissemination", {})
    known = {field.name for field in fields(DisseminationSettings)}
    try:
        return DisseminationSettings(**{key: value for key, value in given.items() if key in known})
    except (TypeError, InputError):
        return DisseminationSettings()


def _attributes(run: Source) -> list[str] | None:
    names = run.settings().get("workload", {}).get("attributes")
    return names if isinstance(names, list) and all(isinstance(name, str) for name in names) else None


def add_faults(page: Page, sources: Sources) -> None:
    """What was done to the population, and when."""
    rows = [
        {**({"run": name} if len(sources) > 1 else {}), **fault}
        for name, source in sources.items()
        for fault in source.settings().get("faults", [])
        if isinstance(fault, Mapping)
    ]
    if rows:
        page.heading("Faults").table(rows, "Scheduled faults; the curves above mark those of one cycle.")


def add_other_files(page: Page, sources: Sources) -> None:
    """Texts, figures and small tables that are not drawn as curves; what was found comes first."""
    titled = False
    for name, source in sources.items():
        charted = _CHARTED if source.kind == "run" else {"links"}
        figures = [path for path in source.run.figures() if path.stem not in charted]
        texts = sorted(source.path.glob("[!.]*.md"))
        tables = [table for table in source.run.tables() if table not in charted]
        if not (figures or texts or tables):
            continue
        if not titled:
            page.heading("Figures and tables")
            titled = True
        if len(sources) > 1:
            page.heading(name, 3)
        for path in texts:
            page.text(_without_title(path.read_text(encoding="utf-8", errors="replace")))
        for path in figures:
            page.figure(path, path.stem)
        for table in tables:
            _add_table(page, source, table)


def _without_title(markdown: str) -> str:
    """The page has titles of its own."""
    head, _, rest = markdown.partition("\n")
    return rest if head.startswith("# ") else markdown


def _add_table(page: Page, source: Source, name: str) -> None:
    rows = source.rows(name)
    found = source.table(name) if 0 < rows <= ROWS else None
    if found is not None and found.num_columns <= COLUMNS:
        page.raw(Markup("<details><summary>{}.parquet ({} rows)</summary>").format(name, rows))
        page.table(found.to_pydict())
        page.raw("</details>")
    elif rows:
        page.raw(Markup("<p><code>{}.parquet</code>: {} rows.</p>").format(name, f"{rows:,}"))


def add_settings(page: Page, sources: Sources) -> None:
    """Settings that differ between runs, and all settings of each."""
    settings = {name: dict(_flat(source.settings())) for name, source in sources.items() if source.settings()}
    if not settings:
        return
    page.heading("Settings")
    keys = dict.fromkeys(key for flat in settings.values() for key in flat)
    differing = [key for key in keys if len({str(flat.get(key)) for flat in settings.values()}) > 1]
    if differing:
        rows = [
            {"setting": key} | {name: flat.get(key) for name, flat in settings.items()} for key in differing
        ]
        page.table(rows, "Settings in which the runs differ.")
    for name in settings:
        text = (sources[name].path / "experiment.toml").read_text(encoding="utf-8", errors="replace")
        opening = Markup("<details{}><summary>experiment.toml{}</summary>").format(
            Markup(" open") if len(settings) == 1 else "", f" of {name}" if len(settings) > 1 else ""
        )
        page.raw(opening + Markup("<pre><code>{}</code></pre></details>").format(text))


def add_manifests(page: Page, sources: Sources) -> None:
    """Where and how each result came about."""
    manifests = {name: source.manifest for name, source in sources.items() if source.manifest}
    if not manifests:
        return
    page.heading("Manifest")
    for name, manifest in manifests.items():
        command = manifest.get("command")
        shown = (
            {**manifest, "command": " ".join(map(str, command))} if isinstance(command, list) else manifest
        )
        rows = [{"": key, "value": value} for key, value in _flat(shown) if not key.startswith("final.")]
        title = f"manifest.json of {name}" if len(manifests) > 1 else "manifest.json"
        page.raw(Markup("<details><summary>{}</summary>").format(title)).table(rows).raw("</details>")


def _flat(value: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Nested tables as dotted keys."""
    for key, item in value.items():
        if isinstance(item, Mapping):
            yield from _flat(item, f"{before}{key}.")
        elif isinstance(item, list) and any(isinstance(part, Mapping) for part in item):
            for number, part in enumerate(item):
                yield from _flat(
                    part if isinstance(part, Mapping) else {"": part}, f"{before}{key}.{number}."
                )
        else:
            yield f"{before}{key}", item
