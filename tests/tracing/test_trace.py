"""The trace: what its lines say, and that it changes nothing."""

import json
import logging
import os
import subprocess
import sys

import numpy as np
import pytest

import fxc
from fxc.lowering.emission.entry import emit_module
from fxc.lowering.emission.llvm_text import ModuleText
from fxc.lowering.emission.located import CodePlaces, with_debug_locations, without_marks
from fxc.tracing.assembly import located_lines
from fxc.tracing.writer import TraceWriter
from tests.tracing_programs import relax, relax_arguments, traced_to

STAGES = ("captured", "functional", "decomposed", "loops", "llvm", "asm")


def events(folder):
    (path,) = folder.iterdir()
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def named(found, name, **content):
    return [e for e in found if e["event"] == name and content.items() <= e.items()]


def test_a_compilation_is_told_from_its_start_to_its_end(tmp_path):
    compiled = traced_to(tmp_path, relax, relax_arguments())
    found = events(tmp_path)
    assert found[0]["event"] == "trace"
    assert found[0]["format"] == 1
    assert found[0]["pid"] == os.getpid()
    (start,) = named(found, "start")
    assert (start["function"], start["arguments"]) == ("relax", ["f64[100]", "f64[98]"])
    assert found[-1]["event"] == "end"
    stages = compiled.inspect(*relax_arguments())
    for stage in STAGES:
        text = named(found, "stage", stage=stage)[-1]
        assert len(text["lines"]) == len(text["of"])
        if stage != "asm":
            assert "\n".join(text["lines"]) == str(getattr(stages, stage))
    assert [e["name"] for e in named(found, "step")][:3] == ["capture", "functionalize", "simplify"]
    assert named(found, "guards")[0]["source"] == compiled._state.variants[0].captured.guards.source
    assert named(found, "problem") == []


def test_each_line_of_each_stage_knows_its_line_of_the_program(tmp_path):
    traced_to(tmp_path, relax, relax_arguments())
    found = events(tmp_path)
    first = relax.__code__.co_firstlineno
    (source,) = named(found, "source")
    assert source["lines"][0] == "def relax(u, f):"

    def lines_for(stage, number):
        text = named(found, "stage", stage=stage)[-1]
        at = [place[1] - first for place in text["places"]]
        return [
            line
            for line, of in zip(text["lines"], text["of"], strict=True)
            if number in [at[place] for place in of]
        ]

    assert [line.split("(")[0].split()[-1] for line in lines_for("captured", 2)] == [
        "slice",
        "slice",
        "add",
        "multiply",
        "subtract",
    ]
    assert "\n".join(lines_for("loops", 2)).count("u[i0]") == 1
    # A nest that two lines share is of both of them; of the call's end no line is.
    assert lines_for("loops", 2)[0] == lines_for("loops", 3)[0]
    assert any("fmul" in line for line in lines_for("llvm", 2))
    assert any("fsub" in line for line in lines_for("llvm", 3))
    assert any("mul" in line for line in lines_for("asm", 2))
    assert any("sub" in line for line in lines_for("asm", 3))


def test_a_further_compilation_says_why_there_is_one(tmp_path):
    traced_to(tmp_path, relax, relax_arguments(100), relax_arguments(50))
    starts = named(events(tmp_path), "start")
    assert [start["variant"] for start in starts] == [1, 2]
    assert starts[0]["reason"] == ""
    assert starts[1]["reason"] == "u: shape was (100,), is (50,)"


def test_a_refusal_is_told(tmp_path):
    def refused(x):
        return open(x)

    with pytest.raises(fxc.CaptureError) as caught:
        traced_to(tmp_path, refused, (np.ones(3),))
    (failure,) = named(events(tmp_path), "failure")
    assert failure["error"] == type(caught.value).__name__
    assert str(caught.value).startswith(failure["message"])


def test_no_elements_of_arrays_are_written(tmp_path):
    secret = np.float64(1234567.25)

    def constants(x):
        few = np.array([1234567.25, 2.0, 3.0])
        many = np.array([1234567.25] * 40)
        return x[:3] + few, x[:40] + many

    traced_to(tmp_path, constants, (np.full(50, 7654321.5),))
    found = [e for e in events(tmp_path) if e["event"] != "source"]
    text = json.dumps(found)
    bits = secret.tobytes()
    for written in ("1234567", "7654321", bits.hex(), "\\87\\D6\\32A", "base64"):
        assert written not in text
    assert not any("\\t.ascii" in line for e in found for line in e.get("lines", ()))


def test_no_variable_no_trace(tmp_path):
    fxc.compile(relax)(*relax_arguments())
    assert list(tmp_path.iterdir()) == []
    code = "import fxc, numpy as np, sys; fxc.compile(lambda x: x + 1)(np.ones(3)); "
    code += "print([m for m in sys.modules if m.startswith(('fxc.tracing', 'fxc.drawing'))])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_a_folder_that_cannot_be_written_is_said_once(tmp_path, caplog):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with caplog.at_level(logging.WARNING, logger="fxc"):
        compiled = traced_to(blocked, relax, relax_arguments(), relax_arguments(50))
    assert compiled.cache_info().variants == 2
    assert len([r for r in caplog.records if "no trace is written" in r.message]) == 1
    assert blocked.read_text() == ""


def test_a_full_disk_ends_the_trace_at_a_line(caplog):
    writer = TraceWriter("/nowhere", {})
    writer._process = os.getpid()
    writer._file = os.open("/dev/full", os.O_WRONLY)
    with caplog.at_level(logging.WARNING, logger="fxc"):
        writer.write("start")
        writer.write("step")
    assert len(caplog.records) == 1
    assert "ends here" in caplog.text


def test_a_fork_has_a_file_of_its_own(tmp_path):
    writer = TraceWriter(str(tmp_path), {"format": 1})
    writer.write("start")
    child = os.fork()
    if child == 0:
        writer.write("step")
        os._exit(0)
    os.waitpid(child, 0)
    writer.write("end")
    texts = sorted(path.read_text() for path in tmp_path.iterdir())
    assert sorted(text.count("\n") for text in texts) == [2, 3]


def test_a_process_that_dies_leaves_whole_lines(tmp_path):
    code = """
import os, signal, numpy as np, fxc
from fxc.tracing import compiles
def die(self, made):
    os.kill(os.getpid(), signal.SIGKILL)
compiles._Trace.end = die
fxc.compile(lambda x: x + 1)(np.ones(3))
"""
    env = {**os.environ, "FXC_TRACE": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True)
    assert ran.returncode < 0
    found = events(tmp_path)
    assert [e["stage"] for e in named(found, "stage")] == list(STAGES[:-1])


def branches(x, n):
    total = 0.0
    for i in range(n):
        if x[i] > 0:
            total += x[i] * 2
        else:
            total -= np.sqrt(-x[i])
    return total, np.sort(x), x.cumsum()


def products(a, b):
    return (a @ b).sum(axis=1), np.exp(a).max(), a.argmax()


@pytest.mark.parametrize(
    "function, args",
    [
        (relax, relax_arguments()),
        (branches, (np.linspace(-1, 1, 50), 50)),
        (products, (np.ones((20, 30)), np.ones((30, 20)))),
    ],
)
def test_debug_locations_change_no_instruction(function, args):
    compiled = fxc.compile(function, fullgraph=True)
    stages = compiled.inspect(*args)
    made, where = stages._assembled, CodePlaces(stages.decomposed)
    drawn = compiled._state.variants[0].captured.drawn
    text = emit_module(stages.decomposed, made.module.program, ModuleText(places=where), drawn).text
    assert without_marks(text) == made.module.text
    located, numbers = located_lines(made.engine.assembly(with_debug_locations(text)))
    plain, none = located_lines(stages.asm)
    assert located == plain
    assert any(numbers)
    assert not any(none)
