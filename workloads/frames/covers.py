"""Geofences as subscriptions: polygons become boxes that cover them, several where these are tighter.

A polygon's bounding box is cut in the middle of its longer side as long as the boxes cover more than the
polygon's area by the tolerance; the worst box is cut first, and each half shrinks to the bounds of the part
of the polygon in it. Boxes of one polygon share no point, so a point is in at most one of them; every point
of the polygon is in one. What the boxes cover besides is measured, and `exact_rings` leaves it out at the
end. Coordinates are taken as they are: a polygon across the 180th meridian has to be split, as GeoJSON asks
for.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sub2sub.errors import InputError
from workloads.frames.blocks import Batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Bounds = tuple[float, float, float, float]
LON, LAT = "lon", "lat"
_ENDS = [f"{name}_{end}" for name in (LON, LAT) for end in ("low", "high")]


def covering_boxes(polygon: Any, tolerance: float, at_most: int) -> list[Bounds]:
    """Boxes (x low, y low, x high, y high) that cover a polygon of shapely.

    Parameters
    ----------
    tolerance : float
        The area that may be covered besides, as a share of the polygon's.
    at_most : int
        Number of boxes; the tolerance may not be reached with so few.

    Examples
    --------
    >>> from shapely import Polygon
    >>> ell = Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)])
    >>> [round(float(side), 6) for box in covering_boxes(ell, 0.1, 4) for side in box]
    [0.0, 0.0, 1.0, 2.0, 1.0, 0.0, 2.0, 1.0]
    """
    order = count()
    heap = [(-_excess(polygon), next(order), polygon, polygon.bounds)]
    excess = _excess(polygon)
    while len(heap) < at_most and excess > tolerance * polygon.area:
        worst, _, part, bounds = heapq.heappop(heap)
        halves = _halves(part, bounds)
        excess += worst + sum(_excess(half) for half, _ in halves)
        for half, own in halves:
            heapq.heappush(heap, (-_excess(half), next(order), half, own))
        if len(halves) == 1 and halves[0][1] == bounds:
            break
    return sorted(bounds for _, _, _, bounds in heap)


def _excess(part: Any) -> float:
    """The area of a part's bounds beyond its own."""
    x_low, y_low, x_high, y_high = part.bounds
    return float((x_high - x_low) * (y_high - y_low) - part.area)


def _halves(part: Any, bounds: Bounds) -> list[tuple[Any, Bounds]]:
    """A part cut across its longer side, with the bounds of each half; they share no point."""
    import shapely

    x_low, y_low, x_high, y_high = bounds
    if x_high - x_low >= y_high - y_low:
        middle = (x_low + x_high) / 2
        boxes = [(x_low, y_low, middle, y_high), (middle, y_low, x_high, y_high)]
    else:
        middle = (y_low + y_high) / 2
        boxes = [(x_low, y_low, x_high, middle), (x_low, middle, x_high, y_high)]
    halves = [shapely.intersection(part, shapely.box(*box)) for box in boxes]
    if not all(half.area > 0 for half in halves):
        return [(part, bounds)]
    # The line between them belongs to the first half: of the second, only what has an area counts.
    first, second = halves[0], shapely.union_all([p for p in shapely.get_parts(halves[1]) if p.area > 0])
    side = 0 if boxes[1][0] == middle and boxes[0][2] == middle else 1
    after = list(second.bounds)
    after[side] = max(after[side], float(np.nextafter(middle, np.inf)))
    return [(first, first.bounds), (second, (after[0], after[1], after[2], after[3]))]


def covers(
    fences: DataFrame, geometry: str = "geometry", tolerance: float = 0.1, at_most: int = 16
) -> DataFrame:
    """The boxes that cover polygons.

    Parameters
    ----------
    geometry : str
        Column of polygons or multipolygons, as WKB.
    tolerance, at_most
        See `covering_boxes`.

    Returns
    -------
    DataFrame
        A row for each box: the columns of the fence, area, lon_low, lon_high, lat_low, lat_high, box (from
        0), reason. A fence that is no valid polygon has one row without a box, and a reason.
    """
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructType

    if not 0 < tolerance < np.inf or at_most < 1:
        raise InputError(f"tolerance = {tolerance}, boxes = {at_most}: expected more than 0 of each")
    reals = [pa.field(name, pa.float64()) for name in ("area", *_ENDS)]
    more = pa.schema([*reals, pa.field("box", pa.int64()), pa.field("reason", pa.string())])

    def cover(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            fence: list[int] = []
            rows: list[dict[str, Any]] = []
            for number, value in enumerate(batch.column(geometry).to_pylist()):
                polygon, reason = polygon_of(value)
                boxes = covering_boxes(polygon, tolerance, at_most) if polygon is not None else []
                for k, (x_low, y_low, x_high, y_high) in enumerate(boxes):
                    ends = dict(zip(_ENDS, (x_low, x_high, y_low, y_high), strict=True))
                    rows.append({"area": polygon.area, "box": k} | ends)
                rows += [] if boxes else [{"reason": reason}]
                fence += [number] * (len(rows) - len(fence))
            columns = pa.RecordBatch.from_pylist(rows, more).columns
            columns = [*batch.take(pa.array(fence, pa.int64())).columns, *columns]
            yield pa.record_batch(columns, [*batch.schema.names, *more.names])

    schema = StructType([*fences.schema.fields, *from_arrow_schema(more).fields])
    return fences.mapInArrow(cover, schema)


def polygon_of(wkb: bytes | None) -> tuple[Any, str | None]:
    """The polygon of a WKB, or the reason against it."""
    import shapely

    try:
        shape = None if wkb is None else shapely.from_wkb(wkb)
    except (shapely.errors.GEOSException, TypeError) as failure:
        return None, f"expected a polygon as WKB: {failure}"
    if shape is None or shape.geom_type not in ("Polygon", "MultiPolygon") or shape.is_empty:
        return None, f"expected a polygon, got {'none' if shape is None else shape.geom_type}"
    if not shape.is_valid:
        return None, f"expected a valid polygon: {shapely.is_valid_reason(shape)}"
    return shape, None


def exact_rings(
    rings: DataFrame, subscriptions: DataFrame, events: DataFrame, fences: DataFrame
) -> DataFrame:
    """The rings of boxes without the members whose polygon does not contain the event: event, ring.

    `fences` has a row for each polygon: key, geometry (WKB). Points on the border of a polygon are in it.
    """
    from pyspark.sql import functions as f

    def inside(batches: Batches) -> Iterator[pa.RecordBatch]:
        import shapely

        for batch in batches:
            shapes = shapely.from_wkb(batch.column("geometry").to_numpy(zero_copy_only=False))
            points = shapely.points(*(batch.column(name).to_numpy() for name in (LON, LAT)))
            kept = batch.filter(pa.array(shapely.covers(shapes, points)))
            yield kept.select(["event", "place", "subscriber"])

    members = rings.select("event", f.posexplode("ring").alias("place", "subscriber"))
    shapes = subscriptions.select("subscriber", "key").join(fences.select("key", "geometry"), "key")
    pairs = members.join(shapes, "subscriber")
    pairs = pairs.join(events.select("event", LON, LAT), "event").select(
        "event", "place", "subscriber", LON, LAT, "geometry"
    )
    kept = pairs.mapInArrow(inside, "event long, place int, subscriber long")
    in_order = f.sort_array(f.collect_list(f.struct("place", "subscriber")))
    return (
        kept.groupBy("event")
        .agg(in_order.alias("kept"))
        .select("event", f.col("kept.subscriber").alias("ring"))
    )
