"""The section with interactive overlays, for runs that recorded their links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from sims.report.html import Page
from sims.report.overlay import add_overlay, encode
from sims.report.sources import Source
from sub2sub.errors import InputError
from sub2sub.peers.settings import DisseminationSettings
from workloads.spec.files import resolve
from workloads.spec.types import types_from

MOST_LINKS = 50_000_000  # tables of an interactive overlay


def add_overlays(page: Page, sources: Mapping[str, Source], megabytes: float) -> None:
    """Add the overlays of all runs; two or more can be linked, so that they show the same event."""
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
        add_overlay(page, view, name, linked=len(recorded) > 1, first=name == next(iter(recorded)))


def _dissemination(run: Source) -> DisseminationSettings:
    given = run.settings().get("dissemination", {})
    known = {field.name for field in fields(DisseminationSettings)}
    try:
        return DisseminationSettings(**{key: value for key, value in given.items() if key in known})
    except (TypeError, InputError):
        return DisseminationSettings()


def _attributes(run: Source) -> list[str] | None:
    """Return the names of the attributes, with the meaning of coordinates; None if the run has none."""
    names = run.manifest.get("attributes")
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        types = types_from(names, run.manifest.get("types"))
        return [types[name].title(name) for name in names]
    try:
        return list(resolve(str(run.settings().get("workload", {}).get("spec"))).names)
    except (InputError, OSError):
        return None
