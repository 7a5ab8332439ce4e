"""A swarm's certificate authority, as a folder of files: who is a member, and who is one no more.

Each member gets a folder with its own key and certificate, the certificate of the authority, and the list of
those that are revoked (`sub2sub.live.Tls` reads it). A certificate that is renewed has the same key, so the
member keeps its sequence IDs. The authority's own key stays in its folder. Needs `cryptography`.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     swarm = Authority.create(Path(folder) / "swarm")
...     alice = swarm.issue("alice")
...     [file.name for file in sorted(alice.iterdir())]
['authority.pem', 'certificate.pem', 'key.pem', 'revoked.pem']
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from sub2sub.errors import InputError
from sub2sub.live.net.tls import AUTHORITY, CERTIFICATE, KEY, REVOKED

OWN_KEY, ISSUED = "authority-key.pem", "issued.jsonl"
NAMES = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
CLOCKS = timedelta(minutes=5)  # by which members' clocks may differ


@dataclass(frozen=True)
class Authority:
    """The authority in a folder.

    Attributes
    ----------
    folder : Path
        With the authority's files, and a folder for each member.
    """

    folder: Path

    @classmethod
    def create(cls, folder: Path, days: float = 3650.0) -> Authority:
        """Make a new authority, with a certificate for so many days."""
        if folder.exists():
            raise InputError(f"folder: expected one that does not exist yet, got {folder}")
        folder.mkdir(mode=0o700, parents=True)
        key, name = ec.generate_private_key(ec.SECP256R1()), _named(folder.name or "swarm")
        rights = dict.fromkeys(
            ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
             "key_agreement", "encipher_only", "decipher_only"), False,
        )  # fmt: skip
        usage = x509.KeyUsage(**rights, key_cert_sign=True, crl_sign=True)
        certificate = (
            _lasting(days, name, name, key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .sign(key, SHA256())
        )
        _write(folder / OWN_KEY, _private(key))
        _write(folder / AUTHORITY, certificate.public_bytes(Encoding.PEM))
        made = cls(folder)
        made._list_revoked(set())
        return made

    @classmethod
    def open(cls, folder: Path) -> Authority:
        """Return the authority in a folder that `create` has made."""
        if not (folder / OWN_KEY).is_file():
            raise InputError(
                f"folder: expected an authority's (`sub2sub live ca init` makes one), got {folder}"
            )
        return cls(folder)

    def issue(self, name: str, days: float = 365.0) -> Path:
        """Make a key and a certificate for a new member; return the folder to bring to its machine."""
        if not NAMES.fullmatch(name):
            raise InputError(f"name: expected letters, digits and ._- (63 at most), got {name!r}")
        folder = self.folder / name
        if folder.exists():
            raise InputError(f"name: {folder} is there already; expected another name, or renew or revoke it")
        folder.mkdir(mode=0o700)
        _write(folder / KEY, _private(ec.generate_private_key(ec.SECP256R1())))
        for shared in (AUTHORITY, REVOKED):
            _write(folder / shared, (self.folder / shared).read_bytes())
        return self.renew(name, days)

    def renew(self, name: str, days: float = 365.0) -> Path:
        """Give a member a certificate that lasts longer, for the same key; return its folder."""
        folder, authority = self._member(name), self._certificate
        key = load_pem_private_key((folder / KEY).read_bytes(), None)
        until = authority.not_valid_after_utc - datetime.now(UTC)
        both = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
        certificate = (
            _lasting(min(days, until / timedelta(days=1)), _named(name), authority.subject, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage(both), critical=False)
            .sign(self._key, SHA256())
        )
        with (self.folder / ISSUED).open("a") as issued:
            print(json.dumps({"name": name, "serial": certificate.serial_number}), file=issued)
        _write(folder / CERTIFICATE, certificate.public_bytes(Encoding.PEM))
        return folder

    def revoke(self, name: str) -> Path:
        """Revoke all certificates of a member; return the new list, for the folders of all other members.

        Their folders here have it at once; the member's own is deleted. Of two lists of one second OpenSSL
        takes either, so this waits for the next second.
        """
        folder = self._member(name)
        issued = map(json.loads, (self.folder / ISSUED).read_text().splitlines())
        before = x509.load_pem_x509_crl((self.folder / REVOKED).read_bytes())
        while datetime.now(UTC).replace(microsecond=0) <= before.last_update_utc:
            time.sleep(0.05)
        now_revoked = {own["serial"] for own in issued if own["name"] == name}
        self._list_revoked(now_revoked | {each.serial_number for each in before})
        shutil.rmtree(folder)
        return self.folder / REVOKED

    def members(self) -> dict[str, datetime]:
        """Return until when the certificate of each member lasts."""
        return {
            path.parent.name: x509.load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc
            for path in sorted(self.folder.glob(f"*/{CERTIFICATE}"))
        }

    @property
    def _certificate(self) -> x509.Certificate:
        return x509.load_pem_x509_certificate((self.folder / AUTHORITY).read_bytes())

    @property
    def _key(self) -> Any:
        return load_pem_private_key((self.folder / OWN_KEY).read_bytes(), None)

    def _member(self, name: str) -> Path:
        if not (self.folder / name / KEY).is_file():
            raise InputError(
                f"name: expected a member ({', '.join(self.members()) or 'there is none'}), got {name!r}"
            )
        return self.folder / name

    def _list_revoked(self, serials: set[int]) -> None:
        """Write the list of revoked certificates; it lasts as long as the authority."""
        authority, now = self._certificate, datetime.now(UTC).replace(microsecond=0)
        found = x509.CertificateRevocationListBuilder(authority.subject, now, authority.not_valid_after_utc)
        for serial in sorted(serials):
            revoked = x509.RevokedCertificateBuilder(serial, now).build()
            found = found.add_revoked_certificate(revoked)
        text = found.sign(self._key, SHA256()).public_bytes(Encoding.PEM)
        for folder in (self.folder, *(self.folder / name for name in self.members())):
            _write(folder / REVOKED, text)


def _lasting(days: float, subject: x509.Name, issuer: x509.Name, public: Any) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return x509.CertificateBuilder(
        issuer, subject, public, x509.random_serial_number(), now - CLOCKS, now + timedelta(days=days)
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _private(key: Any) -> bytes:
    text: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return text


def _write(path: Path, text: bytes) -> None:
    """Replace a file at once; nobody but the owner can read it, from the first moment on."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(text)
    new.replace(path)
