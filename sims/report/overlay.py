"""Interactive overlays: recorded views in a page, with the scripts that disseminate events over them.

The page contains the views in their order and the numbers on which random draws depend. So an event in the
page takes the same way as in `sub2sub.compiled.events.dissemination.disseminate`. A ring view is stored as
the gaps between its neighbours, most of which fit into one byte. Recorded cycles that would make the page too
large are left out, first those closest to others; the first and the last cycle are kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from sims.report.cells import asset, template
from sims.report.html import Page
from sims.report.packing import Packer, as_json, smallest
from sims.report.sources import Source
from sub2sub.compiled.events.audience import STREAM as ENTRY
from sub2sub.compiled.events.hosts import hosts_of
from sub2sub.errors import InputError
from sub2sub.overlay.explorer import domain_of
from sub2sub.peers.forwarding import STREAM as DISSEMINATION
from sub2sub.peers.settings import DisseminationSettings
from workloads.arrays import Floats, Integers
from workloads.spec.catalogue import resolve
from workloads.spec.types import types_from

MEGABYTES = 8.0
VIEWS = {"near": "vicinity", "random": "cyclon", "ring": "ring"}
_SHARED = ("draws", "spread", "plane", "ring", "player")  # with the laboratory and notebooks
_SCRIPTS = ("data", "words", "find", "links", "controls", "view")


@dataclass(frozen=True)
class OverlayView:
    """A recorded overlay as it is stored in a page.

    Attributes
    ----------
    head : dict
        Everything except the arrays, see `assets/view/data.js`.
    packer : Packer
        The arrays.
    left_out : list of int
        Recorded cycles that are not in the page.
    """

    head: dict[str, Any]
    packer: Packer
    left_out: list[int] = field(default_factory=list)

    @property
    def arrays(self) -> set[str]:
        """Names of the arrays that the head refers to."""
        return set(_names(self.head))


def encode(
    peers: pa.Table,
    links: pa.Table,
    *,
    seed: int = 0,
    settings: DisseminationSettings | None = None,
    attributes: list[str] | None = None,
    megabytes: float = MEGABYTES,
) -> OverlayView:
    """Pack the tables `peers` and `links` of a run folder.

    Parameters
    ----------
    peers : pyarrow.Table
        `peer`, `low_0` .., `high_0` ..; and, where recorded, `cycle`, `id`, `alive`, `host`, `group`.
        Without `cycle` the peers are the same in all cycles.
    links : pyarrow.Table
        `cycle`, `kind`, `source`, `target`, the links of a view in its order; and, where recorded, `stamp`,
        the cycle a link was made in: those too old for shortcuts (`settings`) are left out of the page.
    seed : int
        Random seed of the run.
    settings : DisseminationSettings
        Dissemination settings at first; the reader can change them in the page.
    attributes : list of str, optional
        Names of the attributes.
    megabytes : float
        Size limit of the arrays in the page.

    Raises
    ------
    InputError
        If columns are missing or links name peers that do not exist.
    """
    _check_columns(peers, links)
    d = sum(name.startswith("low_") for name in peers.column_names)
    cycles = sorted(set(links["cycle"].to_pylist()))
    if not cycles:
        raise InputError("links: expected links of at least one cycle, the table is empty")
    packer, shots = Packer(), []
    how = settings or DisseminationSettings()
    ends: list[tuple[Floats, Floats]] = []
    for cycle in cycles:
        there = peers if "cycle" not in peers.column_names else peers.filter(pc.equal(peers["cycle"], cycle))
        if there.num_rows == 0:
            raise InputError(f"peers: expected rows for cycle {cycle}, of which links were recorded")
        there = there.sort_by("peer")
        held = links.filter(pc.equal(links["cycle"], cycle))
        lows, highs = (
            np.stack([there[f"{side}_{k}"].to_numpy() for k in range(d)], axis=1) for side in ("low", "high")
        )
        ends.append((lows, highs))
        shots.append(_snapshot(packer, cycle, there, lows, highs, _young(held, how.max_age)))
    head = {
        "seed": str(seed),
        "streams": {"entry": str(ENTRY), "dissemination": str(DISSEMINATION)},
        "how": {
            "shortcuts": how.shortcuts, "ringShortcuts": how.ring_shortcuts, "tries": how.tries,
            "retries": how.retries,
        },
        "attributes": attributes if len(attributes or ()) == d else [f"attribute {k}" for k in range(d)],
        "domain": domain_of(ends),
    }  # fmt: skip
    kept, left_out = _fit(packer, shots, megabytes)
    return OverlayView({**head, "snapshots": kept}, packer, left_out)


def add_overlay(page: Page, view: OverlayView, name: str, linked: bool = False, first: bool = True) -> None:
    """Add an overlay to a page; if `linked`, it can show the events of others; the first has instructions."""
    head = as_json(view.head)
    key = f"overlay-{hashlib.sha256(head.encode()).hexdigest()[:8]}"
    page.style(asset("links.css", "sub2sub.overlay"))
    page.style(asset("view/view.css"))
    page.script(scripts())
    page.raw(Markup('<script type="application/json" id="{}">{}</script>').format(key, head))
    page.raw(view.packer.html(view.arrays))
    page.raw(template("view/view.html").render(key=key, name=name, linked=linked, first=first))


def scripts() -> Markup:
    """Return the scripts of the view, in the order of their dependencies."""
    shared = [asset(f"{name}.js", "sub2sub.overlay") for name in _SHARED]
    return Markup("\n").join([*shared, *(asset(f"view/{name}.js") for name in _SCRIPTS)])


def _check_columns(peers: pa.Table, links: pa.Table) -> None:
    for name, table in (("peers", peers), ("links", links)):
        needed = ("peer", "low_0", "high_0") if name == "peers" else ("cycle", "kind", "source", "target")
        for column in needed:
            if column not in table.column_names:
                raise InputError(f"{name}: expected a column {column!r}, got {', '.join(table.column_names)}")


def _snapshot(
    packer: Packer, cycle: int, peers: pa.Table, lows: Floats, highs: Floats, links: pa.Table
) -> dict[str, Any]:
    n = len(lows)
    if not np.array_equal(peers["peer"].to_numpy(), np.arange(n)):
        raise InputError(f"peers: expected each of the peers 0 to {n - 1} once in cycle {cycle}")
    alive = peers["alive"].to_numpy() if "alive" in peers.column_names else np.ones(n)
    shot: dict[str, Any] = {
        "cycle": int(cycle), "n": n, "low": packer.add(lows), "high": packer.add(highs),
        "alive": packer.add(alive.astype(np.uint8)),
    }  # fmt: skip
    if "id" in peers.column_names:
        shot["id"] = packer.add(peers["id"].to_numpy().astype(np.uint64))
    if "group" in peers.column_names and (group := peers["group"].to_numpy()).any():
        shot["group"] = packer.add(group.astype(np.uint8))
    if "host" in peers.column_names:
        hosts = hosts_of(peers["host"].to_numpy(), alive.astype(np.uint8))
        if hosts.of.size:
            of, start, there = (part.astype(np.int32) for part in hosts)
            shot["hosts"] = {"of": packer.add(of), "start": packer.add(start), "peers": packer.add(there)}
    source, target = (links[name].to_numpy() for name in ("source", "target"))
    bad = np.flatnonzero((source < 0) | (source >= n) | (target < 0) | (target >= n))
    if bad.size:
        raise InputError(f"links row {bad[0]} of cycle {cycle}: expected peers below {n}")
    for view, name in VIEWS.items():
        mine = pc.equal(links["kind"].cast(pa.string()), name).to_numpy()
        shot[view] = _pack_view(packer, n, source[mine].astype(np.int64), target[mine].astype(np.int64), view)
    return shot


def _young(links: pa.Table, max_age: int) -> pa.Table:
    """The links without proximity and random ones that are too old for shortcuts (`Links.younger`)."""
    if not max_age or "stamp" not in links.column_names:
        return links
    kinds, stamps = links["kind"].cast(pa.string()).to_numpy(), links["stamp"].to_numpy()
    young = np.ones(len(stamps), bool)
    for name in (VIEWS["near"], VIEWS["random"]):
        mine = kinds == name
        young[mine] = stamps[mine] >= stamps[mine].max(initial=0) - max_age
    return links.filter(pa.array(young))


def _pack_view(packer: Packer, n: int, source: Integers, target: Integers, view: str) -> dict[str, Any]:
    sizes = packer.add(smallest(np.bincount(source, minlength=n)))
    if view != "ring":
        order = np.argsort(source, kind="stable")
        return {"size": sizes, "target": packer.add(smallest(target[order]))}
    way = (target - source) % n  # distance along the ring
    order = np.lexsort((way, source))
    source, way = source[order], way[order]
    before = np.where(np.append(True, source[1:] != source[:-1])[: way.size], 0, np.append(0, way)[:-1])
    return {"size": sizes, "gap": packer.add(smallest(way - before))}


def _fit(
    packer: Packer, shots: list[dict[str, Any]], megabytes: float
) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the snapshots that fit into the limit, and the cycles of the others."""
    kept, left_out = list(shots), []
    while packer.bytes_of(set(_names(kept))) > megabytes * 1e6:
        if len(kept) == 1:
            size = packer.bytes_of(set(_names(kept))) / 1e6
            raise InputError(
                f"links: one recorded cycle takes {size:.1f} MB of a page, expected at most {megabytes:g} MB "
                "(--megabytes)"
            )
        cycles = [shot["cycle"] for shot in kept]
        inner = range(1, len(kept) - 1) if len(kept) > 2 else range(1)
        crowded = min(inner, key=lambda k: cycles[k + 1] - cycles[k - 1] if k else 0)
        left_out.append(kept.pop(crowded)["cycle"])
    return kept, sorted(left_out)


def _names(value: Any) -> Iterator[str]:
    """Return the names of the arrays to which a part of a head refers."""
    if isinstance(value, Mapping):
        if "at" in value:
            yield value["at"]
        else:
            for part in value.values():
                yield from _names(part)
    elif isinstance(value, list):
        for part in value:
            yield from _names(part)


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
