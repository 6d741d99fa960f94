"""Random programs of Python's constructs around arrays: closures, generators, methods, handlers, containers.

Functions inside of functions change what is outside of them, methods write attributes, loops are left early,
handlers stand around writes, lists and dicts hold arrays and views of them. A program is called several times with
arrays of which dtypes, sizes, layouts, flags and what shares memory change. ::

    python -c "from tests.random_mixed import random_mixed; print(random_mixed(17))"
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.random_loops import BlockWriter, LoopProgram, smaller
from tests.written_programs import array, shrunk

# Where a template has {X}, {F}, {I}, {B}, {L} or {D} stands an array, a float, an int, a bool, a list of arrays
# or a dict by texts; {x}, {f} and {i} are variables that may be assigned. The first LEAVES are names of a scope.
FORMS = {
    "X": (
        "({X} + {X})", "({X} * {F})", "({X} - {X}[::-1])", "{X}[::-1]", "{X}[1:]", "{X}[::2]", "{X}[{I} % 3:]", "{X}[:{I}]", "{X}.copy()", "(-{X})",
        "np.where({X} > {F}, {X}, {F})", "{X}[{X} > {F}]", "{X}.reshape(-1)", "({X} if {B} else {X})", "{L}[{I} % len({L})]", "{L}[-1]", "{D}['a']", "{D}.get('b', {X})",
        "np.concatenate([{X}, {X}])", "np.zeros({I} % 4)", "np.full({I} % 4, {F})", "np.arange({I})", "np.array([{F}, {F}])", "np.array([q_ * {F} for q_ in {X}])", "np.cumsum({X})", "{X}.astype('f4')", "{X}.astype('i8')",
        "({B} and {X})", "np.abs({X})", "np.sqrt(np.abs({X}))", "twice({X})", "twice({X}, by={F})", "spread({X}, {F})", "spread({X}, *{X}[:2], m={F})", "touched({X}, {I})", "o.shifted({X})", "o.part({I})", "(lambda q_: q_ + {F})({X})",
        "np.sort({X})", "{X}.T", "np.asarray({X})", "np.atleast_1d({F})", "{X}[...]", "np.add({X}, {F}, out={X})", "sum({L})", "max({L}, key=lambda q_: q_.size)", "[{X}, {X}][{I} % 2]", "np.multiply.outer({X}[:2], {X}[:2]).ravel()", "np.int8(100) + {X}", "{X}.view()", "np.broadcast_to({F}, {X}.shape)",
        "np.stack({L}[:1])[0]", "functools.reduce(lambda a_, b_: a_ + b_.sum(), {L}, {X})", "np.float32({F}) * {X}", "({X} == {X})", "({X} // {F})", "({X} % {I})", "{X}.clip({F}, 3)", "{X}[[0, -1, 0]]",
    ),
    "F": (
        "({F} + {F})", "({F} * {F})", "({F} - {F})", "{X}.sum()", "({X}.max() + 0.0)", "{X}[0]", "{X}[-1]", "{X}[{I}]", "float({X}[{I} % len({X})])", "({F} if {B} else {F})", "float({I})", "abs({F})",
        "sum(q_ for q_ in {X})", "sum([q_ * {F} for q_ in {X} if q_ > {F}])", "max({F}, {F})", "next(({F} for q_ in {X} if q_ > {F}), {F})", "(s_ := {F})", "o.step({F})", "o.level", "o({F})", "first_of({X}, {F})", "first_of(x=y, least={F})", "twice({F})", "logged({F})", "logged({F}, [0])", "drawn({X}, {I})",
        "{F} / {F}", "{F} // {I}", "{X}.mean()", "{X}[::-1][0]", "sum(each.sum() for each in {L})", "{D}.get('t', {F})", "{D}['t']", "({F} or {F})", "float(f'{{{I}}}.5')", "min([{F}, {F}], key=lambda q_: -q_)", "sum(map(float, {X}))", "sum(counted({X}, {I}))", "list(counted({X}, 2))[-1]", "deep({X}, {I} % 3)",
    ),
    "I": (
        "({I} + 1)", "({I} % 3)", "({I} * 2)", "({I} - {I})", "len({X})", "{X}.size", "{X}.ndim", "len({L})", "len({D})", "int({F}) % 5", "int({X}[0])", "int({X}.argmax())", "({I} if {B} else {I})", "o.count", "o.next()", "{I} // 2", "sum(1 for q_ in {X} if q_ > {F})", "({I} << 3)", "({I} ** 2) % 7", "len(f'{{{I}}}')", "int({B})", "found({X}, {F})", "-{I}", "(k_ := {I})", "~{I}", "{X}.dtype.itemsize",
    ),
    "B": (
        "{F} > {F}", "{F} < {F} <= {F}", "{I} == {I}", "{I} % 2 == 0", "0 <= {I} < {I}", "({X} > {F}).any()", "{F} in {X}", "{X} is {X}", "not {B}", "({B} and {B})", "({B} or {B})", "{X}.size > {I}", "any(q_ > {F} for q_ in {X})", "all(q_ > {F} for q_ in {X})", "'b' in {D}", "{X}.shape == {X}.shape", "isinstance({F}, float)", "{X}.flags.writeable", "np.shares_memory({X}, {X})", "np.isnan({F})", "(s_ := {F}) > {F}", "{X} is not None", "{X}.dtype == float", "flag", "{L}", "{X}.base is None", "o.count > {I} != {I}",
    ),
    "L": ("[{X}, {X}]", "[each[:2] for each in {L}]", "{L}[::-1]", "list({L})", "[{X}] * 2", "[{X}[i_:] for i_ in range(2)]", "[*{L}, {X}]", "list({D}.values())[:1]", "sorted({L}, key=len)"),
    "D": ("{{'a': {X}, 't': {F}}}", "dict({D})", "{{**{D}, 't': {F}}}", "{{'a': {X}, **{D}}}", "{{str(i_): {X}[i_] for i_ in range(2)}}"),
}  # fmt: skip
STATEMENTS = (
    *("{x} = {X}", "{x} = {X}", "{x} += {F}", "{x} += {X}", "{x} *= {F}", "{x} -= {X}", "{f} = {F}", "{f} += {F}", "{f} *= {F}", "{i} = {I}", "{i} += 1", "{i} -= {I}"),
    *("{X}[{I}] = {F}", "{X}[{I} % 3] += {F}", "{X}[1:] = {X}[:-1]", "{X}[1:] += {X}[:-1]", "{X}[::2] *= {F}", "{X}[:] = {X}", "{X}[...] = {F}", "{X}[{X} > {F}] = {F}", "{X}[[0, -1, 0]] += {F}", "{X}.fill({F})", "{X}.sort()", "{X}[::-1] += {X}", "{X}[:{I}] -= {F}"),
    *("{L}.append({X})", "{L}.append({X}[1:])", "{L}[{I} % len({L})] = {X}", "{L}[{I} % len({L})] += {F}", "{L}[-1][0] = {F}", "{L}[0][1:] += {F}", "{L}.reverse()", "{L}.pop()", "{L}.insert(0, {X})", "{L}.extend([{X}, {X}])", "{L}[:1] = [{X}]", "del {L}[0]", "{L} += [{X}]", "{L}[0], {L}[-1] = {L}[-1], {L}[0]", "{L}.sort(key=lambda q_: q_.sum())"),
    *("{D}['a'] = {X}", "{D}['a'] += {F}", "{D}['a'][0] -= {F}", "{D}['t'] = {F}", "{D}['t'] += {F}", "{D}[f'{{{I}}}'] = {X}", "{D}.setdefault('b', {X})[...] = {F}", "{D}.pop('b', None)", "{D}.update(t={F}, b={X})", "del {D}['b']", "{D}['c'] = {D}", "{D}.setdefault('l', []).append({X})", "{D} |= {{'t': {F}}}"),
    *("o.u = {X}", "o.u += {F}", "o.u[{I} % 3] = {F}", "o.t = {F}", "o.t += {F}", "o.count += 1", "o.items.append({X})", "o.items[-1] += {F}", "o.level = {F}", "o += {F}", "o[{I}] = {F}", "o[o.next()] += {F}", "Box.made += 1", "o.extra = {X}", "del o.extra", "o.store(u={X}, t={F})", "o.reset({X})", "o.step({F})", "type(o).made += 1"),
    *("G[{I} % 3] += {F}", "G[:] = {X}[:3]", "LOG.append({F})", "LOG.append({X})", "STORE['u'] = {X}", "STORE['t'] = STORE.get('t', 0.0) + {F}", "{X}[LOG.append(1) or 0] += {F}", "{X}[o.next() % 3] *= {F}", "{L}[o.next() % len({L})][0] += o.step({F})", "LOG[len(LOG) - 1:] = [{F}]", "add_total({F})", "rebind({X})"),
    *("twice({X})", "touched({X}, {I})", "logged({X})", "spread({X}, {F}, m={X})", "deep({X}, 2)", "{x}, {f} = {X}, {F}", "{x}, *rest_ = {X}, {F}, {I}", "{f}, {f} = {F}, {F}", "{x}, {x} = {X}, {X}", "assert {B}, {F}", "{f} = {f} if {B} else {F}", "{x} = {X} if {B} else {x}", "{f} = {x}[0] = {F}", "{x} = {x}[1:]", "{x} = {x}[::-1]", "{x}.shape = (1, -1)", "{x} = {X}.copy(); {x} *= 2"),
    *("[each.__iadd__({F}) for each in {L}]", "[LOG.append(q_) for q_ in {X}]", "{f} = sum(q_ for q_ in counted({X}, 3))", "{f}, {x} = swapped({X}, {F})", "np.add({X}, {X}, out={X})", "np.copyto({X}, {F})", "np.add.at({X}, [0, 0], {F})", "{x} = np.append({X}, {F})", "for q_ in counted({X}, {I}): {f} += q_", "for each in {L}: each *= {F}", "for each in {L}: each[:1] = {F}", "for i_, q_ in enumerate({X}): {X}[i_] = q_ * {F}"),
)  # fmt: skip
HEADS = (
    "for k in range({I} % 5):", "for k in range(3):", "for k in range(len(x)):", "for k in range(1, len(y)):", "for k in range(len(x) - 1, -1, -1):", "for s in {X}:", "for k, s in enumerate({X}):", "for w in {L}:", "for k, w in enumerate({L}):", "for s, t in zip({X}, {X}):", "for s in counted({X}, {I}):", "for s in (0.5, {F}):", "for key_ in list({D}):", "for w in (x, y):", "for w in views({X}):", "for k in reversed(range(n % 5)):", "for key_, w in list({D}.items()):", "for k in [0, 2, 1]:",
)  # fmt: skip
HANDLED = (
    "IndexError",
    "(IndexError, ValueError)",
    "Exception",
    "ZeroDivisionError",
    "KeyError",
    "ValueError as error",
    "Exception as error",
    "(TypeError, AttributeError)",
)
HELPERS = """\
def twice(a, by=2.0):
    return a * by


def spread(a, *rest, m=1.0, **others):
    for r in rest:
        a = a + r
    return a * m


def touched(a, k):
    for j in range(len(a)):
        if j == k:
            return a[j:]
        a[j] += 1
    return a


def logged(a, log=[]):
    log.append(a)
    return len(log) * 0.5


def first_of(x, least):
    for i in range(len(x)):
        for j in range(i):
            if x[j] > least:
                return x[j] * 1.0
            x[i] -= 0.5
    return -1.0


def found(a, least):
    for place, q in enumerate(a):
        if q > least:
            return place
    else:
        return -1


def counted(a, n):
    total = 0.0
    try:
        for j, q in enumerate(a):
            if j == n:
                return
            total += q
            yield total
    finally:
        LOG.append(total)


def views(a):
    yield a[1:]
    a[:1] = 0
    yield a[::-1]


def drawn(a, n):
    it = iter(counted(a, n))
    first = next(it, 0.5)
    return first + next(it, 0.25)


def deep(a, d):
    if d == 0 or a.size < 2:
        return a.sum()
    a[0] += 1
    return deep(a[1:], d - 1) * 0.5


def swapped(a, b):
    return b, a


def add_total(by):
    global TOTAL
    TOTAL += by


def rebind(a):
    global G
    G = np.zeros(3) + a[0]


class Base:
    made = 0

    def __init__(self, u, t):
        self.u, self.t, self.count, self.items = u, t, 0, [u]
        Base.made += 1

    def step(self, by):
        self.t += by
        return self.t

    def next(self):
        self.count += 1
        return self.count

    def __iadd__(self, by):
        self.u += by
        return self

    def __setitem__(self, k, value):
        self.u[k % len(self.u)] = value

    def __getitem__(self, k):
        return self.u[k % len(self.u)]


class Box(Base):
    @property
    def level(self):
        return self.t * 2.0

    @level.setter
    def level(self, value):
        self.t = value
        self.count += 1

    def step(self, by):
        self.last = by
        return super().step(by) + 0.5

    def shifted(self, a):
        self.u = a[::-1]
        return self.u

    def part(self, k):
        return self.u[k:] if k % 2 else self.u

    def store(self, **values):
        for name, value in values.items():
            setattr(self, name, value)

    def reset(self, a):
        self.__init__(a, 0.0)

    def __call__(self, by):
        return self.u.sum() * by
"""
GLOBALS = """\
G, TOTAL, LOG, STORE = np.zeros(3), 0.0, [], {}
"""
HEAD = "def program(x, y, n, c, o, L, D, *more, flag=False, m=0.5):"


@dataclass(frozen=True)
class MixedProgram(LoopProgram):
    """Lines of the function and those inside, and the seeds of the arguments of each call."""

    seeds: tuple[int, ...] = ()

    @property
    def source(self) -> str:
        return f"{GLOBALS}\n\n{HELPERS}\n\n{HEAD}\n" + "\n".join(self.body) + "\n"

    def __str__(self) -> str:
        return f"# seed {self.seed}, calls {self.seeds}\n" + "\n".join([HEAD, *self.body])


@dataclass
class Names:
    """What an expression may read, and what a statement may assign, by kind."""

    X: tuple[str, ...] = (
        "x",
        "y",
        "x",
        "y",
        "u",
        "w",
        "w",
        "x[1:]",
        "y[::-1]",
        "o.u",
        "P[0]",
        "P[-1]",
        "L[0]",
        "G",
    )
    F: tuple[str, ...] = (
        "c",
        "s",
        "t",
        "c",
        "m",
        "0.5",
        "2.0",
        "x[0]",
        "y[-1]",
        "o.t",
        "TOTAL",
        "-1.5",
        "3",
    )
    I: tuple[str, ...] = ("n", "k", "n", "k", "2", "1", "0", "len(x)", "o.count")  # noqa: E741
    B: tuple[str, ...] = ("flag", "n > 2", "c > 0.5", "x[0] > c", "k % 2", "not flag")
    L: tuple[str, ...] = ("P", "P", "L", "o.items")
    D: tuple[str, ...] = ("E", "E", "D")
    x: tuple[str, ...] = ("u", "w", "u", "w", "x")
    f: tuple[str, ...] = ("s", "t", "c")
    i: tuple[str, ...] = ("k", "n")

    def inside(self, params: str, bound: tuple[str, ...]) -> Names:
        """Those of a function with these parameters, which changes what is bound outside of it."""
        own = {"a": "X", "q": "F"}
        more = {kind: tuple(p for p in params if own[p] == kind) for kind in "XF"}
        return Names(
            X=self.X + more["X"] * 5, F=self.F + more["F"] * 3, I=self.I, B=self.B, L=self.L, D=self.D,
            x=tuple(v for v in self.x if v in bound) + more["X"] or ("a_",),
            f=tuple(v for v in self.f if v in bound) + more["F"] or ("q_",), i=tuple(v for v in self.i if v in bound) or ("i_",),
        )  # fmt: skip


class _Writer(BlockWriter):
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.names = Names()
        self.left = rng.choice((2, 3, 4, 5, 6, 8, 10))
        self.loops = self.functions = self.fuel = 0
        self.yields = False
        self.calls: list[str] = []

    def filled(self, template: str, depth: int = 2) -> str:
        def fill(found: re.Match[str]) -> str:
            kind = found[1]
            if not kind:
                return found[0][0]
            if kind in FORMS:
                return self.expression(kind, depth)
            return self.rng.choice(getattr(self.names, kind))

        return re.sub(r"\{([XFIBLDxfi])\}|\{\{|\}\}", fill, template)

    def expression(self, kind: str, depth: int) -> str:
        if depth <= 0 or self.rng.random() < 0.5:
            return self.rng.choice(getattr(self.names, kind))
        if self.calls and kind == "F" and self.rng.random() < 0.3:
            return self.filled(self.rng.choice(self.calls), depth - 1)
        return self.filled(self.rng.choice(FORMS[kind]), depth - 1)

    def statement(self, depth: int) -> list[str]:
        rng = self.rng
        self.left -= 1
        if depth < 4 and self.left > 0 and rng.random() < 0.5:
            kinds = (
                self.loop,
                self.branch,
                self.handled,
                self.function,
                self.closures,
                self.chained,
            )
            return rng.choices(kinds, (4, 4, 2, 2, 1, 2))[0](depth)
        if self.loops and rng.random() < 0.08:
            return [
                self.filled("if {B}:", 1),
                f"    {rng.choice(('break', 'continue', 'return s, u', 'return w'))}"
                if not self.yields
                else "    break",
            ]
        if self.yields and rng.random() < 0.3:
            return [
                self.filled(
                    rng.choice(
                        ("yield {F}", "{f} = (yield {F}) or {F}", "yield from counted({X}, 2)")
                    ),
                    1,
                )
            ]
        return self.filled(rng.choice(STATEMENTS)).split("; ")

    def chained(self, depth: int) -> list[str]:
        """Views of views, one of them written."""
        names = self.names.x
        a, b = self.rng.choice(names), self.rng.choice(names)
        return [
            self.filled(f"{a} = {{X}}"),
            f"{b} = {a}[{self.rng.choice(('1:', '::-1', '::2', ':-1', 'k:', ':n'))}]",
            self.filled("if {B}:"),
            self.filled(f"    {b} += {{F}}"),
            *(["else:", self.filled(f"    {a}[:2] = {{F}}")] if self.rng.random() < 0.5 else []),
        ]

    def branch(self, depth: int) -> list[str]:
        lines = [self.filled("if {B}:"), *self.block(depth + 1)]
        if self.rng.random() < 0.2:
            lines += [self.filled("elif {B}:"), *self.block(depth + 1, 2)]
        if self.rng.random() < 0.4:
            lines += ["else:", *self.block(depth + 1, 2)]
        return lines

    def loop(self, depth: int) -> list[str]:
        self.loops += 1
        self.fuel += 1
        count = f"k{self.fuel}"
        if self.rng.random() < 0.2:
            head = [
                f"{count} = 0",
                self.filled(f"while {count} < 4 and {{B}}:"),
                f"    {count} += 1",
            ]
            if self.rng.random() < 0.3:
                head = [
                    f"{count} = 0",
                    self.filled("while (s := {F}) < {F}:"),
                    f"    {count} += 1",
                    f"    if {count} > 4: break",
                ]
        else:
            head = [
                f"{count} = 0",
                self.filled(self.rng.choice(HEADS), 1),
                f"    {count} += 1",
                f"    if {count} > 9: break",
            ]
            head = [head[1]] if "range" in head[1] or "(x, y)" in head[1] else head
        lines = self.block(depth + 1)
        self.loops -= 1
        if self.rng.random() < 0.1:
            lines += ["else:", *self.block(depth + 1, 1)]
        return head + lines

    def handled(self, depth: int) -> list[str]:
        lines = ["try:", *self.block(depth + 1)]
        if self.rng.random() < 0.3:
            lines.append(self.filled("    if {B}: raise ValueError({F})", 1))
        heads = self.rng.sample(HANDLED, self.rng.choice((0, 1, 1, 1, 2)))
        for head in heads:
            lines += [f"except {head}:", *self.block(depth + 1, 2)]
            if self.rng.random() < 0.2:
                lines.append("    raise")
        if heads and self.rng.random() < 0.2:
            lines += ["else:", *self.block(depth + 1, 1)]
        if not heads or self.rng.random() < 0.3:
            lines += ["finally:", *self.block(depth + 1, 2)]
        return lines

    def function(self, depth: int) -> list[str]:
        rng = self.rng
        if self.functions == 3:
            return self.branch(depth)
        self.functions += 1
        name = f"inner{self.functions}"
        bound = tuple(rng.sample(("u", "w", "s", "t", "k"), rng.choice((0, 0, 1, 1, 2))))
        gives = rng.random() < 0.25
        before = self.names, self.loops, self.yields, self.calls
        self.names, self.loops, self.yields = self.names.inside("aq", bound), 0, gives
        heads = (
            "a, q",
            "a, q=0.5",
            "a, *, q=0.5",
            "a, q=c, *rest_, **others_",
            "a, /, q=0.25",
            "a, q=s",
        )
        head = rng.choice(heads)
        body = self.block(depth + 1)
        last = (
            "    yield q"
            if gives
            else self.filled(
                rng.choice(("    return {F}", "    return q * {F}", "    return a.sum() + q")), 1
            )
        )
        self.names, self.loops, self.yields, self.calls = before
        kept = [f"    nonlocal {', '.join(bound)}"] if bound and not before[2] else []
        if "a" in self.names.x:  # inside of another, which may have none of these
            kept = []
        call = (
            f"{name}({{X}}, q={{F}})"
            if "*, " in head
            else rng.choice((f"{name}({{X}})", f"{name}({{X}}, {{F}})", f"{name}({{X}}, q={{F}})"))
        )
        if head == "a, q":
            call = f"{name}({{X}}, {{F}})"
        lines = [f"def {name}({head}):", *kept, *body, last]
        if gives:
            after = rng.choice(
                (
                    f"s = sum({call})",
                    f"for s in {call}: t += s",
                    f"s = next({call})",
                    f"P.append(np.array(list({call})))",
                )
            )
            return [*lines, self.filled(after, 1)]
        self.calls = [*self.calls, call]
        return [
            *lines,
            self.filled(rng.choice(("s = " + call, "s += " + call, "t = " + call, call)), 1),
        ]

    def closures(self, depth: int) -> list[str]:
        """Functions that a loop makes."""
        made = self.rng.choice(
            (
                "lambda q_: q_ * k + s",
                "lambda q_, k=k: q_ * k",
                "lambda q_: u[k % len(u)] * q_",
                "lambda q_: x.__setitem__(k % 3, q_) or q_",
                "lambda q_, a_=u: a_.sum() + q_ + k",
            )
        )
        lines = ["fs = []", "for k in range(3):", f"    fs.append({made})"]
        if self.rng.random() < 0.3:
            lines = [f"fs = [{made} for k in range(3)]"]
        return [
            *lines,
            *([self.filled("{f} = {F}")] if self.rng.random() < 0.3 else []),
            self.filled("s = sum(f_({F}) for f_ in fs)"),
        ]

    def body(self) -> list[str]:
        lines: list[str] = []
        while self.left > 0:
            lines += self.statement(0)
        begins = [
            self.rng.choice(("u = x * 2.0", "u = x + 1", "u = x[::-1]", "u = y.copy()", "u = x")), self.rng.choice(("w = y[1:]", "w = x[1:]", "w = y", "w = x.copy()")),
            "s, t, k = c * 0.5, 0.0, n", self.rng.choice(("P, E = [u, w], {'a': u, 't': 0.5}", "P, E = [x, y, x[1:]], {'a': w}", "P, E = [u], dict(a=x, b=y[:2], t=c)")),
        ]  # fmt: skip
        ends = (
            "return u, w, s",
            "return s, t, k",
            "return P, E",
            "return x, u",
            "return u, s, P[-1]",
            "return {X}, {F}, {I}",
            "return w",
            "return {L}",
            "return {{'u': u, 'k': k, 'B': {B}}}",
            "return s",
            "return f'{{k}} {{len(P)}}', u",
        )
        return [f"    {line}" for line in [*begins, *lines, self.filled(self.rng.choice(ends), 1)]]


def random_mixed(seed: int) -> MixedProgram:
    """The program of this seed."""
    rng = random.Random(seed)
    body = tuple(_Writer(rng).body())
    first = rng.randrange(1 << 30)
    kinds = [first]
    for _ in range(5):
        kinds.append(
            kinds[-1]
            if rng.random() < 0.4
            else rng.choice(kinds)
            if rng.random() < 0.3
            else rng.randrange(1 << 30)
        )
    return MixedProgram(seed, body, (), tuple(kinds))


DTYPES = ("f8",) * 24 + (
    "f4",
    "f4",
    "i8",
    "i8",
    "i4",
    "i1",
    "u1",
    "u8",
    "c16",
    "b1",
    "f2",
    ">f8",
    ">i4",
)
SIZES = (4, 5, 6, 8, 4, 5, 6, 3, 9, 2, 1, 0, 17)
ODD = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1e300, 1.0)


def arguments(seed: int, space: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call: two arrays, numbers, an object, a list and a dict of arrays."""
    rng = random.Random(seed)
    n = rng.choice(SIZES)
    kind = rng.choice(DTYPES)
    x = layout(rng, kind, n)
    y = layout(
        rng,
        kind if rng.random() < 0.8 else rng.choice(DTYPES),
        n if rng.random() < 0.85 else rng.choice(SIZES),
    )
    alias = rng.random()
    if alias < 0.05:
        y = x
    elif alias < 0.1:
        y = x[::-1]
    elif alias < 0.15:
        y = x[:]
    elif alias < 0.22:
        base = array(kind, (n + 2,), 1)
        x, y = rng.choice(
            (
                (base[1:-1], base[2:]),
                (base[:-2], base[2:]),
                (base[2:], base[:-2]),
                (base[:n], base[1::-1]),
            )
        )
    elif alias < 0.24:
        x = array(kind, (), 1)
    elif alias < 0.26:
        x = array(kind, (n, 2), 1)
    u = rng.choice((x, y, array("f8", (max(n, 3),), 2), array("f8", (3,), 3), array("f8", (4,), 2)))
    o = space["Box"](u, rng.choice((0.5, 1, -0.0, np.float64(2.0))))
    held = [array("f8", (n,), 3), rng.choice((x, y, array("f8", (n,), 4)))]
    table = {"a": rng.choice((x, array("f8", (n,), 5), array("f8", (n,), 5))), "t": 0.5}
    if rng.random() < 0.3:
        table["b"] = rng.choice((x[::-1] if x.ndim else x, y))
    number = rng.choice(
        (
            0.5,
            0.5,
            1.5,
            -1.5,
            2.0,
            3,
            0,
            -0.0,
            np.nan,
            np.inf,
            np.float32(0.25),
            np.int64(2),
            True,
            1e300,
        )
    )
    count = rng.choice(
        (0, 1, 2, 3, 4, 5, 7, -1, -2, 2**31, 2**62, 10**20, np.int32(3), np.int8(127))
        if rng.random() < 0.3
        else (2, 3, 4, 5)
    )
    more = (x,) if rng.random() < 0.1 else ()
    options = {"flag": True} if rng.random() < 0.3 else {}
    if rng.random() < 0.1:
        options["m"] = y if rng.random() < 0.2 else 1.5
    return (x, y, count, number, o, held, table, *more), options


def layout(rng: random.Random, kind: str, n: int) -> np.ndarray:
    """A vector in one of many layouts."""
    shift, way = rng.randrange(6), rng.random()
    if way < 0.7:
        x = array(kind, (n,), shift)
    elif way < 0.76:
        x = array(kind, (n,), shift)[::-1]
    elif way < 0.82:
        x = array(kind, (2 * n + 1,), shift)[1::2]
    elif way < 0.85:
        x = np.broadcast_to(array(kind, (1,), shift), (n,))
    elif way < 0.88:
        x = array(kind, (n, 3), shift)[:, 1]
    elif way < 0.91:
        size = np.dtype(kind).itemsize
        x = np.zeros(n * size + 1, np.uint8)[1:].view(kind)
        x[:] = array(kind, (n,), shift)
    elif way < 0.96:
        x = array(kind, (n,), shift)
        x.flags.writeable = False
    else:
        x = array(kind, (n,), shift)
        if x.dtype.kind == "f":
            with np.errstate(all="ignore"):
                x[: len(ODD)] = np.array(ODD)[:n]
        elif x.dtype.kind in "iu" and n:
            x[::2] = np.iinfo(x.dtype).max
    return x


def shrink(program: MixedProgram, fails: Callable[[MixedProgram], bool]) -> MixedProgram:
    """A smaller program that still fails."""
    return shrunk(program, fails, _smaller)


def _smaller(program: MixedProgram) -> Iterator[MixedProgram]:
    for place in range(len(program.seeds) if len(program.seeds) > 1 else 0):
        yield replace(program, seeds=program.seeds[:place] + program.seeds[place + 1 :])
    yield from smaller(program)  # type: ignore[misc]
