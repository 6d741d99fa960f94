"""What runs: machine code lives as long as it can be called and no longer, imports stay few."""

from __future__ import annotations

import gc
import platform
import re
import subprocess
import sys
import textwrap
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.errors import InternalError
from fxc.package.mapping import MissingFunction
from fxc.runtime import engine as engines
from fxc.runtime import linking
from fxc.runtime.engine import Engine
from fxc.runtime.kept_codes import KeptCode

ADD_ONE = """
define ptr @add_one(ptr %self, ptr %args, i64 %count) {
  %given = load ptr, ptr %args
  call void @Py_IncRef(ptr %given)
  ret ptr %given
}
declare void @Py_IncRef(ptr)
"""


def megabytes() -> float:
    """The memory of this process that is in use."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def compile_and_drop(count: int) -> None:
    for number in range(count):
        program = fxc.compile(lambda x, k=float(number): np.sqrt(x) * k, fullgraph=True)
        assert program(np.ones(4)).tolist() == [number] * 4
    gc.collect()


# ------------------------------------------------------------------ engines


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads Linux' /proc")
def test_the_memory_of_dropped_functions_is_given_back():
    compile_and_drop(30)  # LLVM's own tables, and the allocator's reserve
    before = megabytes()
    compile_and_drop(100)
    assert megabytes() - before < 15


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="LLVM puts code in memory elsewhere")


@on_linux
def test_code_that_calls_what_is_nowhere_is_not_put_in_memory():
    with pytest.raises(MissingFunction, match="no function Py_Nowhere here"):
        Engine(ADD_ONE.replace("Py_IncRef", "Py_Nowhere"), b"", ())


@on_linux
def test_a_call_of_what_is_nowhere_is_a_bug_of_fxc_and_not_the_end_of_the_process(
    monkeypatch: pytest.MonkeyPatch,
):
    known = linking.library
    monkeypatch.setattr(
        linking, "library", lambda name: None if name == "Py_IncRef" else known(name)
    )
    x = np.arange(3.0)
    program = fxc.compile(lambda x: x + 1)
    with pytest.warns(fxc.CaptureWarning, match="a bug in fxc.*no function Py_IncRef here"):
        assert program(x).tolist() == [1, 2, 3]
    with pytest.raises(InternalError, match="no function Py_IncRef here"):
        fxc.compile(lambda x: x + 1, fullgraph=True)(x)


def test_code_that_is_kept_again_takes_its_room_once():
    kept = KeptCode(10)
    for _ in range(3):
        kept.keep(b"first", b"1234")
    kept.keep(b"second", b"1234")
    assert (kept.get(b"first"), kept.get(b"second")) == (b"1234", b"1234")
    kept.keep(b"third", b"1234")
    assert (kept.get(b"first"), kept.get(b"third")) == (None, b"1234")


def test_compiling_leaves_the_search_for_garbage_as_it_is(monkeypatch: pytest.MonkeyPatch):
    called: list[str] = []
    monkeypatch.setattr(gc, "disable", lambda: called.append("disable"))
    monkeypatch.setattr(gc, "enable", lambda: called.append("enable"))
    assert fxc.compile(lambda x: x + 1, fullgraph=True)(np.ones(1)).tolist() == [2]
    assert not called


def test_cache_clear_drops_the_engine():
    program = fxc.compile(lambda x: x + 1)
    program(np.ones(2))
    engine = weakref.ref(program.inspect(np.ones(2))._assembled.engine)
    assert engine() is not None
    program.cache_clear()
    gc.collect()
    assert engine() is None
    assert program(np.ones(2)).tolist() == [2, 2]


def test_a_dropped_function_drops_its_engine():
    program = fxc.compile(lambda x: x + 1)
    engine = weakref.ref(program.inspect(np.ones(2))._assembled.engine)
    del program
    gc.collect()
    assert engine() is None


def test_a_function_keeps_its_code_when_the_engine_is_dropped():
    engine = Engine(ADD_ONE, b"", ["add_one"])
    (function,) = engine.functions
    del engine
    gc.collect()
    compile_and_drop(3)  # reuses the memory, if it was given back
    marker = object()
    assert function(marker) is marker


def test_a_plan_keeps_its_code():
    program = fxc.compile(lambda x: x * 3 + 1)
    run = program.inspect(np.ones(2))._assembled.plan.run
    del program
    gc.collect()
    compile_and_drop(3)
    (result,) = run(np.ones(2))
    assert result.tolist() == [4, 4]


def test_stages_outlive_the_function():
    program = fxc.compile(lambda x: x * 3 + 1)
    stages = program.inspect(np.ones(2))
    del program
    gc.collect()
    assert "define" in stages.llvm
    assert stages.asm.strip()


def test_clearing_the_cache_during_calls():
    program = fxc.compile(lambda x: (x * 2).sum() + x, fullgraph=True)
    expected = [19.0] * 9
    wrong: list[Any] = []
    done = threading.Event()

    def call() -> None:
        while not done.is_set():
            result = program(np.ones(9)).tolist()
            if result != expected:
                wrong.append(result)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(8):
        program.cache_clear()
        gc.collect()
        program(np.ones(9))
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_text_that_llvm_rejects_is_an_error():
    with pytest.raises((RuntimeError, InternalError)):
        Engine("define void @f( {", b"", ["f"])


def test_the_assembly_is_that_of_the_entry():
    assert "add_one" in Engine(ADD_ONE, b"", ["add_one"]).assembly()


# ------------------------------------------------------------------ plans


def plan_of(fn: Callable[..., Any], *args: Any) -> Any:
    return fxc.compile(fn).inspect(*args)._assembled.plan


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="looks at x86 code")
def test_many_constants_of_a_loop_are_loaded_once_each():
    """Hoisted out of the loop, those that find no register are loaded in front of it and again for
    each vector; to find that out takes LLVM the square of their number.
    """
    factors = [k / 7 for k in range(1, 71)]

    def long(x, y):
        v = x
        for factor in factors:  # no loop of the graph
            v = v * factor + y
        return v

    x = np.linspace(0, 1e-3, 64)
    asm = fxc.compile(long, fullgraph=True).inspect(x, x + 1).asm
    loads = re.findall(r"^\t\S+\t.*\.LCPI\w+\(%rip\)", asm, re.MULTILINE)
    assert 60 < len(loads) <= len(factors)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="looks at x86 code")
@pytest.mark.parametrize("is_wide", [True, False])
def test_scalar_loops_get_wide_registers_where_these_keep_the_clock(
    is_wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def differing(x, y):
        n = 0
        for i in range(len(x)):
            if x[i] != y[i]:
                n += 1
        return n

    engines.load_llvm()
    target, cpu, features = engines._target
    told = f"{features},+avx512vbmi2" if is_wide else features.replace("+avx512vbmi2", "")
    monkeypatch.setattr(engines, "_target", (target, cpu, told))
    x = np.arange(3000, dtype=np.uint8)
    asm = fxc.compile(differing, fullgraph=True).inspect(x, x[::-1].copy()).asm
    if "+avx512f" in features and "-avx512f" not in features:
        assert ("%zmm" in asm) == is_wide


def test_a_plan_shows_its_source():
    plan = plan_of(lambda x, k: x * k, np.ones(3), 2.0)
    assert plan.source.startswith("def run(a0, a1):")
    assert "return [" in plan.source


def test_inputs_that_are_only_read_may_overlap():
    plan = plan_of(lambda x, y: x + y, np.ones(3), np.ones(3))
    x = np.arange(3.0)
    assert plan.run(x, x)[0].tolist() == [0, 2, 4]


def test_results_have_numpys_layout():
    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    (result,) = plan_of(lambda x: x + 1, x).run(x)
    assert result.strides == (x + 1).strides


# ------------------------------------------------------------------ imports


def words_after(code: str, tmp_path: Path) -> list[str]:
    """What a new process prints."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def modules_after(code: str, tmp_path: Path) -> set[str]:
    """The modules that a fresh process has imported after running a script."""
    return set(words_after(f"{textwrap.dedent(code)}\nimport sys; print(*sys.modules)", tmp_path))


def test_importing_fxc_imports_little(tmp_path):
    assert "fxc.compiled" not in modules_after("import fxc", tmp_path)
    found = modules_after("import fxc; fxc.compile", tmp_path)
    assert "fxc.compiled" in found
    rooms = ("fxc.capture", "fxc.lowering", "fxc.passes", "fxc.runtime", "fxc.dispatch", "fxc.ops")
    assert not found & {
        "llvmlite",
        "networkx",
        "fxc.exported.program",
        "fxc.pipeline.stages",
        *rooms,
    }
    assert not found & {"logging", "traceback", "fxc.ir.text", "fxc.ir.schema"}


def test_decorating_imports_nothing_more(tmp_path):
    code = """
        import fxc
        @fxc.compile
        def fn(x):
            return x + 1
    """
    assert not modules_after(code, tmp_path) & {"llvmlite", "networkx", "fxc.capture"}


def test_a_small_compile_does_not_import_networkx(tmp_path):
    code = """
        import numpy as np, fxc
        @fxc.compile(fullgraph=True)
        def fn(x):
            x[1:] += x[:-1]
            return np.exp(x).mean()
        fn(np.ones(4))
        assert fn.cache_info().native_calls == 1
    """
    found = modules_after(code, tmp_path)
    assert "llvmlite" in found
    assert not found & {"networkx", "numba", "scipy", "sympy", "fxc.exported.program"}


LOADED_BESIDE = """
    import _thread, os, numpy as np, fxc
    from fxc.pipeline import beside

    def by_whom():
        ran_in.append(_thread.get_ident() == own)
        return load()

    own, ran_in, load = _thread.get_ident(), [], beside.load_llvm
    beside.usable_processors, beside.load_llvm = (lambda: PROCESSORS), by_whom
    double = fxc.compile(lambda x: x * 2, fullgraph=True)
    if FORKS:
        beside.load_beside()
        child = os.fork()
        assert double(np.ones(1))[0] == 2
        assert not child or os.waitpid(child, 0)[1] == 0
    double(np.ones(2))
    print(*ran_in)
"""


@pytest.mark.parametrize(
    ("processors", "forks", "ran_in"), [(2, "", ["False"]), (2, "1", ["False"] * 2), (1, "", [])]
)
def test_another_thread_loads_llvm_during_a_first_capture(processors, forks, ran_in, tmp_path):
    code = LOADED_BESIDE.replace("PROCESSORS", str(processors)).replace("FORKS", repr(forks))
    assert words_after(code, tmp_path) == ran_in


def test_what_a_first_program_needs_of_llvm_is_made_beside(tmp_path):
    code = """
        import numpy as np, fxc
        from fxc.pipeline import beside
        from fxc.runtime.engine import target_machine
        beside.usable_processors = lambda: 2
        beside.load_beside()
        beside._wait()
        made = target_machine.cache_info().misses
        assert fxc.compile(lambda x: x * x + 1, fullgraph=True)(np.ones(8))[0] == 2
        print(target_machine.cache_info().misses - made)
    """
    assert words_after(code, tmp_path) == ["0"]


def test_a_process_may_end_while_llvm_is_loaded(tmp_path):
    code = """
        from fxc.pipeline import beside
        beside.usable_processors = lambda: 2
        beside.load_beside()
    """
    assert words_after(code, tmp_path) == []


def test_the_numpy_backend_does_not_import_llvmlite(tmp_path):
    code = """
        import numpy as np, fxc
        assert fxc.compile(lambda x: x + 1, backend="numpy")(np.ones(2))[0] == 2
    """
    found = modules_after(code, tmp_path)
    assert not found & {"llvmlite", "networkx", "fxc.lowering", "fxc.pipeline.assemble"}


def test_saving_does_not_import_llvmlite(tmp_path):
    code = """
        import numpy as np, fxc
        program = fxc.export(lambda x: x + 1, np.ones(2))
        str(program)
    """
    assert not modules_after(code, tmp_path) & {"llvmlite", "networkx"}


# ------------------------------------------------------------------ the eager index


def test_the_eager_index_prefers_operators_that_write():
    program = fxc.compile(lambda x: x.var(), backend="numpy", fullgraph=True)
    stages = program.inspect(np.ones(5))
    assert "var(" in str(stages.functional)
    x = np.arange(5.0)
    assert program(x) == x.var()
    assert program.cache_info() == fxc.CacheInfo(1, 1, 0, {})


def test_the_eager_index_keeps_the_boundary():
    def fn(x, y):
        x[1:] = y[:-1]
        return x, x[::2], y

    program = fxc.compile(fn, backend="numpy", fullgraph=True)
    x, y = np.zeros(4), np.arange(4.0)
    same, view, other = program(x, y)
    assert same is x
    assert other is y
    assert np.shares_memory(view, x)
    assert x.tolist() == [0, 0, 1, 2]
    assert (program.inspect(x, y).asm, program.inspect(x, y).plan) == ("", "")


# ------------------------------------------------------------------ memory


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux' counts of page faults")
def test_calls_keep_the_memory_of_those_before(tmp_path):
    code = """
        import resource
        import numpy as np, fxc

        @fxc.compile(fullgraph=True)
        def step(x):
            return np.cumsum(x[1:] - x[:-1]) + x.max()

        def faults():
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            step(x)
            found = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
            np.add(x, x) + x  # NumPy's memory is freed behind it, and given back to the system
            return found

        x = np.ones(10**6)
        print(*(faults() for _ in range(6)))
    """
    first, *_, third, second, last = map(int, words_after(code, tmp_path))
    assert min(third, second, last) < 100 < first  # the system may take pages back in between


def test_what_numpy_gives_is_not_copied():
    """Nor is room made for as many elements as there may be, where NumPy counts them."""
    x = np.arange(6.0)

    def program(x):
        return np.interp(x, [0.0, 9.0], [1.0, 2.0]), np.linalg.inv(x[:4].reshape(2, 2))

    compiled = fxc.compile(program, fullgraph=True)
    for found, plain in zip(compiled(x), program(x), strict=True):
        assert found.tobytes() == plain.tobytes()
        assert found.flags.owndata
    assert "[...]" not in compiled.inspect(x).plan
    counts = fxc.compile(lambda i: np.bincount(i), fullgraph=True)
    plan = counts.inspect(np.arange(3)).plan
    assert "empty" not in plan
    assert "entry" not in plan
    assert (counts(np.array([3, 3])) == [0, 0, 0, 2]).all()


def test_numbers_that_numpy_gives_are_kept_as_they_are():
    def program(x, i):
        middle = np.percentile(i, 30)
        return middle, np.linalg.slogdet(x), middle

    def both(x, i):  # as NumPy's number, and as an array
        middle = np.nanpercentile(i, 40)
        return middle, np.expand_dims(middle, 0)

    x, i = np.eye(3), np.arange(6)
    compiled = fxc.compile(program, fullgraph=True)
    assert "empty" not in compiled.inspect(x, i).plan
    for fn, made in ((program, compiled), (both, fxc.compile(both, fullgraph=True))):
        for expected, found in zip(fn(x, i), made(x, i), strict=True):
            assert type(found) is type(expected)
            assert found == expected


def test_numpy_is_given_slices_by_pythons_own_indexing():
    x = np.arange(24.0).reshape(4, 6)

    def program(x):
        return (
            np.sort(x[1:3, ::2], 0),
            np.sort(x[::-1, 4:], 0),
            np.sort(x[2:2], 0),
            np.sort(x[1], 0),
        )

    compiled = fxc.compile(program, fullgraph=True, dynamic=True)
    assert "a0[1:3:1, 0:" in compiled.inspect(x).plan
    for given in (x, x[:, ::-1], x[:3], x.T[:5]):
        for found, plain in zip(compiled(given), program(given), strict=True):
            assert (found == plain).all()
            assert found.strides == plain.strides


@pytest.mark.parametrize(
    "odd", [lambda x, *_: x, lambda x, *_: x.T, lambda x, *_: x.astype("f4"), lambda x, *_: x[:]]
)
def test_what_is_no_array_of_its_own_is_copied(odd, monkeypatch):
    monkeypatch.setattr("fxc.pipeline.assemble.compiled_kernel_of", lambda name: odd)
    x = np.arange(4.0).reshape(2, 2)
    found = fxc.compile(lambda x: np.linalg.inv(x), fullgraph=True)(x)
    assert found is not x
    assert found.flags.c_contiguous
    assert found.flags.owndata
    assert found.dtype == np.float64
