"""What traced arrays refuse: the text of each CaptureError, and that it names the user's line."""

import copy
import datetime
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.capture.capture import capture
from fxc.ir.errors import CaptureError
from tests.capturing import array
from tests.outcomes import difference, run

X, I, C = array(3, 4), array(3, 4, dtype=np.int64), array(3, 4).astype(complex)  # noqa: E741
V, N8 = array(4), array(4, dtype=np.uint8)
COUNTED = (
    "the size of an array that depends on the data is needed as a number while the program is being "
    "captured"
)
NEEDS = "needs the value of an array's element while the program is being captured; use fxc.cond"


def mask_written(x):
    mask = x > 0
    read = x.astype(int)[mask]
    mask[:] = True
    return read.sum()


def mask_read_before_the_loop(x):
    mask = x > 0
    read = x[mask]

    def body(i, s):
        s[mask] = read
        mask[0] = False
        return s

    return fxc.fori_loop(0, x.argmax(), body, x)


REFUSED = [
    # what needs elements
    (lambda x: max(x[0, :1], 2.0), (X,), f"a decision (if, while, and, or, not) {NEEDS}"),
    (lambda x: complex(x[0, 0], 1j), (X,), "complex() of a complex number and another"),
    (lambda x: b"ab" * int(x[0, 0]), (X,), f"an index or a size {NEEDS}"),
    (lambda x: range(int(x[0, 0])), (X,), "a range or an iterator as a result cannot be captured"),
    (lambda x: float(f"{x.sum()}"), (X,), f"printing a number {NEEDS}"),
    (lambda x: f"{x}"[0], (X,), f"printing an array {NEEDS}"),
    (lambda x: {x.sum(): 1}, (X,), f"hash() {NEEDS}"),
    (lambda x, i: x.sum(axis=i[0, 0]), (X, I), f"an axis {NEEDS}"),
    # indices
    (
        lambda x: max(0.0, *x[x > 0]),
        (X,),
        f"{COUNTED}; use it in arithmetic, conditions and as a size",
    ),
    (lambda x: hash(len(x[x > 0])), (X,), f"{COUNTED}; use it in arithmetic, conditions and as"),
    (
        lambda x: x[x[:, 0] > 0, [0]],
        (X,),
        "a mask whose elements are not known beside another index arr",
    ),
    # attributes and methods
    (lambda x: x.flat, (X,), "a flatiter in the result cannot be captured; return arrays"),
    (lambda x: np.asarray(x.flat), (X,), "np.asarray of x.flat cannot be captured; use x.ravel()"),
    (lambda x: x.flat.coords, (X,), "x.flat.coords cannot be captured"),
    (lambda x: setattr(x, "flat", x.T), (X,), "an assignment to x.flat from x itself, element by"),
    (
        lambda x: setattr(x.flags, "aligned", False),
        (X,),
        "an assignment to x.flags.aligned",
    ),
    (
        lambda x, n: np.repeat(x, n * 1.0, 0),
        (X, np.ones(3)),
        "np.repeat by numbers that are no vector of",
    ),
    (
        lambda x: np.broadcast_arrays(x, np.zeros((2, 3, 4)))[0].fill(1),
        (X,),
        "a write of a view that np.broadcast_arrays or np.meshgrid made, of which NumPy warns",
    ),
    (lambda x: x.dumps(), (X,), "x.dumps cannot be captured; convert outside of the compiled"),
    (lambda x: x.to_device("cpu"), (X,), "x.to_device cannot be captured in this version of fxc"),
    (lambda x: x.flags.num, (X,), "x.flags.num cannot be captured"),
    (lambda x: x.fill(x), (X,), "x.fill with an array cannot be captured; use x[...] = value"),
    (lambda i: np.round(i, out=i), (I,), "np.round of integers with out= cannot be captured"),
    (
        lambda i: np.argmax(i.reshape(1, -1), axis=1, out=i[:1]),
        (I,),
        "np.argmax into an array that it reads cannot be captured; copy it first",
    ),
    # ufuncs
    (lambda x: x + 2**70, (X,), "the Python integer 1180591620717411303424 does not fit in 64"),
    (lambda x: x + datetime.date.today().day, (X,), "a call of date.today cannot be captured: fxc"),
    (lambda x: np.add(x, [object()]), (X,), "an array of dtype object cannot be captured"),
    (lambda x: np.add(x, object()), (X,), "a object among arrays cannot be captured; use an arr"),
    (lambda x, n: x == n, (N8, 300), "np.equal of uint8 and an int that it cannot hold"),
    (
        lambda x: np.power(x > 0, x > 0, where=x > 0),
        (X,),
        "np.power of integers with where= cannot",
    ),
    (
        lambda x: np.round(x, 1, x.astype("f4")),
        (X,),
        "np.round with an out= of another dtype cannot",
    ),
    # reductions
    (
        lambda x: np.add.reduce(x, initial=None),
        (X,),
        "np.add.reduce with initial=None cannot be capt",
    ),
    (
        lambda x: np.mean(x, out=np.empty((), "f4")),
        (X,),
        "np.mean with an out= of another dtype, cannot be captured; assign",
    ),
    # functions
    (lambda x: np.percentile(x, 50, out=x[0]), (X,), "np.percentile with out= cannot be captured"),
    (lambda x: np.trim_zeros(x), (X,), "np.trim_zeros cannot be captured"),
    (lambda: np.linspace(0, 1, 3, axis=1), (), "np.linspace with axis= cannot"),
    # control flow
    (
        mask_written,
        (X,),
        "an array that was read by a mask, which was written since, cannot be captured in this",
    ),
    (
        mask_read_before_the_loop,
        (X,),
        "a write, inside a loop, to an array from outside of it on whose elements the loop relies",
    ),
]


def test_an_array_that_is_called_is_an_error_of_the_program() -> None:
    def called(x):
        y = x * 2
        return y(1), y[0](1)

    with pytest.raises(TypeError, match=r"^'numpy.ndarray' object is not callable"):
        fxc.compile(called, fullgraph=True)(np.ones(3))


@pytest.mark.parametrize(
    "program, args, message", REFUSED, ids=[f"{n}-{case[2][:24]}" for n, case in enumerate(REFUSED)]
)
def test_refused(program, args, message):
    with pytest.raises(CaptureError) as caught:
        capture(program, args, {})
    assert caught.value.text.startswith(message)
    assert caught.value.__notes__[0].startswith("  test_capture_errors.py:")
    assert caught.value.location.file == __file__


# But for uses of fxc's own loops, of which one does not end in Python.
OF_NUMPY = [case for case in REFUSED if "fxc." not in case[2].replace(NEEDS, "")]


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    "program, args",
    [case[:2] for case in OF_NUMPY],
    ids=[f"{n}-{case[2][:24]}" for n, case in enumerate(OF_NUMPY)],
)
def test_a_refusal_costs_its_statement_alone(program, args):
    def around(u, *args):
        before = u * 2 + 1
        found = program(*args)
        after = before * before - u
        return before, type(found).__name__, after  # some have elements that nobody sets

    compiled = fxc.compile(around)
    for calls in (1, 2, 3):
        copies = [(V.copy(), *copy.deepcopy(args)) for _ in range(2)]
        expected, found = run(around, copies[0]), run(compiled, copies[1])
        assert difference(expected, found) == ""
        info = compiled.cache_info()
        assert info.native_calls + info.part_calls >= calls


def _dict_of_numbers(keys, x):
    made = {}
    for key in keys:
        made[key] = key * x
    return made


def _set_of_numbers(keys, x):
    made = set()
    for key in keys:
        made.add(key)
    return x * 2, made


@pytest.mark.parametrize("program", [_dict_of_numbers, _set_of_numbers])
def test_keys_that_vary_are_refused_where_their_dict_is_made(program):
    with pytest.raises(CaptureError, match="that var") as caught:
        fxc.compile(program, fullgraph=True)([1.0, 2, 3], np.ones(2))
    assert caught.value.__notes__[0].endswith(("made = {}", "made = set()"))


def test_a_handler_of_the_program_does_not_hide_a_refusal():
    space: dict[str, Any] = {"np": np}
    code = "def f(x):\n    try:\n        return np.trim_zeros(x)\n"
    exec(f"{code}    except Exception:\n        return x", space)
    with pytest.raises(CaptureError, match=r"np\.trim_zeros cannot be captured"):
        capture(space["f"], (X,), {})


class Holding:
    def __init__(self, x):
        self.get = lambda: x


def hold(x):
    y = x * 2
    made = Holding(y)
    return made


def test_a_function_that_leaves_is_shown_where_it_is_made():
    with pytest.raises(fxc.CaptureError, match="a function in the result") as caught:
        fxc.compile(hold, fullgraph=True)(np.ones(2))
    assert "in __init__:  self.get = lambda: x" in caught.value.__notes__[0]
