"""The folder of the cache: damaged, full, read-only, another user's, written by several at once."""

import errno
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.cache import folder
from fxc.calling.compiling import captures_begun
from fxc.ir.settings import config
from tests.damages import damaged

from .mutated import problems_of

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
on_posix = pytest.mark.skipif(os.name != "posix", reason="there is no cache elsewhere")


def double(x):
    return x * 2


def captured(function: Any, *args: Any) -> bool:
    """Whether a call is captured, by a function that nothing was compiled of yet."""
    before = captures_begun()
    assert np.array_equal(fxc.compile(function)(*args), function(*args))
    return captures_begun() > before


@on_posix
def test_damaged_files_are_not_used(tmp_path: Path, cache: Path) -> None:
    assert [*problems_of(tmp_path / "damaged", 50, seed=8)] == []


def damages_read(cache: Path) -> int:
    """How many of some damages of a file are not seen."""
    folder.write(OTHER, b"other")
    folder.write(KEY, bytes(range(100)))
    (file,), (other,) = cache.rglob(KEY.hex()), cache.rglob(OTHER.hex())
    whole, others, r, count = file.read_bytes(), [other.read_bytes()], random.Random(8), 0
    for _ in range(300):
        file.write_bytes(found := damaged(whole, others, r))
        count += found != whole and folder.read(KEY) is not None
    return count


@on_posix
def test_damage_is_seen_by_the_digest(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert damages_read(cache) == 0
    monkeypatch.setattr(folder, "digest", lambda data: bytes(range(32)))
    assert damages_read(cache) > 50


@on_posix
def test_what_is_written_is_read(cache: Path) -> None:
    assert folder.read(KEY) is None
    assert folder.write(KEY, b"content")
    assert folder.read(KEY) == b"content"
    assert folder.read(OTHER) is None
    assert folder.contents() == folder.FolderContents(1, 6 + 32 + 7)


@on_posix
def test_a_file_of_another_key_is_not_read(cache: Path) -> None:
    folder.write(KEY, b"content")
    (file,) = (path for path in cache.rglob("*") if path.is_file())
    other = cache / f"{OTHER[0] % 64:02x}"
    other.mkdir()
    file.rename(other / OTHER.hex())
    assert folder.read(OTHER) is None


@on_posix
def test_only_the_user_has_rights(cache: Path) -> None:
    folder.write(KEY, b"content")
    modes = {path: path.stat().st_mode & 0o777 for path in (cache, *cache.rglob("*"))}
    assert all(mode == (0o700 if path.is_dir() else 0o600) for path, mode in modes.items())


@on_posix
def test_a_folder_with_rights_for_others_is_not_used(cache: Path) -> None:
    assert captured(double, np.ones(3))
    cache.chmod(0o755)
    assert "rights for others" in folder.problem()
    assert captured(double, np.ones(3))
    cache.chmod(0o700)
    assert folder.problem() == ""
    assert not captured(double, np.ones(3))


@on_posix
def test_a_folder_of_another_user_is_not_used(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write(KEY, b"content")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert folder.read(KEY) is None
    assert not folder.write(OTHER, b"content")
    assert "another user's" in folder.problem()


@on_posix
@pytest.mark.parametrize("what", ["folder", "part", "file"])
def test_links_are_not_followed(cache: Path, tmp_path: Path, what: str) -> None:
    folder.write(KEY, b"content")
    (part,) = cache.iterdir()
    (file,) = part.iterdir()
    link = {"folder": cache, "part": part, "file": file}[what]
    link.rename(tmp_path / "elsewhere")
    link.symlink_to(tmp_path / "elsewhere")
    assert folder.read(KEY) is None


@on_posix
@pytest.mark.parametrize("place", ["/dev/null/here", "/proc/none", ""])
def test_calls_work_without_a_place(
    place: str, cache: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    with config.override(cache_dir=place or None):
        assert captured(double, np.ones(3))
        assert captured(double, np.ones(3))
    assert capfd.readouterr() == ("", "")


@on_posix
def test_without_a_home_and_any_place_for_files() -> None:
    text = "import numpy as np, fxc; print(fxc.compile(lambda x: x + 1)(np.ones(2)))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", text],
        env={"HOME": "/nonexistent", "TMPDIR": "/nonexistent", "PATH": ""},
        capture_output=True,
        text=True,
        cwd="/proc",
    )
    assert (done.stdout, done.stderr) == ("[2. 2.]\n", "")


@on_posix
def test_a_full_disk(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a file is written, then there is no room. Nothing of it stays."""
    write = os.write

    class Full:
        def __init__(self, descriptor: int, *_: Any, **__: Any) -> None:
            self._descriptor = descriptor

        def __enter__(self) -> "Full":
            return self

        def __exit__(self, *_: object) -> None:
            os.close(self._descriptor)

        def write(self, data: memoryview) -> int:
            write(self._descriptor, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(folder, "open", Full, raising=False)
    for _ in range(4):
        assert captured(double, np.ones(3))
    monkeypatch.undo()
    assert [path for path in cache.rglob("*") if path.is_file()] == []


@on_posix
def test_old_files_go_when_there_are_too_many(cache: Path) -> None:
    keys = [bytes([64 * (n % 4), n, *range(30)]) for n in range(40)]  # in one part
    with config.override(cache_size=64 * 10_000):
        for age, key in enumerate(keys):
            folder.write(key, bytes(1000))
            (file,) = cache.rglob(key.hex())
            os.utime(file, (0, 10**9 + age))
        assert folder.contents().size <= 10_000
        assert folder.read(keys[0]) is None
        assert folder.read(keys[-1]) is not None
        folder.read(keys[-6])  # used again: it stays
        for key in keys[:4]:
            folder.write(key, bytes(1000))
        assert folder.read(keys[-6]) is not None


@on_posix
def test_what_was_begun_and_left_is_removed(cache: Path) -> None:
    folder.write(KEY, b"content")
    (part,) = cache.iterdir()
    left, new = part / ".begun.1", part / ".begun.2"
    for file in (left, new):
        file.write_bytes(bytes(9))
    os.utime(left, (0, time.time() - 10_000))
    folder.write(KEY, b"content")
    assert (left.exists(), new.exists()) == (False, True)


@on_posix
def test_threads_write_and_read_at_once(cache: Path) -> None:
    found: list[bytes | None] = []

    def work(number: int) -> None:
        for turn in range(20):
            folder.write(KEY, bytes([number]) * 5000)
            found.append(folder.read(KEY))
            if turn % 5 == 0:
                folder.clear()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(each is None or (len(each) == 5000 and len({*each}) == 1) for each in found)


WRITER = """
import sys
from fxc.cache import folder
key, number = bytes(range(32)), int(sys.argv[1])
print(flush=True)
while True:
    folder.write(key, bytes([number]) * 200_000)
"""


@on_posix
def test_processes_that_are_killed_while_they_write(cache: Path) -> None:
    """What is read meanwhile and afterwards is what one of them has written, as a whole."""
    processes = [
        subprocess.Popen([sys.executable, "-c", WRITER, f"{n}"], stdout=subprocess.PIPE)
        for n in (1, 2)
    ]
    seen: set[int] = set()
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    end = time.monotonic() + 20
    while len(seen) < 2 and time.monotonic() < end:
        found = folder.read(KEY)
        if found is not None:
            assert len(found) == 200_000
            (number,) = {*found}
            seen.add(number)
    for process in processes:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert seen == {1, 2}
    found = folder.read(KEY)
    assert found is not None
    assert len({*found}) == 1


def test_turned_off(cache: Path) -> None:
    with config.override(cache=False):
        assert captured(double, np.ones(3))
        assert captured(double, np.ones(3))
    assert not cache.exists()
