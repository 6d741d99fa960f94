"""Digests of bytes, without OpenSSL: to load it takes as long as to restore a compilation."""

from __future__ import annotations

from typing import Any

try:
    from _blake2 import blake2b
except ImportError:  # a Python that is built otherwise
    from hashlib import blake2b

SIZE = 32  # bytes of a digest


def new_digest() -> Any:
    """One to which bytes are added by ``update``; ``digest()`` gives it."""
    return blake2b(digest_size=SIZE)


def digest(data: bytes) -> bytes:
    """The digest of all bytes."""
    return blake2b(data, digest_size=SIZE).digest()
