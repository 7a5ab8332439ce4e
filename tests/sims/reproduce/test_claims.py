from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from sims.figures.style import figure, line, styled
from sims.reproduce import registry
from sims.reproduce.claims import Claim, save_figure, save_table, write_claims
from sub2sub.errors import InputError


def test_claims_become_a_list_of_plain_objects(tmp_path) -> None:
    measured = {"a": np.float64(0.5), "b": np.array([1, 2]), "c": np.int64(3)}
    write_claims(tmp_path, [Claim("x-fig1", "half", "0.5", measured, holds=True)])
    assert json.loads((tmp_path / "claims.json").read_text()) == [
        {
            "id": "x-fig1",
            "claim": "half",
            "paper": "0.5",
            "measured": {"a": 0.5, "b": [1, 2], "c": 3},
            "holds": True,
        }
    ]


def test_a_table_comes_back_as_it_was(tmp_path) -> None:
    path = save_table(tmp_path / "new", "t", {"x": np.arange(3), "name": ["a", "b", "c"]})
    assert pq.read_table(path).to_pydict() == {"x": [0, 1, 2], "name": ["a", "b", "c"]}


def test_a_figure_is_a_png(tmp_path) -> None:
    with styled():
        fig, axes = figure()
        line(axes, 0, [0, 1], [1, 2], "curve")
        path = save_figure(tmp_path, "x-fig1", fig)
    assert path.read_bytes()[:4] == b"\x89PNG"


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path) -> None:
    save_table(tmp_path, "t", {"x": [1]})

    class Broken:
        def savefig(self, path, **_) -> None:
            path.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save_figure(tmp_path, "x", Broken())
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


def test_every_camcast_figure_and_table_is_registered() -> None:
    known = registry.experiments()
    expected = {f"camcast-fig{k}" for k in range(13, 29)}
    expected |= {"camcast-table1", "camcast-table2", "camcast-analysis", "camcast-scale"}
    assert expected <= known.keys()
    assert all(e.title and e.function.__doc__ for e in known.values())


def test_an_unknown_experiment_is_refused_with_the_nearest_id() -> None:
    with pytest.raises(InputError, match="did you mean 'camcast-fig13'"):
        registry.find("camcast-fg13")


def test_an_id_belongs_to_one_module() -> None:
    known = registry.find("camcast-fig13")

    def other(out, quick, seed, progress):
        return []

    with pytest.raises(ValueError, match="registered in"):
        registry.experiment("camcast-fig13", title="again")(other)
    assert registry.find("camcast-fig13") is known
