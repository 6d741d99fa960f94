"""Linear equations: ONNX has no operator for them, so they are eliminated in a loop."""

from __future__ import annotations

from fxc.ir.graph import Node
from fxc.ir.symbols import Dim

from .emitter import OnnxEmitter
from .kernels import BOOL, INT64
from .pointwise import given
from .tensors import Tensor
from .views import counted, reshaped, with_axes
from .writer import ModelWriter

# Note [Elimination]
# The loop is Gauss and Jordan's, with the largest pivot of a column, over a matrix that has the
# right sides behind its own columns. It carries the product of the pivots, which is the
# determinant, and whether none of them was zero: where LAPACK meets one NumPy raises, and the flag
# is False.


def _eliminated(
    w: ModelWriter, matrix: Tensor, sides: Tensor | None, rows: Dim
) -> tuple[Tensor, Tensor, Tensor]:
    """The matrix with its right sides after elimination, the determinant, whether there is one
    solution.
    """
    dtype = matrix.dtype
    turn = w.tensor("turn", INT64, is_number=True)
    going = w.tensor("going", BOOL, is_number=True)
    state, det, regular = (
        w.tensor("state", dtype),
        w.tensor("det", dtype),
        w.tensor("regular", BOOL),
    )
    with w.body() as scope:
        after, pivot = _step(w, turn, state, rows)
        results = (w.constant(True), after, det * pivot, regular & ~pivot.equal(0))
    body = w.finish(scope, (turn, going, state, det, regular), results)
    start = matrix if sides is None else w.joined([matrix, sides], axis=1)
    initial = (start, w.constant(1, dtype), w.constant(True))
    found = w.calls("Loop", (w.size(rows), None, *initial), (dtype, dtype, BOOL), body=body)
    return found[0], found[1], found[2]


def _step(w: ModelWriter, turn: Tensor, state: Tensor, rows: Dim) -> tuple[Tensor, Tensor]:
    """The state with zeros in column ``turn``, but for the row of that number, and what it was
    divided by, negative where rows have changed places.
    """
    dtype = state.dtype
    numbers = counted(w, w.size(rows))
    column = w.op("Gather", (state, turn), dtype, axis=1)
    sizes = w.where(numbers < turn, w.constant(-1, dtype), abs(column))
    place = w.op("ArgMax", (sizes,), INT64, axis=0, keepdims=0)
    order = w.where(numbers.equal(turn), place, w.where(numbers.equal(place), turn, numbers))
    swapped = w.op("Gather", (state, order), dtype, axis=0)
    pivots = w.op("Gather", (swapped, turn), dtype, axis=0)
    pivot = w.op("Gather", (pivots, turn), dtype, axis=0)
    row = pivots / pivot
    factors = w.op("Gather", (swapped, turn), dtype, axis=1)
    is_row = with_axes(w, numbers.equal(turn), [1])
    rest = swapped - with_axes(w, factors, [1]) * with_axes(w, row, [0])
    after = w.where(is_row, with_axes(w, row, [0]), rest)
    return after, w.where(place.equal(turn), pivot, -pivot)


def _of_matrices(node: Node) -> str | None:
    if any(x.type.rank > 2 for x in node.args):
        return "it is eliminated for one matrix, not for a stack of them"
    return None


def _columns(w: ModelWriter, found: Tensor, rows: Dim) -> Tensor:
    """The right sides, which stand behind the matrix."""
    end = w.ints(2**63 - 1)
    return w.op("Slice", (found, w.listed(w.size(rows)), end, w.ints(1)), found.dtype)


def _inv(w: ModelWriter, node: Node) -> Tensor:
    kind, dtype = node.args[0].type, node.output.type.dtype
    numbers = counted(w, w.size(kind.shape[0]))
    unit = with_axes(w, numbers, [0]).equal(with_axes(w, numbers, [1]))
    matrix = given(w, node.args[0], dtype)
    found, _, regular = _eliminated(w, matrix, w.cast(unit, dtype), kind.shape[0])
    w.require(regular)
    return _columns(w, found, kind.shape[0])


def _solve(w: ModelWriter, node: Node) -> Tensor:
    x, y = node.args
    dtype = node.output.type.dtype
    sides = given(w, y, dtype)
    if y.type.rank == 1:
        sides = with_axes(w, sides, [1])
    found, _, regular = _eliminated(w, given(w, x, dtype), sides, x.type.shape[0])
    w.require(regular)
    return reshaped(w, _columns(w, found, x.type.shape[0]), node.output.type.shape)


def _det(w: ModelWriter, node: Node) -> Tensor:
    x, dtype = node.args[0], node.output.type.dtype
    _, det, regular = _eliminated(w, given(w, x, dtype), None, x.type.shape[0])
    return w.where(regular, det, w.constant(0, dtype))  # behind a pivot of zero is nan


EMITTERS: dict[str, OnnxEmitter] = {
    "linalg_inv": OnnxEmitter(_inv, exact=False, problem=_of_matrices),
    "linalg_solve": OnnxEmitter(_solve, exact=False, problem=_of_matrices),
    "linalg_det": OnnxEmitter(_det, exact=False, problem=_of_matrices),
}
