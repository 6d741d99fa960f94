"""Compiled functions in other processes, with their compilations: nothing is compiled again.

Note [Stored compilations].
"""

import concurrent.futures
import importlib.util
import multiprocessing
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

import fxc
from fxc.cache.digests import digest_of
from fxc.cache.stored import restore, store
from fxc.calling.compiling import captures_begun
from fxc.ir.errors import MISSED
from tests.exporters.corpus import EXAMPLES, Example
from tests.outcomes import difference, run, warnings_of

# They call functions that fxc knows nothing of, or replaced by ones in C.
NOT_STORED = {
    "columns.book_risk",
    "finance.greeks",
    "particles.lbm_cavity",
    "physics.heat_implicit",
    "simulations.queue_sim",
}

SCALE = 3.0


def scaled(x):
    return x * SCALE


@fxc.compile
def diffuse(u, steps):
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] + u[:-2] - 2 * u[1:-1])
    return scaled(u)


class Counter:
    def __init__(self) -> None:
        self.calls = 0

    @fxc.compile
    def add(self, x):
        self.calls += 1
        return x + self.calls


def called(function: Any, *args: Any) -> tuple[Any, int]:
    """What a call gives, and how many captures this process has begun."""
    return function(*args), captures_begun()


@pytest.fixture(scope="module")
def workers() -> Any:
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        yield pool


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_what_is_restored_does_the_same(example: Example, caplog: pytest.LogCaptureFixture) -> None:
    compiled = fxc.compile(example.function)
    compiled(*example.arguments(0))
    variants = compiled._state.variants
    caplog.set_level("INFO", "fxc")
    data = store(variants, example.function, compiled._options)
    if not data:
        assert "a compilation is not stored: " in caplog.text
        assert example.name in NOT_STORED
        return
    before = captures_begun()
    restored = restore(data, example.function, compiled._options)
    assert len(restored) == len(variants)
    for old, new in zip(variants, restored, strict=True):
        assert str(new.compilation.decomposed) == str(old.compilation.decomposed)
        assert new.compilation.assembled.plan.source == old.compilation.assembled.plan.source
        expected = run(lambda *args, old=old: old.call(args, {}), example.arguments(0))
        found = run(lambda *args, new=new: new.call(args, {}), example.arguments(0))
        assert expected.result is not MISSED
        assert difference(expected, found) == ""
    assert captures_begun() == before


def test_a_worker_does_not_compile(workers: Any) -> None:
    u = np.arange(50.0) ** 2
    expected = diffuse(u.copy(), 4)
    found, captures = workers.submit(called, diffuse, u.copy(), 4).result()
    assert captures == 0
    np.testing.assert_array_equal(found, expected)


def test_effects_and_objects_of_the_worker(workers: Any) -> None:
    here = Counter()
    here.add(np.ones(3))
    found, captures = workers.submit(called, Counter.add, here, np.ones(3)).result()
    assert captures == 0
    np.testing.assert_array_equal(found, np.ones(3) + 2)


def test_a_worker_takes_over_each_compilation_once(workers: Any) -> None:
    u = np.arange(20.0)
    diffuse(u.copy(), 4)
    pickled = pickle.dumps(diffuse)
    before = len(diffuse._state.variants)
    assert pickle.loads(pickled) is diffuse
    assert len(diffuse._state.variants) == before


def test_functions_that_have_no_name_are_pickled_by_value() -> None:
    offset = 2.0

    @fxc.compile
    def inner(x):
        return scaled(x) + offset

    x = np.arange(4.0)
    inner(x)
    before = captures_begun()
    again = cloudpickle.loads(cloudpickle.dumps(inner))
    assert again is not inner
    np.testing.assert_array_equal(again(x), inner(x))
    assert captures_begun() == before
    assert again.cache_info().native_calls == 1


MAIN = """
import subprocess, sys
import cloudpickle, numpy as np
import fxc

FACTOR = 5.0

def twice(x):
    return x * 2

@fxc.compile
def f(x):
    return twice(x) + FACTOR

f(np.arange(3.0))
sys.stdout.buffer.write(cloudpickle.dumps(f))
"""


def test_a_function_of_main_is_pickled_by_value(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(MAIN)
    made = subprocess.run([sys.executable, script], check=True, capture_output=True)
    function = pickle.loads(made.stdout)
    before = captures_begun()
    np.testing.assert_array_equal(function(np.arange(3.0)), np.arange(3.0) * 2 + 5)
    assert captures_begun() == before


@pytest.mark.parametrize(
    "change", ["", "FACTOR = 6.0", "def twice(x):\n    return x * 3", "import math as np"]
)
def test_what_has_changed_is_compiled_again(tmp_path: Path, change: str, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    text = MAIN[: MAIN.index("f(np.arange")].replace("@fxc.compile\n", "")
    name = f"changed_{abs(hash(change))}"
    (tmp_path / f"{name}.py").write_text(text)
    module = __import__(name)
    compiled = fxc.compile(module.f)
    compiled(np.arange(3.0))
    data = store(compiled._state.variants, module.f, compiled._options)
    if change.startswith("import"):
        module.np = __import__("math")
        change = ""
    exec(compile(change, str(tmp_path / "other.py"), "exec"), vars(module))
    again = fxc.compile(module.f)
    again._take_over(data)
    before = captures_begun()
    expected = module.f(np.arange(3.0))
    np.testing.assert_array_equal(again(np.arange(3.0)), expected)
    is_other = bool(change)
    assert (captures_begun() > before) == is_other


def _module_of(folder: Path, name: str, text: str) -> Any:
    """A module of this name, instead of one that is there."""
    folder.mkdir()
    (folder / f"{name}.py").write_text("import numpy as np\n" + text)
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


METHODS = """
class Base:
    def part(self, x):
        return x * 2

class Other:
    def part(self, x):
        return x * 9

class Derived(Base):
    # here
    def __init__(self):
        self.total = 1.0
    def run(self, x):
        self.total = self.total + 1.0
        return self.part(x) + self.total + (1 if self else 0)

def f(x):
    return Derived().run(x)
"""
TUPLE = """
from collections import namedtuple
Pair = namedtuple("Pair", "a b")
pair = Pair(2.0, 3.0)

def f(x):
    return Pair(a=x * 1, b=x * 2), x * pair.a
"""
FROZEN = """
import dataclasses

@dataclasses.dataclass
class Record:
    a: float

record = Record(1.0)

def f(x):
    record.a = 3.0
    return x + record.a
"""
MARKED = """
class Kind(type):
    pass

class Mark(metaclass=Kind):
    add = 2.0

def f(x):
    return x + Mark.add if isinstance(x, Mark) else x * 3
"""
ERRORS = """
class Error(Exception):
    pass

def f(x):
    try:
        if x.size:
            raise Error
    except ValueError:
        return x * 2
    except Exception:
        return x * 3
"""
TRY = """
def f(x):
    scale = 1.0
    try:
        a = x[2]
        b = x[9]
    except IndexError:
        scale = 2.0
    return x * scale
"""
ELSE = TRY.replace("        b = x[9]\n", "").replace("= 2.0", "= 2.0\n    else:\n        b = x[9]")
HELPER = """
def helper(x, k):
    return x * k

def f(x):
    return helper(x, 2) + helper(x, k=3)
"""


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        (HELPER, "x, k)", "x, *, k)"),
        (HELPER, "x, k)", "x, k, /)"),
        ("exec('def h(x, k=2): return x * k')\ndef f(x): return h(x)", "x * k", "x + k"),
        ("exec('def h(x, k=2): return x * k')\ndef f(x): return h(x)", "k=2", "k=3"),
        (TRY, TRY, ELSE),
        (METHODS, "# here", "def part(self, x): return x * 5"),
        (METHODS, "# here", "def __setattr__(self, n, v): object.__setattr__(self, n, v * 2)"),
        (METHODS, "# here", "def __bool__(self): return False"),
        (METHODS, "# here", "total = property(lambda self: 5.0, lambda self, value: None)"),
        (METHODS, "Derived(Base)", "Derived(Other, Base)"),
        (MARKED, "pass", "def __instancecheck__(self, x): return True"),
        (TUPLE, '"a b"', '"b a"'),
        (FROZEN, "dataclass\n", "dataclass(frozen=True)\n"),
        (ERRORS, "Error(Exception)", "Error(ValueError)"),
    ],
)
def test_an_edited_module(tmp_path: Path, text: str, before: str, after: str) -> None:
    """What a capture takes for granted of functions and classes may be otherwise elsewhere."""
    name = "edited_module"
    try:
        compiled = fxc.compile(_module_of(tmp_path / "old", name, text).f)
        x = np.arange(1.0, 5.0)
        compiled(x)
        data = store(compiled._state.variants, compiled.__fxc_original__, compiled._options)
        assert data
        edited = text.replace(before, after)
        assert edited != text
        for folder, now in (("same", text), ("new", edited)):
            plain = _module_of(tmp_path / folder, name, now).f
            again = fxc.compile(plain)
            again._take_over(data)
            assert len(again._state.variants) == (now == text)
            assert difference(run(plain, [x]), run(again, [x])) == ""
    finally:
        sys.modules.pop(name, None)


def test_warnings_and_logs_name_the_file_of_this_process(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = """
import logging, warnings
log = logging.getLogger("moved")

def f(x):
    warnings.warn('here')
    log.warning("there")
    return x * 2
"""
    try:
        compiled = fxc.compile(_module_of(tmp_path / "old", "moved_module", text).f)
        warnings_of(compiled, np.ones(3))
        data = store(compiled._state.variants, compiled.__fxc_original__, compiled._options)
        plain = _module_of(tmp_path / "new", "moved_module", text).f
        again = fxc.compile(plain)
        again._take_over(data)
        before = captures_begun()
        caplog.clear()
        assert warnings_of(again, np.ones(3)) == warnings_of(plain, np.ones(3))
        found, expected = [(each.pathname, each.lineno) for each in caplog.records]
        assert found == expected
        assert captures_begun() == before
    finally:
        sys.modules.pop("moved_module", None)


def test_other_options_take_over_nothing() -> None:
    compiled = fxc.compile(scaled)
    compiled(np.ones(3))
    data = store(compiled._state.variants, scaled, compiled._options)
    assert restore(data, scaled, compiled._options)
    for other in (fxc.compile(scaled, backend="numpy"), fxc.compile(scaled, passes=[lambda g: g])):
        assert restore(data, scaled, other._options) == []


def test_an_edited_function_has_another_digest() -> None:
    def code_of(text: str) -> Any:
        names: dict[str, Any] = {}
        exec(text, names)
        return names["f"].__code__

    known = digest_of(code_of("def f(x): return x + 1"))
    assert known == digest_of(code_of("def f(x): return x + 1"))
    for other in (
        "def f(x): return x + 2",
        "def f(x): return x + 1.0",
        "def f(x): return x - 1",
        "def f(y): return y + 1",
        "def f(x): return x + one",
        "def f(x): return (lambda: x + 1)()",
    ):
        assert digest_of(code_of(other)) != known


@pytest.mark.parametrize("damage", ["cut", "other", "math", "junk"])
def test_what_is_not_for_this_process_is_not_read(damage: str) -> None:
    u = np.arange(9.0)
    diffuse(u.copy(), 2)
    original, options = diffuse.__fxc_original__, diffuse._options
    data = store(diffuse._state.variants, original, options)
    assert restore(data, original, options)
    made_by, math, texts = pickle.loads(data)
    match damage:
        case "cut":
            changed = pickle.dumps((made_by, math, [text[:-100] for text in texts]))
        case "other":
            changed = pickle.dumps((b"another machine", math, texts))
        case "math":
            changed = pickle.dumps((made_by, "fast", texts))
        case _:
            changed = b"junk"
    assert restore(changed, original, options) == []


def test_what_cannot_be_stored_is_left_out() -> None:
    compiled = fxc.compile(np.hypot)
    compiled(np.ones(3), np.ones(3))
    assert pickle.loads(pickle.dumps(compiled))(3.0, 4.0) == 5.0
    by_numpy = fxc.compile(scaled, backend="numpy")
    by_numpy(np.ones(3))
    assert store(by_numpy._state.variants, scaled, by_numpy._options) == b""
