"""Subscriptions from a pandas or Arrow table, or from a file; then a simulation of the subscribers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

from sims.engine import Schedule, Simulation
from sims.observers import Delivery
from sub2sub.errors import InputError
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from workloads.folder.foreign import read_events, read_subscriptions


def main() -> None:
    """Read orders as subscriptions and trades as events, and deliver the trades."""
    rng = np.random.default_rng(1)
    price = rng.lognormal(3, 0.5, 400)
    orders = pd.DataFrame(
        {"min_price": 0.9 * price, "max_price": 1.1 * price, "lots": rng.integers(1, 5, 400)}
    )
    columns = {"price": ("min_price", "max_price"), "lots": "lots"}  # a range, and an exact value
    names, lows, highs = read_subscriptions(orders, columns)
    print(f"{len(lows)} subscriptions on {', '.join(names)}")

    orders.loc[7, "max_price"] = 0.0  # a row that cannot be used
    try:
        read_subscriptions(orders, columns)
    except InputError as error:
        print(error)
    orders.loc[7, "max_price"] = highs[7, 0]

    # The same as an Arrow table; Parquet, CSV and Feather files are read by their path.
    _, same, _ = read_subscriptions(pa.Table.from_pandas(orders), columns)
    print(f"the Arrow table gives the same subscriptions: {np.array_equal(lows, same)}")

    trades = pd.DataFrame({"price": rng.lognormal(3, 0.5, 100), "lots": rng.integers(1, 5, 100)})
    events = read_events(trades, names)
    overlay = Overlay(Population.of(lows, highs, seed=1), seed=1)
    overlay.bootstrap()
    simulation = Simulation(overlay, [(Schedule(at=30), Delivery(events))])
    simulation.run(30)
    row = simulation.tables["delivery"][0]
    print(f"hit ratio {row['hit_ratio']:.0%}, {row['spam']} messages to peers that do not match")


if __name__ == "__main__":
    main()
