"""Folders by address: the same bytes in an object store as here, and other addresses are refused."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyarrow import fs

import workloads
from sub2sub.errors import InputError
from tests.workloads.generate.test_generate import digests
from workloads.cli.group import cli
from workloads.files import places
from workloads.files.atomic import atomic_write, write_text
from workloads.files.places import place
from workloads.folder.layout import open_workload
from workloads.generate.generate import generate
from workloads.match.rings import list_rings
from workloads.match.tiles import count_rings, ring_sizes
from workloads.statistics.workload import write_statistics


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A bucket of an S3 store on this machine."""
    server = pytest.importorskip("moto.server").ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    address = "http://{}:{}".format(*server.get_host_and_port())
    names = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "us-east-1"}
    for name, value in (names | {"AWS_ENDPOINT_URL": address}).items():
        monkeypatch.setenv(name, value)
    places._store.cache_clear()
    owner = fs.S3FileSystem(
        endpoint_override=address, region="us-east-1", allow_bucket_creation=True, request_timeout=120
    )
    owner.create_dir("bucket")
    yield "s3a://bucket"
    places._store.cache_clear()
    server.stop()


def remote_digests(folder: Path) -> dict[str, str]:
    found = {}
    for path in folder.iterdir():
        if path.is_dir():
            found |= {f"{path.name}/{name}": digest for name, digest in remote_digests(path).items()}
        else:
            found[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def make(out: Path) -> None:
    workload = generate(workloads.named("uniform-3"), 2000, 80, seed=3, out=out)
    count_rings(workload)
    list_rings(workload)


def test_an_object_store_holds_the_same_bytes_as_a_folder(tmp_path: Path, bucket: str) -> None:
    make(tmp_path / "w")
    there = place(f"{bucket}/some/w")
    make(there)
    assert remote_digests(there) == digests(tmp_path / "w")
    workload = open_workload(there)
    assert ring_sizes(workload).tolist() == ring_sizes(open_workload(tmp_path / "w")).tolist()
    out = write_statistics(workload, there / "statistics", peers=3, megabytes=0)
    assert "| ring length | 80 |" in (out / "statistics.md").read_text()
    with pytest.raises(InputError, match="s3://bucket/some/w: expected an empty or new folder"):
        generate(workloads.named("uniform-3"), 20, 8, seed=3, out=there)


def test_a_file_that_could_not_be_written_is_not_there(bucket: str) -> None:
    path = place(f"{bucket}/a/b.txt")
    with suppress(ZeroDivisionError), atomic_write(path) as draft:
        draft.write_text("half")
        raise ZeroDivisionError
    assert not path.exists()
    assert write_text(path, "all").read_text() == "all"
    assert [found.name for found in path.parent.iterdir()] == ["b.txt"]


def test_the_commands_take_file_addresses(tmp_path: Path) -> None:
    def call(*words: str) -> str:
        return CliRunner().invoke(cli, words, catch_exceptions=False).output

    address = f"{tmp_path.as_uri()}/w"
    generate_words = ("generate", "--spec", "uniform-1", "--subscribers", "50", "--events", "5", "--out")
    assert "50 subscriptions" in call(*generate_words, address)
    assert (tmp_path / "w" / "manifest.json").exists()
    assert "5 events, rings of" in call("match", address, "--quiet")
    assert "does not exist" in call("match", f"{tmp_path.as_uri()}/v")


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("hdfs://name:8020/w", "hdfs:// is not supported, expected a path"),
        ("gs://bucket/w", "gs:// is not supported"),
        ("abfss://a@b/w", "abfss:// is not supported"),
        ("file://host/w", "expected file:///PATH"),
        ("s3://", "expected s3://BUCKET/PATH"),
    ],
)
def test_other_addresses_are_refused_and_make_no_folders(
    address: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=reason):
        CliRunner().invoke(
            cli,
            ["generate", "--spec", "uniform-1", "--subscribers", "5", "--out", address],
            catch_exceptions=False,
        )
    assert not list(tmp_path.iterdir())
