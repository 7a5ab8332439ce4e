"""The network of a comparison: named, read from a file, carried by units, and part of their keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from sims.compare.network import network_named, network_of, network_text
from sims.compare.plan import Plan, Unit
from sub2sub.compiled.timing.settings import Timing
from sub2sub.errors import InputError

EXAMPLE = Path(__file__).parents[3] / "sims" / "examples" / "network" / "regions.toml"


def test_a_network_is_a_model_a_file_or_none() -> None:
    assert network_named("hops") is None
    assert network_named("sphere") == Timing(latency="sphere")
    found = network_named(str(EXAMPLE))
    assert found is not None
    assert (found.latency, found.jitter) == ("regions", 0.2)
    assert found.regions == EXAMPLE.with_name("regions.csv").resolve()  # relative to the file
    assert network_of(network_text(found)) == found
    assert network_of(network_text(None)) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('latency = "quick"', "latency: expected"),
        ("ms = -1.0", "network.ms: expected 0 or more"),
        ("msec = 4.0", "unknown key"),
        ('latency = "regions"\nregions = "none.csv"', "expected a CSV file"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "network.toml"
    file.write_text(text + "\n")
    with pytest.raises(InputError, match=message):
        network_named(str(file))


def test_anything_else_is_refused() -> None:
    with pytest.raises(InputError, match=r"--network: expected hops, constant, .* got 'fast'"):
        network_named("fast")


def test_units_on_other_networks_are_other_units(tmp_path: Path) -> None:
    plan = Plan(("topics",), subscribers=60, seeds=2, network=network_text(Timing()))
    assert {unit.network for unit in plan.units()} == {network_text(Timing())}
    regions = tmp_path / "regions.csv"
    keys = set()
    for far in (40, 50):
        regions.write_text(f"region,a,b\na,1,{far}\nb,{far},1\n")
        for timing in (None, Timing(), Timing(latency="regions", regions=regions)):
            keys.add(Unit("topics", "broker", 1, 60, 4, 2, 60.0, 5, network_text(timing)).key)
    assert len(keys) == 4  # what the file says counts, not its name
