"""The page that ``fxc.explain`` shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from textwrap import wrap

from fxc.ir.records import frozen
from fxc.lowering.machine.target import SERIAL
from fxc.lowering.scheduling.kernels import Kernel

from .facts import CompilationFacts, MemoryFacts, PythonsShare, VariantFacts
from .machine import Roof

_NAME = 11  # columns of what stands in front of a line
_MOST_GUARDS, _MOST_KERNELS, _MOST_NAMES, _MOST_COPIES = 12, 12, 4, 6
_MOST_PARTS = 6
_WIDTH = 96
_OUTCOME = re.compile(r"^.*? plain NumPy: ")  # of a warning, in front of its reason


@frozen
class Explanation:
    """What becomes of a call; ``str()`` is a page. ``facts`` are those of the compilation that
    serves it, or of the compiled parts of a function that is split.
    """

    name: str
    place: str
    facts: tuple[CompilationFacts, ...]
    python: PythonsShare | None
    variants: tuple[VariantFacts, ...]
    roof: Roof | None

    def __str__(self) -> str:
        return _page(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _page(told: Explanation) -> str:
    """All sections."""
    lines = [told.name + (f", in {told.place}" if told.place else "")]
    if told.python is not None:
        lines += ["", *_python(told.python, bool(told.facts))]
    for number, facts in enumerate(told.facts[:_MOST_PARTS], 1):
        part = "" if told.python is None else f"part {number}, of {facts.name}, "
        given = wrap(f"{part}for {facts.inputs or 'no arrays and numbers'}", _WIDTH - 2)
        lines += [*(f"  {line}" for line in given), ""]
        lines += [*_facts(facts, told.roof, told.python is None), ""]
    if len(told.facts) > _MOST_PARTS:
        lines += [f"… and {len(told.facts) - _MOST_PARTS} parts more, in .facts", ""]
    lines += _variants(told)
    return "\n".join(line.rstrip() for line in lines).rstrip()


def _first(texts: Iterable[str], most: int) -> list[str]:
    """So many of the texts, and how many more there are."""
    found = [*texts]
    return found[:most] + ([f"… and {len(found) - most} more"] if len(found) > most else [])


def _row(name: str, items: Iterable[str]) -> Iterator[str]:
    """Lines with the name in front of the first."""
    for item in items:
        yield f"{name:{_NAME}}{item}"
        name = ""


def _python(share: PythonsShare, has_facts: bool) -> Iterator[str]:
    if share.statements == share.of and has_facts:
        yield from _row("captured", ["functions that it calls; Python runs its own statements"])
    elif share.statements == share.of:
        yield from _row("captured", ["nothing: all of it runs in Python, as plain NumPy"])
    else:
        how = "will run" if share.is_planned else "run"
        at = ", ".join(map(str, share.lines))
        where = f", at line{'s' if len(share.lines) > 1 else ''} {at}" if at else ""
        some = str(share.statements or "some")
        text = f"{some} of {share.of} statements {how} in Python{where}"
        yield from _row("captured", [f"a part: {text}"])
    for reason in share.reasons:
        first, *notes = _OUTCOME.sub("", reason).splitlines()
        yield from _row("", wrap(f"because {first}", _WIDTH - _NAME))
        yield from _row("", notes)
    if share.is_planned and share.statements < share.of:
        text = "The others are compiled when a call comes to them; nothing was run here."
        yield from _row("", wrap(f"{text} Call it once, and explain it again.", _WIDTH - _NAME))
    yield ""


def _facts(facts: CompilationFacts, roof: Roof | None, is_whole: bool) -> Iterator[str]:
    lines = facts.lines
    at = "" if lines is None else f", of line {lines[0]}"
    at = f", of lines {lines[0]} to {lines[1]}" if lines and lines[0] != lines[1] else at
    all_of_it = "all of it: " if is_whole else ""
    yield from _row("captured", [f"{all_of_it}{_count(facts.operators, 'operator')}{at}"])
    yield from _row("writes", facts.written or ["no array of the caller's"])
    yield from _row("changes", facts.changed)
    yield from _row("returns", facts.returned or ["nothing"])
    yield ""
    if facts.kernels and roof is not None:
        yield from _kernels(facts.kernels, roof)
    for name, count in facts.fallbacks:
        times = f", {count} times" if count > 1 else ""
        yield from _row("by NumPy", [f"{name}: there is no native code for it{times}"])
    if facts.memory is not None:
        yield from _memory(facts.memory)
    counted = Counter(facts.copies).items()
    whys = (f"{why}{f', {count} times' if count > 1 else ''}" for why, count in counted)
    copies = _first(whys, _MOST_COPIES)
    yield from _row("copies", copies or ["none beyond those that the program asks for"])
    yield ""
    guards = _first(facts.guards, _MOST_GUARDS)
    yield from _row("each call", ["checks that", *(f"  {text}" for text in guards)])
    if facts.seconds:
        whole = sum(seconds for _, seconds in facts.seconds)
        parts = ", ".join(f"{name} {1e3 * seconds:.1f}" for name, seconds in facts.seconds)
        yield from _row("compiled", [f"in {1e3 * whole:.0f} ms: {parts}"])
    else:
        yield from _row("compiled", ["by another process: it was taken from there, or from disk"])


def _kernels(kernels: tuple[Kernel, ...], roof: Roof) -> Iterator[str]:
    worst = sorted(kernels, key=lambda each: _least(each, roof), reverse=True)[:_MOST_KERNELS]
    more = len(kernels) - len(worst)
    which = f", of which {more} take less than these" if more else ""
    yield from _row("kernels", [f"{len(kernels)}, in this order{which}"])
    for kernel in kernels:
        if more and not any(kernel is each for each in worst):
            continue
        is_far = kernel.moved > SERIAL.cache
        seconds, by_memory = roof.seconds(kernel.moved, kernel.operations, is_far)
        limit = ("memory" if is_far else "caches") if by_memory else "arithmetic"
        often = {None: ", some times", 1: ""}.get(kernel.times, f", {kernel.times} times")
        reads, writes = map(_names, (kernel.reads, kernel.writes))
        work = f"{_bytes(kernel.moved)}, {_count(kernel.operations, 'operation')}"
        yield f"  {kernel.place or 'a loop':{_NAME}} {kernel.loops}{often}"
        yield f"  {'':{_NAME}} {reads or 'nothing'} → {writes or 'a number'}"
        times = kernel.times or 1
        whole = f", {_time(seconds * times)} in all" if times > 1 else ""
        yield f"  {'':{_NAME}} {work}: {_time(seconds)} at least, by {limit}{whole}"
        for reason in kernel.reasons:
            yield f"  {'':{_NAME}} {reason}"
    rates = f"memory {_bytes(int(roof.memory))}/s, caches {_bytes(int(roof.cache))}/s"
    yield f"  (one thread here: {rates}, {roof.operations / 1e9:.0f} billion operations/s)"


def _least(kernel: Kernel, roof: Roof) -> float:
    """Seconds that it takes at least in a call."""
    is_far = kernel.moved > SERIAL.cache
    return roof.seconds(kernel.moved, kernel.operations, is_far)[0] * (kernel.times or 1)


def _names(names: tuple[str, ...]) -> str:
    shown, more = names[:_MOST_NAMES], len(names) - _MOST_NAMES
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _memory(memory: MemoryFacts) -> Iterator[str]:
    ours, numpys = _bytes(memory.ours), _bytes(memory.numpys)
    yield from _row("memory", [f"a call takes {ours}; by NumPy it is {numpys} at least"])
    its, left = memory.numpys_temporaries, memory.temporaries
    yield from _row("", [f"temporary arrays: {left}, by NumPy {its}"])


def _variants(told: Explanation) -> Iterator[str]:
    if not told.variants:
        return
    yield from _row("variants", [_count(len(told.variants), "compilation")])
    for number, each in enumerate(told.variants, 1):
        calls = _count(each.calls, "call")
        text = f"{calls} for {each.inputs or 'no arrays and numbers'}"
        first, *rest = wrap(text, _WIDTH - _NAME)
        yield f"  {number:<{_NAME}} {first}"
        yield from (f"  {'':{_NAME}} {line}" for line in rest)
        if each.why:
            yield f"  {'':{_NAME}} made as no other fitted: {each.why}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def _bytes(number: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= size:
            return f"{_three(number / size)} {unit}"
    return _count(number, "byte")


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{_three(seconds / size)} {unit}"
    return f"{seconds * 1e9:.0f} ns" if seconds > 1e-9 else "1 ns"


def _three(number: float) -> str:
    """A number from 1 to 999 with three digits."""
    return f"{number:.{2 if number < 10 else 1 if number < 100 else 0}f}"
