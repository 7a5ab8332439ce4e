"""The camcast experiments in their quick form: they leave their files, and what must hold does."""

from __future__ import annotations

import json

import pytest

from sims.reproduce import registry

# Claims that the project promises to reproduce, by words of theirs.
MUST_HOLD = {
    "camcast-table1": ["mean rounds of CAMCAST, within 10 %"],
    "camcast-table2": ["CAMCAST sends no parasite event", "parasite events of plain gossip, within 1 %"],
    "camcast-fig13": ["of order N ln N"],
    "camcast-fig14": ["at least one upward message"],
    "camcast-fig15": ["over all live processes", "lower for a than for d than for g"],
    "camcast-fig16": ["reliability increases rapidly"],
    "camcast-fig17": ["tables of (b + 1) ln N"],
    "camcast-fig18": ["tables of (b + 1) ln N"],
    "camcast-fig19": ["converge to a reception probability of 100 %", "topic tables average ln N"],
    "camcast-fig21": ["100 % reliability with 7 %"],
    "camcast-fig23": ["efficiency falls"],
    "camcast-fig25": ["latency decreases"],
    "camcast-fig27": ["in proportion to p_sel"],
    "camcast-analysis": ["messages:", "memory:", "reliability:", "as reliable as (a)", "as reliable as (b)"],
}


@pytest.mark.parametrize("id", MUST_HOLD)
def test_quick_form_leaves_claims_figure_and_tables(id, tmp_path) -> None:
    steps = []
    claims = registry.find(id).reproduce(tmp_path, quick=True, seed=1, progress=lambda *s: steps.append(s))
    folder = tmp_path / id
    assert json.loads((folder / "claims.json").read_text())[0]["id"] == id
    assert (folder / f"{id}.png").exists()
    assert list(folder.glob("*.parquet"))
    assert steps[-1][0] == steps[-1][1]
    for words in MUST_HOLD[id]:
        assert any(words in claim.claim and claim.holds for claim in claims), claims


def test_the_same_seed_gives_the_same_measurements(tmp_path) -> None:
    run = registry.find("camcast-fig14").reproduce
    assert run(tmp_path / "1", quick=True, seed=5) == run(tmp_path / "2", quick=True, seed=5)
