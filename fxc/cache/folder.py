"""The folder of the cache: files of bytes by keys, which processes of one user share.

See Note [The cache folder].
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator

from fxc.ir.digesting import SIZE, digest
from fxc.ir.logs import ROOT
from fxc.ir.records import frozen
from fxc.ir.settings import cache_folder, config

# Note [The cache folder]
# A file is what its name says, or it is not read: it begins with a digest of its name and its
# content, so that one that is cut off, damaged, or another one's is none. It is written under
# another name, and renamed when it is whole: who reads sees the old file, or the new one, or none,
# whatever kills who writes. Two processes that write one key write what serves the same; the last
# one stays.
# What is read is run. So nobody else may have written it: the folder is the user's own, with no
# rights for others, and so is each file; links are not followed. All that is looked at is looked at
# again when it is used, by the open folder, not by its path: nothing can change in between.
# Files stand in folders by the first digits of their keys. Who writes into one looks how large it
# has become, and removes what was not used for longest: each may have its part of the whole.
# Nothing here raises: a cache that cannot be read is empty, one that cannot be written stays so.

_MAGIC = b"fxc-1\n"
_PARTS = 64  # folders
_MOST = 1 << 28  # bytes of a file
_USUAL = 1 << 30  # bytes of all
_STALE = 3600.0  # seconds after which a file that was begun is taken to be left
_TOUCHED = 3600.0  # seconds after which a file that is used again says so
_GIVE_UP = 3  # times that nothing could be written, after which a process does not try again

_failures = 0


def most() -> int:
    """How many bytes the cache may take."""
    return _USUAL if config.cache_size is None else config.cache_size


@frozen
class FolderContents:
    """How many files there are, and their bytes."""

    files: int
    size: int


def is_on() -> bool:
    """Whether there is to be a cache: there is none where files have no owners."""
    return os.name == "posix" and cache_folder() is not None


def read(key: bytes) -> bytes | None:
    """What was written under a key; None if nothing was, or it is not what it was."""
    name = key.hex()
    try:
        with _opened_part(name, make=False) as part:
            found = _content_of(part, name)
    except OSError:
        return None
    known, content = found[len(_MAGIC) : len(_MAGIC) + SIZE], found[len(_MAGIC) + SIZE :]
    if not found.startswith(_MAGIC) or known != digest(key + content):
        ROOT.info("the file %s of the cache is damaged, and not used", name)
        return None
    return content


def write(key: bytes, content: bytes) -> bool:
    """Keep bytes under a key; whether they are kept."""
    global _failures
    name = key.hex()
    if _failures >= _GIVE_UP:
        return False
    try:
        with _opened_part(name, make=True) as part:
            _write_whole(part, name, _MAGIC + digest(key + content) + content)
            _remove_old(part, most() // _PARTS)
    except OSError as error:
        _failures += 1
        ROOT.info("the cache is not written: %s", error)
        return False
    _failures = 0
    return True


def contents() -> FolderContents:
    """All that is in the cache."""
    files = size = 0
    for part in _parts():
        for _, each in _files(part):
            files, size = files + 1, size + each.st_size
    return FolderContents(files, size)


def clear() -> int:
    """Remove all files; how many there were."""
    count = 0
    for part in _parts():
        for name, _ in list(_files(part)):
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=part)
                count += 1
    return count


def problem() -> str:
    """Why nothing is kept; empty if it is."""
    folder = cache_folder()
    if folder is None or not is_on():
        return "it is turned off, or there is no place for it"
    try:
        with _opened(folder, make=True) as root:
            if not os.access(".", os.W_OK, dir_fd=root):
                return "the folder cannot be written"
    except OSError as error:
        return str(error)
    return ""


# -- the folder and its parts, opened


@contextlib.contextmanager
def _opened(folder: str, make: bool) -> Iterator[int]:
    """The folder of the cache. Raises ``OSError`` if there is none that is the user's own."""
    if make and not os.path.isdir(folder):
        os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
    descriptor = os.open(folder, _FOLDER)
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid():
            raise PermissionError(f"{folder} is another user's")
        if stat.S_IMODE(found.st_mode) & 0o077:
            raise PermissionError(f"{folder} has rights for others: chmod 700 {folder}")
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _opened_part(name: str, make: bool) -> Iterator[int]:
    """The folder for files of this name."""
    folder = cache_folder()
    if folder is None:
        raise FileNotFoundError("there is no cache")
    own = f"{int(name[:2], 16) % _PARTS:02x}"
    with _opened(folder, make) as root:
        if make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(own, 0o700, dir_fd=root)
        part = os.open(own, _FOLDER, dir_fd=root)
        try:
            yield part
        finally:
            os.close(part)


_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def _parts() -> Iterator[int]:
    """All parts that there are, each opened while it is looked at."""
    for number in range(_PARTS):
        with contextlib.suppress(OSError), _opened_part(f"{number:02x}", make=False) as part:
            yield part


def _files(part: int) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(part) as found:
        for each in found:
            with contextlib.suppress(OSError):
                yield each.name, each.stat(follow_symlinks=False)


# -- files


def _content_of(part: int, name: str) -> bytes:
    descriptor = os.open(name, _FILE, dir_fd=part)
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        is_own = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
        if not is_own or found.st_size > _MOST:
            raise PermissionError(f"{name} is none of ours")
        if time.time() - found.st_mtime > _TOUCHED:
            with contextlib.suppress(OSError):
                os.utime(descriptor)
        return file.read(_MOST + 1)


def _write_whole(part: int, name: str, content: bytes) -> None:
    """Write a file, as a whole or not at all."""
    begun = f".{name[:8]}.{os.urandom(6).hex()}"
    descriptor = os.open(begun, _NEW, 0o600, dir_fd=part)
    try:
        with open(descriptor, "wb", buffering=0) as file:
            left = memoryview(content)
            while left:
                left = left[file.write(left) or 0 :]
        os.rename(begun, name, src_dir_fd=part, dst_dir_fd=part)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(begun, dir_fd=part)
        raise


def _remove_old(part: int, most: int) -> None:
    """Remove what was not used for longest, until no more than so many bytes are left."""
    now, size, found = time.time(), 0, list[tuple[float, int, str]]()
    for name, each in _files(part):
        if name.startswith(".") and now - each.st_mtime > _STALE:
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=part)
        elif not name.startswith("."):
            size += each.st_size
            found.append((each.st_mtime, each.st_size, name))
    if size <= most:
        return
    for _, bytes_of, name in sorted(found):
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=part)
        size -= bytes_of
        if size <= most - most // 8:
            break
