"""Reading traces: what was written comes back, and of what is broken all that is there."""

import json
import random

import pytest

import fxc
from fxc.drawing.picture import picture_of
from fxc.reporting.page import page
from fxc.reporting.reader import parsed, read
from tests.tracing_programs import relax, relax_arguments, traced_to


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """The lines of a trace of one compilation."""
    folder = tmp_path_factory.mktemp("trace")
    traced_to(folder, relax, relax_arguments())
    (file,) = folder.iterdir()
    return file.read_bytes().splitlines(keepends=True)


def only(traced):
    (made,) = traced.compilations
    return made


def test_what_was_written_is_read_back(tmp_path):
    compiled = traced_to(tmp_path, relax, relax_arguments(), relax_arguments(50))
    traced = read(tmp_path)
    assert traced.problems == []
    assert [each.outcome for each in traced.compilations] == ["compiled", "compiled"]
    assert [each.variant for each in traced.compilations] == [1, 2]
    first, second = traced.compilations
    assert first.reason == ""
    assert second.reason == "u: shape was (100,), is (50,)"
    stages = compiled.inspect(*relax_arguments())
    for name in ("captured", "functional", "decomposed", "loops", "llvm"):
        assert "\n".join(first.stages[name].lines) == str(getattr(stages, name))
    assert first.drawings["captured"] == picture_of(stages.captured)
    assert [each.operators for each in first.nests] == [6, 2]
    assert [each.name for each in first.memory.temporaries] == ["b2"]
    assert first.memory.arena == 832  # 98 doubles, whole cache lines
    assert first.guards == compiled._state.variants[0].captured.guards.source
    assert first.seconds == pytest.approx(sum(step.seconds for step in first.steps), rel=0.01)


def test_a_trace_that_is_cut_off_at_any_byte_gives_what_is_there(trace):
    head = trace[0]
    for line in trace[1:]:
        whole = parsed("t", head + line)
        assert whole.problems == []
        step = max(1, len(line) // 400)  # all of most lines
        for end in range(1, len(line) - 1, step):
            cut = parsed("t", head + line[:end])
            assert cut.problems == ["t: line 2 is cut off: the process ended, or there was no room"]
            assert cut.compilations == []
    for end in range(1, len(head) - 1):
        assert len(parsed("t", head[:end]).problems) == 2


def test_a_compilation_without_its_end_says_how_far_it_came(trace):
    names = [json.loads(line)["event"] for line in trace]
    for end in range(2, len(trace)):
        made = only(parsed("t", b"".join(trace[:end])))
        assert made.outcome == "cut off"
        assert len(made.steps) == names[:end].count("step")
    text = page(parsed("t", b"".join(trace[:8])), "t")
    assert f"after the step “{made_last_step(trace[:8])}”" in text


def made_last_step(lines):
    events = [json.loads(line) for line in lines]
    return [each["name"] for each in events if each["event"] == "step"][-1]


def test_a_trace_of_another_version_is_read_as_far_as_it_goes(trace):
    head = json.loads(trace[0])
    later = json.dumps({**head, "format": 99, "fxc": "9.0"}).encode()
    new = b'{"event": "something new", "compile": 1, "at": 0.1}\n'
    traced = parsed("t", b"\n".join([later, new, *trace[1:]]))
    assert only(traced).outcome == "compiled"
    (problem,) = traced.problems
    assert "format 99 of fxc 9.0" in problem


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"\n\n",
        b"hello\n",
        b"\0\xff\xfe" * 100,
        b"[]\n{}\n3\nnull\n",
        b'{"event": []}\n',
        b"[" * 10**5,
    ],
)
def test_junk_is_no_trace(junk):
    traced = parsed("t", junk)
    assert traced.compilations == []
    assert traced.problems[0] == "t: this is no trace, or its beginning is lost"
    assert "this is no trace" in page(traced, "t")


def test_of_many_broken_lines_a_few_are_told():
    traced = parsed("t", b"junk\n" * 1000)
    assert len(traced.problems) == 21
    assert traced.problems[-1] == "t: 981 more such lines"


JUNK = (None, -1, 10**400, "x", [], [[]], {}, {"a": 1}, [None, 3], True)


def test_members_of_other_kinds_are_left_out_or_told(trace):
    """Each member of each event in turn is something else; the page is made all the same."""
    kinds = {}
    for line in trace[1:]:
        event = json.loads(line)
        kinds.setdefault(event["event"], event)
    kinds["failure"] = {
        "event": "failure",
        "compile": 1,
        "error": "E",
        "message": "m",
        "after": "a",
    }
    for event in kinds.values():
        for member in event.keys() - {"event"}:
            for junk in JUNK:
                lines = [json.loads(trace[1]), {**event, member: junk}]
                if event.get("lines") and member != "lines":
                    lines[1]["lines"], lines[1]["of"] = event["lines"][:3], event.get("of", [])[:3]
                content = b"\n".join([trace[0], *(json.dumps(each).encode() for each in lines)])
                page(parsed("t", content), "t")


def test_bytes_that_change_never_stop_a_report(trace):
    r = random.Random(1)
    content = b"".join(line for line in trace if len(line) < 3000)
    for _ in range(60):
        broken = bytearray(content)
        for _ in range(r.randrange(1, 30)):
            place = r.randrange(len(broken))
            broken[place : place + r.randrange(3)] = r.randbytes(r.randrange(3))
        page(parsed("t", bytes(broken)), "t")


def test_a_drawing_in_a_circle_is_told(trace):
    event = next(json.loads(line) for line in trace if b'"drawing"' in line)
    for operation in event["picture"]["operations"]:
        operation["reads"] = ["7", "8"]
    traced = parsed("t", trace[0] + json.dumps(event).encode())
    assert traced.problems == ["t: line 2 is an event 'drawing' that is not understood"]


def test_a_file_of_a_folder_that_cannot_be_read_is_told(tmp_path, trace):
    (tmp_path / "a.jsonl").mkdir()
    (tmp_path / "b.jsonl").write_bytes(b"".join(trace))
    traced = read(tmp_path)
    assert only(traced).outcome == "compiled"
    assert traced.problems == ["a.jsonl: Is a directory"]
    assert read(tmp_path / "b.jsonl").problems == []
    with pytest.raises(OSError, match=r"nowhere"):
        read(tmp_path / "nowhere")


def test_compilations_of_several_threads_are_told_apart(tmp_path):
    import threading

    def call(size):
        fxc.compile(relax, fullgraph=True)(*relax_arguments(size))

    with fxc.config.override(trace=tmp_path):
        threads = [threading.Thread(target=call, args=(20 + k,)) for k in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    traced = read(tmp_path)
    assert traced.problems == []
    assert sorted(each.arguments[0] for each in traced.compilations) == [
        f"f64[{20 + k}]" for k in range(4)
    ]
    assert all(len(each.stages) == 6 for each in traced.compilations)
