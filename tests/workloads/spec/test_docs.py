"""Every TOML file shown in docs/workloads.md can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from workloads.spec.files import load
from workloads.spec.table_files import open_stored
from workloads.sweeps.sweep_file import load_sweep

TEXT = (Path(__file__).parents[3] / "docs" / "workloads.md").read_text()
FILES: dict[str, str] = dict(re.findall(r"```toml\n# (\S+)\n(.*?)```", TEXT, re.DOTALL))


def test_there_are_some() -> None:
    assert FILES.keys() == {"stocks.toml", "news.toml", "churning.toml", "sweep.toml", "orders.toml"}


@pytest.mark.parametrize("name", FILES)
def test_it_is_understood(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FILES[name])
    if name == "sweep.toml":
        (tmp_path / "crash.toml").write_text("")
        assert len(load_sweep(tmp_path / name).runs()) == 60
    elif name == "orders.toml":
        row = "1;2;Rome;info;me\n3;4;Bern;error;you\n"
        (tmp_path / "orders.csv").write_text("min_price;max_price;city;level;customer\n" + row)
        (tmp_path / "trades.csv").write_text("amount;city;level\n1.5;Rome;info\n")
        stored = open_stored(tmp_path / name)
        assert [kind.kind for kind in stored.types.values()] == ["float", "string", "enum"]
    else:
        assert load(tmp_path / name).subscriptions(3, seed=1)[0].shape[0] == 3
