"""Workloads as folders of Parquet, at any address that Spark knows.

    DIR/subscriptions   DIR/events   DIR/topics   DIR/churn     by `generate` or `import`
    DIR/rejected                                                rows that `import` could not use
    DIR/matches   DIR/rings                                     by `match`
    DIR/loads                                                   by `stats`

Columns are those of `workloads.frames`. There is no other file: the type and the axis of an attribute X are
in the metadata of the column X_low, the spec and the seed in that of `subscriber`. Spark writes and
commits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sub2sub.errors import InputError
from workloads.frames import blocks
from workloads.frames.generate import churn, events, subscriptions, topics
from workloads.frames.own import Checked
from workloads.generate.topic_ranges import TopicRanges
from workloads.spec.spec import Spec
from workloads.spec.types import ValueType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARTS = ("subscriptions", "events", "topics", "churn", "rejected", "matches", "rings", "loads")


def absolute(address: str) -> str:
    """An address for Spark, whose working folder may be another one.

    Examples
    --------
    >>> absolute("s3a://bucket/w/"), absolute("dbfs:/w"), absolute("/data/w")
    ('s3a://bucket/w', 'dbfs:/w', '/data/w')
    """
    known = re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:/", address)
    return address.rstrip("/") if known else str(Path(address).resolve())


@dataclass(frozen=True)
class Saved:
    """The folder of a workload."""

    spark: SparkSession
    address: str

    def read(self, part: str) -> DataFrame | None:
        """A part of the workload; None if it is not there."""
        from pyspark.errors import AnalysisException

        try:
            found = self.spark.read.parquet(f"{absolute(self.address)}/{part}")
            return None if found.isEmpty() else found
        except AnalysisException:  # no such folder, or no complete file in it
            return None

    def require(self, part: str, command: str) -> DataFrame:
        """A part of the workload; if it is not there, an error names the command that writes it."""
        found = self.read(part)
        if found is None:
            raise InputError(f"{self.address}: no {part} yet, expected `{command}` first")
        return found

    def write(self, part: str, rows: DataFrame) -> DataFrame:
        """Write a part, instead of one that is there; return what can be read then."""
        rows.write.mode("overwrite").parquet(f"{absolute(self.address)}/{part}")
        return self.spark.read.parquet(f"{absolute(self.address)}/{part}")

    def begin(self, overwrite: bool) -> None:
        """Refuse a folder with a workload; with `overwrite`, empty all of its parts."""
        for part in PARTS:
            if (found := self.read(part)) is not None:
                if not overwrite:
                    raise InputError(
                        f"{self.address}: it has {part}, expected a new folder; --overwrite replaces it"
                    )
                nothing = self.spark.createDataFrame([], found.schema)
                self.write(part, nothing)

    def keep(self, found: Checked, set_aside: bool) -> tuple[dict[str, int], list[str]]:
        """Write own tables; return the numbers of rows, and lines about rejected rows, which are kept, too.

        Without `set_aside` a rejected row is an error.
        """
        rejected = found.rejected.cache()
        bad = rejected.count()
        if bad and not set_aside:
            table, reason, row = rejected.first() or ("", "", "")
            raise InputError(f"{table}: {reason} ({bad} such rows), the first is {row}; --set-aside goes on")
        counts = {"subscriptions": self.write("subscriptions", found.subscriptions).count(), "events": 0}
        if not counts["subscriptions"]:
            raise InputError(f"{self.address}: expected at least one subscription to import, there is none")
        if found.events is not None:
            counts["events"] = self.write("events", found.events).count()
        lines = []
        if bad:
            self.write("rejected", rejected)
            examples = [f"{row['table']}: {row['reason']}" for row in rejected.limit(3).collect()]
            lines.append(
                f"{self.address}/rejected: {bad} rows that could not be used, as {'; '.join(examples)}"
            )
        return counts | {"rejected": bad}, lines

    @property
    def attributes(self) -> dict[str, Attribute]:
        """The attributes, with their types and axes, in order."""
        rows = self.require("subscriptions", "sub2sub workload generate")
        kept = {field.name: field.metadata for field in rows.schema.fields}
        return {name: Attribute.of(kept[f"{name}_low"]) for name in blocks.attributes(rows)}


@dataclass(frozen=True)
class Attribute:
    """The type of an attribute, and the ends of its axis if they are known."""

    kind: ValueType
    ends: tuple[float, float]

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Attribute:
        """The attribute that the metadata of a column describes."""
        kind = ValueType(kept.get("type", "float"), tuple(kept.get("values", ())))
        low, high = kind.ends or (float("-inf"), float("inf"))
        return cls(kind, (kept.get("low", low), kept.get("high", high)))


def generate(
    saved: Saved, spec: Spec, subscribers: int, published: int, seed: int, at_least: int = 2, cycles: int = 0,
    source: str = "",
) -> None:  # fmt: skip
    """Write subscriptions and events of a spec, its topics and its churn.

    `source` is kept with them: the name of the spec, or the text of its file.
    """
    if bool(cycles) != (spec.churn is not None):
        raise InputError(f"cycles = {cycles}: expected a number above 0 exactly when the spec has churn")
    spark = saved.spark
    rows = subscriptions(spark, spec, subscribers, seed)
    for axis in spec.attributes:
        ends = {} if axis.kind.ends else {"low": float(axis.low), "high": float(axis.high)}
        rows = rows.withMetadata(f"{axis.name}_low", axis.kind.to_dict() | ends)
    origin = json.dumps({"spec": source or spec.name, "seed": seed})
    written = saved.write("subscriptions", rows.withMetadata("subscriber", {"workload": origin}))
    saved.write("events", events(written, spec, published, seed, at_least))
    if isinstance(spec, TopicRanges):
        saved.write("topics", topics(spark, spec))
    if cycles:
        saved.write("churn", churn(spark, spec, subscribers, cycles, seed))
