"""Encryption and authentication by one setting: TLS with certificates, both ways.

Every peer has a certificate signed by the authority that all peers of the overlay trust, and both ends of a
connection show theirs. So nobody without a certificate takes part or reads along. Sequence IDs are bound to
the certificate (`sub2sub.live.net.identity`), so every node needs its own, unless `bind` is off. A
certificate says which address a node may claim only if it names hosts.
"""

from __future__ import annotations

import hashlib
import ssl
from dataclasses import dataclass
from pathlib import Path

from sub2sub.errors import InputError

BEGIN, END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


def fingerprint(certificate: bytes) -> bytes:
    """A digest of a certificate (DER)."""
    return hashlib.sha256(certificate).digest()


@dataclass(frozen=True)
class Tls:
    """Where the certificates are (PEM).

    Attributes
    ----------
    authority : path
        Certificate of the authority that signed everybody's.
    certificate, key : path
        One's own.
    check_host : bool
        Whether a certificate must name the host it is met at.
    bind : bool
        Whether sequence IDs are bound to certificates; the same for all nodes of an overlay.
    """

    authority: Path
    certificate: Path
    key: Path
    check_host: bool = True
    bind: bool = True

    def identity(self) -> bytes | None:
        """What the node's own certificate binds IDs to, None if they are not bound.

        Raises
        ------
        InputError
            For a file that cannot be read, or holds no certificate.
        """
        if not self.bind:
            return None
        try:
            text = Path(self.certificate).read_text()
            first = text[text.index(BEGIN) : text.index(END) + len(END)]
            return fingerprint(ssl.PEM_cert_to_DER_cert(first))
        except (OSError, ValueError) as error:
            raise InputError(
                f"tls.certificate: expected a PEM file, got {self.certificate}: {error}"
            ) from None

    def contexts(self) -> tuple[ssl.SSLContext, ssl.SSLContext]:
        """For connections that are accepted, and for those that are opened.

        Raises
        ------
        InputError
            For files that cannot be read, or hold no certificates.
        """
        both = []
        for purpose in (ssl.PROTOCOL_TLS_SERVER, ssl.PROTOCOL_TLS_CLIENT):
            context = ssl.SSLContext(purpose)
            context.minimum_version = ssl.TLSVersion.TLSv1_3
            for field, load in (
                ("authority", lambda c: c.load_verify_locations(self.authority)),
                ("certificate", lambda c: c.load_cert_chain(self.certificate, self.key)),
            ):
                try:
                    load(context)
                except (OSError, ssl.SSLError) as error:
                    path = getattr(self, field)
                    raise InputError(f"tls.{field}: expected PEM files, got {path}: {error}") from None
            context.verify_mode = ssl.CERT_REQUIRED
            both.append(context)
        server, client = both
        client.check_hostname = self.check_host
        return server, client
