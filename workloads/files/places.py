"""Folders by address: paths of this machine, `file://`, and object stores that Arrow can reach (`s3://`, `s3a://`).

`place` returns a `Path` for an address on this machine and a `Remote` for an object store. A `Remote` has the
methods of `Path` that reading and writing folders of results need, over Arrow's file systems. A file is first
written on this machine and then uploaded as one object, so it is complete or absent in the store, too.

Credentials and the region of an S3 store are found as Amazon's tools find them. The address of a store other
than Amazon's is AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL. Workers need these variables as well
(`--conf spark.executorEnv.AWS_ENDPOINT_URL=...`).

HDFS is refused: Arrow needs `libhdfs` of a Hadoop installation to reach it, and its files are visible while
they are being written. The stores of Google and Azure are refused because they were not tested.
"""

from __future__ import annotations

import io
import os
import re
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlsplit

from sub2sub.errors import InputError

if TYPE_CHECKING:
    from pyarrow import fs

LONGEST = 200  # bytes of a file's name
_KNOWN = "a path, file://, s3:// or s3a://"


def place(address: str | Path) -> Path:
    """The folder or file at an address.

    Examples
    --------
    >>> place("file:///data/w"), place("w/events").name
    (PosixPath('/data/w'), 'events')
    >>> str(place("s3a://bucket/w") / "events")
    's3://bucket/w/events'
    """
    if isinstance(address, Path) or not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://", address):
        return Path(address)
    scheme, host, path, *_ = urlsplit(address)
    if scheme == "file":
        if host not in ("", "localhost"):
            raise InputError(f"{address}: expected file:///PATH on this machine")
        return Path(unquote(path))
    if scheme in ("s3", "s3a"):
        if not host:
            raise InputError(f"{address}: expected s3://BUCKET/PATH")
        # The callers use only the methods that `Path` and `Remote` have in common.
        return cast(Path, Remote(host, *path.split("/")))
    raise InputError(f"{address}: {scheme}:// is not supported, expected {_KNOWN}")


class Remote(PurePosixPath):
    """A folder or file in an S3 store (bucket and key), with the methods of `Path` that are needed."""

    @property
    def key(self) -> str:
        """Bucket and key with slashes between their parts, for Arrow's file systems."""
        return "/".join(self.parts)

    def __str__(self) -> str:
        return f"s3://{self.key}"

    def resolve(self) -> Remote:
        """Itself: the address is absolute."""
        return self

    def exists(self) -> bool:
        """Whether there is such a file, or any below it."""
        from pyarrow import fs

        return bool(_store().get_file_info(self.key).type != fs.FileType.NotFound)

    def is_dir(self) -> bool:
        """Whether there are files below it."""
        from pyarrow import fs

        return bool(_store().get_file_info(self.key).type == fs.FileType.Directory)

    def is_file(self) -> bool:
        """Whether there is such a file."""
        return self.exists() and not self.is_dir()

    def iterdir(self) -> Iterator[Remote]:
        """The contents of the folder; nothing if there is none."""
        from pyarrow import fs

        for found in _store().get_file_info(fs.FileSelector(self.key, allow_not_found=True)):
            yield Remote(found.path)

    def glob(self, pattern: str) -> Iterator[Remote]:
        """The contents of the folder whose names match a pattern."""
        return (found for found in self.iterdir() if found.match(pattern))

    def mkdir(self, parents: bool = False, exist_ok: bool = False) -> None:
        """Do nothing: in an object store folders exist through their files."""

    def read_bytes(self) -> bytes:
        """All of a file."""
        with _store().open_input_file(self.key) as file:
            return bytes(file.read())

    def read_text(self, encoding: str = "utf-8") -> str:
        """All of a file, as text."""
        return self.read_bytes().decode(encoding)

    def unlink(self, missing_ok: bool = False) -> None:
        """Delete a file."""
        if self.exists() or not missing_ok:
            _store().delete_file(self.key)

    def put(self, file: Path) -> None:
        """Upload a local file; it exists in the store only when all of it has arrived."""
        with file.open("rb") as source, _store().open_output_stream(self.key) as sink:
            shutil.copyfileobj(source, sink, 2**23)

    def remove(self) -> None:
        """Delete the folder."""
        if self.exists():
            _store().delete_dir(self.key)


@cache
def _store() -> fs.FileSystem:
    from pyarrow import fs

    address = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return fs.S3FileSystem(endpoint_override=address, region=region, request_timeout=120, connect_timeout=30)


def contents(path: Path) -> Any:
    """The argument for Arrow's readers: the path of a local file, or an open file of a store."""
    return _store().open_input_file(path.key) if isinstance(path, Remote) else path


def load_array(path: Path) -> Any:
    """Load the array in a .npy file; a local file is mapped into memory, so only the used parts are read."""
    import numpy as np

    remote = isinstance(path, Remote)
    return np.load(io.BytesIO(path.read_bytes())) if remote else np.load(path, mmap_mode="r")


def read_batch(path: Path, number: int) -> list[Any]:
    """The columns of one batch of an Arrow file, as arrays; only this batch is read."""
    import pyarrow as pa

    source = contents(path) if isinstance(path, Remote) else pa.memory_map(str(path))
    with source, pa.ipc.open_file(source) as file:
        return [column.to_numpy() for column in file.get_batch(number).columns]


def remove(*folders: Path) -> None:
    """Delete the folders that exist."""
    for folder in folders:
        if isinstance(folder, Remote):
            folder.remove()
        else:
            shutil.rmtree(folder, ignore_errors=True)


def file_name(name: str, field: str = "name") -> str:
    """Return a name if it is a valid file name; refuse slashes, leading dots and long names.

    Examples
    --------
    >>> file_name("hit ratio")
    'hit ratio'
    >>> file_name("../../x")
    Traceback (most recent call last):
    sub2sub.errors.InputError: name: expected a name without slashes or a leading dot, got '../../x'
    """
    if not name or name.startswith(".") or not name.isprintable() or set(name) & set("/\\:"):
        raise InputError(f"{field}: expected a name without slashes or a leading dot, got {name!r}")
    if len(name.encode()) > LONGEST:  # most file systems allow 255 bytes, and a temporary name adds some
        raise InputError(f"{field}: expected at most {LONGEST} bytes, got {len(name.encode())}")
    return name
