"""A hundred wrong inputs, to all commands: each is answered by one line that says what was expected."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from sims.cli.app import main

FILES = {
    "ab.csv": "a,b\n1,2\n",
    "good.csv": "price_low,price_high\n1,2\n3,4\n",
    "reversed.csv": "price_low,price_high\n1,2\n9,4\n",
    "nan.csv": "price_low,price_high\nnan,2\n",
    "word.csv": "price_low,price_high\n1,2\nx,4\n",
    "word-events.csv": "price\n3\nx\n",
    "ragged.csv": "price_low,price_high\n1,2\n3\n",
    "twice.csv": "price_low,price_low,price_high\n1,1,2\n",
    "head.csv": "price_low,price_high\n",
    "empty.csv": "",
    "bytes.parquet": "no Parquet",
    "broken.toml": "cycles = = 3\n",
    "key.toml": "[population]\nsise = 3\n",
    "type.toml": "cycles = 'many'\n",
    "kind.toml": "[[faults]]\nkind = 'crush'\n",
    "grid.toml": "experiment = 'sub2sub-fig5'\n[grid]\n'population.size' = []\n",
    "variants.toml": "[[variants]]\nname = 'x'\nsystem = 'gosip'\n",
    "spec.toml": "name = 'x'\n[[attributes]]\n",
    "folder/experiment.toml": "cycles = 3\n",
}
WRONG = r"""
    run nosuch | nosuch: expected a .toml file or the name of an experiment
    run demo --table nosuch.csv | '--table': File 'nosuch.csv' does not exist
    run demo --table dir | File 'dir' is a directory
    run demo --table empty.csv | empty.csv: Empty CSV file
    run demo --table head.csv | head: expected at least 2 subscriptions, got 0
    run demo --table ab.csv | ab.csv: expected columns X_low and X_high for each attribute X
    run demo --table ab.csv --column price=a,c | ab.csv: no column 'c', expected one of a, b
    run demo --table ab.csv --column price | 'price': expected ATTRIBUTE=COLUMN
    run demo --table reversed.csv | reversed.csv, line 3: price: low 9.0 > high 4.0
    run demo --table nan.csv | nan.csv, line 2: price low: expected a finite number, got 'nan'
    run demo --table word.csv | word.csv, line 3: price low: expected a finite number, got 'x'
    run demo --table ragged.csv | ragged.csv, line 3: expected 2 values, got 1
    run demo --table twice.csv | twice.csv: expected each column once, got 'price_low' twice
    run demo --table latin.csv | latin.csv: expected text in utf-8
    run demo --table bytes.parquet | bytes.parquet: Parquet magic bytes not found
    run demo --table good.csv --event-table word-events.csv | word-events.csv, line 3: price: expected a
    run demo --table good.csv --event-table ab.csv | ab.csv: no column 'price', expected one of a, b
    run demo --table good.csv --event-table nosuch.csv | nosuch.csv: there is no such file
    run demo --column price=a,b | expected --table with them
    run demo --set population.size=-5 | population.size: expected 0 or more, got -5
    run demo --set population.size=nan | population.size: expected a whole number, got nan
    run demo --set population.sise=5 | unknown key, did you mean 'size'?
    run demo --set nothing | --set nothing: expected KEY=VALUE
    run demo --set cycles=0 | cycles: expected 1 or more, got 0
    run demo --set system=gosip | did you mean 'gossipsub'?
    run demo --set workload=3 | workload: expected a table, got 3
    run demo --set network=x | network: expected a table, got "x"
    run demo --set layers.ring.cap=-1 | ring.cap: expected 0 or more, got -1
    run demo --set 'faults=[{kind="crash", at=-5, share=0.1}]' | at: expected cycle 0 or later, got -5
    run demo --set 'faults=[{kind="crash", at=5, share=1.5}]' | crash.share: expected a share from 0
    run demo --seed -1 | '--seed': -1 is not in the range
    run demo --resume --overwrite | expected one or the other
    run demo --out ab.csv | 'ab.csv' is a file
    run demo --out '' | '--out': expected a path, it is empty
    run folder | folder is a run folder: expected --resume
    run broken.toml | broken.toml: Invalid value (at line 1, column 10)
    run key.toml | key.toml:2: population.sise: unknown key
    run type.toml | type.toml:1: cycles: expected a whole number, got "many"
    run kind.toml | faults.0.kind: expected one of churn, crash
    report nosuch | nosuch: expected a folder
    report ab.csv | ab.csv: expected a folder
    report dir | dir: expected a run folder
    report | Missing argument 'FOLDER...'
    report folder --megabytes nan | nan is not a number
    compare --world mars | 'mars' is not one of 'usual', 'topics'
    compare --only gosip | 'gosip': expected one of sub2sub
    compare --world ranges --workload nosuch.csv | nosuch.csv: there is no such file
    compare --world ranges --workload reversed.csv | reversed.csv, line 3: price: low 9.0 > high 4.0
    compare --world topics --tree nosuch.txt | nosuch.txt: [Errno 2] No such file
    compare --subscribers 1 | '--subscribers': 1 is not in the range
    compare --events x | '--events': 'x' is not a valid integer
    compare --network nosuch.toml | nosuch.toml: No such file
    compare --fault 2,0 | from 0 to 1
    compare --fault a | --fault: expected two shares such as 0.05,0, got a
    compare --budget -1 | budget = -1.0: expected milliseconds
    compare --cost nothing | cost: expected one of bytes_per_delivery
    compare --system nosuch:Class | runs only with consent: --allow nosuch
    compare variants.toml | 'gosip': expected one of sub2sub
    compare nosuch.toml | 'nosuch.toml' does not exist
    advise nosuch.csv | 'nosuch.csv' does not exist
    advise head.csv | head: expected at least 2 subscriptions, got 0
    advise good.csv --rate x | --rate: expected a number of events such as 5/s, 100/min, 20/h, got 'x'
    reproduce nosuch | 'nosuch' is unknown; expected one of sub2sub-fig5
    reproduce --page nosuch | expected the results of at least one reproduction, found none
    sweep nosuch.toml --out o | 'nosuch.toml' does not exist
    sweep grid.toml --out o | grid.toml:2: grid.population.size: expected a list of values, got []
    stats nosuch | 'nosuch' does not exist
    stats dir | dir: expected a workload, a sweep or finished runs, found none
    example nosuch | nosuch: expected one of debian
    schema nosuch | 'nosuch' is not one of 'experiment'
    trace --peers 0 | '--peers': 0 is not in the range
    trace --peers x | 'x' is not a valid integer
    lab nosuch.toml | nosuch.toml: there is no such file
    compare --topic-separator :: | expected with --tree, whose names they read
    compare --implied-topics | expected with --tree, whose names they read
    compare --tree topics.txt --topic-separator "" | --topic-separator: expected text without spaces, got ''
    compare --world topics --tree none.csv --quick | sub2sub: none.csv: there is no such file
    lab --port 99999999 | '--port': 99999999 is not in the range
    live topic --subscribe soccer | expected a path such as '.soccer.italy', got 'soccer'
    live shared --subscribe .x | '.x' is unknown, expected one of the 1 topics
    live shared --subscribe x | expected LOW:HIGH,LOW:HIGH,..., got 'x'
    live shared --subscribe 3:1 | expected a low not above its high
    live peer --subscribe 3:1 | expected a low not above its high
    live peer --subscribe 0:nan | expected a number, got nan
    live peer --listen nowhere | listen: expected HOST:PORT, got 'nowhere'
    live peer --contact x | contacts: expected HOST:PORT, got 'x'
    live peer --config nosuch.toml | nosuch.toml: No such file
    live peer --config key.toml | key.toml:1: population: unknown key
    live peer --set period=-1 | period: expected seconds above 0, got -1.0
    live status nosuch | expected that of a running node, got nosuch
    live ca issue alice --folder nosuch | expected an authority's
    live ca init --days -3 | '--days': -3.0 is not in the range
    live swarm --peers 1 | '--peers': 1 is not in the range
    live swarm --kill 2 | '--kill': 2.0 is not in the range
    workload generate --spec spec.toml --subscribers 5 --out w | spec.toml:2: attributes.0.name: expected a
    workload generate --spec nosuch --subscribers 5 --out w | 'nosuch': expected uniform-D or power-law-D
    workload generate --spec uniform-1 --subscribers -5 --out w | '--subscribers': -5 is not in the range
    workload generate --spec uniform-1 --subscribers 5 --out w --conf x | --conf x: expected spark.KEY=VALUE
    workload import good.csv --type price=colour --out w | expected one of float, int, bool
    workload match nosuch | 'nosuch' does not exist
    warm x | unexpected extra argument
"""  # fmt: skip
CASES = [tuple(line.strip().split(" | ")) for line in WRONG.strip().splitlines()]
ON_SPARK = [
    ("workload import nosuch.csv --out w", "nosuch.csv: [PATH_NOT_FOUND] Path does not exist"),
    ("workload import ab.csv --column price=a,c --out w", "ab.csv: no column 'c', expected one of a, b"),
    ("workload import word.csv --out w", "price low: expected a finite number, got 'x'"),
    ("workload match dir", "dir: no subscriptions yet, expected `sub2sub workload generate` first"),
]


@pytest.fixture(scope="module")
def mistaken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files that are wrong in one way each."""
    folder = tmp_path_factory.mktemp("mistaken")
    (folder / "dir").mkdir()
    (folder / "folder").mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    (folder / "latin.csv").write_bytes(b"pr\xe9_low,pr\xe9_high\n1,2\n")
    return folder


def _is_refused_in_one_line(typed: str, said: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    before = sorted(os.listdir())
    result = CliRunner().invoke(main, shlex.split(typed))
    assert (result.exit_code, result.output.count("\n")) == (2, 1), result.output
    assert result.output.startswith("sub2sub: ")
    assert said in result.output
    assert sorted(os.listdir()) == before  # nothing is left behind


@pytest.mark.parametrize(("typed", "said"), CASES, ids=[typed for typed, _ in CASES])
def test_a_wrong_input_is_one_line(
    typed: str, said: str, mistaken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _is_refused_in_one_line(typed, said, mistaken, monkeypatch)


@pytest.mark.spark
@pytest.mark.parametrize(("typed", "said"), ON_SPARK, ids=[typed for typed, _ in ON_SPARK])
def test_a_wrong_input_is_one_line_on_spark(
    typed: str, said: str, mistaken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _is_refused_in_one_line(typed, said, mistaken, monkeypatch)
