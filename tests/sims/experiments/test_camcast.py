"""The camcast experiments in their quick form: they leave their files, and what must hold does."""

from __future__ import annotations

import json

import pytest

from sims.experiments import registry

# Claims that the project promises to reproduce, by words of theirs.
MUST_HOLD = {
    "camcast-table1": ["mean rounds of CAMCAST, within 10 %"],
    "camcast-table2": ["CAMCAST sends no parasite event", "parasite events of plain gossip, within 1 %"],
    "camcast-fig13": ["of order N ln N"],
    "camcast-fig14": ["at least one upward message"],
    "camcast-fig15": ["over all live processes", "lower for a than for d than for g"],
}


@pytest.mark.parametrize(
    "id", ["camcast-fig13", "camcast-fig14", "camcast-fig15", "camcast-fig16", "camcast-table2"]
)
def test_quick_form_leaves_claims_figure_and_tables(id, tmp_path) -> None:
    steps = []
    claims = registry.find(id).reproduce(tmp_path, quick=True, seed=1, progress=lambda *s: steps.append(s))
    folder = tmp_path / id
    assert json.loads((folder / "claims.json").read_text())[0]["id"] == id
    assert (folder / f"{id}.png").exists()
    assert list(folder.glob("*.parquet"))
    assert steps[-1][0] == steps[-1][1]
    for words in MUST_HOLD.get(id, []):
        assert any(words in claim.claim and claim.holds for claim in claims), claims


def test_table_1_holds_from_simulation(tmp_path) -> None:
    claims = registry.find("camcast-table1").reproduce(tmp_path, quick=True, seed=1)
    assert any("mean rounds of CAMCAST" in claim.claim and claim.holds for claim in claims)


def test_the_same_seed_gives_the_same_measurements(tmp_path) -> None:
    run = registry.find("camcast-fig14").reproduce
    assert run(tmp_path / "1", quick=True, seed=5) == run(tmp_path / "2", quick=True, seed=5)
