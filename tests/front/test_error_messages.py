"""What users see of an error: its number, their line with carets, where more is, no frame of fxc."""

from __future__ import annotations

import gc
import pickle
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.cli.main import main
from fxc.ir import error_kinds
from fxc.ir.errors import (
    ExportError,
    InternalError,
    OverlapError,
    ParseError,
    UsageError,
    uncapturable,
)
from tests.error_pages import pages

X = np.ones(3)


def in_the_middle(x):
    return x + 1, [gc.get_count()]


def behind_wide_letters(x):
    return {"größe": 1, "Ω": gc.get_count()}


def over_lines(x):
    return x * gc.set_debug(
        0,
    )


def in_a_chain(x):
    return (
        x
        .copy()
        .dumps()
    )  # fmt: skip


def all_of_the_line(x):
    gc.collect()
    return x


def in_a_helper(x):
    y = x + 1
    return y * in_the_middle(y)[0]


def notes_of(fn: Callable[..., Any]) -> list[str]:
    with pytest.raises(fxc.CaptureError) as caught:
        fxc.compile(fn, fullgraph=True)(X)
    return caught.value.__notes__


@pytest.mark.parametrize(
    ("fn", "marked"),
    [
        (in_the_middle, "gc.get_count()"),
        (behind_wide_letters, "gc.get_count()"),
        (over_lines, "gc.set_debug("),
        (in_a_chain, "umps"),
        (in_a_helper, "gc.get_count()"),
    ],
)
def test_carets_are_below_the_expression(fn: Callable[..., Any], marked: str) -> None:
    line, carets = notes_of(fn)[0].splitlines()
    start = line.index(marked)
    assert carets == " " * start + "^" * len(marked)


def in_an_arm(x):
    y = gc.get_count() if x.max() > 1 else x
    return sorted([1, 2], key=lambda v: v) and y


def test_an_arm_is_of_the_function_it_stands_in() -> None:
    place, *rest = notes_of(in_an_arm)
    assert " in in_an_arm: " in place  # no lambda
    assert rest == ["  more: python -m fxc help FXC0001"]


def test_no_carets_below_a_whole_line() -> None:
    assert "\n" not in notes_of(all_of_the_line)[0]


def test_the_last_line_says_where_to_read_more() -> None:
    notes = notes_of(in_a_helper)
    assert "called at" in notes[1]
    assert notes[2:] == ["  more: python -m fxc help FXC0001"]


def test_a_warning_has_the_number_and_the_lines() -> None:
    with pytest.warns(fxc.CaptureWarning) as told:
        fxc.compile(in_the_middle)(X)
    first, _, carets, last = str(told[0].message).splitlines()
    assert first.startswith("FXC0001: in_the_middle runs as plain NumPy: a call of gc.get_count")
    assert carets.strip() == "^" * len("gc.get_count()")
    assert last == "  more: python -m fxc help FXC0001"


USES: list[Callable[[], Any]] = [
    lambda: fxc.compile(in_a_helper, fullgraph=True)(X),
    lambda: fxc.compile(in_a_helper, fullgraph=True).inspect(X),
    lambda: fxc.export(in_a_helper, X),
    lambda: fxc.functionalize(in_a_helper)(X),
    lambda: fxc.compile(in_a_helper, math="quick"),  # type: ignore[arg-type]
    lambda: fxc.functionalize(3),  # type: ignore[arg-type]
    lambda: fxc.export(np.spacing, X).to_stablehlo(),
    lambda: fxc.export(np.sin, X)(3),
    lambda: fxc.load(__file__),
    lambda: fxc.register_backend("llvm", lambda *given: None),
    lambda: fxc.set_kept_memory(-1),
]


@pytest.mark.parametrize("use", USES, ids=range(len(USES)))
def test_tracebacks_have_frames_of_the_program_alone(use: Callable[[], Any]) -> None:
    with pytest.raises(Exception, match=r"^FXC\d{4}: ") as caught:
        use()
    files = {frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)}
    assert files == {__file__}
    assert caught.value.__notes__[-1].startswith("  more: python -m fxc help FXC")


def test_a_function_between_two_compiled_ones_is_shown() -> None:
    inner = fxc.compile(in_the_middle, fullgraph=True)

    def outer(x):
        gc.get_count()
        return eval("inner(x)", {"inner": inner, "x": x})

    compiled = fxc.compile(outer)
    with pytest.warns(fxc.CaptureWarning), pytest.raises(fxc.CaptureError) as caught:
        compiled(X)
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[1:] == ["outer", "<module>"]
    assert sum(note.startswith("  more:") for note in caught.value.__notes__) == 1


def test_bugs_keep_their_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: object) -> None:
        raise KeyError("of fxc")

    monkeypatch.setattr("fxc.pipeline.stages.functionalize", broken)
    with pytest.raises(InternalError, match=r"^FXC0901: ") as caught:
        fxc.compile(lambda x: x + 1, fullgraph=True)(X)
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert "new_variant" in names


@pytest.mark.parametrize("fn", [in_the_middle, lambda x: x.reshape(7)])
def test_a_setting_keeps_all_frames(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    with fxc.config.override(full_traceback=True), pytest.raises(Exception) as caught:
        compiled(X)
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert "__call__" in names


def test_exceptions_of_numpy_are_numpys() -> None:
    def shown(call: Callable[..., Any]) -> str:
        try:
            call(X)
        except ValueError as error:
            return "".join(traceback.format_exception_only(error))
        return ""

    def f(x):
        return x.reshape(7)

    assert shown(fxc.compile(f, fullgraph=True)) == shown(f) != ""


@pytest.mark.parametrize(
    "error",
    [
        uncapturable(error_kinds.TEXT, "a text"),
        ExportError("a text"),
        ParseError("a text"),
        UsageError(error_kinds.ARGUMENT, "a text"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_go_to_other_processes(error: Any) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.kind, again.text) == (str(error), error.kind, "a text")
    assert type(again) is type(error)


def test_an_overlap_has_a_number() -> None:
    assert str(OverlapError("u and v overlap", print)) == "FXC0009: u and v overlap"


# ---------------------------------------------------------------- python -m fxc help


@pytest.mark.parametrize("topic", ["FXC0005", "fxc0005", "5", "0005"])
def test_help_prints_the_page(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", topic]) == 0
    assert capsys.readouterr().out == pages()[4].read_text(encoding="utf-8")


def test_help_lists_all_pages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    out = capsys.readouterr().out
    assert [page.stem for page in pages()] == [line.split()[0] for line in out.splitlines()[1:]]


@pytest.mark.parametrize(
    ("topic", "advice"),
    [("exprot", "did you mean export"), ("FXC9999", "lists"), ("../x", "lists")],
)
def test_help_of_nothing(topic: str, advice: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", topic]) == 2
    assert advice in capsys.readouterr().err


def test_help_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["help", "export"])
    assert ended.value.code == 0
    assert "--onnx" in capsys.readouterr().out
