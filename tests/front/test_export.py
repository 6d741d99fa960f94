"""Exported programs: what a call does, what it refuses, and that a file gives the same program."""

from __future__ import annotations

import dataclasses
import errno
import os
import re
import subprocess
import sys
import textwrap
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import fxc
from fxc.exported.file import _READERS, FORMAT
from fxc.ir.errors import ParseError
from fxc.ir.parse import parse_graph
from fxc.ops.table import TABLE
from tests.compiling import same
from tests.outcomes import difference, run
from tests.program_files import SAVED, tried


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclasses.dataclass
class State:
    field: np.ndarray
    weight: float
    name: str = "state"


def relax(u, weight, steps):
    u[1:-1] += weight * (u[:-2] - 2 * u[1:-1] + u[2:])
    return {"field": u, "inner": u[1:-1], "mean": u.mean(), "steps": steps + 1, "none": None}


def weighted(pair, state, *, scale=1.0):
    total = pair.left * state.weight + pair.right * scale
    return Pair(total, State(total[::2], state.weight, state.name))


def relax_inputs(n: int = 6) -> tuple[np.ndarray, float, int]:
    return np.arange(n) ** 2.0, 0.25, 7


@pytest.fixture(params=["exported", "loaded"])
def through(request, tmp_path):
    """Exporting, and exporting by way of a file."""

    def make(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> fxc.ExportedProgram:
        program = fxc.export(fn, *args, **kwargs)
        if request.param == "exported":
            return program
        program.save(tmp_path / "program.fxc")
        return fxc.load(tmp_path / "program.fxc")

    return make


# ------------------------------------------------------------------ what a call does


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_call_does_what_the_function_does(through, dynamic):
    program = through(relax, *relax_inputs(), dynamic=dynamic)
    same(relax, program, relax_inputs())
    same(relax, program, relax_inputs())


def test_one_program_serves_all_sizes(through):
    program = through(relax, *relax_inputs(), dynamic=True)
    for n in (3, 4, 17, 100):
        same(relax, program, relax_inputs(n))


def test_export_runs_nothing_and_changes_nothing():
    x = np.ones(3)
    fxc.export(lambda x: np.copyto(x, 2.0), x)
    assert x.tolist() == [1, 1, 1]


def test_a_returned_input_is_the_callers_object_and_a_view_is_of_it(through):
    u, weight, steps = relax_inputs()
    result = through(relax, u, weight, steps)(u, weight, steps)
    assert result["field"] is u
    assert np.shares_memory(result["inner"], u)
    assert result["inner"].base is u
    result["inner"][:] = 0
    assert not u[1:-1].any()


def test_results_that_share_memory_do_so_afresh_in_every_call(through):
    def halves(x):
        y = x * 2
        return y, y[1:]

    program = through(halves, np.ones(3))
    first, second = program(np.ones(3)), program(np.ones(3))
    assert np.shares_memory(*first)
    assert not np.shares_memory(first[0], second[0])
    same(halves, program, (np.arange(3.0),))


def test_a_returned_constant_is_fresh_in_every_call(through):
    program = through(lambda: np.zeros(3))
    program()[:] = 7
    assert program().tolist() == [0, 0, 0]


def test_named_tuples_and_dataclasses_go_in_and_out(through):
    args = (Pair(np.ones(4), np.arange(4.0)), State(np.ones(2), 0.5))
    program = through(weighted, *args, scale=3.0)
    result = program(*args, scale=2.0)
    expected = weighted(*args, scale=2.0)
    assert isinstance(result, Pair)
    assert isinstance(result.right, State)
    assert result.left.tolist() == expected.left.tolist()
    assert result.right.field.tolist() == expected.right.field.tolist()
    assert (result.right.weight, result.right.name) == (0.5, "state")


def test_positional_arguments_may_be_given_by_name(through):
    program = through(relax, *relax_inputs())
    u, weight, steps = relax_inputs()
    assert program(steps=steps, weight=weight, u=u)["field"] is u


def test_compiled_functions_and_methods_are_exported(through):
    class Model:
        scale = 3.0

        @fxc.compile
        def apply(self, x):
            return x * self.scale

    program = through(fxc.compile(relax), *relax_inputs())
    same(relax, program, relax_inputs())
    assert through(Model().apply, np.ones(2))(np.ones(2)).tolist() == [3, 3]


def test_one_array_given_twice_must_be_one_array(through):
    def add_into(x, y):
        x += y
        return x is y

    x = np.ones(3)
    program = through(add_into, x, x)
    assert program(x, x) is True
    assert x.tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="y must be the same array as x"):
        program(np.ones(3), np.ones(3))


def test_interleaved_arrays_do_not_overlap(through):
    def add_into(x, y):
        x += y

    base = np.arange(6.0)
    program = through(add_into, base[::2], base[1::2])
    program(base[::2], base[1::2])
    assert base.tolist() == [1, 1, 5, 3, 9, 5]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("layout", ["F", "strided", "negative", "0-d", "empty", "broadcast"])
def test_layouts(through, layout, dynamic):
    base = np.arange(24.0).reshape(4, 6)
    x = {
        "F": np.asfortranarray(base),
        "strided": base[::2, 1::2],
        "negative": base[::-1, ::-1],
        "0-d": np.array(2.5),
        "empty": base[:0],
        "broadcast": np.broadcast_to(base[0], (3, 6)),
    }[layout]

    def fn(x):
        return x.T + 1, x.sum(), x[..., None]

    program = through(fn, x, dynamic=dynamic)
    expected, found = run(fn, (x,)), run(program, (x,))
    assert difference(expected, found) == ""


def test_special_numbers_keep_their_bits(through):
    nan = np.frombuffer(np.array([0xFFF8000000000123], "u8").tobytes())[0]

    def fn(x):
        return x * -0.0, np.float32(0.1), float("inf"), x + nan

    same(fn, through(fn, np.ones(2)), (np.ones(2),))


# ------------------------------------------------------------------ text and files


@pytest.mark.parametrize("dynamic", [False, True])
def test_the_text_is_the_graphs_and_parses_back(through, dynamic):
    program = through(relax, *relax_inputs(), dynamic=dynamic)
    assert str(program) == str(program.graph)
    assert program.graph.stage == "functional"
    assert program.graph.signature is program.signature
    assert program.signature.mutated_inputs == {0}
    assert str(parse_graph(str(program), lambda name: TABLE[name].schema)) == str(program)


def test_a_file_gives_the_same_program(tmp_path):
    args = (Pair(np.ones(4), np.arange(4.0)), State(np.ones(2), 0.5))
    program = fxc.export(weighted, *args, scale=3.0)
    program.save(tmp_path / "one")
    loaded = fxc.load(tmp_path / "one")
    loaded.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert str(loaded) == str(program)
    assert (loaded.in_spec, loaded.out_spec) == (program.in_spec, program.out_spec)
    assert loaded.signature == program.signature
    assert repr(loaded) == repr(program)


def test_a_file_is_loaded_in_a_fresh_process_without_the_function(tmp_path):
    program = fxc.export(relax, *relax_inputs(), dynamic=True)
    program.save(tmp_path / "relax.fxc")
    code = """
        import sys
        import numpy as np, fxc
        program = fxc.load("relax.fxc")
        u = np.arange(8) ** 2.0
        result = program(u, 0.25, 3)
        assert result["field"] is u and result["steps"] == 4
        print(u.tolist())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    u = np.arange(8) ** 2.0
    relax(u, 0.25, 3)
    assert (done.stdout, done.stderr) == (f"{u.tolist()}\n", "")


def test_a_class_that_is_missing_is_named(tmp_path):
    module = tmp_path / "shapes_of_this_test.py"
    module.write_text("from typing import NamedTuple\nclass Box(NamedTuple):\n    x: object\n")
    sys.path.insert(0, str(tmp_path))
    try:
        import shapes_of_this_test as shapes

        fxc.export(lambda b: b.x + 1, shapes.Box(np.ones(2))).save(tmp_path / "box.fxc")
        assert fxc.load(tmp_path / "box.fxc")(shapes.Box(np.ones(2))).tolist() == [2, 2]
        shapes.Box = NamedTuple("Box", [("y", object)])
        with pytest.raises(ParseError, match=r"Box had the fields x .* now has y"):
            fxc.load(tmp_path / "box.fxc")
        del shapes.Box
        with pytest.raises(ParseError, match=r"box.fxc .* needs shapes_of_this_test:Box, which"):
            fxc.load(tmp_path / "box.fxc")
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("shapes_of_this_test", None)


def test_a_class_without_a_name_to_find_it_by_cannot_be_saved(tmp_path):
    class Local(NamedTuple):
        x: Any

    program = fxc.export(lambda x: Local(x + 1), np.ones(2))
    assert program(np.ones(2)).x.tolist() == [2, 2]
    with pytest.raises(ValueError, match="cannot be saved"):
        program.save(tmp_path / "local.fxc")
    assert os.listdir(tmp_path) == []


def test_a_result_without_text_cannot_be_saved(tmp_path):
    program = fxc.export(lambda x: (x + 1, np.dtype("f4")), np.ones(2))
    assert program(np.ones(2))[1] == np.dtype("f4")
    with pytest.raises(ValueError, match="cannot be saved: its result holds"):
        program.save(tmp_path / "program.fxc")


def test_static_arguments_of_all_kinds_are_saved(tmp_path):
    static = (True, 0, "text", b"bytes", np.float32, np.dtype("i2"), np.sum, (None, 1))

    def fn(x, *static):
        return x + len(static)

    fxc.export(fn, np.ones(2), *static).save(tmp_path / "program.fxc")
    program = fxc.load(tmp_path / "program.fxc")
    assert program(np.ones(2), *static).tolist() == [9, 9]
    for place in range(len(static)):
        other = list(static)
        other[place] = "other"
        with pytest.raises((TypeError, ValueError), match=re.escape(f"static[{place}]")):
            program(np.ones(2), *other)


def saved(tmp_path) -> tuple[Any, str]:
    path = tmp_path / "relax.fxc"
    fxc.export(relax, *relax_inputs(), dynamic=True).save(path)
    return path, path.read_text()


@pytest.mark.parametrize("method", ["save", "to_onnx"])
def test_what_cannot_be_written_is_named_as_it_was_given(method: str, tmp_path: Path) -> None:
    program = fxc.export(lambda x: x + 1, np.ones(3))
    for path, kind in ((tmp_path / "no/x", FileNotFoundError), (tmp_path, IsADirectoryError)):
        with pytest.raises(kind) as caught:
            getattr(program, method)(path)
        assert (caught.value.filename, caught.value.filename2) == (str(path), None)
        assert ".tmp" not in str(caught.value)


def test_an_error_while_saving_leaves_the_old_file(tmp_path, monkeypatch):
    path, before = saved(tmp_path)

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        fxc.export(relax, *relax_inputs()).save(path)
    assert path.read_text() == before
    assert os.listdir(tmp_path) == ["relax.fxc"]


def test_a_full_disk_leaves_the_old_file(tmp_path):
    path, before = saved(tmp_path)
    code = f"""
        import resource, signal
        import numpy as np, fxc
        program = fxc.load({str(path)!r})
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        try:
            program.save({str(path)!r})
        except OSError as error:
            print("OSError")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "OSError\n", done.stderr
    assert path.read_text() == before
    assert os.listdir(tmp_path) == ["relax.fxc"]


def test_every_truncation_is_noticed(tmp_path):
    path, text = saved(tmp_path)
    for end in range(0, len(text) - 1, 7):
        path.write_text(text[:end])
        with pytest.raises(ParseError, match=r"relax\.fxc cannot be loaded"):
            fxc.load(path)


def test_every_changed_byte_is_noticed(tmp_path):
    path, text = saved(tmp_path)
    data = text.encode()
    rng = np.random.default_rng(1)
    for place in rng.integers(0, len(data) - 1, 60):
        changed = bytearray(data)
        changed[place] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(changed))
        with pytest.raises(ParseError, match=r"relax\.fxc cannot be loaded"):
            fxc.load(path)


@pytest.mark.parametrize("seed", range(6))
def test_a_changed_file_is_the_same_program_or_one_error(seed):
    """See ``tests/program_files.py``, which tries more."""
    assert tried(range(100 * seed, 100 * seed + 100))["error"] > 10


def test_modules_are_not_imported_for_a_file(tmp_path):
    (tmp_path / "evil.py").write_text("open('executed', 'w')")
    path = tmp_path / "program.fxc"
    fxc.export(lambda x: x * 2.0, np.ones(2)).save(path)
    box = '"result": {"class": "evil:Box", "fields": ["x"], "items": ["*"]}'
    text = path.read_text().replace('"result": "*"', box)
    path.write_text(re.sub("end crc32 .*", "end", text))
    code = "import fxc; fxc.load('program.fxc')"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "it needs evil:Box; import evil before you load it" in done.stderr
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("path", sorted(SAVED.glob("*.fxc")), ids=lambda path: path.stem)
def test_a_file_of_each_format_that_there_has_been_runs(path):
    u, v = np.arange(6.0), np.arange(6.0)
    result = fxc.load(path)(u, 0.25, 3)
    expected = relax(v, 0.25, 3)
    assert u.tolist() == v.tolist()
    assert result["field"] is u
    assert result["steps"] == expected["steps"]


def test_there_is_a_file_of_each_format():
    assert {path.stem for path in SAVED.glob("*.fxc")} == {f"format_{n}" for n in _READERS}
    assert max(_READERS) == FORMAT


@pytest.mark.parametrize(
    "data, why",
    [
        (b"", "it is no exported program"),
        (b"\x93NUMPY\x01\x00v\x00{'descr'", "it is no text"),
        (b"import os\n", "it is no exported program"),
        (b"fxc exported program, format 2\n{}\n\nend\n", "a newer fxc has written it"),
        (b"fxc exported program, format one\n{}\n\nend\n", "no such format"),
        (
            b"fxc exported program, format 7 (fxc 0.9 or later)\nanything",
            "the format 7, and this fxc reads up to 1: it needs fxc 0.9 or later",
        ),
        (b"fxc exported program, format 1\n{}\n\n", "it is not complete"),
        (b"fxc exported program, format 1\n" + b"[" * 99999 + b"\nend\n", "it is damaged"),
        (b"fxc exported program, format 1\n{}\n\nend\n", "'captured', 'functional' or"),
        (b"fxc exported program, format 1\n{\n\nend\n", "it is damaged"),
    ],
)
def test_foreign_files(tmp_path, data, why):
    path = tmp_path / "foreign.txt"
    path.write_bytes(data)
    with pytest.raises(ParseError, match=why) as caught:
        fxc.load(path)
    assert "foreign.txt" in str(caught.value)


def test_a_missing_file_is_pythons_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        fxc.load(tmp_path / "nothing.fxc")


def test_a_file_may_be_changed_by_hand(tmp_path):
    path = tmp_path / "double.fxc"
    fxc.export(lambda x: x * 2.0, np.ones(2)).save(path)
    text = path.read_text().replace("2.0", "3.0").replace("\n", "\r\n")
    path.write_text(re.sub("end crc32 .*", "end", text), newline="")
    assert fxc.load(path)(np.ones(2)).tolist() == [3, 3]


def test_a_graph_whose_types_are_wrong_is_not_accepted(tmp_path):
    path = tmp_path / "double.fxc"
    fxc.export(lambda x: x * 2.0, np.ones(2)).save(path)
    body = path.read_text().rpartition("end")[0].replace("%0: f64[2]", "%0: f64[9]")
    path.write_text(f"{body}end crc32 {zlib.crc32(body.encode()):08x}\n")
    with pytest.raises(ParseError, match="its graph is wrong: %0 is f64"):
        fxc.load(path)


# ------------------------------------------------------------------ what is refused

TABLE_FROM_OUTSIDE = np.arange(3.0)


def test_an_array_from_outside_is_refused():
    with pytest.raises(fxc.CaptureError, match=r"TABLE_FROM_OUTSIDE from outside.*as an argument"):
        fxc.export(lambda x: x + TABLE_FROM_OUTSIDE, np.ones(3))


def test_an_array_from_outside_that_is_also_an_argument_is_refused():
    with pytest.raises(fxc.CaptureError, match="TABLE_FROM_OUTSIDE from outside"):
        fxc.export(lambda x: x + TABLE_FROM_OUTSIDE, TABLE_FROM_OUTSIDE)


def test_arguments_that_overlap_are_refused():
    def add_into(x, y):
        x[1:] += y[1:]

    x = np.ones(4)
    with pytest.raises(fxc.CaptureError, match="x and y share memory"):
        fxc.export(add_into, x, x[::-1])
    program = fxc.export(add_into, np.ones(4), np.ones(4))
    with pytest.raises(ValueError, match="x and y share memory"):
        program(x, x)
    assert x.tolist() == [1, 1, 1, 1]


def test_an_object_is_refused():
    class Config:
        tol = 0.5

    with pytest.raises(fxc.CaptureError, match="config is a Config"):
        fxc.export(lambda x, config: x * config.tol, np.ones(3), Config())


def test_what_cannot_be_captured_is_refused():
    with pytest.raises(fxc.CaptureError):
        fxc.export(lambda x: print(x), np.ones(3))


def choose(x, flag, k, n, pair):
    """k is asked for its value; n is a run-time number."""
    if flag:
        x = x * k if k > 1.5 else x
    return x + n + pair["a"][1]


def choose_args(**changes: Any) -> dict[str, Any]:
    pair = {"a": (None, np.ones(3))}
    return {"x": np.ones(3), "flag": True, "k": 2.0, "n": 5, "pair": pair} | changes


@pytest.mark.parametrize(
    "changes, kind, message",
    [
        ({"flag": False}, ValueError, "flag is True in this program, and cannot be False"),
        ({"flag": 1}, TypeError, "flag is True in this program, and cannot be 1"),
        ({"k": 3.0}, ValueError, "k is 2.0 in this program, and cannot be 3.0"),
        ({"k": 2}, TypeError, "k is 2.0 in this program, and cannot be 2"),
        ({"n": 5.0}, TypeError, "n must be of type int, it is a float"),
        ({"n": True}, TypeError, "n must be of type int, it is a bool"),
        ({"n": np.int64(5)}, TypeError, "n must be of type int, it is a NumPy scalar"),
        ({"n": 1}, ValueError, "n must be 2 or more in this program, it is 1"),
        ({"n": 2**63}, ValueError, "n must fit in 64 bits, it is 9223372036854775808"),
        ({"x": [1.0, 2.0, 3.0]}, TypeError, "x must be an array or a number, it is a list of 3"),
        ({"x": 1.0}, TypeError, "x must be an array, it is a float"),
        ({"x": np.float64(1)}, TypeError, "x must be an array, it is a NumPy scalar"),
        ({"x": np.ma.ones(3)}, TypeError, "x must be an array, it is a MaskedArray"),
        ({"x": np.ones(3, "f4")}, TypeError, "x must have the dtype float64, it has float32"),
        ({"x": np.ones(3, ">f8")}, TypeError, "x must have the dtype float64, it has >f8"),
        ({"x": np.ones((3, 1))}, ValueError, "x must have 1 dimensions, it has 2"),
        ({"x": np.ones(4)}, ValueError, r"x must have the shape \(3,\), it has \(4,\)"),
        ({"x": np.ones(6)[::2]}, ValueError, r"x must lie in memory with the strides \(8,\)"),
        ({"x": np.broadcast_to(1.0, 3)}, ValueError, "x must be writeable"),
        ({"pair": None}, TypeError, "pair must be a dict with the keys \\['a'\\], it is None"),
        (
            {"pair": {"b": 1}},
            TypeError,
            "pair must be a dict with the keys \\['a'\\], it is a dict",
        ),
        (
            {"pair": {"a": 1}},
            TypeError,
            "pair\\['a'\\] must be a tuple of 2, it is an array or a n",
        ),
        ({"pair": {"a": (1, 2)}}, TypeError, "pair\\['a'\\]\\[0\\] must be None, it is"),
        (
            {"pair": {"a": (None, 2)}},
            TypeError,
            "pair\\['a'\\]\\[1\\] must be an array, it is an int",
        ),
        ({"more": 1}, TypeError, r"choose\(\) was exported without more"),
    ],
)
def test_a_call_that_the_program_is_not_for(through, changes, kind, message):
    program = through(choose, *choose_args().values())
    with pytest.raises(kind, match=message):
        program(**choose_args(**changes))
    expected = choose(**choose_args()).tolist()
    assert program(*choose_args().values()).tolist() == expected


def test_missing_and_extra_arguments(through):
    program = through(relax, *relax_inputs())
    with pytest.raises(TypeError, match=r"relax\(\) is called without weight, steps"):
        program(np.ones(6))
    with pytest.raises(TypeError, match=r"relax\(\) takes 3 positional arguments, 4 were given"):
        program(*relax_inputs(), 1)
    with pytest.raises(TypeError, match=r"relax\(\) was exported without u"):
        program(*relax_inputs(), u=1)


def test_sizes_that_a_dynamic_program_is_not_for(through):
    def add(x, y, n):
        return x + y if n > 4 else x

    program = through(add, np.ones(3), np.ones(3), 7, dynamic=True)
    assert program(np.ones(5), np.ones(5), 9).tolist() == [2] * 5
    with pytest.raises(ValueError, match=r"x.shape\[0\] = 5, y.shape\[0\] = 4|y.shape\[0\] = 4"):
        program(np.ones(5), np.ones(4), 9)
    with pytest.raises(ValueError, match=r"x.shape\[0\] must be 2 or more, it is 1"):
        program(np.ones(1), np.ones(1), 9)
    with pytest.raises(ValueError, match=r"add\(\) is for calls with .*n.*, this has n = 3"):
        program(np.ones(5), np.ones(5), 3)


def test_nothing_is_changed_by_a_refused_call(through):
    def both(x, y):
        x += 1
        y += 1

    program = through(both, np.zeros(3), np.zeros(3))
    x = np.zeros(3)
    with pytest.raises(ValueError, match="y must be writeable"):
        program(x, np.broadcast_to(0.0, 3))
    assert not x.any()


def test_a_text_of_numbers_that_are_not_known_is_refused():
    def stamp(y, m):
        return y + m, "%04d-%02d" % (y, m)  # noqa: UP031

    with pytest.raises(fxc.CaptureError, match="a text, or another object that is no array"):
        fxc.export(stamp, 2000, 7)


def test_sizes_that_stay_numbers_are_named():
    def framed(img):
        return np.pad(img, 1, mode="reflect")

    with pytest.warns(
        fxc.CaptureWarning, match=r"img.shape\[0\] = 9, img.shape\[1\] = 7 alone: it"
    ) as told:
        fxc.export(framed, np.ones((9, 7)), dynamic=True)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fxc.export(relax, *relax_inputs(), dynamic=True)
        fxc.export(framed, np.ones((9, 7)))
