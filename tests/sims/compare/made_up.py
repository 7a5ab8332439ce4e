"""Rows of comparisons as tests make them up."""

from __future__ import annotations


def values(**columns: object) -> dict[str, object]:
    return {
        "world": "topics", "system": "sub2sub", "knob": "", "loss": 0.0, "crashed": 0.0, "metric": "m",
        "seed": 1, "value": 1.0, "note": "",
    } | columns  # fmt: skip


def knobs(world: str, system: str, points: dict[str, tuple[float, float]]) -> list[dict[str, object]]:
    """Hit ratio under all faults and cost of a system's knobs, nearly the same for three seeds."""
    return [
        values(
            world=world,
            system=system,
            knob=knob,
            loss=loss,
            crashed=crashed,
            metric=metric,
            seed=seed,
            value=v + seed * 1e-6,
        )
        for knob, (hit, cost) in points.items()
        for loss, crashed in ((0.0, 0.0), (0.05, 0.0), (0.0, 0.1))
        for metric, v in (
            ("hit_ratio", hit),
            ("choosing_hit_ratio", hit),
            ("bytes_per_event", cost),
            ("bytes_per_delivery", cost / 10),
        )
        for seed in range(3)
    ]
