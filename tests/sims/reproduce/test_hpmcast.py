"""The hpmcast experiments in their quick form: they leave their files, and what must hold does."""

from __future__ import annotations

import json

import pytest

from sims.reproduce import registry

# Claims that the project promises to reproduce, by words of theirs.
MUST_HOLD = {
    "hpmcast-fig7": ["very good degree of reliability", "decreases with small fractions"],
    "hpmcast-fig9": ["the rounds first rise", "become 0 at p n = 1", "far below 0"],
    "hpmcast-fig11": ["scales well", "worse for small p"],
    "hpmcast-fig12": ["little is gained beyond R > 1, 0 %", "little is gained beyond R > 1, 10 %"],
    "hpmcast-fig13": ["clearly better with the threshold", "no worse anywhere"],
    "hpmcast-views": ["R a (l - 1) + a", "participants to be updated", "mean level"],
    "pmcast-chain": ["the chain gives the number of infected"],
    "hpmcast-repair": ["every view of every survivor", "and stays there"],
    "hpmcast-coverage": ["lets more pass in vain", "a weak filter loses no event"],
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


def test_figure_8_is_reported_for_a_named_constant_and_not_as_reproduced(tmp_path) -> None:
    claims = registry.find("hpmcast-fig8").reproduce(tmp_path, quick=True, seed=1)
    assert "c = 0" in claims[0].claim
    assert claims[0].measured[0] == pytest.approx(0.88, abs=0.02)
    assert not claims[0].holds
    assert (tmp_path / "hpmcast-fig8" / "hpmcast-fig8.png").exists()


def test_the_same_seed_gives_the_same_measurements(tmp_path) -> None:
    run = registry.find("hpmcast-repair").reproduce
    assert run(tmp_path / "1", quick=True, seed=5) == run(tmp_path / "2", quick=True, seed=5)
