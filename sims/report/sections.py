"""Sections of a report except its curves: findings, results, claims, faults, other files, settings.

Each function adds one section, or nothing if no source has data for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from sims.report.cells import plain_number, share_text, template
from sims.report.compared import add_comparison, add_comparison_details
from sims.report.html import Page
from sims.report.sentences import fault_label, fault_when, run_finding
from sims.report.sources import Source
from sims.report.sweeps import Trial, add_trials, swept
from workloads.settings.toml import leaves

Sources = Mapping[str, Source]
"""Sources by the names they go by in a page."""

ROWS, COLUMNS = 60, 16  # limits of a table that is shown unchanged
SIDE_BY_SIDE = 5  # runs that fit side by side
_SHARES = {"rings_complete", "ring_links", "hit_ratio", "deliveries_complete"}
_CHARTED = {"rings", "delivery", "load", "traffic", "events", "peers", "links", "ring-lengths"}


def _badge(good: bool, text: str) -> Markup:
    return Markup('<span class="badge {}">{}</span>').format("good" if good else "bad", text)


def add_finding(page: Page, sources: Sources) -> None:
    """Add the findings of runs in sentences, and a note for each run that is not finished."""
    found = {name: run_finding(source) for name, source in sources.items() if source.kind == "run"}
    if any(found.values()) and len(found) <= SIDE_BY_SIDE:
        several = len(sources) > 1
        page.heading("Finding").finding(
            *((f"**{_escaped(name)}** " if several else "") + " ".join(sentences)
              for name, sentences in found.items() if sentences)
        )  # fmt: skip
    for name, source in sources.items():
        if source.manifest.get("state") in ("running", "interrupted", "failed"):
            page.note(f"{name} is {source.manifest['state']}: what follows is what it has written so far.")


def _escaped(text: str) -> str:
    """Escape a name for Markdown."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+-.!|<>&~" else c for c in text)


def add_side_by_side(page: Page, sources: Sources) -> None:
    """Add a few runs side by side: first the settings in which they differ, then their results."""
    settings = _settings(sources)
    if not 2 <= len(settings) <= SIDE_BY_SIDE:
        return
    page.heading("Side by side")
    keys = differing(settings)
    if keys:
        rows = [{"setting": key} | {name: found.get(key) for name, found in settings.items()} for key in keys]
        page.table(rows, "Settings in which the runs differ.", name="settings")
    results = {name: _final(sources[name]) for name in settings}
    rows = [
        {"result": key.replace("_", " ")}
        | {name: _share(key, found.get(key)) for name, found in results.items()}
        for key in dict.fromkeys(key for found in results.values() for key in found)
    ]
    page.table(rows, "Results of each run.", name="results")


def add_results(page: Page, sources: Sources) -> None:
    """Add the numbers of many results, as means over seeds."""
    if len(sources) <= SIDE_BY_SIDE:
        return
    results = {name: _final(source) for name, source in sources.items()}
    settings = _settings(sources)
    keys = differing(settings)
    trials = [
        Trial({key: found.get(key) for key in keys}, _numbers(results[name]))
        for name, found in settings.items()
        if _numbers(results[name])
    ]
    if trials:
        add_trials(page.heading("Settings and results"), trials, "runs")
    with page.fold("All results"):
        page.table([{"result": name} | found for name, found in results.items()], name="all-results")


def _settings(sources: Sources) -> dict[str, dict[str, Any]]:
    return {
        name: dict(leaves(run.settings(), lists=True)) for name, run in sources.items() if run.kind == "run"
    }


def differing(settings: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the keys whose values differ between runs, except seeds.

    Examples
    --------
    >>> differing({"one": {"k": 1, "loss": 0.0, "seeds": [1]}, "other": {"k": 3, "loss": 0.0, "seeds": [2]}})
    ['k']
    """
    keys = dict.fromkeys(key for own in settings.values() for key in own)
    return [
        key for key in keys if key != "seeds" and len({str(own.get(key)) for own in settings.values()}) > 1
    ]


def _final(source: Source) -> dict[str, Any]:
    """Return seed, length and final numbers of a source."""
    manifest = source.manifest
    row: dict[str, Any] = {} if source.kind == "run" else {"kind": source.kind}
    if manifest.get("state") not in (None, "done"):
        row["state"] = _badge(False, str(manifest["state"]))
    row |= {key: manifest[key] for key in ("seed", "cycles", "seconds") if manifest.get(key) is not None}
    final = manifest.get("final")
    return row | (dict(final) if isinstance(final, Mapping) else {})


def _numbers(results: Mapping[str, Any]) -> dict[str, float]:
    own = {"seed", "cycles", "seconds", "kind", "state"}
    return {k: v for k, v in results.items() if k not in own and isinstance(v, int | float)}


def _share(name: str, value: Any) -> Any:
    """Format a final number; shares as percentages."""
    return share_text(value) if name in _SHARES and isinstance(value, int | float) else value


def add_numbers(page: Page, sources: Sources) -> None:
    """Add the numbers of a single result."""
    if len(sources) > 1:
        return
    ((name, source),) = sources.items()
    facts = [(key.replace("_", " "), _share(key, value)) for key, value in _final(source).items()]
    if facts:
        with page.fold("Numbers"):
            shown = [(key, v if isinstance(v, Markup) else plain_number(v)) for key, v in facts]
            page.raw(template("facts.html").render(facts=[("result", name), *shown]))


def add_claims(page: Page, sources: Sources) -> None:
    """Add the claims with published and measured values, and their figures."""
    rows = []
    for name, source in sources.items():
        for claim in source.claims():
            holds = claim["holds"]
            verdict = "observation" if holds is None else "holds" if holds else "does not hold"
            values = {key: plain_number(claim.get(key)) for key in ("paper", "measured")}
            shown = verdict if holds is None else _badge(bool(holds), verdict)
            row = {"experiment": claim.get("id", name), "claim": claim["claim"], **values, "holds": shown}
            rows.append(row)
    if rows:
        judged = [row for row in rows if row["holds"] != "observation"]
        good = sum("good" in row["holds"] for row in judged)
        page.heading("Claims")
        page.finding(f"**{good} of {len(judged)}** claims hold for what was measured.")
        _add_figures(page, _first_figures(sources))
        page.table(rows, "What the papers say, and what was measured here.", name="claims")


def _first_figures(sources: Sources) -> list[Path]:
    """The figures of a single reproduction, which are shown above its claims."""
    ((_, source), *others) = sources.items()
    return source.run.figures() if not others and source.kind == "reproduce" else []


def add_comparisons(page: Page, sources: Sources) -> None:
    """Add comparisons: finding and main chart first, further charts folded."""
    compared = {name: source for name, source in sources.items() if source.has_table("compare")}
    for name, source in compared.items():
        if len(compared) > 1:
            page.heading(name)
        add_comparison(page, source)
    if len(compared) == 1:
        add_comparison_details(page, next(iter(compared.values())))


def add_sweeps(page: Page, sources: Sources) -> None:
    """Add sweeps: settings and results."""
    for name, source in sources.items():
        trials = swept(source) if source.has_table("results") else []
        if trials:
            page.heading(f"Settings and results of {name}")
            add_trials(page, trials, name)


def add_faults(page: Page, sources: Sources) -> None:
    """Add a table of faults."""
    rows = [
        ({"run": name} if len(sources) > 1 else {}) | {"what": fault_label(fault), "when": fault_when(fault)}
        for name, source in sources.items()
        for fault in source.faults()
    ]
    if rows:
        with page.fold("Faults"):
            page.table(rows, "What happens to the population; curves over cycles mark it.", name="faults")


def add_other_files(page: Page, sources: Sources) -> None:
    """Add texts, figures and small tables that are not shown as curves; findings first.

    Those of a comparison show what its own charts and summary do.
    """
    for name, source in sources.items():
        if source.has_table("compare"):
            continue
        charted = _CHARTED if source.kind == "run" else {"links"} | ({"results"} if swept(source) else set())
        figures = [path for path in source.run.figures() if path.stem not in charted]
        figures = [path for path in figures if path not in _first_figures(sources)]
        texts = sorted(source.path.glob("[!.]*.md"))
        tables = [table for table in source.run.tables() if table not in charted]
        if not (figures or texts or tables):
            continue
        several = f" of {name}" if len(sources) > 1 else ""
        if figures and not several:
            _add_figures(page.heading("Figures"), figures)
            figures = []
        if texts and not several:
            _add_texts(page, texts)
            texts = []
        if figures or texts or tables:
            with page.fold(f"Figures and tables{several}" if figures else f"Texts and tables{several}"):
                _add_texts(page, texts)
                _add_figures(page, figures)
                for table in tables:
                    _add_table(page, source, table)


def _add_figures(page: Page, paths: Iterable[Path]) -> None:
    for path in paths:
        page.figure(path, path.stem)


def _add_texts(page: Page, paths: Iterable[Path]) -> None:
    """Add texts without their titles; the page has its own."""
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        page.text(text.partition("\n")[2] if text.startswith("# ") else text)


def _add_table(page: Page, source: Source, name: str) -> None:
    rows = source.rows(name)
    found = source.table(name) if 0 < rows <= ROWS else None
    if found is not None and found.num_columns <= COLUMNS:
        page.raw(Markup("<details><summary>{}.parquet ({} rows)</summary>").format(name, rows))
        page.table(found.to_pydict(), name=name)
        page.raw("</details>")
    elif rows:
        page.raw(Markup("<p><code>{}.parquet</code>: {} rows.</p>").format(name, f"{rows:,}"))


def add_settings(page: Page, sources: Sources) -> None:
    """Add all settings of each run, as a file that repeats it."""
    having = {name: source for name, source in sources.items() if source.settings()}
    if not having:
        return
    with page.fold("Settings"):
        for name, source in having.items():
            text = (source.path / "experiment.toml").read_text(encoding="utf-8", errors="replace")
            opening = Markup("<details{}><summary>experiment.toml{}</summary>").format(
                Markup(" open") if len(having) == 1 else "", f" of {name}" if len(having) > 1 else ""
            )
            page.raw(opening + Markup("<pre><code>{}</code></pre></details>").format(text))


def add_manifests(page: Page, sources: Sources) -> None:
    """Add the manifest of each result."""
    manifests = {name: source.manifest for name, source in sources.items() if source.manifest}
    if not manifests:
        return
    with page.fold("Manifest"):
        for name, manifest in manifests.items():
            shown = dict(manifest)
            if isinstance(command := shown.get("command"), list):
                shown["command"] = " ".join(map(str, command))
            found = leaves(shown, lists=True)
            rows = [{"key": key, "value": value} for key, value in found if not key.startswith("final.")]
            title = f"manifest.json of {name}" if len(manifests) > 1 else "manifest.json"
            page.raw(Markup("<details><summary>{}</summary>").format(title))
            page.table(rows, name="manifest").raw("</details>")
