"""Statements of random programs that branch and loop by what arrays hold."""

from __future__ import annotations

import textwrap

from tests.program_writer import Writer
from tests.statements import write_outside


def _condition(writer: Writer) -> str:
    """A comparison of an element with a number."""
    name = writer.some_array()
    x = writer.space[name]
    if not x.size or x.dtype.kind == "c":
        return ""
    place = ", ".join(str(writer.rng.randrange(dim)) for dim in x.shape) or "()"
    sign = writer.rng.choice(("<", ">", "!="))
    return f"{name}[{place}] {sign} {writer.literal(x.dtype)}"


def _changed(writer: Writer, name: str, source: str = "") -> str:
    """A new array of the dtype of ``name``, computed from that or from one like it."""
    is_bool = writer.space[name].dtype.kind == "b"
    signs, numbers = ("&|^", ("True", "False")) if is_bool else ("+-*", ("1", "2", "3"))
    return f"{source or name} {writer.rng.choice(signs)} {writer.rng.choice(numbers)}"


def _writes(writer: Writer, most: int) -> list[str]:
    found = (write_outside(writer) for _ in range(writer.rng.randint(1, most)))
    return [line for line in found if line]


def branch(writer: Writer) -> str:
    """``if`` by an element: writes in one arm or both, a variable that both make."""
    rng = writer.rng
    condition = _condition(writer)
    if not condition:
        return ""
    arms = [_writes(writer, 2) for _ in range(rng.randint(1, 2))]
    if len(arms) == 2 and rng.random() < 0.6:
        name, result = writer.some_array(), writer.new()
        for arm in arms:
            arm.insert(rng.randint(0, len(arm)), f"{result} = {_changed(writer, name)}")
    if not all(arms):
        return ""
    bodies = [textwrap.indent("\n".join(arm), "    ") for arm in arms]
    return f"if {condition}:\n" + "\nelse:\n".join(bodies)


def counted_loop(writer: Writer) -> str:
    """``for`` over a range whose end is computed: writes, and a variable that is computed anew."""
    rng, i = writer.rng, f"i{writer.fresh}"
    name, other = writer.some_array(), writer.some_array()
    x = writer.space[name]
    if not x.ndim or not 3 <= len(x) <= 9 or not writer.space[other].size:
        return ""
    lines = _writes(writer, 1)
    if x.flags.writeable:
        lines.append(
            rng.choice((f"{name}[{i}] = {name}[{i} - 1]", f"{name}[{i}, ...] = {name}[0]"))
        )
    before = behind = ""
    if rng.random() < 0.5:
        result = writer.new()
        before = f"{result} = {name}.copy()\n"
        behind = f"\n{result} = {result}.copy()"  # what a loop replaces is not to be written
        lines.append(f"{result} = {_changed(writer, name, result)}")
    if rng.random() < 0.3 and (condition := _condition(writer)):
        lines.append(f"if {condition}:\n    break")
    rng.shuffle(lines)
    if not lines:
        return ""
    body = textwrap.indent("\n".join(lines), "    ")
    return f"{before}for {i} in range({other}.argmax() % 3):\n{body}{behind}"


def loop_while(writer: Writer) -> str:
    """``while`` an element says so, three times at most."""
    condition, lines = _condition(writer), _writes(writer, 2)
    if not condition or not lines:
        return ""
    count = f"k{writer.fresh}"
    body = textwrap.indent("\n".join([*lines, f"{count} += 1"]), "    ")
    return f"{count} = 0\nwhile {count} < 3 and {condition}:\n{body}"
