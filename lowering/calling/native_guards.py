"""A guard program as native code.

See Note [Native calls].
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Mapping
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from fxc.ir.objects import (
    ARRAY_DIMS,
    ARRAY_DTYPE,
    ARRAY_FLAGS,
    ARRAY_NDIM,
    ARRAY_STRIDES,
    OBJECT_TYPE,
)

from ..emission.object_code import COMPARED, ERROR, MISS, Code
from .guard_things import (
    ArrayFlags,
    ArraySizes,
    KnownObject,
    Object,
    Thing,
    Untranslated,
    WordNumber,
)

_FLAGS = {
    "owndata": 0x4,
    "c_contiguous": 0x1,
    "f_contiguous": 0x2,
    "aligned": 0x100,
    "writeable": 0x400,
}
_RELATIONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "slt",
    ast.LtE: "sle",
    ast.Gt: "sgt",
    ast.GtE: "sge",
}
_ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


class NativeGuards:
    """Translates the steps of one guard program, in order.

    ``names`` are the variables so far. ``constants`` are the objects that the steps mention,
    ``count`` is the number of arguments.
    """

    def __init__(self, code: Code, constants: Mapping[str, Any], count: str) -> None:
        self.code = code
        self._count = count
        self.names: dict[str, Thing] = {}
        self._constants = constants
        self._types: dict[str, type] = {}  # of objects, by register
        self._keywords: tuple[str, ...] = ()
        self._inside = False  # of what is not always evaluated

    def fetch(self, var: str, expression: str) -> None:
        """``var = expression``; ``var`` may be several names."""
        targets = [name.strip() for name in var.split(",") if name.strip()]
        found = self._value(_parsed(expression))
        if "," not in var:
            self.names[targets[0]] = found
            return
        if not isinstance(found, ArraySizes):
            raise Untranslated(expression)
        self._demand_ndim(found.array, len(targets))
        vector = self.code.load("ptr", found.array, found.field)
        for axis, name in enumerate(targets):
            self.names[name] = WordNumber(self.code.load("i64", vector, 8 * axis))

    def check(self, condition: str) -> None:
        """Go on where ``condition`` holds."""
        tree = _parsed(condition)
        both = isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And)
        for each in tree.values if isinstance(tree, ast.BoolOp) and both else [tree]:
            if self._takes_keywords(each):
                continue
            there = self.code.f.new_label("on")
            self._inside = isinstance(each, ast.BoolOp | ast.UnaryOp)
            self._branch(each, there, MISS)
            self._inside = False
            self.code.f.start(there)
            self._learn(each)

    def pointer(self, thing: Thing) -> str:
        """The object that a thing is."""
        match thing:
            case Object(register):
                return register
            case KnownObject(value):
                return self.code.known(value)
            case WordNumber(text):
                return self.code.int_object(text)
            case _:
                raise Untranslated("a part of an array as an object")

    def _takes_keywords(self, node: ast.expr) -> bool:
        """``[*kwargs] == ['a', 'b']``: keywords of these names, in this order."""
        match node:
            case ast.Compare(
                ast.List([ast.Starred(ast.Name("kwargs"))]), [ast.Eq()], [ast.List(elements)]
            ):
                pass
            case _:
                return False
        code = self.code
        names = tuple(sys.intern(ast.literal_eval(each)) for each in elements)
        code.present("%keywords", MISS)
        size = code.call("i64", "PyTuple_Size", "ptr %keywords")
        code.demand(code.op(f"icmp eq i64 {size}, {len(names)}"))
        for place, name in enumerate(names):
            given = code.call("ptr", "PyTuple_GetItem", "ptr %keywords", f"i64 {place}")
            code.demand(code.op(f"icmp eq ptr {given}, {code.known(name)}"))
        self._keywords = names
        return True

    def _learn(self, node: ast.expr) -> None:
        """Remember the type of an object, from a condition that holds."""
        match node:
            case ast.Compare(
                ast.Call(ast.Name("type"), [ast.Name(var)]), [ast.Is()], [ast.Name(kind)]
            ):
                found = self.names.get(var)
                if isinstance(found, Object):
                    self._types[found.register] = self._known(kind)

    def _known(self, name: str) -> Any:
        if name in self._constants:
            return self._constants[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise Untranslated(name)

    # -------------------------------------------------------- conditions

    def _branch(self, node: ast.expr, yes: str, no: str, negated: bool = False) -> None:
        """Go to ``yes`` where the condition holds, to ``no`` otherwise.

        Going to ``no`` in place of ``yes`` would do, if not ``negated``: Python looks again.
        """
        f = self.code.f
        match node:
            case ast.BoolOp(ast.And(), values):
                for each in values[:-1]:
                    there = f.new_label("and")
                    self._branch(each, there, no, negated)
                    f.start(there)
                self._branch(values[-1], yes, no, negated)
            case ast.BoolOp(_, values):
                for each in values:
                    there, before = f.new_label("or"), len(f.lines)
                    block = f.block
                    try:
                        self._branch(each, yes, there, negated)
                    except Untranslated:
                        if negated:
                            raise
                        del f.lines[before:]
                        f.block = block
                        continue
                    f.start(there)
                self.code.do(f"br label %{no}")
            case ast.UnaryOp(ast.Not(), ast.Name("kwargs")):
                self.code.branch(self.code.op("icmp eq ptr %keywords, null"), yes, no)
            case ast.UnaryOp(ast.Not(), operand):
                self._branch(operand, no, yes, not negated)
            case ast.Compare(left, operators, rights):
                first = self._value(left)
                for place, (operator, right) in enumerate(zip(operators, rights, strict=True)):
                    second = self._value(right)
                    there = f.new_label("chain") if place < len(rights) - 1 else yes
                    self.code.branch(self._comparison(operator, first, second), there, no)
                    if there is not yes:
                        f.start(there)
                    first = second
            case ast.Attribute(value, name) if name in _FLAGS:
                self.code.branch(self._flag(self._value(value), name), yes, no)
            case ast.Call(ast.Name("same_value"), [left, ast.Name(known)]) if (
                type(self._known(known)) in COMPARED
            ):
                self.code.branch_same(self.pointer(self._value(left)), self._known(known), yes, no)
            case _:
                self.code.branch(self._truth(self.pointer(self._value(node))), yes, no)

    def _flag(self, flags: Thing, name: str) -> str:
        if not isinstance(flags, ArrayFlags):
            raise Untranslated(name)
        met = self.code.op(f"and i32 {flags.register}, {_FLAGS[name]}")
        return self.code.op(f"icmp eq i32 {met}, {_FLAGS[name]}")

    def _truth(self, pointer: str) -> str:
        found = self.code.call("i32", "PyObject_IsTrue", f"ptr {pointer}")
        self.code.demand(self.code.op(f"icmp sge i32 {found}, 0"), ERROR)
        return self.code.op(f"icmp ne i32 {found}, 0")

    def _comparison(self, operator: ast.cmpop, left: Thing, right: Thing) -> str:
        code = self.code
        match operator:
            case ast.Is() | ast.IsNot():
                if WordNumber in (type(left), type(right)):
                    raise Untranslated("the identity of a number")
                relation = "eq" if isinstance(operator, ast.Is) else "ne"
                return code.op(f"icmp {relation} ptr {self.pointer(left)}, {self.pointer(right)}")
            case ast.In() | ast.NotIn():
                given = f"ptr {self.pointer(right)}", f"ptr {self.pointer(left)}"
                found = code.call("i32", "PySequence_Contains", *given)
                code.demand(code.op(f"icmp sge i32 {found}, 0"), ERROR)
                return code.op(f"icmp eq i32 {found}, {int(isinstance(operator, ast.In))}")
        if (
            isinstance(left, ArraySizes)
            and isinstance(right, KnownObject)
            and isinstance(operator, ast.Eq)
        ):
            return self._same_sizes(left, right.value)
        if self._is_number(left) and isinstance(right, KnownObject) and type(right.value) is int:
            if right.value > _LARGEST:
                return str(isinstance(operator, ast.Lt | ast.LtE | ast.NotEq)).lower()
            if right.value < _SMALLEST:
                return str(isinstance(operator, ast.Gt | ast.GtE | ast.NotEq)).lower()
        if self._is_number(left) and self._is_number(right):
            a, b = self._number(left), self._number(right)
            return code.op(f"icmp {_RELATIONS[type(operator)]} i64 {a}, {b}")
        if isinstance(operator, ast.Eq | ast.NotEq):
            number = 2 if isinstance(operator, ast.Eq) else 3
            both = f"ptr {self.pointer(left)}", f"ptr {self.pointer(right)}"
            found = code.call("ptr", "PyObject_RichCompare", *both, f"i32 {number}")
            return self._truth(code.hold(code.present(found)))
        raise Untranslated("an order of objects")

    def _same_sizes(self, sizes: ArraySizes, known: Any) -> str:
        code = self.code
        if type(known) is not tuple or not all(type(size) is int for size in known):
            raise Untranslated("sizes")
        ndim = code.load("i32", sizes.array, ARRAY_NDIM)
        if len(known) == 0:
            return code.op(f"icmp eq i32 {ndim}, 0")
        self._demand_ndim(sizes.array, len(known))
        vector = code.load("ptr", sizes.array, sizes.field)
        same = "true"
        for axis, size in enumerate(known):
            each = code.op(f"icmp eq i64 {code.load('i64', vector, 8 * axis)}, {size}")
            same = code.op(f"and i1 {same}, {each}")
        return same

    def _demand_ndim(self, array: str, count: int) -> None:
        ndim = self.code.load("i32", array, ARRAY_NDIM)
        self.code.demand(self.code.op(f"icmp eq i32 {ndim}, {count}"))

    # -------------------------------------------------------- values

    def _is_number(self, thing: Thing) -> bool:
        match thing:
            case WordNumber():
                return True
            case KnownObject(value):
                return type(value) is int and _SMALLEST <= value <= _LARGEST
            case Object(register):
                return self._types.get(register) is int
            case _:
                return False

    def _number(self, thing: Thing) -> str:
        match thing:
            case WordNumber(text):
                return text
            case KnownObject(value):
                return str(value)
            case Object(register):
                return self.code.number_of(register)
            case _:
                raise Untranslated("a number")

    def _value(self, node: ast.expr) -> Thing:
        match node:
            case ast.Name(name):
                return self.names[name] if name in self.names else KnownObject(self._known(name))
            case ast.Constant(value):
                return KnownObject(sys.intern(value) if type(value) is str else value)
            case ast.List([ast.Starred(value)]):
                given = f"ptr {self.pointer(self._value(value))}"
                found = self.code.call("ptr", "PySequence_List", given)
                return Object(self.code.hold(self.code.present(found)))
            case ast.Tuple() | ast.List() | ast.UnaryOp(ast.USub(), ast.Constant()):
                try:
                    return KnownObject(ast.literal_eval(node))
                except ValueError:
                    raise Untranslated(ast.unparse(node)) from None
            case ast.NamedExpr(ast.Name(name), value) if not self._inside:
                self.names[name] = self._value(value)
                return self.names[name]
            case ast.Attribute(value, name):
                return self._attribute(self._value(value), name)
            case ast.Subscript(ast.Name("args"), ast.Constant(int(place))):
                return Object(self.code.load("ptr", "%args", 8 * place))
            case ast.Subscript(ast.Name("kwargs"), ast.Constant(str(name))):
                number = self.code.op(f"add i64 {self._count}, {self._keywords.index(name)}")
                return Object(self.code.load("ptr", "%args", self.code.op(f"mul i64 {number}, 8")))
            case ast.Subscript(value, index):
                return self._item(self._value(value), self._value(index))
            case ast.BinOp(left, operator, right):
                return self._arithmetic(operator, self._value(left), self._value(right))
            case ast.Call(function, arguments, []):
                return self._call(function, arguments)
            case _:
                raise Untranslated(ast.unparse(node))

    def _attribute(self, owner: Thing, name: str) -> Thing:
        code = self.code
        if isinstance(owner, ArrayFlags) and name == "num":
            return WordNumber(code.op(f"sext i32 {owner.register} to i64"))
        if isinstance(owner, Object) and self._types.get(owner.register) is np.ndarray:
            match name:
                case "dtype":
                    return Object(code.load("ptr", owner.register, ARRAY_DTYPE))
                case "flags":
                    return ArrayFlags(code.load("i32", owner.register, ARRAY_FLAGS))
                case "ndim":
                    ndim = code.load("i32", owner.register, ARRAY_NDIM)
                    return WordNumber(code.op(f"sext i32 {ndim} to i64"))
                case "shape":
                    return ArraySizes(owner.register, ARRAY_DIMS)
                case "strides":
                    return ArraySizes(owner.register, ARRAY_STRIDES)
        if isinstance(owner, KnownObject):
            kind = type(owner.value)
            if kind is FunctionType and name == "__code__":
                return Object(code.call("ptr", "PyFunction_GetCode", f"ptr {self.pointer(owner)}"))
            if kind is CellType and name == "cell_contents":
                found = code.call("ptr", "PyCell_Get", f"ptr {self.pointer(owner)}")
                return Object(code.hold(code.present(found)))
            if kind is ModuleType and not hasattr(ModuleType, name):
                return self._item(KnownObject(vars(owner.value)), KnownObject(sys.intern(name)))
        given = f"ptr {self.pointer(owner)}", f"ptr {code.known(sys.intern(name))}"
        return Object(code.hold(code.present(code.call("ptr", "PyObject_GetAttr", *given))))

    def _item(self, owner: Thing, index: Thing) -> Thing:
        code = self.code
        given = f"ptr {self.pointer(owner)}", f"ptr {self.pointer(index)}"
        if isinstance(owner, KnownObject) and type(owner.value) is dict:
            found = code.call("ptr", "PyDict_GetItemWithError", *given)
            return Object(code.share(code.present(found)))
        return Object(code.hold(code.present(code.call("ptr", "PyObject_GetItem", *given))))

    def _arithmetic(self, operator: ast.operator, left: Thing, right: Thing) -> Thing:
        code = self.code
        if not (self._is_number(left) and self._is_number(right)):
            raise Untranslated("arithmetic")
        a, b = self._number(left), self._number(right)
        match operator:
            case ast.BitAnd():
                return WordNumber(code.op(f"and i64 {a}, {b}"))
            case ast.FloorDiv():
                return WordNumber(code.floor("floordiv", a, b))
            case ast.Mod():
                return WordNumber(code.floor("mod", a, b))
            case _ if type(operator) in _ARITHMETIC:
                return WordNumber(code.checked(_ARITHMETIC[type(operator)], a, b))
            case _:
                raise Untranslated("an operator")

    def _call(self, function: ast.expr, arguments: list[ast.expr]) -> Thing:
        code = self.code
        name = function.id if isinstance(function, ast.Name) else ""
        match name, arguments:
            case "len", [ast.Name("args")]:
                return WordNumber(self._count)
            case "type", [given]:
                return Object(code.load("ptr", self.pointer(self._value(given)), OBJECT_TYPE))
        things = [self._value(each) for each in arguments]
        if name == "len" and len(things) == 1:
            size = code.call("i64", "PyObject_Size", f"ptr {self.pointer(things[0])}")
            code.demand(code.op(f"icmp sge i64 {size}, 0"), ERROR)
            return WordNumber(size)
        if name in ("min", "max") and len(things) == 2 and all(map(self._is_number, things)):
            return WordNumber(code.extreme(name, self._number(things[0]), self._number(things[1])))
        called = self.pointer(self._value(function))
        found = code.vectorcall(called, [self.pointer(each) for each in things])
        return Object(code.hold(code.present(found)))


def _parsed(source: str) -> ast.expr:
    return ast.parse(source, mode="eval").body
