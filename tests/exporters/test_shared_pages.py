"""Code of many object files in the same pages: Note [Shared pages]."""

import ctypes
import gc
import os
import platform
import sys
import threading
from pathlib import Path

import pytest

from fxc.package import elf, mapping, shared_pages
from fxc.package.mapping import Mapped, library
from fxc.runtime.object_code import Processor, object_code

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or platform.machine() not in ("x86_64", "AMD64"),
    reason="such pages are there on Linux on x86-64 alone",
)
TEXT = "define i64 @entry(i64 %x) {{ %r = add i64 %x, {} ret i64 %r }}"


@pytest.fixture(scope="module")
def codes() -> list[bytes]:
    processor = Processor("x86_64-unknown-linux-gnu", "")
    return [object_code(TEXT.format(n), (), ("entry",), "none", processor) for n in range(4)]


@pytest.fixture(autouse=True)
def new_pages() -> None:
    shared_pages._open.clear()


def mapped(code: bytes) -> Mapped:
    return Mapped(elf.read(code), library)


def called(code: Mapped, number: int) -> int:
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
    return int(kind(code.address("entry"))(number))


def rights() -> list[str]:
    lines = Path("/proc/self/maps").read_text().splitlines()
    return [line.split()[1] for line in lines if "memfd:fxc" in line]


def test_short_code_shares_pages_until_all_of_it_is_gone(codes: list[bytes]) -> None:
    gc.collect()
    before = rights()
    made = [mapped(code) for code in codes * 100]
    assert [called(each, 10) for each in made] == [10, 11, 12, 13] * 100
    more = rights()
    assert more.count("r-xs") - before.count("r-xs") <= 2
    assert set(more) == {"r-xs", "---s"}, "run at one address, and written at none"
    del made[1:]
    assert called(made[0], 10) == 10
    made.clear()
    shared_pages._open.clear()
    assert rights() == before


def test_threads_put_code_side_by_side(codes: list[bytes]) -> None:
    wrong: list[int] = []

    def work() -> None:
        made = [mapped(code) for code in codes * 50]
        wrong.extend(n for n, each in enumerate(made) if called(each, 0) != n % 4)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert wrong == []


def test_a_child_puts_its_code_elsewhere(codes: list[bytes]) -> None:
    first = mapped(codes[0])
    child = os.fork()
    if child == 0:
        own = mapped(codes[1])
        apart = abs(own.address("entry") - first.address("entry")) >= 1 << 12
        os._exit(0 if apart and called(own, 5) == 6 and called(first, 5) == 5 else 1)
    second = mapped(codes[2])
    assert os.waitpid(child, 0)[1] == 0
    assert (called(first, 5), called(second, 5)) == (5, 7)


def test_another_process_with_what_was_open_does_not_write_there(
    codes: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = mapped(codes[0])
    monkeypatch.setattr(os, "getpid", lambda: -1)
    second = mapped(codes[1])
    assert abs(second.address("entry") - first.address("entry")) >= 1 << 12


def test_what_cannot_be_put_there_leaves_no_trace(codes: list[bytes]) -> None:
    first = mapped(codes[0])

    def fails(start: int) -> bytes:
        raise elf.BadObject("too far")

    with pytest.raises(elf.BadObject, match="too far"):
        shared_pages.put_in_shared(64, fails)
    second = mapped(codes[1])
    assert 0 < second.address("entry") - first.address("entry") < 1 << 12


@pytest.mark.parametrize("missing", ["memfd_create", "shared pages", "room"])
def test_code_has_pages_of_its_own_where_none_are_shared(
    codes: list[bytes], missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*args: object) -> int:
        raise PermissionError("not here")

    if missing == "memfd_create":
        monkeypatch.delattr(os, "memfd_create")
    elif missing == "shared pages":
        monkeypatch.setattr(os, "memfd_create", refused)
    else:
        monkeypatch.setattr(shared_pages, "_LONGEST", 0)
    before = rights()
    made = mapped(codes[3])
    assert called(made, 4) == 7
    assert rights() == before
    assert made.address("entry") % mapping._PAGE == 0
