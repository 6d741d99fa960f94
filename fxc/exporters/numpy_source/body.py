"""Statements of the nodes of a graph: what is read once stands where it is read."""

from __future__ import annotations

from fxc.ir.errors import ExportError
from fxc.ir.graph import Literal, Node, Operand, Region, Value
from fxc.ops.operators import CONTROL, Tag
from fxc.ops.table import TABLE

from .code import NOT, Code, call, plain_number
from .control import write_branch, write_loop
from .lines import INDENT, WIDTH
from .memory import is_update, is_view, shares
from .naming import word_for
from .operators import augmented, is_array, plain_beside
from .parts import assignment_target, gather_code, view_expression
from .views import View
from .writer import Writer


class SourceBody(Writer):
    """Writes the nodes of a graph."""

    def region(self, region: Region) -> None:
        """The statements of a region; expressions of its results may be pending."""
        for node in region.nodes:
            self.written = node
            tag = TABLE[node.op].tag
            if node in self.uses.dead or any(v in self.uses.stands_for for v in node.outputs):
                continue
            if tag is Tag.BRANCH:
                write_branch(self, node)
            elif tag in CONTROL:
                write_loop(self, node)
            elif is_update(node):
                self.update(node)
            else:
                self.plain(node)
            self.done.add(node)

    def plain(self, node: Node) -> None:
        """A node that gives something of its own, or a view."""
        if node.op == "bind_size" and not self.uses.is_needed(node):
            return self.consume(self.read_by(node))
        if node.op == "try_demand":
            return self.demand(node)
        room = WIDTH - len(INDENT) * self.level - 14
        sides = [self.fitted(lambda: self.expression(node), self.read_by(node), room)]
        code = sides[0]
        if code is None:
            raise ExportError(f"NumPy has nothing for {node.op}")
        if len(node.outputs) != 1:
            return self.several(node, code)
        out = node.output
        if code.text.isidentifier() or code.text.isdigit():
            self.consume(self.read_by(node))
            self.code_of[out] = code
            return None
        view = self.view(node) if is_view(node) and out not in self.memory.copied else None
        parts, fill = self.sum_parts(node), self.fill(node)
        self.consume(self.read_by(node))
        if out in self.memory.into_input:
            return self.into_input(node, fill or code, parts)
        if not self.uses.uses[out] and node.bound is None:
            return self.statement("", code, node.loc)
        returns = node.schema.returns
        if returns and returns[0].is_list:
            name = self.names.free(self.wishes.get(out, word_for(node)))
            self.statement(f"({name},) = ", code, node.loc)
            self.hold(out, name)
        elif self.may_wait(out, fill if fill is not None and self.is_to_fill(out) else code):
            self.pending[out] = code
            if view is not None:
                self.views[out] = view
            if parts is not None:
                self.sums[out] = parts
            if fill is not None:
                self.fills[out] = fill
        else:
            self.assign(out, code, node.loc, word_for(node))
        if node.bound is not None:
            self.bind(node, out)
        return None

    def bind(self, node: Node, out: Value) -> None:
        assert node.bound is not None
        code = self.code_of[out]
        self.symbols[node.bound] = call("len", [code]) if is_array(out) else code

    def expression(self, node: Node) -> Code | None:
        if node.op == "item":
            view = self.views.get(self.uses.resolve(node.args[0]))
            if view is not None and not view.axes:
                return view.code(is_item=True)
        if is_view(node):
            return self.view_code(node)
        return self.expressions.of(node)

    def view(self, node: Node) -> View | None:
        found = view_expression(self, node)
        return found if isinstance(found, View) else None

    def view_code(self, node: Node) -> Code | None:
        found = view_expression(self, node)
        code = found.code() if isinstance(found, View) else found
        if code is None or node.output not in self.memory.copied:
            return code
        return self.copied_code(code, node.output.type)

    def sum_parts(self, node: Node) -> tuple[Code, str, Code] | None:
        """``left sign right`` of a node that may become ``left sign= right``."""
        sign = augmented(node.op)
        if sign is None or len(node.args) != 2 or node.op in ("power", "matmul"):
            return None
        left, out = node.args[0], node.output
        if left.type.dtype != out.type.dtype or left.type.shape != out.type.shape:
            return None
        first, second = self.expressions.all(node.args)
        return first, sign, second

    def fill(self, node: Node) -> Code | None:
        """What fills an array as the node's result does, which is a copy or a broadcast of it."""
        if TABLE[node.op].group not in ("copy", "broadcast_to"):
            return None
        found = self.uses.resolve(node.args[0])
        if isinstance(found, Literal) and plain_beside(found, [node.output]):
            return plain_number(found.value)  # type: ignore[arg-type]
        return self.fills.get(found) or self.operand(found)

    def is_to_fill(self, out: Value) -> bool:
        """Whether the value, or a copy of it alone, becomes the content of an input."""
        reader = self.uses.uses[out][0][0]
        if isinstance(reader, Region):
            signature = self.graph.signature
            assert signature is not None
            results = [self.graph.outputs[each.result] for each in signature.mutations]
            return reader is self.graph.body and out in map(self.uses.resolve, results)
        return (
            TABLE[reader.op].group in ("copy", "broadcast_to")
            and self.uses.is_read_once(out)
            and bool(self.uses.uses[reader.output])
            and self.is_to_fill(reader.output)
        )

    def several(self, node: Node, code: Code) -> None:
        self.consume(self.read_by(node))
        if not node.outputs:
            return self.statement("", code, node.loc)
        texts = []
        for out in node.outputs:
            used = bool(self.uses.uses[out])
            texts.append(self.names.free(self.wishes.get(out, "part")) if used else "_")
        self.statement(f"{', '.join(texts)} = ", code, node.loc)
        for out, name in zip(node.outputs, texts, strict=True):
            if name != "_":
                self.hold(out, name)
        if node.bound is not None:
            self.bind(node, node.outputs[0])
        return None

    def demand(self, node: Node) -> None:
        """A condition without which the program is another one."""
        code = self.operand(node.args[0])
        self.consume(self.read_by(node))
        pad = INDENT * self.level
        self.code_of[node.output] = Code("True")
        where = node.loc or "it"
        if code.text == "False":
            return self.emit([f'{pad}raise ValueError("{where} raises an exception")'], None)
        text = f'raise ValueError("{where} is for calls with {code.text}")'
        if '"' in code.text or len(pad) + 4 + len(text) > WIDTH:
            text = f'raise ValueError("{where} is for other calls")'
        return self.emit([f"{pad}if not {code.within(NOT)}:", f"{pad}{INDENT}{text}"], node.loc)

    def gather(self, node: Node) -> Code | None:
        return gather_code(self, node)

    # ------------------------------------------------------------ writes

    def into_input(self, node: Node, code: Code, parts: tuple[Code, str, Code] | None) -> None:
        """A value that becomes all of an input."""
        value = self.graph.inputs[self.memory.into_input[node.output]]
        target = self.code_of[value].text
        self.settle(lambda read: shares(self.memory.of(read), self.memory.of(value)))
        if parts is not None and parts[0].text == target:
            self.statement(f"{target} {parts[1]} ", parts[2], node.loc)
        else:
            self.statement(f"{target}[...] = ", code, node.loc)
        self.hold(node.output, target)

    def update(self, node: Node) -> None:
        """Some elements of the base are replaced: in its memory, or in a copy."""
        base, out = node.args[0], node.output
        found = self.uses.resolve(base)
        stores = self.memory.of(base)
        wish = self.wishes.get(out) or self.wishes.get(found) or "result"  # type: ignore[arg-type]
        if node in self.memory.in_place:
            target = self.variable(base, wish)
            self.settle(lambda v: shares(self.memory.of(v), stores), self.read_by(node))
        else:
            target = self.copied(base, out, node)
        if TABLE[node.op].tag is Tag.INDEX_PUT or TABLE[node.op].role == "scatter":
            assignment_target(self, node, target)
        self.consume(self.read_by(node))
        self.hold(out, target)

    def copied(self, base: Operand, out: Value, node: Node) -> str:
        code = self.operand(base)
        plain = code.text if code.text.isidentifier() else "copy"
        name = self.names.free(self.wishes.get(out, plain))
        self.statement(f"{name} = ", self.copied_code(code, base.type), node.loc)
        return name
