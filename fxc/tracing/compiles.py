"""One compilation as a trace tells it: each step when it is done, each text when it is made."""

from __future__ import annotations

import functools
import inspect
import itertools
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from fxc.capture.guards.program import Check, GuardProgram
from fxc.drawing.fused import fused, groups
from fxc.drawing.json_form import to_json
from fxc.drawing.picture import picture_of
from fxc.ir.errors import InternalError
from fxc.ir.graph import Graph, walk
from fxc.ir.records import frozen
from fxc.ir.steps import listening
from fxc.ir.text import show_type
from fxc.ir.types import array_type, is_known
from fxc.lowering.emission.native_module import Module
from fxc.lowering.nests.program import Program
from fxc.runtime.engine import Engine

from .facts import calls_of_numpy, memory, of_nest
from .form import FORMAT
from .frames import own_frames
from .sources import source_parts
from .stages import StageText, of_code, of_graph, of_module, of_program
from .writer import TraceWriter

_numbers = itertools.count(1)  # of compilations of this process


@frozen
class Beginning:
    """A compilation that begins: of which function, for what, and why there is one more."""

    function: Callable[..., object]
    arguments: tuple[object, ...]
    keywords: Mapping[str, object]
    variant: int
    reason: str
    options: Mapping[str, object]
    is_part: bool  # of a function that is split


@frozen
class Made:
    """What came of it. Of native code there are a module and an engine."""

    guards: GuardProgram
    decomposed: Graph
    fallbacks: tuple[str, ...]
    drawn: tuple[int, ...]
    fast: bool
    module: Module | None
    engine: Engine | None


@functools.cache
def _writer(folder: str, version: str) -> TraceWriter:
    """The one writer of the process for a folder."""
    head = {
        "format": FORMAT,
        "fxc": version,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "program": os.path.basename(sys.argv[0]) if sys.argv else "",
    }
    return TraceWriter(folder, head)


@contextmanager
def traced(folder: str, version: str, beginning: Beginning) -> Iterator[Callable[[Made], None]]:
    """Write what happens in the block to the trace in a folder; what is given is told the end."""
    trace = _Trace(_writer(folder, version))
    trace.start(beginning)
    try:
        with listening(trace.step):
            yield trace.end
    except BaseException as error:
        trace.failed(error)
        raise


class _Trace:
    """What is written of one compilation. If that fails it says so, and the compilation goes on."""

    def __init__(self, writer: TraceWriter) -> None:
        self._writer = writer
        self._number = next(_numbers)
        self._last = ""
        self._seconds = 0.0
        self._since = time.perf_counter()
        self._decomposed: Graph | None = None
        self._sources: set[tuple[str, int]] = set()

    def write(self, event: str, **content: object) -> None:
        self._writer.write(event, compile=self._number, **content)

    def start(self, beginning: Beginning) -> None:
        with self._going_on():
            function = inspect.unwrap(beginning.function)
            code = getattr(function, "__code__", None)
            place = (code.co_filename, code.co_firstlineno) if code is not None else None
            self.write(
                "start",
                function=getattr(function, "__qualname__", type(function).__name__),
                place=place,
                arguments=list(_described(beginning)),
                variant=beginning.variant,
                reason=beginning.reason,
                options=dict(beginning.options),
                part=beginning.is_part,
            )
            if place is not None:
                self._source((place,))

    def step(self, name: str, made: object) -> None:
        """A step is done; the time that it takes to write that is not counted."""
        seconds = time.perf_counter() - self._since
        self._last, self._seconds = name, self._seconds + seconds
        with self._going_on():
            size: dict[str, object] = {}
            if isinstance(made, Graph):
                size["operators"] = len(walk(made.body))
            elif isinstance(made, Program):
                size["nests"] = made.kernels
            self.write("step", name=name, seconds=round(seconds, 7), **size)
            self._stage_behind(name, made)
        self._since = time.perf_counter()

    def _stage_behind(self, name: str, made: object) -> None:
        """Write the stage that is made when a step is done, if there is one."""
        if isinstance(made, Graph) and name == "capture":
            self._graph(made)
            self.write("drawing", stage="captured", picture=to_json(picture_of(made)))
        elif isinstance(made, Graph) and (name == "simplify" or name.startswith("the pass ")):
            self._graph(made)
        elif isinstance(made, Graph) and name == "reinplace":
            self._graph(made)
            self._decomposed = made
        elif isinstance(made, Program) and name == "lanes" and self._decomposed is not None:
            self._stage("loops", of_program(made, self._decomposed))
            self._nests(made, self._decomposed)
        elif isinstance(made, Module):
            self._stage("llvm", of_module(made))  # LLVM may crash: once more when it has not

    def _graph(self, graph: Graph) -> None:
        self._stage(graph.stage, of_graph(graph))

    def _stage(self, name: str, text: StageText) -> None:
        self._source(text.places)
        self.write("stage", stage=name, lines=text.lines, places=text.places, of=text.of)

    def _source(self, places: Iterable[tuple[str, int]]) -> None:
        """Write the functions that the places are in, unless they have been."""
        for part in source_parts(places):
            if (part.file, part.first) not in self._sources:
                self._sources.add((part.file, part.first))
                self.write("source", file=part.file, first=part.first, lines=part.lines)

    def _nests(self, program: Program, graph: Graph) -> None:
        found = fused(program)
        self.write(
            "schedule",
            nests=list(map(of_nest, found)),
            calls=calls_of_numpy(program),
            copies=list(program.copies),
        )
        picture = picture_of(graph, *groups(found))
        self.write("drawing", stage="decomposed", picture=to_json(picture))

    def end(self, made: Made) -> None:
        """The compilation is finished: what it relies on, its code, what it takes."""
        with self._going_on():
            checks = [step.text for step in made.guards.steps if isinstance(step, Check)]
            self.write("guards", checks=checks, source=made.guards.source)
            if self._decomposed is None:
                self._graph(made.decomposed)
            if made.module is not None:
                self.write("memory", **memory(made.module))
        with self._going_on():
            if made.module is not None and made.engine is not None:
                llvm, asm = of_code(
                    made.module, made.engine, made.decomposed, made.drawn, made.fast
                )
                self._stage("llvm", llvm)
                self._stage("asm", asm)
        with self._going_on():
            self.write("end", seconds=round(self._seconds, 6), fallbacks=list(made.fallbacks))

    def failed(self, error: BaseException) -> None:
        """The compilation has ended without a result."""
        with self._going_on():
            refusal = getattr(error, "refusal", None)
            loc = getattr(refusal, "location", None)
            self.write(
                "failure",
                error=type(error).__name__,
                message=str(error),
                place=None if loc is None else (loc.file, loc.line),
                after=self._last,
                frames=own_frames(error) if isinstance(error, InternalError) else [],
                seconds=round(self._seconds + time.perf_counter() - self._since, 6),
            )

    @contextmanager
    def _going_on(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.write("problem", message=f"{type(error).__name__}: {error}", after=self._last)


def _described(beginning: Beginning) -> Iterator[str]:
    """What is passed: the types of arrays, the classes of all else."""
    yield from map(_kind, beginning.arguments)
    yield from (f"{name}={_kind(value)}" for name, value in beginning.keywords.items())


def _kind(value: object) -> str:
    if type(value) is np.ndarray and is_known(value.dtype):
        return show_type(array_type(value.dtype, value.shape, value.strides))
    return type(value).__name__
