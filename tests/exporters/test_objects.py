"""Packages of object code: equal to compiled code in every bit, with nothing but NumPy."""

import itertools
import json
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.exporters.objects.levels import LEVELS
from fxc.ir.errors import ExportError, UsageError, UsageTypeError
from fxc.ir.tree import flatten
from fxc.package import elf, files, load, native_calls, numpy_calls
from fxc.package.mapping import library
from fxc.package.processors import NoCode, chosen, features, machine
from tests.covering import in_turns

from .corpus import EXAMPLES, Example, exported
from .refused import OBJECTS

OWN = [x.name for x in LEVELS if x.machine == machine() and features().issuperset(x.features)]
on_linux = pytest.mark.skipif(
    not sys.platform.startswith("linux") or not OWN, reason="object code is mapped on Linux"
)


def outcome(example: Example, levels: list[str] = OWN) -> str:
    """``equal``, or why the example is not exported to object code."""
    program = exported(example)
    with tempfile.TemporaryDirectory() as folder:
        try:
            program.to_object(f"{folder}/package", levels)
        except ExportError as error:
            return error.text
        for level in levels:
            loaded = load(f"{folder}/package", level)
            general = left_to_python(loaded)
            for seed in range(3):
                expected = seen(program, example.arguments(seed))
                assert seen(loaded, example.arguments(seed)) == expected, (example.name, level)
                fits = expected[0] is not ValueError  # type: ignore[index]
                assert fits == (general.count == 0), (example.name, level)
                assert seen(general, example.arguments(seed)) == expected, (example.name, level)
                general.count = 0
    return "equal"


def seen(function: Callable[..., Any], args: tuple[Any, ...]) -> object:
    """All that a caller can see of a call: results, arguments, which of them are or share what.

    Without fxc an error has no number.
    """
    try:
        result = function(*args)
    except UsageError as error:
        return ValueError, error.text, [_bits(x) for x in flatten(args)[0]]
    except UsageTypeError as error:
        return TypeError, error.text, [_bits(x) for x in flatten(args)[0]]
    except Exception as error:
        return type(error), str(error), [_bits(x) for x in flatten(args)[0]]
    leaves, spec = flatten((result, args))
    arrays = [x for x in leaves if isinstance(x, np.ndarray)]
    pairs = [(x is y, np.shares_memory(x, y)) for x, y in itertools.combinations(arrays, 2)]
    return spec, [_bits(x) for x in leaves], pairs


class left_to_python:
    """The calls of a program that are not native; ``count`` says how many there were."""

    def __init__(self, loaded: Any) -> None:
        self.count, self._call, loaded.general = 0, loaded.general, self

    def __call__(self, *args: object, **kwargs: object) -> Any:
        self.count += 1
        return self._call(*args, **kwargs)


def _bits(x: Any) -> object:
    if isinstance(x, np.ndarray):
        return x.dtype, x.shape, x.strides, x.flags.writeable, x.tobytes()
    if isinstance(x, np.generic):
        return x.dtype, x.tobytes()
    return type(x), repr(x)


def package(function: Callable[..., Any], *args: object, folder: Path, **options: Any) -> Any:
    """What a package of a function loads, with the program that it was made from."""
    program = fxc.export(function, *args, **options)
    program.to_object(folder, OWN)
    return load(folder), program


# ------------------------------------------------------------------ programs


@on_linux
@pytest.mark.parametrize(
    ("example", "level"),
    in_turns(EXAMPLES, OWN or [""]),
    ids=lambda case: getattr(case, "name", case),
)
def test_programs_are_equal_or_refused_by_name(example: Example, level: str) -> None:
    """For one level each: levels differ in instructions, of which many programs have all."""
    found = outcome(example, [level])
    assert found == "equal" or found.startswith(
        f"{exported(example).graph.name} cannot be exported"
    )
    assert (found == "equal") == (example.name not in OBJECTS)
    assert OBJECTS.get(example.name, "") in found


def test_a_refusal_names_operator_and_line() -> None:
    example = next(x for x in EXAMPLES if x.name == "physics.heat_implicit")
    found = outcome(example)
    assert re.search(r"call_solve_banded\d* \(physics.py:", found)
    assert "a package has NumPy alone, and no scipy" in found


def smooth(u, weight, k):
    t = np.sqrt(np.abs(u)) + k
    u[1:-1] += weight * (u[:-2] - 2 * u[1:-1] + u[2:]) * t[1:-1].mean()
    return np.cumsum(t)[::2], u, len(u)


@on_linux
def test_sizes_may_be_symbols(tmp_path: Path) -> None:
    loaded, program = package(smooth, np.zeros(400), 0.5, 3, folder=tmp_path / "p", dynamic=True)
    for n in (2, 3, 5, 17, 1000, 100_001):
        u = np.random.default_rng(n).standard_normal(n)
        assert seen(loaded, (u.copy(), 0.25, 4)) == seen(program, (u.copy(), 0.25, 4))


def positives(x, y):
    return x[x > y], np.flatnonzero(x > y)


@on_linux
def test_results_of_counted_sizes(tmp_path: Path) -> None:
    loaded, program = package(positives, np.zeros(40), 0.5, folder=tmp_path / "p")
    for low in (-9.0, 0.3, 9.0):
        x = np.random.default_rng(3).standard_normal(40)
        assert seen(loaded, (x, low)) == seen(program, (x, low))


def transposed(x, k, flag, z):
    y = np.empty((x.shape[1], x.shape[0])).T
    y[...] = x * k
    z[:, 0] += 1
    return {"y": y, "sum": [y.sum(), flag, None], "z": (z.real, z.T)}, x.view(np.int64), "text"


@on_linux
def test_containers_layouts_and_views(tmp_path: Path) -> None:
    def args() -> tuple[Any, ...]:
        r = np.random.default_rng(1)
        return r.random((3, 5)), np.float32(2.5), True, r.random((4, 4)) + 1j

    loaded, program = package(transposed, *args(), folder=tmp_path / "p")
    general = left_to_python(loaded)
    assert seen(loaded, args()) == seen(program, args())
    assert general.count == 0


Pair = namedtuple("Pair", "low high")


@dataclass
class Ends:
    """Those of a result."""

    first: Any
    last: Any


def of_all_kinds(x, y, low, options, *, flag):
    x[:2] += low
    kept = np.flatnonzero(y > low)
    ends = Ends(y[0], y[-1:]) if flag else None
    return Pair(x.min(), int(x.argmax())), {"kept": kept, 2: (y + low,)}, [ends, len(y)], options[0]


@on_linux
@pytest.mark.parametrize("dynamic", [False, True])
def test_calls_with_what_fits_are_native(dynamic: bool, tmp_path: Path) -> None:
    def args(n: int) -> tuple[Any, ...]:
        r = np.random.default_rng(n)
        return r.random(n), r.random((2, n))[1], 0.25, [r.random(3), None]

    def call(function: Callable[..., Any], *given: Any) -> object:
        return seen(lambda *args: function(*args, flag=True), given)

    program = fxc.export(of_all_kinds, *args(9), flag=True, dynamic=dynamic)
    program.to_object(tmp_path, OWN)
    loaded = load(tmp_path)
    general = left_to_python(loaded)
    for n in (9, 9, 70, 9) if dynamic else (9, 9):
        assert call(loaded, *args(n)) == call(program, *args(n))
    assert general.count == 0
    x, y, low, options = args(9)
    assert call(loaded, x, y[::-1], low, options) == call(program, x, y[::-1], low, options)
    assert general.count == 1


def _adds_within(pair, ends):
    pair.low[...] += ends.first
    return pair.low.sum(), ends.last


def _of_rows(x):
    return x.sum(0), x * 2


def _in_strides(x):
    x[...] *= 2


@on_linux
@pytest.mark.parametrize(
    "function, args",
    [
        (_adds_within, lambda n: (Pair(np.ones(n), 2.0), Ends(np.arange(n) / 2, np.ones(n)))),
        (_of_rows, lambda n: (np.arange(n * 0.5)[None],)),
        (_in_strides, lambda n: (np.arange(3.0 * n)[::3],)),
        (_in_strides, lambda n: (np.arange(8.0 * n).reshape(n, 8)[1:, 2:7],)),
        (_in_strides, lambda n: (np.arange(8.0 * n).reshape(n, 8)[1:, 2:7].T,)),
    ],
    ids=["containers", "one row", "strides", "a part", "transposed"],
)
def test_calls_with_classes_and_parts_of_arrays_are_native(
    function: Callable[..., Any], args: Callable[[int], tuple[Any, ...]], tmp_path: Path
) -> None:
    loaded, program = package(function, *args(6), folder=tmp_path, dynamic=True)
    general = left_to_python(loaded)
    for n in (6, 7, 50, 6):
        assert seen(loaded, args(n)) == seen(program, args(n))
    assert general.count == 0


@on_linux
def test_arrays_that_are_written_are_not_in_their_own_way(tmp_path: Path) -> None:
    loaded, _ = package(_in_strides, np.ones((6, 8))[:, ::2], folder=tmp_path, dynamic=True)
    loaded(np.ones((7, 10))[:, ::2])
    x = np.arange(40.0)
    rows = np.lib.stride_tricks.as_strided(x, (4, 5), (32, 16))
    with pytest.raises(ValueError, match="several elements of x lie at one place"):
        loaded(rows)
    assert x.tobytes() == np.arange(40.0).tobytes()


@on_linux
@pytest.mark.parametrize("other", ["Python", "NumPy", "functions"])
def test_a_process_with_other_objects_has_calls_in_python(
    other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if other == "Python":
        monkeypatch.setattr(native_calls, "_SIZES", (32, 49, 40))
    elif other == "NumPy":
        monkeypatch.setattr(native_calls, "KNOWN_ABI", 3 << 24)
    else:
        missing = {"PyErr_Occurred"}
        monkeypatch.setattr(
            native_calls, "library", lambda name: None if name in missing else library(name)
        )
    x = np.arange(6.0)
    loaded, program = package(lambda x: (x * 2, x.sum()), x, folder=tmp_path)
    general = left_to_python(loaded)
    for count in (1, 2):
        assert seen(loaded, (x,)) == seen(program, (x,))
        assert general.count == count


@on_linux
def test_code_for_large_arrays_gives_up_the_lock(tmp_path: Path) -> None:
    """That is to know before: loops of the program's look for signals, and give it up then."""
    lets = {}
    for name, size, dynamic in (("small", 9, False), ("large", 9**5, False), ("any", 9, True)):
        x = np.ones(size)
        loaded, program = package(np.exp, x, folder=tmp_path / name, dynamic=dynamic)
        (path,) = (tmp_path / name).glob("*.calls.o")
        lets[name] = "PyEval_SaveThread" in elf.read(path.read_bytes()).missing
        for each in (x, np.ones(10**5)) if dynamic else (x,):
            assert seen(loaded, (each,)) == seen(program, (each,))
    assert lets == {"small": False, "large": True, "any": True}


def methods_of_ufuncs(x, chosen):
    x += np.maximum.accumulate(x, axis=1)
    parts = np.add.reduceat(x, [0, 10, 20], axis=1), np.bitwise_or.reduce(x > 0, axis=None)
    return x.sum(where=chosen), x.sum(1, where=chosen, initial=2.0), parts, x.max(initial=0.5)


@on_linux
def test_methods_of_ufuncs_are_called(tmp_path: Path) -> None:
    def args() -> tuple[Any, ...]:
        x = np.random.default_rng(1).normal(size=(5, 30))
        return x, x > -0.5

    loaded, program = package(methods_of_ufuncs, *args(), folder=tmp_path / "p")
    assert seen(loaded, args()) == seen(program, args())


@on_linux
@pytest.mark.parametrize("kind", ["?", *"bhilBHILfdFD"])
def test_numbers_of_each_kind(kind: str, tmp_path: Path) -> None:
    def twice(x, y):
        x[...] = np.where(x == y, x, y)
        return y, x[0], x + y

    def args() -> tuple[Any, ...]:
        return np.arange(13).astype(kind), np.arange(5).astype(kind)[4]

    loaded, program = package(twice, *args(), folder=tmp_path / "p")
    assert seen(loaded, args()) == seen(program, args())


@on_linux
def test_arguments_that_it_is_not_for(tmp_path: Path) -> None:
    def function(x, y, pair, k, *, flag):
        x += y[: len(x)] * k
        return x.sum() if flag else pair["a"]

    x, y = np.zeros(6), np.ones(8)
    pair = {"a": np.zeros((2, 3)), "b": (1.5, None)}
    program = fxc.export(function, x, y, pair, 5, flag=True, dynamic=True)
    program.to_object(tmp_path / "p", OWN)
    loaded = load(tmp_path / "p")
    base = np.arange(20.0)
    read_only = np.zeros(6)
    read_only.flags.writeable = False
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((x, y, pair, 5), {"flag": True}),
        ((x, y), {"pair": pair, "k": 7, "flag": True}),
        ((x, y, pair, 5), {}),
        ((x, y, pair, 5), {"flag": False}),
        ((x, y, pair, 5), {"flag": 1}),
        ((x, y, pair, 5), {"flag": True, "more": 1}),
        ((x, y, pair, 5, 6), {"flag": True}),
        ((x, y, pair, 1), {"flag": True}),
        ((x, y, pair, 2**70), {"flag": True}),
        ((x, y, pair, 5.0), {"flag": True}),
        ((x, y, pair, np.int64(5)), {"flag": True}),
        ((x, y, {"a": pair["a"]}, 5), {"flag": True}),
        ((x, y, {"b": pair["b"], "a": pair["a"]}, 5), {"flag": True}),
        ((x, y, {"a": 3.5, "b": pair["b"]}, 5), {"flag": True}),
        ((x, y, {"a": pair["a"], "b": [1.5, None]}, 5), {"flag": True}),
        ((x, y, {"a": pair["a"], "b": (1.5, 2.5)}, 5), {"flag": True}),
        ((x, y, {"a": pair["a"], "b": (2, None)}, 5), {"flag": True}),
        ((x, y, {"a": pair["a"], "b": 1.5}, 5), {"flag": True}),
        (([0.0] * 6, y, pair, 5), {"flag": True}),
        ((None, y, pair, 5), {"flag": True}),
        ((2.5, y, pair, 5), {"flag": True}),
        ((x.astype("f"), y, pair, 5), {"flag": True}),
        ((x.reshape(2, 3), y, pair, 5), {"flag": True}),
        ((x[:1], y, pair, 5), {"flag": True}),
        ((x[::2], y, pair, 5), {"flag": True}),
        ((np.zeros(9), y, pair, 5), {"flag": True}),
        ((read_only, y, pair, 5), {"flag": True}),
        ((base[:6], base[4:12], pair, 5), {"flag": True}),
        ((np.broadcast_to(x[:1], 6), y, pair, 5), {"flag": True}),
        ((np.zeros(50, "u1")[1:49].view("f8"), y, pair, 5), {"flag": True}),
        ((np.zeros(6).view(type("Kind", (np.ndarray,), {})), y, pair, 5), {"flag": True}),
    ]
    for args, kwargs in calls:
        found = seen(lambda *args, kwargs=kwargs: loaded(*args, **kwargs), args)
        expected = seen(lambda *args, kwargs=kwargs: program(*args, **kwargs), args)
        if isinstance(expected, tuple) and isinstance(expected[0], type):
            assert found == expected  # the exceptions are equal, too


def blend(a1, a0, missing, k):
    a1[0] = a0[1] * 2
    return a1 * missing, a0[:, 0].sum() + k


@on_linux
@pytest.mark.parametrize("dynamic", [False, True])
def test_usual_calls_and_others_of_plain_arguments(dynamic: bool, tmp_path: Path) -> None:
    x, y, z = np.arange(12.0).reshape(3, 4), np.ones((3, 4)), np.arange(5.0)
    program, loaded = package(blend, x, y, 2.5, 3, folder=tmp_path, dynamic=dynamic)
    column, read_only = np.ones((3, 1)), y.copy()
    read_only.flags.writeable = False
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        *(((x, y, 2.5, 3), {}), ((x, y, 2.5), {"k": 3}), ((x,), {"a0": y, "missing": 2.5, "k": 3})),
        *(((), {}), ((x, y), {}), ((x, y, 2.5, 3, 4), {}), ((x, y, 2.5, 3), {"a0": y})),
        *(((x, y, 2.5, 3), {"more": 1}), ((x, x, 2.5, 3), {}), ((x, x[::-1], 2.5, 3), {})),
        *(((x.T, y.T, 2.5, 3), {}), ((np.asfortranarray(x), y, 2.5, 3), {}), ((z, z, 2.5, 3), {})),
        *(((column, column + 1, 2.5, 3), {}), ((x[:0], y[:0], 2.5, 3), {})),
        *(((x, read_only, 2.5, 3), {}), ((read_only, x, 2.5, 3), {}), ((x, y, 2, 3), {})),
        *(((x, y, 2.5, 2**70), {}), ((x, y, 2.5, np.int64(3)), {}), ((x, y, 2.5, True), {})),
        ((x, np.broadcast_to(np.ones(4), (3, 4)), 2.5, 3), {}),
        ((x, np.zeros(97, "u1")[1:].view("f8").reshape(3, 4), 2.5, 3), {}),
    ]
    for args, kwargs in calls * 2:
        found = seen(lambda *args, kwargs=kwargs: loaded(*args, **kwargs), args)
        assert found == seen(lambda *args, kwargs=kwargs: program(*args, **kwargs), args)


def lookup(x, i):
    x[0] = 5.0
    return x[i] * 2


@on_linux
def test_what_numpy_would_raise_is_an_error_and_changes_nothing(tmp_path: Path) -> None:
    loaded, _ = package(lookup, np.zeros(4), np.array([1, 2]), folder=tmp_path / "p")
    x = np.zeros(4)
    with pytest.raises(ValueError, match=r"\(test_objects.py:\d+\) in lookup\(\) is not defined"):
        loaded(x, np.array([1, 9]))
    assert not x.any()
    assert loaded(x, np.array([0, -4])).tolist() == [10.0, 10.0]


def inverse_of_each(x):
    total = np.zeros(x.shape[1:])
    for each in x:
        total += np.linalg.inv(each)
    return total


@on_linux
def test_numpys_own_exceptions_come_through(tmp_path: Path) -> None:
    x = np.random.default_rng(0).random((3, 4, 4))
    loaded, program = package(inverse_of_each, x, folder=tmp_path / "p")
    assert seen(loaded, (x,)) == seen(program, (x,))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        loaded(np.zeros((3, 4, 4)))
    assert seen(loaded, (x,)) == seen(program, (x,))


@on_linux
@pytest.mark.parametrize("other", [np.ones((4, 1)), np.ones((4, 4), np.float32), 3.5])
def test_another_result_of_numpys_is_not_taken(
    other: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As another version of NumPy may give it."""
    x = np.random.default_rng(0).random((3, 4, 4))
    package(inverse_of_each, x, folder=tmp_path / "p")
    monkeypatch.setattr(np.linalg, "inv", lambda x: other)
    with pytest.raises(ValueError, match=r"numpy.linalg.inv gives float.*it gave float64\[4, 4\]"):
        load(tmp_path / "p")(x)


@on_linux
def test_sorting_is_numpys(tmp_path: Path) -> None:
    def function(x):
        return np.sort(x, axis=1), np.argsort(x[0])

    for kind in "bdfh":
        x = (np.random.default_rng(5).standard_normal((3, 70)) * 40).astype(kind)
        loaded, program = package(function, x, folder=tmp_path / kind)
        assert seen(loaded, (x,)) == seen(program, (x,))


def endless(x):
    n = 0
    while x[0] < 1:
        n = n + 1
    return n


@on_linux
def test_ctrl_c_ends_a_loop(tmp_path: Path) -> None:
    import _thread

    loaded, _ = package(endless, np.zeros(3), folder=tmp_path / "p")
    ended = threading.Event()

    def interrupt() -> None:  # again: one that comes while Python frees an object is lost
        while not ended.wait(0.2):
            _thread.interrupt_main()

    thread = threading.Thread(target=interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells may have it ignored
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            loaded(np.zeros(3))
    finally:
        ended.set()
        thread.join()
        signal.signal(signal.SIGINT, before)
    assert loaded(np.ones(3)) == 0


@on_linux
def test_threads_call_it_at_the_same_time(tmp_path: Path) -> None:
    x = np.random.default_rng(0).random((3, 4, 4))
    loaded, program = package(inverse_of_each, x, folder=tmp_path / "p")
    expected = program(x).tobytes()
    found: list[object] = []

    def work(place: int) -> None:
        for _ in range(50):
            if place % 2:
                found.append(loaded(x).tobytes() == expected)
            else:
                with pytest.raises(np.linalg.LinAlgError):
                    loaded(np.zeros((3, 4, 4)))

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 100


def strip(u):
    v = u.copy()
    for _ in range(3):
        v[1:-1] += 0.25 * (v[2:] - 2 * v[1:-1] + v[:-2])
    return v


@on_linux
def test_memory_for_temporaries_is_kept_for_the_next_call(tmp_path: Path) -> None:
    loaded, program = package(strip, np.zeros(30), folder=tmp_path / "p", dynamic=True)
    room, seen = loaded._room, set()
    for size in (30, 200, 200, 40):
        u = np.random.default_rng(size).random(size)
        assert loaded(u).tobytes() == program(u).tobytes()
        (kept,) = room._kept
        seen.add(id(kept))
    assert len(seen) == 2  # it has grown once
    taken = room.take(len(kept))  # by another thread
    u = np.arange(50.0)
    assert loaded(u).tobytes() == program(u).tobytes()
    assert room._kept[0] is not taken


# ------------------------------------------------------------------ without fxc


_RUN = """
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("llvmlite", "fxc", "scipy"):
            raise ImportError(name)

sys.meta_path.insert(0, Block())
sys.path[:0] = {path!r}
import numpy as np
before = set(sys.modules)
from relaxing import load
u, f = np.linspace(0, 1, 30) ** 2, np.linspace(1, 2, 28)
for level in {levels!r}:
    found = load(level=level)(u, f)
    print(found, u.tobytes().hex())
others = {{"llvmlite", "fxc", "scipy", "json", "zlib", "dataclasses", "numpy_calls"}}
print(sorted(x for x in sys.modules if x not in before and others & set(x.split("."))))
"""


@on_linux
def test_it_runs_where_there_is_numpy_alone(tmp_path: Path) -> None:
    example = next(x for x in EXAMPLES if x.name == "relax")
    program = exported(example)
    program.to_object(tmp_path / "relaxing")
    numpy_path = str(Path(np.__file__).parents[1])
    script = _RUN.format(path=[numpy_path, str(tmp_path)], levels=OWN)
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    u, f = np.linspace(0, 1, 30) ** 2, np.linspace(1, 2, 28)
    *lines, modules = ran.stdout.splitlines()
    expected = [f"{program(u, f)} {u.tobytes().hex()}" for _ in OWN]
    assert lines == expected
    assert modules == "[]"


def test_the_modules_of_a_package_import_numpy_and_the_standard_library_alone() -> None:
    from fxc import package

    for path in Path(package.__file__).parent.glob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.split()
            if words[:1] in (["import"], ["from"]) and not words[1].startswith("."):
                top = words[1].split(".")[0]
                assert top == "numpy" or top in sys.stdlib_module_names, (path.name, line)


# ------------------------------------------------------------------ levels


def test_the_best_level_that_a_processor_has_is_chosen() -> None:
    shown = [{"name": x.name, "machine": x.machine, "features": x.features} for x in LEVELS]
    v3, v4 = ({*x.features} for x in LEVELS[1:3])
    assert chosen(shown, "x86_64", ())["name"] == "x86-64"
    assert chosen(shown, "x86_64", v3 - {"fma"})["name"] == "x86-64"
    assert chosen(shown, "x86_64", v3 | {"avx512f"})["name"] == "x86-64-v3"
    assert chosen(shown, "x86_64", v4 | {"amx"})["name"] == "x86-64-v4"
    assert chosen(shown, "x86_64", v4, "x86-64")["name"] == "x86-64"
    assert chosen(shown, "aarch64", {"asimd"})["name"] == "aarch64"
    with pytest.raises(NoCode, match="the level x86-64-v4"):
        chosen(shown, "x86_64", v3, "x86-64-v4")
    with pytest.raises(NoCode, match=r"has no code for this processor \(riscv64\)"):
        chosen(shown, "riscv64", ())


def test_levels_that_there_are_not() -> None:
    program = fxc.export(np.hypot, np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match="there is no level sse9; there are x86-64, "):
        program.to_object("nowhere", ["sse9"])
    assert not Path("nowhere").exists()


# ------------------------------------------------------------------ folders


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    program = fxc.export(np.hypot, np.ones(2), np.ones(2))
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(FileExistsError, match="is there, and is no package"):
        program.to_object(tmp_path, ["x86-64"])
    assert [x.name for x in tmp_path.iterdir()] == ["notes"]


def test_a_package_takes_the_place_of_another_one(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    fxc.export(np.hypot, np.ones(2), np.ones(2)).to_object(folder, ["x86-64"])
    fxc.export(np.arctan2, np.ones(2), np.ones(2)).to_object(folder, ["x86-64"])
    assert sorted(x.name for x in folder.glob("*.o")) == [
        "arctan2-x86-64.calls.o",
        "arctan2-x86-64.o",
    ]
    assert [x.name for x in tmp_path.iterdir()] == ["p"]


def test_code_of_each_level_is_made_on_any_machine(tmp_path: Path) -> None:
    fxc.export(np.hypot, np.ones(2), np.ones(2)).to_object(tmp_path / "p")
    calls = {"hypot-x86-64.calls.o", "hypot-aarch64.calls.o"}  # they are the same for all of x86
    expected = {f"hypot-{x.name}.o" for x in LEVELS} | calls
    assert {x.name for x in (tmp_path / "p").glob("*.o")} == expected


def test_a_result_of_a_class_without_a_name_is_refused(tmp_path: Path) -> None:
    local = namedtuple("local", "first second")

    program = fxc.export(lambda x: local(x + 1, x * 2), np.ones(3))
    with pytest.raises(ExportError, match="cannot be saved"):
        program.to_object(tmp_path / "p", OWN)
    assert not (tmp_path / "p").exists()


def test_a_python_that_wants_other_options_reads_manifests(monkeypatch: pytest.MonkeyPatch) -> None:
    text = '{"files": {"a": [1, 2.5, null]}}'
    assert files._parsed(text) == json.loads(text)
    monkeypatch.delattr(files._Plainly, "parse_int")
    assert files._parsed(text) == json.loads(text)


@pytest.mark.parametrize(
    "strides", [(24, 8), (-24, 8), (24, -8), (-24, -16), (8, 24), (0, 0)], ids=repr
)
@pytest.mark.parametrize("shape", [(2, 3), (0, 3), (2, 2)], ids=repr)
@pytest.mark.parametrize("is_known", [False, True])
def test_arrays_over_the_memory_of_a_call(
    shape: tuple[int, int], strides: tuple[int, int], is_known: bool
) -> None:
    x = np.arange(64.0)
    first = x.ctypes.data + 8 * 32
    words = [first, *shape, *strides]
    dims = [*shape, *strides] if is_known else [{"word": place} for place in range(1, 5)]
    shown = {"memory": 0, "dtype": "<f8", "shape": dims[:2], "strides": dims[2:]}
    found = numpy_calls._array(shown)(words)
    wanted = np.lib.stride_tricks.as_strided(x[32:], shape, strides)
    assert (found.shape, found.strides, found.tobytes()) == (shape, strides, wanted.tobytes())
    assert found.size == 0 or np.shares_memory(found, x)
    assert found.flags.writeable
