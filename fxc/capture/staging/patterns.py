"""``match`` as branches, where the patterns compare and give names.

::

    match op, n % 2:                     subject0 = op
        case 0, _:                       subject1 = n % 2
            total += n                   if subject0 == 0:
        case 1 | 2, k:                       total += n
            total -= k                   elif subject0 == 1 or subject0 == 2:
        case _:                              k = subject1
            total = 0                        total -= k
                                         else:
                                             total = 0

A statement with other patterns stays: what it is about has to be known while capturing. Python asks
a flag of a class whether ``case [a, b]:`` takes its objects. What stands for a value has one of its
own: ``case __fxc__.patterns.known([a, b]):`` refuses it if its flag is another than the value's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .nodes import assign, door_part, name_of, placed

# Classes whose objects a pattern finds as ``isinstance`` does.
_CLASSES = frozenset(
    {"bool", "bytes", "complex", "dict", "float", "int", "list", "set", "str", "tuple"}
)


class _Other(Exception):
    """A pattern that is no test of values."""


def branches(node: ast.Match) -> ast.stmt | list[ast.stmt]:
    """The statements that stand for one, or itself."""
    try:
        return _branches(node)
    except _Other:
        for case in node.cases:
            case.pattern = _Checked().visit(case.pattern)
        return node


class _Checked(ast.NodeTransformer):
    """Patterns that look at the class of what they are about, behind a check of it."""

    def _checked(self, node: ast.pattern) -> ast.pattern:
        self.generic_visit(node)
        known = ast.Attribute(door_part("patterns"), "known", ast.Load())
        known.is_door = True  # type: ignore[attr-defined]
        made = ast.copy_location(ast.MatchClass(known, [node], [], []), node)
        return ast.fix_missing_locations(made)

    visit_MatchSequence = visit_MatchMapping = _checked


def _branches(node: ast.Match) -> list[ast.stmt]:
    """The subject, which is computed once, and a branch for each case."""
    name = f"__fxc_subject{node.lineno}_{node.col_offset}__"
    subject = node.subject
    parts = subject.elts if isinstance(subject, ast.Tuple) else []
    if any(isinstance(part, ast.Starred) for part in parts):
        parts = []
    names = [f"{name}{place}" for place in range(len(parts))]
    begin = [assign(subject, *each) for each in zip(names, parts, strict=True)]
    if parts:
        subject = placed(subject, ast.Tuple([name_of(each) for each in names], ast.Load()))
    else:
        begin, subject = [assign(subject, name, subject)], name_of(name)
    made: list[ast.stmt] = []
    for place, case in reversed(list(enumerate(node.cases))):
        made = _branch(case, subject, made, f"{name}_holds{place}__")
    return [*begin, *made]


def _branch(
    case: ast.match_case, subject: ast.expr, rest: list[ast.stmt], holds: str
) -> list[ast.stmt]:
    """A case, and what follows if it does not hold. Its names are bound before its guard is asked,
    and stay if that does not hold.
    """
    place = case.pattern
    tests, names, guard = list(_tests(place, subject)), list(_names(place, subject)), case.guard
    bound = [placed(place, ast.Assign([name_of(x, ast.Store())], value)) for x, value in names]
    if not tests:
        if guard is None:
            return [*bound, *case.body]
        return [*bound, placed(place, ast.If(guard, case.body, rest))]
    test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
    if guard is None:
        return [placed(place, ast.If(test, [*bound, *case.body], rest))]
    if not bound:
        return [placed(place, ast.If(ast.BoolOp(ast.And(), [test, guard]), case.body, rest))]
    asked = ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), guard))
    looked = ast.If(test, [*bound, assign(place, holds, asked)], [])
    chosen = ast.If(name_of(holds), case.body, rest)
    return [assign(place, holds, ast.Constant(False)), placed(place, looked), placed(place, chosen)]


def _tests(pattern: ast.pattern, subject: ast.expr) -> Iterator[ast.expr]:
    """What holds of a subject where a pattern does; none for a pattern that always holds."""
    match pattern:
        case ast.MatchValue(value):
            yield ast.Compare(subject, [ast.Eq()], [value])
        case ast.MatchSingleton(value):
            yield ast.Compare(subject, [ast.Is()], [ast.Constant(value)])
        case ast.MatchClass(ast.Name(name) as kind, [], []) if name in _CLASSES:
            yield ast.Call(ast.Name("isinstance", ast.Load()), [subject, kind], [])
        case ast.MatchAs(None):
            return
        case ast.MatchAs(ast.pattern() as inner):
            yield from _tests(inner, subject)
        case ast.MatchOr(patterns):
            yield ast.BoolOp(ast.Or(), [_all(_tests(each, subject)) for each in patterns])
        case ast.MatchSequence(patterns) if _are_parts(patterns, subject):
            for each, part in zip(patterns, subject.elts, strict=True):  # type: ignore[attr-defined]
                yield from _tests(each, part)
        case _:
            raise _Other


def _all(tests: Iterator[ast.expr]) -> ast.expr:
    found = list(tests)
    return ast.BoolOp(ast.And(), found) if len(found) > 1 else (found or [ast.Constant(True)])[0]


def _are_parts(patterns: list[ast.pattern], subject: ast.expr) -> bool:
    stars = any(isinstance(each, ast.MatchStar) for each in patterns)
    return isinstance(subject, ast.Tuple) and len(patterns) == len(subject.elts) and not stars


def _names(pattern: ast.pattern, subject: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names that a pattern gives to parts of a subject."""
    match pattern:
        case ast.MatchAs(inner, name):
            if inner is not None:
                yield from _names(inner, subject)
            if name is not None:
                yield name, subject
        case ast.MatchOr(patterns):
            if any(next(_names(each, subject), None) for each in patterns):
                raise _Other
        case ast.MatchSequence(patterns):
            for each, part in zip(patterns, subject.elts, strict=True):  # type: ignore[attr-defined]
                yield from _names(each, part)
