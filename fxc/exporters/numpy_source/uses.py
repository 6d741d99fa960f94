"""Who reads the values of a graph, and which values stand for others in the text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from fxc.ir.graph import Arg, Graph, Literal, Node, Operand, Region, Value, operands_of, walk
from fxc.ir.symbols import plain_symbol
from fxc.ir.text import dims_of
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE

Slot = tuple[Node, int]  # a loop, and the number of what it carries

# Operators that ask for the truth of their operands alone.
_JOINS = frozenset({"logical_or", "logical_and", "logical_not", "py_not"})

Use = tuple[Node | Region, str]  # a node and the parameter, or a region that ends with the value


class Uses:
    """The uses of each value; ``region_of`` are the regions in which values are made.

    A value in ``stands_for`` is its operand as far as its readers can tell: an index that NumPy
    wraps itself, a number that an assignment spreads, a truth value that is only asked for.
    """

    def __init__(self, graph: Graph, stays: Callable[[Value], bool]) -> None:
        """``stays`` says of an array that nobody writes it."""
        self.graph = graph
        self.uses: dict[Operand, list[Use]] = defaultdict(list)
        self.region_of: dict[Node | Value, Region] = {}
        self.owner_of: dict[Region, Node] = {}
        self.makers: dict[Operand, Node] = {out: n for n in walk(graph.body) for out in n.outputs}
        self.symbols: dict[str, int] = defaultdict(int)  # how often they stand in arguments
        self.numbers: dict[str, list[Value]] = defaultdict(list)  # values that are a symbol
        self._collect(graph.body)
        self.truths = self._truths()
        self.masks: dict[Node, Value] = {}  # whose places are the indices of a node
        self.dead: set[Node] = set()  # nodes that nobody needs, since the mask itself is said
        self.stands_for: dict[Operand, Operand] = {}
        self.known_in: dict[Region, Operand] = {}  # arms that give the condition itself
        for node in self._owners:
            self._find_condition(node)
        for node in walk(graph.body):
            if len(node.outputs) == 1 and self._is_transparent(node):
                self._stand_for(node)
        self.idle = self._idle_slots()
        for loop, n in self.idle:
            self._forget(loop, n)
        for node in walk(graph.body):
            mask = self._mask_of(node)
            if mask is not None and stays(mask):
                self._say_mask(node, mask)

    def _collect(self, region: Region) -> None:
        for param in region.params:
            self.region_of[param] = region
        for node in region.nodes:
            self.region_of[node] = region
            for out in node.outputs:
                self.region_of[out] = region
            for declared, arg in zip(node.schema.params, node.args, strict=True):
                if isinstance(arg, Region):
                    self.owner_of[arg] = node
                    self._collect(arg)
                    continue
                for operand in operands_of(arg):
                    self.uses[operand].append((node, declared.name))
                plain = plain_symbol(arg) if node.op == "int_value" else None
                if plain is not None:
                    self.numbers[plain].append(node.output)
                    continue
                for name in _symbols_in(arg):
                    self.symbols[name] += 1
        for result in region.results:
            self.uses[result].append((region, "result"))

    def resolve(self, operand: Operand) -> Operand:
        """What stands for an operand."""
        while operand in self.stands_for:
            operand = self.stands_for[operand]
        return operand

    def count(self, value: Operand) -> int:
        return len(self.uses[value])

    def is_read(self, symbol: str) -> bool:
        """Whether somebody reads a size."""
        return self.symbols[symbol] > 0 or any(self.uses[v] for v in self.numbers[symbol])

    def is_needed(self, node: Node) -> bool:
        """Whether somebody reads what a node gives, or a size that it binds."""
        read = any(self.uses[out] for out in node.outputs)
        return read or node.bound is None or self.is_read(node.bound)

    def is_read_once(self, value: Value) -> bool:
        """Whether one statement of the region that makes the value reads it, once."""
        if self.count(value) != 1:
            return False
        user, _ = self.uses[value][0]
        home = self.region_of[value]
        return user is home if isinstance(user, Region) else self.region_of[user] is home

    def is_repeated(self, node: Node, value: Value) -> bool:
        """Whether a loop may run a node several times with a value that is made once."""
        region, home = self.region_of[node], self.region_of[value]
        if self.owner_of.get(home) is node:
            return False
        while region is not home:
            owner = self.owner_of[region]
            if TABLE[owner.op].tag is not Tag.BRANCH:
                return True
            region = self.region_of[owner]
        return False

    # ------------------------------------------------------------ what stands for what

    def _stand_for(self, node: Node) -> None:
        out, operand = node.output, node.args[0]
        self.stands_for[out] = operand
        target = self.resolve(operand)
        self.uses[target] = [u for u in self.uses[target] if u[0] is not node] + self.uses[out]

    def _is_transparent(self, node: Node) -> bool:
        x = node.args[0] if node.args else None
        uses = self.uses[node.output]
        match node.op:
            case "wrap_index":
                return x.type.dtype.kind in "iu" and all(map(_is_index, uses))  # type: ignore[union-attr]
            case "broadcast_to_copy":
                if node.args[1] != () or not _is_numpy_scalar(x):
                    return all(map(_is_source, uses))
                return all(
                    _is_source(use) or _reads_item(use) or self._is_spread(use) for use in uses
                )
            case "expand_dims_copy":
                return x in self.stands_for and all(map(_is_source, uses))
            case "item":
                maker = self.makers.get(x)  # type: ignore[arg-type]
                return (
                    maker is not None
                    and maker.op == "broadcast_to_copy"
                    and x in self.stands_for
                    and _is_numpy_scalar(maker.args[0])
                )
            case "astype" | "py_bool":
                is_bool = node.output.type.dtype.kind == "b"
                return (
                    is_bool
                    and not isinstance(node.output.type, ArrayType)
                    and (node.output in self.truths)
                )
            case _:
                return False

    def _find_condition(self, node: Node) -> None:
        """In an arm of a branch its condition is known: to give it is to read nothing."""
        if TABLE[node.op].tag is not Tag.BRANCH or not isinstance(node.args[0], Value):
            return
        for region in node.regions:
            if region.results == (node.args[0],):
                self.known_in[region] = node.args[0]
                uses = self.uses[node.args[0]]
                self.uses[node.args[0]] = [use for use in uses if use[0] is not region]

    def _is_spread(self, use: Use) -> bool:
        """Whether a number gets axes only to be assigned."""
        user, _ = use
        return (
            isinstance(user, Node)
            and user.op == "expand_dims_copy"
            and all(map(_is_source, self.uses[user.output]))
        )

    def _idle_slots(self) -> set[Slot]:
        """What loops carry that only loops read, to carry it."""
        loops = [node for node in self._owners if TABLE[node.op].tag is not Tag.BRANCH]
        idle = {(node, n) for node in loops for n in range(len(node.outputs))}
        while True:
            read = {
                (node, n)
                for node, n in idle
                if any(
                    not all(slot in idle for slot in self._slots_of(use, value))
                    for value in (node.outputs[n], *_params(node, n))
                    for use in self.uses[value]
                )
            }
            if not read:
                return idle
            idle -= read

    def _slots_of(self, use: Use, value: Operand) -> list[Slot | None]:
        """The slots of loops that a use brings a value into; None for another use."""
        user, name = use
        if isinstance(user, Node):
            if name != "init":
                return [None]
            return [(user, n) for n in _places(user.arg("init"), value)]
        owner = next((node for node in self._owners if user in node.regions), None)
        if owner is None or TABLE[owner.op].tag is Tag.BRANCH or user is not owner.arg("body"):
            return [None]
        places = _places(user.results, value)
        return [(owner, n) if n < len(owner.outputs) else None for n in places]

    def _forget(self, node: Node, n: int) -> None:
        body = node.arg("body")
        for operand, use in (
            (node.arg("init")[n], (node, "init")),
            (body.results[n], (body, "result")),
        ):
            found = self.resolve(operand)
            if use in self.uses[found]:
                self.uses[found].remove(use)
            self._drop({found})

    def _mask_of(self, node: Node) -> Value | None:
        """The array whose true elements are where the index arrays of a node point."""
        if TABLE[node.op].group not in ("gather", "index_put", "index_reduce"):
            return None
        indices, axes = node.arg("indices"), node.arg("axes")
        places = [self.makers.get(self.resolve(index)) for index in indices]
        found = {made.args[0] for made in places if made is not None and made.op == "select_copy"}
        maker = self.makers.get(found.pop()) if len(found) == 1 else None
        if maker is None or maker.op != "nonzero" or None in places:
            return None
        mask: Operand = maker.args[0]
        wanted = [(1, n) for n in range(mask.type.rank)]
        in_order = [made.args[1:] for made in places if made is not None] == wanted
        adjacent = tuple(axes) == tuple(range(axes[0], axes[0] + len(axes)))
        if not isinstance(mask, Value) or not in_order or not adjacent:
            return None
        return mask if node.arg("place") in (0, axes[0]) else None

    def _say_mask(self, node: Node, mask: Value) -> None:
        self.masks[node] = mask
        self.uses[mask].append((node, "mask"))
        lost: set[Operand] = {self.resolve(index) for index in node.arg("indices")}
        for index in lost:
            self.uses[index] = [use for use in self.uses[index] if use[0] is not node]
        self._drop(lost)

    def _drop(self, lost: set[Operand]) -> None:
        """Take away the nodes of values that nobody reads any more, and their readings."""
        while lost:
            value = lost.pop()
            maker = self.makers.get(value)
            if maker is None or maker in self.dead or any(self.uses[v] for v in maker.outputs):
                continue
            if maker.regions:
                continue
            if TABLE[maker.op].raises or (maker.bound and self.is_read(maker.bound)):
                continue
            self.dead.add(maker)
            self.dead.update(n for n in self._aliases(maker))
            for arg in maker.args:
                for name in _symbols_in(arg):
                    self.symbols[name] -= 1
                    lost.update(v for v, n in self.makers.items() if n.bound == name)
            for operand in maker.inputs:
                found = self.resolve(operand)
                self.uses[found] = [use for use in self.uses[found] if use[0] is not maker]
                lost.add(found)

    def _aliases(self, maker: Node) -> list[Node]:
        return [self.makers[v] for v, x in self.stands_for.items() if x in maker.outputs]

    def _truths(self) -> set[Operand]:
        """Values of which only the truth is asked for."""
        found = {v for v in self.makers if v.type.dtype.kind == "b"}
        found |= {v for v in self.region_of if isinstance(v, Value) and v.type.dtype.kind == "b"}
        while True:
            wrong = {v for v in found if not all(self._asks(use, v, found) for use in self.uses[v])}
            if not wrong:
                return found
            found -= wrong

    def _asks(self, use: Use, value: Operand, truths: set[Operand]) -> bool:
        user, name = use
        if isinstance(user, Node):
            if name != "init":
                if name == "pred" or user.op == "try_demand":
                    return True
                kinds = [each.type for each in operands_of(user.args)]
                joins = user.op in _JOINS and not any(isinstance(k, ArrayType) for k in kinds)
                return joins and user.output in truths
            return all(self._slot(user, n, truths) for n in _places(user.arg("init"), value))
        owner = next((n for n in self._owners if user in n.regions), None)
        if owner is None:
            return False
        if TABLE[owner.op].tag is Tag.BRANCH:
            return all(owner.outputs[n] in truths for n in _places(user.results, value))
        if user is not owner.arg("body"):
            return True
        return all(
            n >= len(owner.outputs) or self._slot(owner, n, truths)
            for n in _places(user.results, value)
        )

    @property
    def _owners(self) -> list[Node]:
        return [node for node in walk(self.graph.body) if node.regions]

    def _slot(self, loop: Node, n: int, truths: set[Operand]) -> bool:
        """Whether only the truth of what a loop carries there is asked for."""
        return all(each in truths for each in (*_params(loop, n), loop.outputs[n]))


def _symbols_in(arg: Arg) -> list[str]:
    """The symbols in a static argument."""
    if next(operands_of(arg), None) is not None:
        return []
    return [name for dim in dims_of(arg) for name in dim.symbols]


def _params(loop: Node, n: int) -> list[Value]:
    """The parameters of a loop's regions that hold what it carries under a number."""
    count = len(loop.outputs)
    return [region.params[len(region.params) - count + n] for region in loop.regions]


def _places(operands: tuple[Operand, ...], value: Operand) -> list[int]:
    return [n for n, each in enumerate(operands) if each is value]


def _is_index(use: Use) -> bool:
    user, name = use
    if isinstance(user, Region):
        return False
    group = TABLE[user.op].group
    return (group == "dynamic_select" and name == "index") or (
        group in ("gather", "index_put", "index_reduce") and name == "indices"
    )


def _is_source(use: Use) -> bool:
    """Whether an assignment spreads the value itself."""
    user, name = use
    if isinstance(user, Region) or name != "source":
        return False
    return TABLE[user.op].tag is Tag.SCATTER and TABLE[user.op].group in (
        "slice",
        "select",
        "dynamic_select",
        "expand_dims",
    )


def _reads_item(use: Use) -> bool:
    return isinstance(use[0], Node) and use[0].op == "item"


def _is_numpy_scalar(x: object) -> bool:
    return isinstance(x, Value | Literal) and isinstance(x.type, ScalarType) and not x.type.weak
