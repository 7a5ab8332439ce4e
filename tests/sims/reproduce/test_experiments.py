"""Every reproduction in its quick form: it leaves its files, its claims have sources, and each can be false.

What must hold is named; everything else may hold or not, and the page says which.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from sims.reproduce import registry
from sims.reproduce.claims import read_claims
from sims.reproduce.reproduction import gathered, reproduce, run_unit
from sims.runs.folder import RunFolder
from tests.sims.reproduce.mutations import never_false

# Claims that the project promises to reproduce, by words of theirs.
MUST_HOLD = {
    "camcast-shared": ["parasite events", "along the rings", "no fault", "5 % loss"],
    "sub2sub-fig5": ["cycles until all rings are complete"],
    "sub2sub-fig6": ["first cycle from which on"],
    "sub2sub-fig7b": ["complete on a settled overlay", "grow logarithmically"],
    "sub2sub-shortcuts": ["linear time"],
    "sub2sub-text": ["once or a few more times"],
    "sub2sub-crash": ["until all rings are complete again", "reaches everybody again"],
    "sub2sub-return": ["after their return"],
    "sub2sub-churn": [
        "hit ratio, worst seed",
        "upkeep messages beside",
        "with recovery",
        "newcomer gets in its second",
    ],
    "sub2sub-loss": ["until all rings are complete"],
    "sub2sub-partition": ["after the merge"],
    "sub2sub-choices": ["cannot be capped"],
    "cyclon-graph": ["average path length", "standard deviation of in-degrees"],
    "camcast-fig13": ["as a share of N (ln N + c)"],
    "camcast-table2": ["parasite events of plain gossip", "PMcast sends fewer"],
    "camcast-one-topic": ["with one topic"],
    "camcast-memberships": [
        "Figure 19, community d: reception at p_sel = 1",
        "within one of ln N",
        "Figure 27, community d: upward messages",
    ],
    "hpmcast-fig9": ["more at every lower p"],
    "hpmcast-views": ["R a (l - 1) + a", "to be updated", "further level"],
    "hpmcast-repair": ["exactly right"],
    "hpmcast-coverage": ["pass an event in vain"],
    "hpmcast-depth": ["never more with more"],
    "hpmcast-event-coverage": ["pass an event in vain"],
    "hpmcast-improvements": ["digests", "adjusted share (fewer"],
    "hpmcast-upkeep": ["distance of the contact", "dedicated messages"],
    "pmcast-chain": ["largest difference of the mean"],
}
IDS = [id for id in registry.files() if not id.startswith("live-")]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("quick")


@pytest.mark.parametrize("id", IDS)
def test_quick_form_leaves_files_and_claims_that_can_fail(id: str, out: Path) -> None:
    steps: list[tuple[int, int]] = []
    found = registry.find(id)
    claims = reproduce([found], out, quick=True, progress=lambda *step: steps.append(step))[id]
    assert not isinstance(claims, str), claims
    run = RunFolder.open(out / id)
    assert steps[-1][0] == steps[-1][1]
    assert (out / id / f"{id}.png").exists()
    assert read_claims(run.path) == claims
    assert all(claim.id == id and claim.source and "(quick form)" in claim.scale for claim in claims)
    for words in MUST_HOLD.get(id, []):
        mine = [claim for claim in claims if words in claim.claim and claim.holds is not None]
        assert mine
        assert all(claim.holds for claim in mine), mine
    tables = {name: run.table(name).to_pandas() for name in run.tables()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert never_false(found, tables) == []


def test_an_earlier_run_is_judged_again_from_its_tables(out: Path) -> None:
    found = registry.find("hpmcast-fig9")
    if not (out / "hpmcast-fig9").exists():
        reproduce([found], out, quick=True)
    before = read_claims(out / "hpmcast-fig9")
    (out / "hpmcast-fig9" / "claims.json").unlink()
    assert found.again(out, formats=("svg",)) == before == read_claims(out / "hpmcast-fig9")
    assert (out / "hpmcast-fig9" / "hpmcast-fig9.svg").exists()


@pytest.mark.parametrize("id", ["camcast-fig14", "hpmcast-fig13"])
def test_the_same_seed_gives_the_same_measurements(id: str) -> None:
    units, others = (registry.find(id).plan(True, 5).units() for _ in range(2))
    assert [unit.key for unit in units] == [unit.key for unit in others]
    first, again = (gathered([run_unit(own[-1].settings)]) for own in (units, others))
    assert all(first[name].equals(again[name]) for name in first)
