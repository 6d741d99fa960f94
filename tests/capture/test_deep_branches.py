"""Functions with more branches than Python lets blocks stand inside of each other."""

import linecache

import numpy as np
import pytest

import fxc

ARMS = 24
ELSE_IF = "".join(
    f"    {'el' if k else ''}if x == {k}:\n        y = u * {k}\n" for k in range(ARMS)
)
FORMS = {
    "elif": f"{ELSE_IF}    else:\n        y -= 1\n    return y\n",
    "return": "".join(f"    if x == {k}:\n        return u * {k}\n" for k in range(ARMS))
    + "    return u - y\n",
    "continue": "    for v in u:\n"
    + "".join(
        f"        if v == {k}:\n            y += {k * k}\n            continue\n"
        for k in range(ARMS)
    )
    + "        y -= x\n    return y\n",
}


def made(form):
    source = f"def f(u, x):\n    y = u + x\n{FORMS[form]}"
    file = f"<{form}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    names = {}
    exec(compile(source, file, "exec"), names)
    return names["f"]


@pytest.mark.parametrize("form", FORMS)
def test_deep_branches_are_captured(form):
    function = made(form)
    compiled = fxc.compile(function, fullgraph=True, backend="numpy")
    for x in (0.0, 15.0, 99.0):
        u = np.array([x, 20.0, 2.0, 99.0])
        assert np.array_equal(compiled(u, x), function(u, x))
    assert compiled.cache_info().eager_calls == 0
