"""Addresses of NumPy's functions: a place that has moved is an error before anything is assembled."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import numpy as np
import pytest

from fxc.native import numpy_slots
from fxc.package import builtins


def test_this_numpy_has_them() -> None:
    numpy_slots.check_places()


@pytest.mark.parametrize(
    "name, place",
    [("SCALAR_MAKER", 9999), ("NEW_ARRAY", 4), ("ABI_VERSION", 211)],
)
def test_a_moved_function_is_found_before_it_is_called(
    name: str, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In place of the table one in which entries stand elsewhere, or are missing."""
    table = numpy_slots.numpy_table()
    moved = {getattr(numpy_slots, name): None if place > 400 else table[place]}

    class Moved:
        def __getitem__(self, at: int) -> int | None:
            return moved.get(at, table[at])

    for module in (numpy_slots, builtins):
        monkeypatch.setattr(module, "numpy_table", Moved)
    if name == "NEW_ARRAY":  # a table of types begins elsewhere: seen by what only holds data
        moved[2] = table[3]
    with pytest.raises(ImportError, match=f"NumPy {np.__version__} is not one that fxc knows"):
        numpy_slots.check_places()


def test_a_missing_sort_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_slots, "_SORTS", {"sort": 500, "argsort": 36})
    empty = (ctypes.c_void_p * 600)()
    monkeypatch.setattr(ctypes, "cast", lambda *_: empty)
    with pytest.raises(ImportError, match="it has no sort of float64"):
        numpy_slots._sorting_function("sort", np.dtype(float))


@pytest.mark.parametrize("kind", "bBhHiIlLefd")
def test_sorts_are_as_known(kind: str) -> None:
    numpy_slots.check_sorts(np.dtype(kind))


def test_a_sort_is_checked_before_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(numpy_slots, "check_sorts", asked.append)
    numpy_slots.inner_loop.cache_clear()
    assert any(numpy_slots.inner_loop("sort", "f8"))
    assert asked == [np.dtype("f8")]
    numpy_slots.inner_loop.cache_clear()


def test_the_error_is_one_of_the_import() -> None:
    code = (
        "import numpy as np, fxc\n"
        "import fxc.ir.objects as objects\n"
        "objects.objects_are_as_known = lambda: False\n"
        "try: import fxc.pipeline.assemble\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "its arrays and scalars lie otherwise" in done.stdout
