"""A swarm is closed: TLS with certificates of its own authority, both ways, wherever strangers can connect.

Both ends of a connection show a certificate (TLS 1.3), so whoever has none, or one of another authority, or
one that has expired or been revoked, ends at the handshake. Sequence IDs are bound to the key of a
certificate (`sub2sub.live.net.identity`), so every node needs its own. `sub2sub.live.authority` makes the
files; they are read again, before the next handshake, when they have changed.
"""

from __future__ import annotations

import hashlib
import ipaddress
import logging
import ssl
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sub2sub.errors import InputError

LOG = logging.getLogger(__name__)
AUTHORITY, CERTIFICATE, KEY, REVOKED = "authority.pem", "certificate.pem", "key.pem", "revoked.pem"


def fingerprint(certificate: bytes) -> bytes:
    """Return a digest of the public key in a certificate (DER); renewing a certificate does not change it."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    key = x509.load_der_x509_certificate(certificate).public_key()
    return hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()


@dataclass(frozen=True)
class Tls:
    """A member's folder, with four PEM files.

    `authority.pem` is the certificate of the swarm's authority, `certificate.pem` and `key.pem` are the
    node's own, and `revoked.pem` is the list of revoked certificates.

    Attributes
    ----------
    folder : Path
    """

    folder: Path

    def identity(self) -> bytes:
        """Return what the sequence IDs of the node are bound to.

        Raises
        ------
        InputError
            For files that cannot be read, or a certificate that has expired.
        """
        from cryptography.hazmat.primitives.serialization import Encoding

        certificate = self._certificate()
        if self.expires() < datetime.now(self.expires().tzinfo):
            raise InputError(
                f"tls: {self.folder / CERTIFICATE} expired on {self.expires():%Y-%m-%d}; "
                "expected a renewed one (`sub2sub live ca renew`)"
            )
        return fingerprint(certificate.public_bytes(Encoding.DER))

    def expires(self) -> datetime:
        """Return until when the certificate is valid."""
        until: datetime = self._certificate().not_valid_after_utc
        return until

    def revoked(self) -> frozenset[int]:
        """Return the serial numbers of revoked certificates."""
        from cryptography import x509

        found = x509.load_pem_x509_crl((self.folder / REVOKED).read_bytes())
        return frozenset(each.serial_number for each in found)

    def contexts(self) -> tuple[ssl.SSLContext, ssl.SSLContext]:
        """Return contexts for connections that are accepted, and for those that are opened.

        Raises
        ------
        InputError
            For files that cannot be read, or are not what they should be.
        """
        both = [_Context.of(self, ssl.PROTOCOL_TLS_SERVER), _Context.of(self, ssl.PROTOCOL_TLS_CLIENT)]
        return both[0], both[1]

    def changed(self) -> tuple[int, ...]:
        """Return when the files of the folder were changed last."""
        return tuple((self.folder / name).stat().st_mtime_ns for name in (CERTIFICATE, KEY, REVOKED))

    def _certificate(self) -> Any:
        from cryptography import x509

        path = self.folder / CERTIFICATE
        try:
            return x509.load_pem_x509_certificate(path.read_bytes())
        except (OSError, ValueError) as error:
            raise InputError(f"tls: expected a certificate in PEM, got {path}: {error}") from None


class Revocations:
    """What is new on the list of revoked certificates, for connections that are open."""

    def __init__(self, tls: Tls) -> None:
        self.tls, self._read = tls, tls.changed()

    def news(self) -> frozenset[int]:
        """Return the list when it has changed since the last call, otherwise an empty one."""
        try:
            changed = self.tls.changed()
            revoked = self.tls.revoked() if changed != self._read else frozenset[int]()
        except (OSError, ValueError):  # half of a new file
            return frozenset()
        self._read = changed
        return revoked


def serial_of(transport: Any) -> int:
    """Return the serial number of the certificate that the other end of a connection has shown."""
    shown = transport.get_extra_info("peercert") if transport else None
    return int(shown["serialNumber"], 16) if shown else 0


class _Context(ssl.SSLContext):
    """A context that reads its files again when they have changed; connections that are open stay open."""

    tls: Tls
    read: tuple[int, ...]

    @classmethod
    def of(cls, tls: Tls, purpose: int) -> _Context:
        """Return a context of a member's folder."""
        context = cls(purpose)
        context.check_hostname = False  # who has a certificate is a member, wherever it is met
        context.verify_mode = ssl.CERT_REQUIRED
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
        context.tls = tls
        try:
            context.load_verify_locations(tls.folder / AUTHORITY)
            context.load()
        except (OSError, ssl.SSLError) as error:
            names = f"{AUTHORITY}, {CERTIFICATE}, {KEY} and {REVOKED}"
            raise InputError(f"tls: expected {names} in {tls.folder}: {error}") from None
        return context

    def load(self) -> None:
        """Read the node's certificate, and the list of revoked ones."""
        changed = self.tls.changed()
        self.load_cert_chain(self.tls.folder / CERTIFICATE, self.tls.folder / KEY)
        self.load_verify_locations(self.tls.folder / REVOKED)
        self.read = changed

    def wrap_bio(self, *arguments: Any, **options: Any) -> ssl.SSLObject:
        """Begin a handshake, by what is in the files now."""
        try:
            if self.tls.changed() != self.read:
                self.load()
                LOG.info("certificate and list of revoked ones are read again")
        except (OSError, ssl.SSLError) as error:  # half of a new file: the next handshake tries again
            LOG.warning("certificate and list of revoked ones could not be read again: %s", error)
        return super().wrap_bio(*arguments, **options)


def check_listening(host: str, tls: Tls | None, insecure: bool) -> None:
    """Refuse to listen where strangers can connect without TLS, unless the user asks for that.

    Examples
    --------
    >>> check_listening("127.0.0.2", None, insecure=False)
    >>> check_listening("192.0.2.1", None, insecure=False)
    Traceback (most recent call last):
    sub2sub.errors.InputError: listen: expected TLS at 192.0.2.1, which is not a loopback address \
    (`sub2sub live ca` makes certificates); insecure lets everybody in
    """
    if tls or _is_loopback(host):
        return
    if not insecure:
        raise InputError(
            f"listen: expected TLS at {host}, which is not a loopback address "
            "(`sub2sub live ca` makes certificates); insecure lets everybody in"
        )
    LOG.warning("insecure: everybody who reaches %s takes part and reads along", host)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
