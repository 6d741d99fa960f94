"""Operators that are said in a way of their own: methods, operators of Python, other parameters."""

from __future__ import annotations

import numpy as np

from fxc.ir.graph import Literal, Node
from fxc.ops.table import TABLE

from . import code
from .code import Code, binary, call, dtype_name, number, quoted
from .operators import NATURAL, Rules, is_array, is_c, is_python, keyword
from .views import shape_code


class NodeExpressions(Rules):
    """NodeExpressions of nodes: ``op_NAME`` of those whose operator has a way of its own."""

    def op_int_value(self, node: Node) -> Code:
        return self.known(node.args[0])

    def op_bind_size(self, node: Node) -> Code:
        return call("int", [self.context.operand(node.args[0])])

    def op_matmul(self, node: Node) -> Code:
        left, right = (self.context.operand(arg) for arg in node.args)
        return binary(left, "@", right, code.MULTIPLY)

    def op_logical_or(self, node: Node) -> Code | None:
        return self.asked(node, "or", code.EITHER)

    def op_logical_and(self, node: Node) -> Code | None:
        return self.asked(node, "and", code.BOTH)

    def asked(self, node: Node, word: str, binds: int) -> Code | None:
        """A truth value that is only asked for as Python's own operators give it."""
        if not self.context.is_truth(node.output) or any(map(is_array, node.args)):
            return self.pointwise(node, TABLE[node.op])
        left, right = (self.context.operand(arg) for arg in node.args)
        text = f"{left.within(binds)} {word} {right.within(binds + 1)}"
        return Code(text, binds, left.reads | right.reads)

    def op_logical_not(self, node: Node) -> Code | None:
        (x,) = node.args
        if not self.context.is_truth(node.output) or is_array(x):
            return self.pointwise(node, TABLE[node.op])
        operand = self.context.operand(x)
        return Code(f"not {operand.within(code.NOT)}", code.NOT, operand.reads)

    def op_gather(self, node: Node) -> Code | None:
        return self.context.gather(node)

    def op_item(self, node: Node) -> Code:
        base = self.context.operand(node.args[0])
        return Code(f"{base.within(code.ATOM)}[()]", reads=base.reads)

    def op_astype(self, node: Node) -> Code | None:
        x, dtype, _, order = node.args
        base = self.context.operand(x)
        if is_python(x):
            kind = x.type.dtype.kind
            if dtype.kind == kind or (kind in "bif" and dtype.kind in "fc") or dtype.kind == "b":
                return call(dtype_name(dtype), [base])
            base = call(dtype_name(x.type.dtype), [base])
        keywords = [dtype_name(dtype)]
        if order != "K" and is_array(x):
            keywords.append(f"order={quoted(order)}")
        return Code(f"{base.within(code.ATOM)}.astype({', '.join(keywords)})", reads=base.reads)

    def op_copy(self, node: Node) -> Code:
        x, order = node.args
        base = self.context.operand(x)
        if not is_array(x):
            return call("np.array", [base])
        as_default = order == "C" or (order in "KA" and is_c(x))
        given = "" if as_default else f"order={quoted(order)}"
        return Code(f"{base.within(code.ATOM)}.copy({given})", reads=base.reads)

    def op_broadcast_to_copy(self, node: Node) -> Code:
        """Of a number."""
        x, shape = node.args
        given = self.context.operand(x)
        if shape:
            return call("np.broadcast_to", [given, Code(shape_code(shape, self.context.known))])
        return call("np.array", [given])

    def op_constant(self, node: Node) -> Code:
        return self.context.constant(node.args[0])

    def op_real_number(self, node: Node) -> Code | None:
        return self.part(node, "real")

    def op_imaginary_number(self, node: Node) -> Code | None:
        return self.part(node, "imag")

    def part(self, node: Node, name: str) -> Code | None:
        base = self.context.operand(node.args[0])
        return Code(f"{base.within(code.ATOM)}.{name}", reads=base.reads)

    def op_square(self, node: Node) -> Code:
        x = node.args[0]
        base = self.context.operand(x)
        if is_array(x) and x.type.rank and x.type.dtype.kind == "f":
            return binary(base, "**", Code("2"), code.POWER)
        return call("np.square", [base])

    def op_stack(self, node: Node) -> Code:
        xs = node.args[0]
        kind = node.output.type.dtype
        alike = all(not is_python(x) and x.type.dtype == kind for x in xs)
        if not any(map(is_array, xs)) and (alike or kind in NATURAL):
            items = ", ".join(each.text for each in map(self.context.operand, xs))
            reads = code.all_reads(map(self.context.operand, xs))
            return call("np.array", [Code(f"[{items}]", reads=reads)])
        return self.named(node, "np.stack")

    def op_zeros(self, node: Node) -> Code | None:
        return self.factory(node, "np.zeros", [])

    def op_ones(self, node: Node) -> Code | None:
        return self.factory(node, "np.ones", [])

    def op_empty(self, node: Node) -> Code | None:
        return self.factory(node, "np.empty", [])

    def op_full(self, node: Node) -> Code | None:
        value = self.context.operand(node.args[1])
        return self.factory(node, "np.full", [value])

    def factory(self, node: Node, name: str, rest: list[Code]) -> Code | None:
        layout, dtype = node.arg("layout"), node.arg("dtype")
        rank = len(node.args[0])
        keywords = {}
        if rest or dtype != np.float64:
            keywords["dtype"] = dtype_name(dtype)
        if layout is not None and tuple(layout) != tuple(range(rank)):
            if tuple(layout) != tuple(reversed(range(rank))):
                return None
            keywords["order"] = '"F"'
        return call(name, [Code(shape_code(node.args[0], self.context.known)), *rest], keywords)

    def op_arange(self, node: Node) -> Code | None:
        start, step, length, dtype = node.args
        given = [x.value if isinstance(x, Literal) else None for x in (start, step)]
        if dtype != np.int64 or any(type(x) is not int for x in given):
            return None
        first, by = given
        if (first, by) == (0, 1):
            return call("np.arange", [self.known(length)])
        stop = first + by * length
        args = [number(first), self.known(stop)]
        return call("np.arange", [*args, number(by)] if by != 1 else args)

    def op_eye(self, node: Node) -> Code:
        rows, columns, k, dtype = node.args
        keywords = {}
        if k:
            keywords["k"] = str(k)
        if dtype != np.float64:
            keywords["dtype"] = dtype_name(dtype)
        sizes = [self.known(rows)] + ([self.known(columns)] if columns != rows else [])
        return call("np.eye", sizes, keywords)

    def op_reinterpret(self, node: Node) -> Code:
        base = self.context.operand(node.args[0])
        tail = ".copy()" if is_array(node.args[0]) else ""
        text = f"{base.within(code.ATOM)}.view({dtype_name(node.args[1])}){tail}"
        return Code(text, reads=base.reads)

    def op_einsum(self, node: Node) -> Code:
        xs, subscripts = node.args
        given = [self.context.operand(x) for x in xs]
        return call("np.einsum", [Code(quoted(subscripts)), *given])

    def op_fourier(self, node: Node) -> Code:
        x, kind, axis, norm, n = node.args
        keywords = {}
        if n is not None:
            keywords["n"] = self.known(n).text
        if axis != -1:
            keywords["axis"] = str(axis)
        if norm is not None:
            keywords["norm"] = quoted(norm)
        return call(f"np.fft.{kind}", [self.context.operand(x)], keywords)

    def op_cosine(self, node: Node) -> Code:
        return call("np.cos", [self.context.operand(node.args[0])])

    def op_clip(self, node: Node) -> Code:
        return call("np.clip", [self.argument(arg) for arg in node.args])

    def op_ufunc_reduce(self, node: Node) -> Code | None:
        x, initial, where, ufunc, axis, keepdims, dtype, result = node.args
        if not isinstance(getattr(np, ufunc, None), np.ufunc):
            return None
        keywords = {"axis": keyword(self.argument(axis).text, axis)}
        if dtype is not None:
            keywords["dtype"] = dtype_name(dtype)
        if keepdims:
            keywords["keepdims"] = "True"
        if result is not None:
            shape = shape_code(node.output.type.shape, self.context.known)
            keywords["out"] = f"np.empty({shape}, {dtype_name(result)})"
        reads = [self.context.operand(x)]
        for name, arg in (("initial", initial), ("where", where)):
            if arg is not None:
                reads.append(self.context.operand(arg))
                keywords[name] = reads[-1].text
        made = call(f"np.{ufunc}.reduce", reads[:1], keywords)
        return Code(made.text, made.binds, code.all_reads(reads), made.parts)

    def op_ufunc_accumulate(self, node: Node) -> Code | None:
        x, ufunc, axis, dtype, result = node.args
        if not isinstance(getattr(np, ufunc, None), np.ufunc):
            return None
        keywords = {"axis": str(axis)} if axis else {}
        if result is not None:
            keywords["out"] = f"np.empty_like({self.context.operand(x).text}, {dtype_name(result)})"
        if dtype is not None:
            keywords["dtype"] = dtype_name(dtype)
        return call(f"np.{ufunc}.accumulate", [self.context.operand(x)], keywords)

    def op_ufunc_reduceat(self, node: Node) -> Code | None:
        x, indices, ufunc, axis, dtype = node.args
        if not isinstance(getattr(np, ufunc, None), np.ufunc):
            return None
        keywords = {"axis": str(axis)} if axis else {}
        if dtype is not None:
            keywords["dtype"] = dtype_name(dtype)
        given = [self.context.operand(x), self.context.operand(indices)]
        return call(f"np.{ufunc}.reduceat", given, keywords)
