"""What a machine can do: the measurements of `sub2sub bench`. Scripts in `benchmarks/` compare designs."""

from sims.bench.measurements import MEASUREMENTS, Measurement, measure
from sims.bench.results import append_results, as_rows

__all__ = ["MEASUREMENTS", "Measurement", "append_results", "as_rows", "measure"]
