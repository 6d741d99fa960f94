"""Functions that are made of source."""

import ctypes
import math

from fxc.ir.made_functions import code_of, constants_of, function_of


def test_functions_of_one_text_share_its_code() -> None:
    source = "def f(): return a + b"
    one, other = (function_of(code_of(source, "<f>", "a"), {"a": n}, {"b": 1}) for n in (2, 3))
    assert (one(), other()) == (3, 4)
    assert one.__code__ is other.__code__
    assert one.__globals__["b"] == 1
    assert function_of(code_of(source, "<g>", "ab"), {"a": 1, "b": 2})() == 3


def test_constants_are_seen_by_functions_within() -> None:
    source = "def f(x):\n    return [k_0 + each for each in x]\n"
    assert function_of(code_of(source, "<f>", ["k_0"]), {"k_0": 1})([1, 2]) == [2, 3]


def test_constants_are_known_from_the_function() -> None:
    made = function_of(code_of("def f(x, y): return x", "<f>", "abc"), {"c": 3, "a": 1, "b": 2})
    assert constants_of(made, ["c", "b", "d"]) == {"c": 3, "b": 2}


def test_code_of_c_may_import_where_it_is_called() -> None:
    """Python looks for ``__builtins__`` among the variables of the function that calls it."""
    load = ctypes.pythonapi.PyImport_ImportModule
    load.restype, load.argtypes = ctypes.py_object, (ctypes.c_char_p,)
    for names in ({}, {"load": load}):
        made = function_of(code_of("def f(load): return load(b'math')", "<f>"), {}, names)
        assert made(load) is math
    assert function_of(code_of("def f(load): return load(b'math')", "<f>"), {})(load) is math
