"""Opens what `sub2sub workload import` is given, as DataFrames: files at any address, tables of a catalog,
geofences."""

from __future__ import annotations

import codecs
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sub2sub.errors import InputError
from workloads.folder.tables import Rows, TextForm
from workloads.frames.covers import LAT, LON, covers
from workloads.frames.own import DAMAGED, Checked, checked
from workloads.frames.saved import absolute

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def opened(spark: SparkSession, source: str, form: TextForm) -> DataFrame:
    """A CSV file (.csv, .tsv, also .gz), Parquet (a file or a folder), an Arrow file, a catalog's table."""
    from pyspark.errors import PySparkException

    address, kind = absolute(source), Path(source.removesuffix(".gz")).suffix
    try:
        if kind in (".csv", ".tsv"):
            return _text(spark, source, form, form.delimiter_of(source, kind))
        if kind in (".arrow", ".feather"):
            return spark.createDataFrame(Rows(source).table)
        is_name = re.fullmatch(r"\w+(\.\w+)*", source) and not Path(source).exists() and kind != ".parquet"
        return spark.table(source) if is_name else spark.read.parquet(address)
    except PySparkException as failure:
        raise InputError(f"{source}: {str(failure).splitlines()[0]}") from None


def _text(spark: SparkSession, source: str, form: TextForm, delimiter: str) -> DataFrame:
    """All values as text; lines with too few or too many values are kept in the column DAMAGED."""
    try:
        charset = codecs.lookup(form.encoding).name.replace("iso8859", "iso-8859")
    except LookupError:
        raise InputError(f"{source}: unknown encoding {form.encoding!r}") from None
    given = {"sep": delimiter, "encoding": charset}
    reader = spark.read.options(header="true", escape='"', multiLine="true", **given)
    address = absolute(source)
    names = reader.csv(address).columns
    if len({*names}) < len(names):
        raise InputError(f"{source}: expected each column once")
    if strange := [name for name in names if "\N{REPLACEMENT CHARACTER}" in name]:
        raise InputError(f"{source}: expected text in {form.encoding}, a column is named {strange[0]!r}")
    schema = ", ".join(f"`{name}` string" for name in (*names, DAMAGED))
    return reader.schema(schema).options(mode="PERMISSIVE", columnNameOfCorruptRecord=DAMAGED).csv(address)


def geofences(spark: SparkSession, file: str, key: str | None = None) -> DataFrame:
    """The polygons of a GeoJSON file on this machine: key string, geometry binary (WKB)."""
    import pyarrow as pa
    import shapely
    from shapely.geometry import shape

    try:
        found = json.loads(Path(file).read_text(encoding="utf-8"))
        features = found["features"]
    except (OSError, ValueError, KeyError, TypeError) as failure:
        raise InputError(f"{file}: expected a GeoJSON file with features: {failure!r}") from None
    keys: list[str] = []
    shapes: list[Any] = []
    for number, feature in enumerate(features):
        properties = feature.get("properties") or {}
        if key is not None and properties.get(key) is None:
            raise InputError(f"{file}, feature {number}: no property {key!r}, it has {', '.join(properties)}")
        keys.append(str(properties[key] if key is not None else feature.get("id", number)))
        shapes.append(feature.get("geometry") and shapely.to_wkb(shape(feature["geometry"])))
    if len({*keys}) < len(keys):
        again = next(name for name in keys if keys.count(name) > 1)
        raise InputError(f"{file}: expected each fence once, got {again!r} again")
    rows = pa.table({"key": pa.array(keys, pa.string()), "geometry": pa.array(shapes, pa.binary())})
    return spark.createDataFrame(rows)


def checked_fences(
    fences: DataFrame, events: DataFrame | None, event_columns: dict[str, str], tolerance: float, boxes: int,
    **options: Any,
) -> tuple[Checked, str]:  # fmt: skip
    """Subscriptions that cover fences (key, geometry), one for each box, and a sentence on what they add."""
    from pyspark.sql import functions as f

    covered = covers(fences, "geometry", tolerance, boxes).cache()
    good = covered.where("reason IS NULL")
    found = checked(good, events, event_columns=event_columns, key="key", **options)
    side = [f.col(f"{name}_high") - f.col(f"{name}_low") for name in (LON, LAT)]
    own = f.sum(f.when(f.col("box") == 0, f.col("area")))
    total, area, count, polygons = good.agg(
        f.sum(side[0] * side[1]), own, f.count("*"), f.sum(f.when(f.col("box") == 0, 1))
    ).first() or (0, 0, 0, 0)
    if not count:
        raise InputError("geofences: expected at least one valid polygon, there is none")
    excess = f"{100 * (total / area - 1):.1f} %"
    sentence = f"{polygons} polygons, {count} boxes, which cover {excess} more than their area"
    against = covered.where("reason IS NOT NULL").select(
        f.lit("subscriptions").alias("table"), "reason", f.to_json(f.struct("key")).alias("row")
    )
    return found._replace(rejected=found.rejected.unionAll(against)), sentence
