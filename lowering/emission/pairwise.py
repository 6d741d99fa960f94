"""NumPy's pairwise sums: a function for a few elements, and one that halves longer runs.

See Note [Pairwise sums] in ``reduction_order``.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..nests.neutral import nothing
from ..nests.statements import Accumulate, Loop, Stmt
from ..operators.reduction_order import PAIRWISE_GROUPS, PAIRWISE_LANES
from .emitter import Counting, Emitter
from .llvm_text import FunctionText, Lanes, constant, scalar_type
from .outside import inside, read_outside
from .totals import combined


class PairwiseTree:
    """The two functions that sum a run pairwise; see Note [Pairwise sums] in reduction_order.

    What the body reads from outside (data pointers, sizes, outer loop variables, scalars) are
    their parameters.
    """

    def __init__(
        self, emitter: Emitter, loop: Loop, body: Sequence[Stmt], totals: Sequence[Accumulate]
    ) -> None:
        self.emitter = emitter
        self.loop = loop
        self.body = tuple(s for s in body if not isinstance(s, Accumulate))
        self.totals = totals
        (self.lanes,) = {PAIRWISE_LANES[s.order] for s in totals if s.is_pairwise}
        self.name = f"{emitter.prefix}.sum{len(emitter.module.functions)}"
        self.params = read_outside(emitter, (*self.body, *totals), {loop.var})
        kinds = [scalar_type(s.dtype) for s in totals]
        self.type = kinds[0] if len(kinds) == 1 else f"{{ {', '.join(kinds)} }}"
        self._write_leaf()
        self._write_tree()

    def _header(self, name: str, attributes: str = "nounwind") -> str:
        given = "".join(f", {each.kind} %p{i}" for i, each in enumerate(self.params))
        return f"define internal {self.type} @{name}(i64 %lo, i64 %n{given}) {attributes} {{"

    def _arguments(self, own: bool) -> str:
        return "".join(
            f", {each.kind} {f'%p{i}' if own else each.register}"
            for i, each in enumerate(self.params)
        )

    def call(self, start: str, count: str) -> list[str]:
        """Call the tree from the emitter's function; the sums."""
        f = self.emitter.function
        result = f.op(
            f"call {self.type} @{self.name}(i64 {start}, i64 {count}{self._arguments(False)})"
        )
        return self._parts(f, result)

    def _parts(self, f: FunctionText, result: str) -> list[str]:
        if len(self.totals) == 1:
            return [result]
        return [f.op(f"extractvalue {self.type} {result}, {i}") for i in range(len(self.totals))]

    def _return(self, f: FunctionText, sums: Sequence[str]) -> None:
        if len(sums) == 1:
            f.do(f"ret {self.type} {sums[0]}")
            return
        whole = "poison"
        for i, (stmt, value) in enumerate(zip(self.totals, sums, strict=True)):
            kind = scalar_type(stmt.dtype)
            whole = f.op(f"insertvalue {self.type} {whole}, {kind} {value}, {i}")
        f.do(f"ret {self.type} {whole}")

    def _inner_emitter(self, f: FunctionText) -> Emitter:
        return inside(self.emitter, f, self.params, [f"%p{i}" for i in range(len(self.params))])

    def _write_leaf(self) -> None:
        """Up to sixteen groups: a lane for each element of a group, then the rest in order."""
        f = FunctionText(self.emitter.module)
        inner = self._inner_emitter(f)
        code = Lanes(f, self.lanes)
        end = f.op("add i64 %lo, %n")
        groups = f.op(f"and i64 %n, {-self.lanes}")
        middle = f.op(f"add i64 %lo, {groups}")
        few = f.op(f"icmp slt i64 %n, {self.lanes}")
        many, join = f.new_label("many"), f.new_label("join")
        start = f.block
        f.do(f"br i1 {few}, label %{join}, label %{many}")
        f.start(many)
        lanes = [
            Accumulate(s.name, s.dtype, s.combine, s.value, s.init, "any") for s in self.totals
        ]
        for stmt in lanes:
            zero = nothing(stmt.combine, stmt.dtype).value
            inner.regs.totals[stmt.name] = code.const(zero, stmt.dtype)
        inner.regs.vector = self.loop.var
        inner.total_lanes = self.lanes
        block, here = (*self.body, *lanes), "%lo"
        wide = self.loop.lanes
        if wide > self.lanes:
            pairs = f.op(f"add i64 %lo, {f.op(f'and i64 %n, {-wide}')}")
            self._vectors(inner, block, lanes, (here, pairs), wide)
            here = pairs
        self._vectors(inner, block, lanes, (here, middle), self.lanes)
        inner.regs.vector = None
        sums = [self._fold(stmt, inner.regs.totals[stmt.name], code) for stmt in lanes]
        last = f.block
        f.do(f"br label %{join}")
        f.start(join)
        for stmt, value in zip(lanes, sums, strict=True):
            kind = scalar_type(stmt.dtype)
            zero = nothing(stmt.combine, stmt.dtype).value
            empty = constant(zero, stmt.dtype)
            inner.regs.totals[stmt.name] = f.op(
                f"phi {kind} [ {empty}, %{start} ], [ {value}, %{last} ]"
            )
        inner.counted(Counting(self.loop.var, middle, end), lanes, lambda: inner.block(block))
        self._return(f, [inner.regs.totals[stmt.name] for stmt in lanes])
        header = self._header(f"{self.name}.leaf", "alwaysinline nounwind")
        self.emitter.module.functions.append("\n".join([header, "entry:", *f.lines, "}"]))

    def _vectors(
        self,
        inner: Emitter,
        block: Sequence[Stmt],
        totals: Sequence[Accumulate],
        bounds: tuple[str, str],
        lanes: int,
    ) -> None:
        """Groups of ``lanes`` elements, added to the eight totals in order."""
        counting = Counting(self.loop.var, *bounds, lanes, self.lanes)
        inner.counted(counting, totals, lambda: inner.block(block, lanes))

    def _fold(self, stmt: Accumulate, vector: str, code: Lanes) -> str:
        """((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))."""
        kind, scalar = code.type(stmt.dtype), Lanes(code.function, 1)
        parts = [
            code.op(f"extractelement {kind} {vector}, i32 {lane}") for lane in range(code.count)
        ]
        while len(parts) > 1:
            parts = [
                combined(stmt, parts[i], parts[i + 1], scalar) for i in range(0, len(parts), 2)
            ]
        return parts[0]

    def _write_tree(self) -> None:
        f = FunctionText(self.emitter.module)
        small = f.op(f"icmp sle i64 %n, {PAIRWISE_GROUPS * self.lanes}")
        f.do(f"br i1 {small}, label %leaf, label %halves")
        f.start("leaf")
        given = self._arguments(True)
        f.do(f"%all = call {self.type} @{self.name}.leaf(i64 %lo, i64 %n{given})")
        f.do(f"ret {self.type} %all")
        f.start("halves")
        half = f.op(f"and i64 {f.op('lshr i64 %n, 1')}, {-self.lanes}")
        rest = f.op(f"sub i64 %n, {half}")
        middle = f.op(f"add i64 %lo, {half}")
        left = f.op(f"call {self.type} @{self.name}(i64 %lo, i64 {half}{given})")
        right = f.op(f"call {self.type} @{self.name}(i64 {middle}, i64 {rest}{given})")
        lefts, rights = self._parts(f, left), self._parts(f, right)
        code = Lanes(f, 1)
        sums = [
            combined(stmt, a, b, code)
            for stmt, a, b in zip(self.totals, lefts, rights, strict=True)
        ]
        self._return(f, sums)
        self.emitter.module.functions.append(
            "\n".join([self._header(self.name), "entry:", *f.lines, "}"])
        )
