"""Events signed by their publishers (Ed25519), so that nobody else can publish in their name.

A publisher signs an event's name, point (or topic) and data with its key; the public key and the signature
travel with the event. A node that is given the public keys it trusts takes and passes on no other events; one
that is given none takes events without a signature, too, but none whose signature is wrong. The number of
hops is not signed: it changes on the way. Needs the extra `signed` (cryptography).

>>> from sub2sub.live.core.messages import Event
>>> signer = Signer.generate()
>>> event = signer.sign(Event(bytes(16), (0.5,), 0, b"hello"))
>>> is_genuine(event), is_genuine(replace(event, data=b"goodbye")), event.signer == signer.public
(True, False, True)
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sub2sub.errors import InputError

EventT = TypeVar("EventT", bound="Signable")


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise InputError("signer: expected the extra `signed` (pip install cryptography)") from None
    return ed25519


class Signable(Protocol):
    """A message that may be signed: `Event`, or another protocol's."""

    @property
    def signer(self) -> bytes:
        """The public key of its signer."""

    @property
    def signature(self) -> bytes:
        """What that has signed it with."""

    @property
    def signed(self) -> bytes:
        """What is signed."""


@dataclass(frozen=True)
class Signer:
    """A publisher's key.

    Attributes
    ----------
    public : bytes
        The public key, 32 bytes: what others are told to trust.
    """

    public: bytes
    _key: Any

    @classmethod
    def generate(cls) -> Signer:
        """A new key."""
        return cls._of(_ed25519().Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: str | Path) -> Signer:
        """The key in a PEM file, as `openssl genpkey -algorithm ed25519` writes it.

        Raises
        ------
        InputError
            For a file that cannot be read, or holds no such key.
        """
        ed25519 = _ed25519()
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            key = load_pem_private_key(Path(path).read_bytes(), password=None)
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"signer: expected a PEM file with a private key, got {path}: {error}") from None
        if not isinstance(key, ed25519.Ed25519PrivateKey):
            raise InputError(f"signer: expected an Ed25519 key, got {path}")
        return cls._of(key)

    @classmethod
    def _of(cls, key: Any) -> Signer:
        return cls(key.public_key().public_bytes_raw(), key)

    def sign(self, event: EventT) -> EventT:
        """An event with a signature."""
        signed: EventT = replace(event, signer=self.public, signature=self._key.sign(event.signed))  # type: ignore[type-var]
        return signed


def is_genuine(event: Signable) -> bool:
    """Whether the signature of an event is its signer's."""
    if len(event.signer) != 32 or len(event.signature) != 64:
        return False
    from cryptography.exceptions import InvalidSignature

    try:
        _ed25519().Ed25519PublicKey.from_public_bytes(event.signer).verify(event.signature, event.signed)
    except (InvalidSignature, ValueError):
        return False
    return True


def accepts(event: Signable, trusted: Collection[bytes] | None) -> bool:
    """Whether a node that trusts some public keys (None: anybody) takes an event.

    Examples
    --------
    >>> from sub2sub.live.core.messages import Event
    >>> unsigned, signer = Event(bytes(16), (0.5,), 0, b""), Signer.generate()
    >>> accepts(unsigned, None), accepts(unsigned, [signer.public])
    (True, False)
    >>> accepts(signer.sign(unsigned), [signer.public])
    True
    """
    if trusted is None and not event.signer and not event.signature:
        return True
    return (trusted is None or event.signer in trusted) and is_genuine(event)
