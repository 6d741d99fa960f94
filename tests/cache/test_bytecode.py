"""Modules are imported from one file, as they are: what is not in it, or not as it was, is not."""

import importlib
import os
import sys
from collections.abc import Iterator
from importlib.machinery import BuiltinImporter, PathFinder
from pathlib import Path
from typing import Any

import pytest

import fxc
from fxc.cache import bytecode
from fxc.cache.bytecode import OneFile

NAME = "package_in_one_file"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a package that can be imported and has been."""
    made = tmp_path / NAME
    (made / "inner").mkdir(parents=True)
    (made / "__init__.py").write_text("")
    (made / "one.py").write_text("def name(): return __name__\nSAID = 'one'\n")
    (made / "inner" / "__init__.py").write_text("from .two import SAID\n")
    (made / "inner" / "two.py").write_text("SAID = 'two'\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(bytecode, "_MANY", 1)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "meta_path", sys.meta_path[:])
    said(made)
    yield made
    forget()


def forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == NAME]:
        del sys.modules[name]


def said(folder: Path) -> tuple[list[str], list[str]]:
    """What modules of the package say that are imported now, and the files of their bytecode."""
    forget()
    importlib.invalidate_caches()
    found: list[Any] = [importlib.import_module(f"{NAME}.{name}") for name in ("one", "inner")]
    assert found[0].name() == f"{NAME}.one"
    assert [each.__file__ for each in found] == [
        str(folder / "one.py"),
        str(folder / "inner" / "__init__.py"),
    ]
    assert found[1].__path__ == [str(folder / "inner")]
    return [each.SAID for each in found], [each.__cached__ for each in found]


def kept(folder: Path) -> OneFile:
    """The file, which is written now and used from now on."""
    OneFile(NAME, str(folder)).keep()
    file = OneFile(NAME, str(folder))
    sys.meta_path[:] = [each for each in sys.meta_path if not isinstance(each, OneFile)]
    sys.meta_path.insert(0, file)
    return file


def test_modules_are_imported_from_the_file(folder: Path) -> None:
    file = kept(folder)
    assert said(folder) == (["one", "two"], [file.path] * 2)


def test_the_file_is_read_in_the_order_of_imports(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, reads = kept(folder), list[int]()
    said(folder)
    asked = list(file._asked)
    (folder / "__pycache__").joinpath(Path(file.path).name).unlink()
    sys.meta_path.remove(file)
    sys.meta_path.insert(0, OneFile(NAME, str(folder)))
    said(folder)
    sys.meta_path[0].keep()  # type: ignore[attr-defined]
    again = OneFile(NAME, str(folder))
    sys.meta_path[0] = again
    whole = again._read_into
    monkeypatch.setattr(again, "_read_into", lambda *place: reads.append(place[1]) or whole(*place))
    assert said(folder) == (["one", "two"], [again.path] * 2)
    assert list(again._entries) == asked == [NAME, *(f"{NAME}.{x}" for x in _NAMES)]
    assert len(reads) == 1


_NAMES = ("one", "inner", "inner.two")


def test_finders_that_have_no_hash_do_no_harm(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Alike:
        """Finds nothing, and is as any other of its class."""

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Alike)

    monkeypatch.setattr("atexit.register", lambda f: None)
    sys.meta_path[:] = [Alike(), BuiltinImporter, Alike(), PathFinder]
    bytecode.import_from_one_file(NAME, str(folder))
    assert isinstance(sys.meta_path.pop(1), OneFile)
    assert sys.meta_path == [Alike(), BuiltinImporter, Alike(), PathFinder]


def test_a_module_that_is_edited_is_imported_as_it_is(folder: Path) -> None:
    file = kept(folder)
    (folder / "one.py").write_text("def name(): return __name__\nSAID = 'another one'\n")
    words, files = said(folder)
    assert words == ["another one", "two"]
    assert file.path not in files[:1]
    assert files[1] == file.path
    again = kept(folder)  # with that module as it is now, and the others from before
    assert said(folder) == (["another one", "two"], [again.path] * 2)


def test_a_module_of_the_same_size_is_another_one(folder: Path) -> None:
    kept(folder)
    source = folder / "inner" / "two.py"
    source.write_text("SAID = 'six'\n")
    os.utime(source, (1.0, 1.0))
    assert said(folder)[0] == ["one", "six"]


@pytest.mark.parametrize("length", [0, 7, 16, 40, -1])
def test_a_file_that_is_cut_off_is_not_used_and_written_anew(folder: Path, length: int) -> None:
    file = kept(folder)
    whole = Path(file.path).read_bytes()
    Path(file.path).write_bytes(whole[:length])
    assert not OneFile(NAME, str(folder))._entries
    said(folder)
    OneFile(NAME, str(folder)).keep()
    assert kept(folder)._entries


def test_a_module_whose_bytecode_is_damaged_or_anothers_is_imported_as_ever(folder: Path) -> None:
    file = kept(folder)
    whole = Path(file.path).read_bytes()
    name, code = f"{NAME}.one", file._begin
    *told, begin, end = file._entries[name]
    for place in range(code + begin, code + end):
        damaged = bytes((whole[place] ^ 1,))
        Path(file.path).write_bytes(whole[:place] + damaged + whole[place + 1 :])
        assert OneFile(NAME, str(folder)).find_spec(name) is None
    Path(file.path).write_bytes(whole)
    again = OneFile(NAME, str(folder))
    assert again.find_spec(name) is not None
    again._entries[name] = (*told, *again._entries[f"{NAME}.inner.two"][3:])  # type: ignore[assignment]
    assert again.find_spec(name) is None


def test_a_file_of_another_python_or_another_folder_is_not_used(folder: Path) -> None:
    file = kept(folder)
    whole = Path(file.path).read_bytes()
    Path(file.path).write_bytes(b"????" + whole[4:])
    assert not OneFile(NAME, str(folder))._entries
    Path(file.path).write_bytes(whole)
    moved = folder.parent / "moved"
    folder.rename(moved)
    assert not OneFile(NAME, str(moved))._entries


def test_where_the_file_cannot_be_written_nothing_is_left(folder: Path) -> None:
    file = OneFile(NAME, str(folder))
    os.mkdir(file.path)
    before = os.listdir(os.path.dirname(file.path))
    file.keep()
    assert os.listdir(os.path.dirname(file.path)) == before
    assert said(folder)[0] == ["one", "two"]


def test_the_file_that_another_process_writes_is_left_alone(folder: Path) -> None:
    file = OneFile(NAME, str(folder))
    other = Path(f"{file.path}.{os.getpid()}")
    other.write_text("of a process of another machine")
    file.keep()
    assert other.read_text() == "of a process of another machine"
    assert not os.path.exists(file.path)


def test_none_is_written_where_python_writes_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = OneFile(NAME, str(folder))
    file.keep()
    assert not os.path.exists(file.path)


def test_few_other_modules_are_no_reason_to_write(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bytecode, "_MANY", 100)
    file = OneFile(NAME, str(folder))
    file.keep()
    assert not os.path.exists(file.path)


def test_fxc_is_imported_in_this_way() -> None:
    assert callable(fxc.compile)
    (found,) = (each for each in sys.meta_path if isinstance(each, OneFile))
    assert os.path.dirname(os.path.dirname(found.path)) == os.path.dirname(fxc.__file__)
