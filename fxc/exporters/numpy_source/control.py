"""Loops and branches as statements of Python, the variables that they carry assigned."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import numpy as np

from fxc.ir.graph import Literal, Node, Operand, Region, Value, walk
from fxc.ir.types import ScalarType

from .assigning import assign_all, spare_variable, text_of, value_code
from .code import BOTH, COMPARE, EITHER, NOT, TERNARY, Code
from .lines import INDENT, WIDTH
from .naming import word_for
from .writer import Writer

# ---------------------------------------------------------------- branches


def write_branch(body: Writer, node: Node) -> None:
    """An ``if`` statement, or an expression where both arms are one."""
    body.settle(lambda value: True, [node.args[0], *node.arg("operands")])
    for operand in node.arg("operands"):
        body.variable(operand)
    condition = body.fitted(lambda: body.operand(node.args[0]), node.args[:1], WIDTH - 20)
    assert condition is not None
    body.consume(node.args[:1])
    shown = body.shown
    arms, waiting = [], {}
    for region in node.regions:
        arms.append(_arm(body, region, node))
        waiting.update(body.pending)
        body.pending.clear()
    body.pending.update(waiting)
    joined = _joined(body, node, condition) if not any(arms) else None
    if joined is not None:
        return body.offer(node, joined)
    if (
        len(node.outputs) == 1
        and not any(arms)
        and not body.uses.known_in.keys() & set(node.regions)
    ):
        results = [value_code(body, region.results[0]) for region in node.regions]
        if body.is_truth(node.outputs[0]) and [each.text for each in results] == ["True", "False"]:
            return body.offer(node, condition)
        extreme = _extreme(condition, results)
        if extreme is not None:
            body.consume(region.results[0] for region in node.regions)
            return body.offer(node, extreme)
        text = f"{results[0].within(NOT)} if {condition.within(NOT)} else {results[1].text}"
        if len(text) < 64 and "\n" not in text and " if " not in results[0].text + results[1].text:
            reads = condition.reads | results[0].reads | results[1].reads
            body.consume(region.results[0] for region in node.regions)
            return body.offer(node, Code(text, TERNARY, reads))
    names = [_branch_variable(body, node, n) for n in range(len(node.outputs))]
    texts = []
    for region, lines in zip(node.regions, arms, strict=True):
        pairs = list(zip(names, _results(body, region), strict=True))
        texts.append(lines + _captured(body, partial(assign_all, body, pairs, node)))
    body.shown = shown
    _write_if(body, condition, texts)
    for out, name in zip(node.outputs, names, strict=True):
        body.hold(out, name)
    return None


def _extreme(condition: Code, results: list[Code]) -> Code | None:
    """``max(x, y)`` or ``min(x, y)``, where a comparison chooses one of its sides."""
    for sign, words in ((" < ", ("min", "max")), (" > ", ("max", "min"))):
        sides = condition.text.split(sign)
        if condition.binds == COMPARE and len(sides) == 2:
            texts = [result.text for result in results]
            reads = condition.reads | results[0].reads | results[1].reads
            if texts == sides:
                return Code(f"{words[0]}({sides[1]}, {sides[0]})", reads=reads)
            if texts == sides[::-1]:
                return Code(f"{words[1]}({sides[0]}, {sides[1]})", reads=reads)
    return None


def _results(body: Writer, region: Region) -> tuple[Operand, ...]:
    """The results of one arm of a branch; True or False where it yields the condition itself."""
    condition = body.uses.known_in.get(region)
    if condition is None:
        return region.results
    owner = next(n for n in walk(body.graph.body) if region in n.regions)
    holds = region is owner.regions[0]
    weak = isinstance(condition.type, ScalarType) and condition.type.weak
    return (Literal(holds if weak else np.bool_(holds)),)


def _joined(body: Writer, node: Node, condition: Code) -> Code | None:
    """``a and b`` or ``a or b``, where one arm gives the condition itself."""
    for number, (word, binds) in enumerate((("or", EITHER), ("and", BOTH))):
        if node.regions[number] in body.uses.known_in:
            other = node.regions[1 - number].results[0]
            code = value_code(body, other)
            text = f"{condition.within(binds)} {word} {code.within(binds + 1)}"
            if len(text) > 64:
                return None
            body.consume([other])
            return Code(text, binds, condition.reads | code.reads)
    return None


def _arm(body: Writer, region: Region, node: Node) -> list[str]:
    for param, operand in zip(region.params, node.arg("operands"), strict=True):
        body.code_of[param] = body.operand(operand)
    return _captured(body, lambda: body.region(region))


def _captured(body: Writer, write: Callable[[], None]) -> list[str]:
    """The lines that are written one level deeper."""
    before, body.lines = body.lines, []
    body.level += 1
    write()
    made, body.lines = body.lines, before
    body.level -= 1
    return made


def _branch_variable(body: Writer, node: Node, number: int) -> str:
    """The variable of a result: that of an operand which one of the arms leaves as it is."""
    for region in node.regions:
        result = body.uses.resolve(region.results[number])
        if isinstance(result, Value) and body.is_variable(result):
            name = body.code_of[result].text
            if result in region.params:
                place = region.params.index(result)
                spare = spare_variable(body, node.arg("operands")[place], node)
                if spare == name:
                    return name
            elif spare_variable(body, result, node) == name:
                return name
    for region in node.regions:
        own = _own_variable(body, region, number)
        if own is not None:
            return own
    texts = {text_of(body, _results(body, region)[number]) for region in node.regions}
    if len(texts) == 1 and next(iter(texts)).isidentifier():
        return next(iter(texts))
    out = node.outputs[number]
    wish = body.wishes.get(out)
    for region in node.regions:
        wish = wish or body.wishes.get(region.results[number])  # type: ignore[arg-type]
    return body.names.free(wish or "result")


def _own_variable(body: Writer, region: Region, number: int) -> str | None:
    """The variable of an arm's result that is made there, for nothing else."""
    result = body.uses.resolve(region.results[number])
    if not isinstance(result, Value) or not body.is_variable(result):
        return None
    made_there = body.uses.region_of.get(result) is region and result not in region.params
    name = body.code_of[result].text
    is_given = name in body.input_names
    return name if made_there and body.uses.count(result) == 1 and not is_given else None


def _write_if(body: Writer, condition: Code, arms: list[list[str]]) -> None:
    pad = INDENT * body.level
    on_true, on_false = arms
    if not on_true and not on_false:
        return
    if not on_true:
        negated = Code(f"not {condition.within(NOT)}", NOT)
        body.emit([f"{pad}if {negated.text}:"], None)
        body.lines += on_false
        return
    body.emit([f"{pad}if {condition.text}:"], None)
    body.lines += on_true
    if not on_false:
        return
    deeper = pad + INDENT
    first = on_false[0]
    if first.startswith(f"{deeper}if ") and all(
        line.startswith(deeper + INDENT) or line.startswith((f"{deeper}else:", f"{deeper}elif "))
        for line in on_false[1:]
    ):
        body.lines.append(f"{pad}el{first.strip()}")
        body.lines += [line.removeprefix(INDENT) for line in on_false[1:]]
    else:
        body.lines.append(f"{pad}else:")
        body.lines += on_false


# ---------------------------------------------------------------- loops


def write_loop(body: Writer, node: Node) -> None:
    """A ``for`` or ``while`` statement over the variables that are carried."""
    region: Region = node.arg("body")
    inits: tuple[Operand, ...] = node.arg("init")
    params = region.params[len(region.params) - len(inits) :]
    counted = node.op == "fori_loop"
    ends = node.args[:2] if counted else ()
    body.settle(lambda value: True, [*ends, *inits])
    for value in list(body.pending):  # those that read nothing
        if value not in {body.uses.resolve(each) for each in (*ends, *inits)}:
            body.variable(value)
    names = [
        _start(body, node, n, param) if (node, n) not in body.uses.idle else ""
        for n, param in enumerate(params)
    ]
    for param, name in zip(params, names, strict=True):
        if name:
            body.hold(param, name)
    header, lead = _header(body, node, names)
    pad = INDENT * body.level
    body.emit([f"{pad}{header}:"], None)
    body.lines += lead
    body.shown = None if lead else body.shown

    def inside() -> None:
        body.region(region)
        _finish(body, node, names)

    counter = body.code_of.get(region.params[0]) if counted else None
    if counter is not None:
        body.counting.add(counter.text)
    lines = _captured(body, inside)
    if counter is not None:
        body.counting.discard(counter.text)
    body.lines += lines or [f"{pad}{INDENT}pass"] if not lead else lines
    for out, name in zip(node.outputs, names, strict=True):
        if name:
            body.hold(out, name)


def _start(body: Writer, node: Node, n: int, param: Value) -> str:
    """The variable that a loop carries, with its first value."""
    init = node.arg("init")[n]
    copied = param in body.memory.copied_first
    spare = None if copied else spare_variable(body, init, node)
    if (
        spare is not None
        and [body.uses.resolve(x) for x in node.arg("init")].count(body.uses.resolve(init)) == 1
    ):
        return spare
    wish = re.sub(r"_\d+$", "", param.name)
    if not wish[0].isalpha():
        result = node.arg("body").results[n]
        wish = body.wishes.get(result) or body.wishes.get(node.outputs[n]) or _word(body, init)
    name = body.names.free(wish)
    code = value_code(body, init) if not body.is_truth(param) else _truth(body, init)
    if copied:
        code = body.copied_code(code, param.type)
    body.statement(f"{name} = ", code, None)
    body.consume([init])
    return name


def _word(body: Writer, init: Operand) -> str:
    maker = body.uses.makers.get(body.uses.resolve(init))
    return word_for(maker) if maker is not None and len(maker.outputs) == 1 else "state"


def _truth(body: Writer, init: Operand) -> Code:
    found = body.uses.resolve(init)
    return Code(repr(bool(found.value))) if isinstance(found, Literal) else body.operand(init)


def _header(body: Writer, node: Node, names: list[str]) -> tuple[str, list[str]]:
    """The first line of a loop, and what a condition that is no expression needs inside."""
    if node.op == "fori_loop":
        low, high = (body.operand(end) for end in node.args[:2])
        body.consume(node.args[:2])
        counter = node.arg("body").params[0]
        is_read = body.uses.count(counter) or body.uses.is_read(counter.name)
        name = _counter(body, counter) if is_read else "_"
        if is_read:
            body.hold(counter, name)
            body.symbols[counter.name] = body.code_of[counter]
        ends = high.text if low.text == "0" else f"{low.text}, {high.text}"
        return f"for {name} in range({ends})", []
    test: Region = node.arg("test")
    for param, name in zip(test.params, names, strict=True):
        if name:
            body.hold(param, name)
    lead = _captured(body, lambda: body.region(test))
    condition = body.operand(test.results[0])
    body.consume(test.results)
    if not lead:
        return f"while {condition.text}", []
    pad = INDENT * (body.level + 1)
    lead += [f"{pad}if not {condition.within(NOT)}:", f"{pad}{INDENT}break"]
    return "while True", lead


def _counter(body: Writer, counter: Value) -> str:
    """The variable of a loop that counts; that of a loop which is over will do."""
    word = re.sub(r"_\d+$", "", counter.name)
    if word in body.counters and word not in body.counting:
        return word
    word = body.names.free(word)
    body.counters.add(word)
    return word


def _finish(body: Writer, node: Node, names: list[str]) -> None:
    """The end of an iteration: what is carried gets its new values."""
    results = node.arg("body").results
    stops = len(results) > len(names)
    leave = ""
    if stops:
        code = body.operand(results[-1])
        read = set(re.findall(r"[^\W\d]\w*", code.text))
        last = body.uses.resolve(results[-1])
        if read & set(names) and last in body.pending:
            leave = body.variable(last, "stop")
        else:
            leave = code.text
    pairs = [(name, each) for name, each in zip(names, results, strict=False) if name]
    assign_all(body, pairs, node)
    if stops:
        pad = INDENT * body.level
        body.emit([f"{pad}if {leave}:", f"{pad}{INDENT}break"], None)
        body.consume(results[-1:])
