"""The files of a package: a manifest, which is checked against its own checksum, and what it lists.

Nothing of a package is looked into, mapped or executed before all of it has the checksums that the
manifest gives. They tell damage, not malice: who can change a file can change its checksum.

Needs only the standard library.
"""

from __future__ import annotations

import os
from binascii import crc32
from typing import Any

FORMAT = 1
MANIFEST = "manifest.json"
TITLE = "fxc object package"


class BadPackage(ValueError):
    """A folder that is no package, or not the one that was written."""


def read_package(folder: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest of a package and the content of its files.

    Raises ``BadPackage``, which names the folder, for anything but a whole package of this format.
    """
    try:
        return _read(folder)
    except BadPackage as error:
        problem = str(error)
    except OSError as error:
        problem = f"{error.filename}: {error.strerror}"
    except Exception as error:  # whatever reading something that is no package leads to
        problem = f"it is damaged ({type(error).__name__}: {error})"
    raise BadPackage(f"{folder} cannot be loaded: {problem}")


def _read(folder: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    text = _content(folder, MANIFEST)
    first, _, rest = text.partition(b"\n")
    head = first.split(b" checksum ")
    title, _, number = head[0].decode("ascii", "replace").rpartition(", format ")
    if title != TITLE or len(head) != 2:
        raise BadPackage(f"{MANIFEST} is not that of an object package")
    if number != str(FORMAT):
        newer = number.isdecimal() and len(number) < 10 and int(number) > FORMAT
        why = "a newer fxc has written it" if newer else "there is no such format"
        raise BadPackage(f"it has the format {number[:20]}, and this is {FORMAT}: {why}")
    if digest(rest) != head[1].decode("ascii", "replace"):
        raise BadPackage(f"{MANIFEST} is not what was written: its checksum is wrong")
    manifest: dict[str, Any] = _parsed(rest.decode())
    found = {}
    for name, expected in manifest["files"].items():
        found[name] = _content(folder, name)
        if digest(found[name]) != expected:
            raise BadPackage(f"{name} is not what was written: its checksum is wrong")
    return manifest, found


class _Plainly:
    """How to read JSON: as it is by default."""

    strict, parse_float, parse_int = True, float, int
    object_hook = object_pairs_hook = None
    parse_constant = float


def _parsed(text: str) -> Any:
    """As ``json.loads``, whose module takes a fifth of the time that loading may take."""
    options: Any = _Plainly
    try:
        from _json import make_scanner

        scan = make_scanner(options)
    except (ImportError, AttributeError):  # of a Python that has none, or wants other options
        from json import loads

        return loads(text)
    return scan(text, 0)[0]


def manifest_bytes(manifest: dict[str, Any]) -> bytes:
    """A manifest as it stands in its file."""
    import json  # not when loading

    rest = json.dumps(manifest, indent=1).encode()
    return f"{TITLE}, format {FORMAT} checksum {digest(rest)}\n".encode() + rest


def digest(data: bytes) -> str:
    """The checksum of a file: its length and its CRC-32."""
    return f"{len(data)} {crc32(data):08x}"


def _content(folder: str, name: str) -> bytes:
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()
