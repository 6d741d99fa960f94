"""``python -m tests.coverage`` writes ``docs/coverage.md``: what becomes of each of NumPy's functions.

Each is called with arguments that NumPy takes, of each dtype, and with each of its keywords; the
call is captured and taken as far as the graph of native operators, and nothing is run.
"""

from __future__ import annotations

import contextlib
import inspect
import linecache
import logging
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fxc.capture.capture import Terms, capture
from fxc.ir.boxed_dtypes import is_boxed
from fxc.ir.errors import CaptureError
from fxc.ir.graph import Node, walk
from fxc.lowering.building.build import build_loops
from fxc.lowering.building.coverage import has_halves, types_in
from fxc.lowering.machine.target import Target
from fxc.lowering.nests.statements import Boxed
from fxc.lowering.nests.statements import walk as statements
from fxc.ops.table import TABLE
from fxc.pipeline.stages import decomposed_graph, functional_graph, llvm_index

from .coverage_options import OF_OTHERS, OPTIONS
from .sources import ROOT

PAGE = ROOT / "docs" / "coverage.md"

MODULES = {
    "numpy": np,
    "numpy.linalg": np.linalg,
    "numpy.fft": np.fft,
    "numpy.lib.stride_tricks": np.lib.stride_tricks,
}
METHODS, GLOBAL_DRAWS, DRAWS = "numpy.ndarray", "numpy.random", "numpy.random.Generator"
# Their work is not on arrays: they read and write files, print, or set how NumPy behaves.
OTHER_WORK = frozenset(
    [
        "test",
        "info",
        "show_config",
        "show_runtime",
        "get_include",
        "save",
        "savez",
        "savez_compressed",
        "savetxt",
        "load",
        "loadtxt",
        "genfromtxt",
        "fromregex",
        "fromfile",
        "seterr",
        "seterrcall",
        "geterr",
        "geterrcall",
        "setbufsize",
        "getbufsize",
        "set_printoptions",
        "get_printoptions",
        "printoptions",
        "dump",
        "tofile",
        "fromstring",
    ]
)
DTYPES = ("?", "i1", "i8", "u8", "e", "f", "d", "F", "D", "g", "M8[s]", "m8[s]")
NAMES = {
    **{"?": "bool", "i1": "i8", "i8": "i64", "u8": "u64", "e": "f16", "f": "f32", "d": "f64"},
    **{"F": "c64", "D": "c128", "g": "longdouble", "M8[s]": "datetime64", "m8[s]": "timedelta64"},
}
LOWERED, COMPOSITE, NUMPY, REFUSED, RAISES = "native", "composite", "NumPy", "refused", "–"

_R = np.random.default_rng(0)
_X = _R.random(6) * 3
_A = _R.random((4, 4))
_S = _A @ _A.T + 4 * np.eye(4)
_I = np.array([3, 1, 2, 0, 1, 2])
_B = np.array([True, False, True, True, False, True])
_MASK, _LIKE, _OUT = object(), object(), object()  # of an argument's, or the result's, shape

# Arguments that functions are tried with, in this order, until NumPy takes some.
ARGUMENTS: tuple[tuple[Any, ...], ...] = (
    (_X,), (_A,), (_S,), (_X, _X[::-1].copy()), (_A, _S), (_I,), (_B,), (_I, _I + 1), (_X, 2),
    (_A, 1), (_I, 2), ((_X, _X),), (_X, _I), (_X, _B), (_B, _X, _X), (_X, 1, 2), (_A, 0, 1), (5,),
    ((3, 4),), (_X, 0.5), (_X, 0.1, 0.9), (0, 5), (3, 3), ((3, 4), 2.0), (_A, (2, 8)), (_A, 1, 0),
    (_X, (2, 3)), (_A, [1, 2], [3, 0]), (_X, [1, 2]), ([1, 2], [3, 4]), (_X, np.float32),
    (_X, 4), (_X, _I, 4.0), (_X, 0, 5), (3,), ([_A, _S],), ((6,), np.float64),
    (_X, [_X > 0.5], [1.0]), (_I, [_X] * 4),
)  # fmt: skip
SPECIAL: dict[str, tuple[Any, ...]] = {
    "einsum": ("ij,jk->ik", _A, _S),
    "einsum_path": ("ij,jk->ik", _A, _S),
    "roll": (_X, 2),
    "apply_along_axis": (np.sum, 0, _A),
    "apply_over_axes": (np.sum, _A, 0),
    "fromfunction": (np.add, (3, 4)),
    "dsplit": (_R.random((2, 2, 4)), 2),
    "cross": (_R.random((4, 3)), _R.random((4, 3))),
    "put_along_axis": (_A, _I[:4, None] % 4, 0.0, 1),
    "unpackbits": (np.arange(6, dtype=np.uint8),),
    "mask_indices": (3, np.triu),
    "as_strided": (_X, (2, 3), (8, 8)),
    "array2string": (_X,),
    "tile": (_X, 2),
    "repeat": (_X, 2),
    "resize": (_X, (3, 4)),
    "indices": ((2, 3),),
    "reshape": (_X, (2, 3)),
    "polydiv": (_X, np.array([1.0, 2.0])),
    "polymul": (_X, np.array([1.0, 2.0])),
    "roots": (np.array([1.0, -3.0, 2.0]),),
    "interp": (_X, np.arange(4.0), np.arange(4.0) ** 2),
    "histogramdd": (_A, 3),
    "histogram2d": (_X, _X[::-1].copy(), 3),
    "digitize": (_X, np.array([0.5, 1.0, 2.0])),
    "unravel_index": (_I, (2, 3)),
    "ravel_multi_index": ((_I % 2, _I % 3), (2, 3)),
    "linspace": (0.0, 1.0, 7),
    "choose": (_I % 2, [_X, _X + 1]),
    "select": ([_B, ~_B], [_X, -_X]),
    "piecewise": (_X, [_X > 1, _X <= 1], [0.0, 1.0]),
    "isin": (_I, np.array([1, 2])),
    "cov": (_A,),
    "trapezoid": (_X,),
    "matvec": (_A, _X[:4]),
    "vecmat": (_X[:4], _A),
    "tensorsolve": (_S, _X[:4]),
    "astype": (_X, np.float32),
    "view": (_X,),
    "take": (_X, _I),
    "put": (_X, [0, 2], 1.0),
    "fill": (_X, 2.0),
    "item": (_X, 2),
    "setfield": (_X, 1.0, np.float64),
    "getfield": (_X, np.float64),
    "swapaxes": (_A, 0, 1),
    "partition": (_X, 2),
    "argpartition": (_X, 2),
    "searchsorted": (np.sort(_X), _X),
    **OF_OTHERS,
}
_SEVERAL = (np.zeros(2), np.eye(2), 5)
# Of functions that draw: NumPy's own do not bear all arguments.
DRAWN: dict[str, tuple[Any, ...]] = {
    **{"beta": (1.0, 2.0, 5), "binomial": (10, 0.5, 5), "bytes": (8,), "chisquare": (2.0, 5)},
    **{"choice": (_X, 3), "dirichlet": ([0.2, 0.8], 5), "exponential": (1.0, 5)},
    **{"f": (2.0, 3.0, 5), "gamma": (2.0, 1.0, 5), "geometric": (0.5, 5), "gumbel": (0.0, 1.0, 5)},
    **{"hypergeometric": (10, 5, 4, 5), "integers": (0, 9, 5), "laplace": (0.0, 1.0, 5)},
    **{"logistic": (0.0, 1.0, 5), "lognormal": (0.0, 1.0, 5), "logseries": (0.5, 5)},
    **{"multinomial": (10, [0.2, 0.8], 5), "multivariate_hypergeometric": ([5, 6], 4, 5)},
    **{"multivariate_normal": _SEVERAL, "negative_binomial": (5, 0.5, 5)},
    **{"noncentral_chisquare": (2.0, 1.0, 5), "noncentral_f": (2.0, 3.0, 1.0, 5)},
    **{"normal": (0.0, 1.0, 5), "pareto": (2.0, 5), "permutation": (_X,), "permuted": (_X,)},
    **{"poisson": (3.0, 5), "power": (2.0, 5), "rand": (5,), "randint": (0, 9, 5), "randn": (5,)},
    **{"random": (5,), "random_integers": (9,), "random_sample": (5,), "ranf": (5,)},
    **{"rayleigh": (1.0, 5), "sample": (5,), "shuffle": (_X,), "spawn": (2,)},
    **{"standard_cauchy": (5,), "standard_exponential": (5,), "standard_gamma": (2.0, 5)},
    **{"standard_normal": (5,), "standard_t": (3.0, 5), "triangular": (0.0, 0.5, 1.0, 5)},
    **{"uniform": (0.0, 1.0, 5), "vonmises": (0.0, 1.0, 5), "wald": (1.0, 1.0, 5)},
    **{"weibull": (2.0, 5), "zipf": (2.0, 5), "seed": (1,), "default_rng": (1,)},
}
KEYWORDS: dict[str, tuple[Any, ...]] = {
    **{
        "axis": (0, -1, (0,)),
        "keepdims": (True,),
        "dtype": (np.float32, np.float64, np.int64, bool),
    },
    **{"where": (_MASK,), "initial": (1.0,), "out": (_OUT,), "order": ("F", "C")},
    **{"casting": ("unsafe",), "subok": (False,), "ddof": (1,), "correction": (1,)},
    **{"mode": ("clip", "same", "wrap"), "k": (1,), "kind": ("stable",), "stable": (True,)},
    **{"side": ("right",), "return_index": (True,), "return_inverse": (True,)},
    **{"return_counts": (True,), "equal_nan": (True,), "assume_unique": (True,)},
    **{"invert": (True,), "left": (0.0,), "right": (0.0,), "period": (2.0,), "bins": (4,)},
    **{"range": ((0.0, 1.0),), "density": (True,), "weights": (_LIKE,), "rowvar": (False,)},
    **{"bias": (True,), "full_matrices": (False,), "compute_uv": (False,), "UPLO": ("U",)},
    **{"norm": ("ortho",), "n": (8,), "axes": ((0,), (0, 1)), "s": ((4, 4),)},
    **{"method": ("lower",), "decimals": (1,), "rtol": (1e-3,), "atol": (1e-3,)},
    **{"copy": (True, False), "ndmin": (2,), "num": (7,), "endpoint": (False,)},
    **{"retstep": (True,), "indexing": ("ij",), "sparse": (True,), "offset": (1,)},
    **{"axis1": (0,), "axis2": (1,), "nan": (0.0,), "posinf": (1.0,), "neginf": (-1.0,)},
    **{"hermitian": (True,), "tol": (1e-3,), "rcond": (1e-10,), "ord": (1, 2, np.inf, "fro")},
    **{"minlength": (9,), "prepend": (0.0,), "append": (1.0,), "constant_values": (1,)},
    **{"discont": (1.0,), "dx": (0.5,), "x": (_LIKE,), "edge_order": (2,), "optimize": (True,)},
    **{"to_begin": (0.0,), "to_end": (1.0,), "increasing": (True,), "N": (5,)},
    **{"include_initial": (True,), "bitorder": ("little",), "overwrite_input": (True,)},
    **{"trim": ("f",), "max": (2.0,), "min": (0.5,), "device": ("cpu",), "like": (_LIKE,)},
    **{"deg": (True,), "returned": (True,), "ndmax": (1,), "max_work": (1,), "ndim": (3,)},
}
_OF_UFUNCS = ("out", "where", "casting", "order", "dtype", "subok")


@dataclass
class Row:
    """What becomes of one function: by dtype, and by keyword, with the reasons of refusals."""

    name: str
    by_dtype: dict[str, str] = field(default_factory=dict)
    by_keyword: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    by_place: set[str] = field(default_factory=set)  # parameters that arguments without names are

    @property
    def best(self) -> str:
        """What becomes of it for the dtype that goes farthest."""
        found = set(self.by_dtype.values())
        return next(each for each in (LOWERED, COMPOSITE, NUMPY, REFUSED, RAISES) if each in found)


def rows() -> Iterator[tuple[str, Row]]:
    """Each function with the module that users find it in."""
    logging.getLogger("fxc").setLevel(logging.ERROR)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for module, members in MODULES.items():
            for name in sorted(dir(members)):
                function = getattr(members, name)
                if not name.startswith("_") and name not in OTHER_WORK and is_function(function):
                    row = row_of(name, function)
                    if row is not None:
                        yield module, row
        for name in dir(np.ndarray):
            if not name.startswith("_") and name not in OTHER_WORK:
                row = row_of(name, method(name))
                if row is not None:
                    yield METHODS, row
        for module, source in ((GLOBAL_DRAWS, np.random), (DRAWS, np.random.Generator)):
            for name in sorted(set(dir(source)) & DRAWN.keys()):
                row = row_of(
                    name,
                    getattr(np.random, name) if source is np.random else draw(name),
                    DRAWN[name],
                )
                if row is not None:
                    yield module, row


def draw(name: str) -> Callable[..., Any]:
    """A function that calls a method of a new generator."""
    text = f"def {name}(*args, **options):\n    return default_rng(0).{name}(*args, **options)\n"
    made = defined(text, name, {"default_rng": np.random.default_rng})
    made.keywords_of = (getattr(np.random.Generator, name),)
    return made


def method(name: str) -> Callable[..., Any]:
    """A function that calls a method, or reads an attribute, with the keywords of NumPy's function
    of that name.
    """
    if callable(getattr(np.ndarray, name)):
        text = f"def {name}(x, *args, **kwargs):\n    return x.{name}(*args, **kwargs)\n"
    else:
        text = f"def {name}(x):\n    return x.{name}\n"
    made = defined(text, name, {})
    made.keywords_of = getattr(np.ndarray, name), getattr(np, name, None)
    return made


def is_function(x: object) -> bool:
    return callable(x) and not isinstance(x, type | types.ModuleType)


def row_of(
    name: str, function: Callable[..., Any], known: tuple[Any, ...] | None = None
) -> Row | None:
    """None for a function that takes none of the arguments, as it is not one of arrays."""
    known = SPECIAL.get(name) if known is None else known
    tried = ARGUMENTS if known is None else (known,)
    args = next((each for each in tried if takes(function, each)), None)
    if args is None:
        return None
    names = [each for each in parameters_of(function) if each != "self"]
    row = Row(name, by_place={*names[: len(args)]})
    kinds = {x.dtype.kind for x in flat(args) if isinstance(x, np.ndarray)}
    if kinds <= {"M"}:
        row.by_dtype["M8[s]" if kinds else "d"] = outcome(row, "", function, args)
    else:
        for dtype in DTYPES:
            given = as_dtype(args, dtype)
            row.by_dtype[dtype] = (
                outcome(row, NAMES[dtype], function, given) if takes(function, given) else RAISES
            )
    calls = [(args, {keyword: value}) for keyword, value in keywords_of(function, args)]
    for given, options in (*calls, *OPTIONS.get(name, ())):
        if takes(function, given, options):
            text = "".join(f"{keyword}=" for keyword in options)
            found = outcome(row, text, function, given, options)
            for keyword in options:
                if row.by_keyword.get(keyword) != REFUSED:
                    row.by_keyword[keyword] = found
    return row


def keywords_of(function: Any, args: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    names = tuple(parameters_of(function))
    first = next((x for x in flat(args) if isinstance(x, np.ndarray)), np.zeros(3))
    if isinstance(function, np.ufunc):
        names = _OF_UFUNCS
        alike = [char * function.nin for char in "dlM"]
        loops = [each for each in function.types if each.startswith(tuple(alike))]
        yield from [("signature", each) for each in loops]
    for name in names:
        for value in KEYWORDS.get(name, ()):
            if value is _MASK:
                yield name, np.arange(first.size).reshape(first.shape) % 2 == 0
            elif value is _LIKE:
                yield name, np.arange(first.size, dtype=float).reshape(first.shape)
            elif value is _OUT:
                result = function(*own(args))
                if isinstance(result, np.ndarray | np.generic):
                    yield name, np.zeros_like(result)
            else:
                yield name, value


def parameters_of(function: Any) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function, of those that tell."""
    found: dict[str, inspect.Parameter] = {}
    for each in getattr(function, "keywords_of", (function,)):
        with contextlib.suppress(TypeError, ValueError):
            found |= inspect.signature(each).parameters
    return found


def untried(module: str, row: Row) -> set[str]:
    """The keywords of a function, by its signature, that the page says nothing of."""
    function: Any
    if module in (GLOBAL_DRAWS, DRAWS):
        function = getattr(np.random if module == GLOBAL_DRAWS else np.random.Generator, row.name)
    else:
        function = getattr(np.ndarray if module == METHODS else MODULES[module], row.name)
    optional = {
        name
        for name, each in parameters_of(function).items()
        if each.default is not each.empty
        and each.kind not in (each.VAR_KEYWORD, each.POSITIONAL_ONLY)
    }
    return optional - row.by_keyword.keys() - row.by_place


def flat(x: Any) -> Iterator[Any]:
    if isinstance(x, tuple | list):
        for each in x:
            yield from flat(each)
    else:
        yield x


def mapped(function: Callable[[np.ndarray], np.ndarray], x: Any) -> Any:
    if isinstance(x, tuple | list):
        return type(x)([mapped(function, each) for each in x])
    return function(x) if isinstance(x, np.ndarray) else x


def own(args: Any) -> Any:
    return mapped(np.copy, args)


def as_dtype(args: tuple[Any, ...], dtype: str) -> tuple[Any, ...]:
    """The arguments with arrays of floats, or else of all numbers, of another dtype."""
    floats = any(isinstance(x, np.ndarray) and x.dtype.kind == "f" for x in flat(args))
    kinds = "f" if floats else "biuc"
    return mapped(  # type: ignore[no-any-return]
        lambda x: x.astype(dtype) if x.dtype.kind in kinds else x, args
    )


def takes(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
) -> bool:
    """Whether NumPy takes the arguments."""
    try:
        function(*own(args), **{k: mapped(np.copy, v) for k, v in (kwargs or {}).items()})
    except Exception:
        return False
    return True


def outcome(
    row: Row,
    what: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
) -> str:
    """One of LOWERED, COMPOSITE, NUMPY and REFUSED for a call. Adds the reason of a refusal to the row."""
    program, arrays = program_of(function, args, kwargs or {})
    try:
        captured = capture(program, tuple(map(np.copy, arrays)), {}, Terms(None))
        functional = functional_graph(captured)
    except CaptureError as error:
        row.reasons[what] = error.text.splitlines()[0]
        return REFUSED
    index = llvm_index()
    native = decomposed_graph(functional, index)
    if any(not index.has_kernel(TABLE[node.op]) for node in walk(native.body)):
        return NUMPY
    if any(map(has_special, walk(native.body))):  # what there is code for depends on the dtypes
        built = build_loops(native, index.get_kernel, Target(halves=True))
        if any(isinstance(stmt, Boxed) for stmt in statements(built.body)):
            return NUMPY
    computing = [node for node in functional.nodes if node.op not in ("item", "astype")]
    is_whole = len(computing) <= 1 and all(index.has_kernel(TABLE[node.op]) for node in computing)
    return LOWERED if is_whole else COMPOSITE


def has_special(node: Node) -> bool:
    """Whether a node has values of float16, or of a dtype of Note [Boxed dtypes]."""
    return has_halves(node) or any(is_boxed(kind.dtype) for kind in types_in(node))


def program_of(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], list[np.ndarray]]:
    """A function of the arrays alone that makes the call, and these."""
    arrays: list[np.ndarray] = []
    names: dict[str, Any] = {"function": function}

    def text(x: Any) -> str:
        if isinstance(x, tuple | list):
            parts = ", ".join(map(text, x))
            return f"[{parts}]" if isinstance(x, list) else f"({parts}{',' * (len(x) == 1)})"
        if isinstance(x, np.ndarray):
            arrays.append(x)
            return f"x{len(arrays) - 1}"
        names[f"k{len(names)}"] = x
        return f"k{len(names) - 1}"

    given = [*map(text, args), *(f"{key}={text(value)}" for key, value in kwargs.items())]
    parameters = ", ".join(f"x{place}" for place in range(len(arrays)))
    source = f"def program({parameters}):\n    return function({', '.join(given)})\n"
    return defined(source, "program", names), arrays


def defined(source: str, name: str, names: dict[str, Any]) -> Any:
    """The function of that name that the source defines, which can be read as that of a file."""
    file = f"<coverage {len(linecache.cache)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)
    return names[name]


# ------------------------------------------------------------------ the page

_HEAD = """\
# Coverage

<!-- Written by `make coverage`; do not edit. -->

What becomes of NumPy's functions in a compiled function, by the dtype of their arrays. Made with NumPy {version}.

| | |
|---|---|
| native | one operator of fxc with native code |
| composite | several of those |
| NumPy | NumPy's own function is called from inside the compiled code, for this operator |
| refused | the statement runs in Python, the rest of the function is compiled (with `fullgraph=True`, an error) |
| – | NumPy itself raises for such arguments |

float16 is as on processors that convert it. Texts, bytes and numbers in foreign byte order are as long doubles: what
NumPy has of them, it does from inside of compiled code. Fields of records are arrays of their dtypes. Objects run in
Python, statement by statement. Functions that read or write files, print, or set how NumPy behaves are left out, and
so are classes.

{summary}
"""


def page(found: Sequence[tuple[str, Row]]) -> str:
    """The whole page."""
    counts = Counter(row.best for _, row in found)
    total = ", ".join(f"{counts[each]} {each}" for each in (LOWERED, COMPOSITE, NUMPY, REFUSED))
    version = ".".join(np.__version__.split(".")[:2])
    parts = [_HEAD.format(version=version, summary=f"{len(found)} functions: {total}.")]
    for module in (*MODULES, METHODS, GLOBAL_DRAWS, DRAWS):
        parts.append(_section(module, [row for owner, row in found if owner == module]))
    return "\n".join(parts)


def _section(module: str, found: list[Row]) -> str:
    heads = [NAMES[dtype] for dtype in DTYPES]
    lines = [
        f"## `{module}`\n",
        f"| function | {' | '.join(heads)} | keywords |",
        f"|---|{'---|' * (len(heads) + 1)}",
    ]
    for row in found:
        cells = [row.by_dtype.get(dtype, "") for dtype in DTYPES]
        lines.append(f"| `{row.name}` | {' | '.join(cells)} | {_keywords(row)} |")
    reasons = [
        f"- `{row.name}`{f' ({what})' if what else ''}: {_plain(reason)}"
        for row in found
        for what, reason in _distinct(row.reasons).items()
    ]
    return "\n".join([*lines, *(["\nRefused:\n", *reasons] if reasons else []), ""])


def _keywords(row: Row) -> str:
    return " ".join(
        f"~~{name}~~" if found == REFUSED else f"{name}" for name, found in row.by_keyword.items()
    )


def _distinct(reasons: dict[str, str]) -> dict[str, str]:
    """Each reason once, with the first that it is given for."""
    first: dict[str, str] = {}
    for what, reason in reasons.items():
        first.setdefault(reason, what)
    if len(first) == 1:
        (reason,) = first
        return {"" if not any("=" in what for what in reasons) else first[reason]: reason}
    return {what: reason for reason, what in first.items()}


def _plain(reason: str) -> str:
    return reason.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    Path(PAGE).write_text(page(list(rows())), encoding="utf-8")
    print("wrote docs/coverage.md")
