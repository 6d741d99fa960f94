"""Comparisons of floats that take nan as NumPy's do: silently."""

import importlib
from typing import Final

# LLVM takes an ordered comparison of vectors to be one that reports nan as an invalid operation;
# NumPy's report none. Where it has none that is quiet (SSE2), quiet ones are taken lane by lane.
_QUIET_VECTORS: Final[bool] = bool(
    importlib.import_module("numpy._core._multiarray_umath").__cpu_features__.get("AVX")
)


def is_signaling(predicate: str, lanes: int, *, careful: bool = False) -> bool:
    """Whether a comparison of floats is better written as ``quiet`` has it; ``careful``, if that
    may make it slower, too.
    """
    is_ordered = predicate in ("olt", "ole", "ogt", "oge")
    return is_ordered and (careful or (lanes > 1 and _QUIET_VECTORS))


def quiet(predicate: str, kind: str, vector: str, lanes: int) -> tuple[str, str]:
    """A comparison that takes nan silently, with braces for the operands, and its declaration."""
    mask = "i1" if lanes == 1 else f"<{lanes} x i1>"
    symbol = f"@llvm.experimental.constrained.fcmp.{suffix(kind, lanes)}"
    how = f'metadata !"{predicate}", metadata !"fpexcept.ignore"'
    text = f"call {mask} {symbol}({vector} {{}}, {vector} {{}}, {how})"
    return text, f"declare {mask} {symbol}({vector}, {vector}, metadata, metadata)"


def suffix(kind: str, lanes: int) -> str:
    """How LLVM spells the type in the names of overloaded intrinsics."""
    return kind if lanes == 1 else f"v{lanes}{kind}"
