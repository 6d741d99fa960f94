"""What random loops are made of: templates of expressions, statements and heads of loops.

Kinds, small letters for expressions and capitals for names: f, F float, i, I int, b, B bool, x, X
vector, v, V vector of ints, m, M matrix, w, W vector of any length, J a counter that indexes
vectors, k an index of them, N a name of any number, L list, U a number or None, T a pair. ``{F=}``
assigns: the name is new or there already. The first ``LEAVES`` templates of a kind end an expression.
"""

from __future__ import annotations

EXPRESSIONS: dict[str, tuple[str, ...]] = {
    "f": (
        "{F}", "{F}", "{X}[{k}]", "{X}[{k}]", "0.5", "1.0", "-2.25", "c", "{M}[{k}, {k}]", "0.0", "{F}", "{X}[{k}]", "{X}[{k}]", "{F}",
        "{f} + {f}", "{f} - {f}", "{f} * {f}", "{f} * 0.5", "{f} / 4", "{f} / ({i} ** 2 + 1)", "{f} + {f}", "{f} * {f}", "{f} - {f}",
        "{f} + {f}", "{f} * {f}", "{f} - {f}", "{f} / (abs({f}) + 1)",
        "{f} / {f}", "abs({f})", "min({f}, {f})", "max({f}, {f})", "float({i})", "-{f}",
        "{x}.sum()", "{w}.sum()", "{x}.max()", "{w}.sum()", "np.sqrt(abs({f}))", "{f} ** 2",
        "math.sqrt(abs({f}))", "np.abs({f})", "np.float64({f})", "float({f})", "{f} % 3",
        "({f} if {b} else {f})", "np.maximum({f}, {f})", "{X}.dot({x})", "{w}[0]", "{w}[-1]",
        "{i} * 0.25", "np.where({b}, {f}, {f})", "sum({X})", "max({X})", "{x}.mean()", "{f} // 2",
        "round({f})", "pow({f}, 2)", "({N} := {f})", "{m}.sum()", "sum([{f}, {f}])", "{V}[{k}] / 2",
    ),
    "i": (
        "{I}", "{I}", "{I}", "n", "1", "2", "3", "0", "-1", "len({X})", "{V}[{k}]", "{X}.shape[0]",
        "{i} + 1", "{i} - 1", "{i} + {i}", "{i} - {i}", "{I} * {I}", "{i} * 2", "{i} % 3", "{i} // 2",
        "{i} % (abs({i}) + 1)", "{i} // ({I} ** 2 + 1)", "{i} % {i}", "-{i}", "abs({i})", "min({i}, {i})", "max({i}, {i})",
        "int({f})", "int({V}[{k}])", "{X}.argmax()", "divmod({i}, 3)[1]", "round({f})",
        "({i} if {b} else {i})", "{i} & 3", "{i} ^ 1", "{I} << 1", "{i} >> 1", "int({b})",
        "{v}.sum()", "({x} > {f}).sum()", "({b}) + 0", "{I} ** 2", "pow({i}, 2)", "len({L})",
        "~{i}", "np.int64({i})", "({b}) + ({b})", "len({X}) // 2",
    ),
    "b": (
        "{f} > {f}", "{f} < 0", "{X}[{k}] > {f}", "{i} < {i}", "{i} % 2 == 0", "{I} == {i}",
        "flag", "{f} != {f}", "{X}[{k}] < {X}[{k}]", "{f} > 0.5", "{I} > 2", "{V}[{k}] > {i}",
        "{B}", "{b} and {b}", "{b} or {b}", "not {b}", "0 < {f} < 2", "{i} <= {i} < {i}",
        "mode == 'a'", "{I}", "{f}", "({x} > {f}).any()", "({x} >= 0).all()", "{U} is None",
        "{U} is not None and {b}", "bool({f})", "{X}[{k}] == {X}[{k}]", "{L}", "len({w}) > 1",
        "{V}[{k}]", "{i} in (0, 2)", "True", "isinstance({F}, float)", "{b} == {b}", "mode != 'b'",
    ),
    "k": (
        "{J}", "{J}", "{J}", "{J}", "{J}", "0", "-1", "{J} - 1", "-{J} - 1", "{J}", "{J}", "{J}",
        "{i} % len({X})", "{V}[{k}] % len({X})", "len({X}) - 1 - {J}", "{J} // 2", "{J} - 1",
        "{X}.argmax()", "min({J} + 1, len({X}) - 1)", "{i} % len({X})", "{J} + 1", "{I}",
    ),
    "x": (
        "{X}", "{X}", "{X}",
        "{x} + {x}", "{x} * {f}", "{x} - {f}", "{f} - {x}", "{M}[{k}]", "{M}[:, {k}]", "np.abs({x})",
        "np.where({x} > {f}, {x}, {x})", "{X}.copy()", "{X}[::-1]", "-{x}", "np.maximum({x}, {x})",
        "np.zeros(len({X}))", "np.zeros_like({X})", "np.full(len({X}), {f})", "{M} @ {X}",
        "{m}.sum(axis=0)", "np.roll({X}, 1)", "{V} * {f}", "{x} / 2", "np.ones_like({X})", "{X}[:]",
        "np.minimum({x}, {f})", "({x} if {b} else {x})", "np.cumsum({x})", "np.sort({X})", "{X} ** 2",
        "{X}[{V} % len({X})]",
    ),
    "v": (
        "{V}", "{V}",
        "{v} + 1", "{v} * 2", "{v} + {v}", "{v} % 3", "np.arange(len({X}))", "{V}.copy()", "{v} + {i}",
        "np.zeros(len({X}), int)", "({x} > {f}).astype(int)", "{V}[::-1]", "-{v}",
    ),
    "m": (
        "{M}", "{M}",
        "{m} + {m}", "{m} * {f}", "{M}.T", "{m} + {x}", "{M}.copy()", "np.outer({X}, {X})",
        "np.zeros_like({M})", "{M}[::-1]", "np.where({m} > {f}, {m}, 0.0)", "{M} @ {M}",
    ),
    "w": (
        "{W}", "{X}[1:]", "{X}[:{k}]",
        "{X}[{k}:]", "{X}[:-1]", "{X}[::2]", "{X}[{k}:{k}]", "{M}[{k}, :{k}]", "{M}[{k}:, {k}]",
        "{w} * 2", "{X}[1:-1]", "{X}[1:] - {X}[:-1]", "{X}[{k}::-1]", "{X}[{k}:{k} + 2]",
    ),
}  # fmt: skip
LEAVES = {"f": 14, "i": 12, "b": 12, "k": 12, "x": 3, "v": 2, "m": 2, "w": 3}

STATEMENTS: tuple[tuple[str, float], ...] = (
    ("{F=} = {f}", 8), ("{F} += {f}", 9), ("{F} *= {f}", 2), ("{F} -= {f}", 2), ("{I=} = {i}", 6),
    ("{F=} = {i}", 1), ("{I=} = {f}", 1), ("{I} /= 2", 0.3), ("{F=} = 0", 2),
    ("{I} += 1", 6), ("{I} += {i}", 3), ("{I} *= 3", 1), ("{I} -= {i}", 1), ("{I} //= 2", 1),
    ("{I} = {I} * 1000003 + {I}", 0.6), ("{I} <<= 3", 0.3), ("{I} = {I} * {I} % 1009", 1), ("{B=} = {b}", 4),
    ("{B} = not {B}", 1), ("{F}, {F} = {F}, {f}", 2), ("{I}, {I} = {I}, {i}", 2), ("{I=}, {I=} = divmod({i}, {i})", 1),
    ("{F=} = {F=} = {f}", 0.7), ("{F=}, {I=} = {f}, {i}", 1), ("{U=} = None", 1), ("{U=} = {f}", 1.5), ("{U=} = {i}", 1),
    ("if {U} is None:\n    {U} = {f}", 1.5), ("if {U} is None or {f} > {U}:\n    {U} = {f}", 1),
    ("{X}[{k}] = {f}", 9), ("{X}[{k}] += {f}", 6), ("{X}[{k}] *= {f}", 1), ("{V}[{k}] = {i}", 3), ("{V}[{k}] += 1", 3),
    ("{M}[{k}, {k}] = {f}", 4), ("{M}[{k}, {k}] += {f}", 3), ("{M}[{k}] = {x}", 3), ("{M}[{k}] += {f}", 2),
    ("{M}[:, {k}] = {x}", 2), ("{M}[{k}] -= {M}[{k}] * {f}", 1), ("{X}[{k}:] = {f}", 1), ("{X}[{k}:] += {f}", 2),
    ("{X}[1:] += {X}[:-1]", 1.5), ("{X}[1:-1] = {X}[2:] - {X}[:-2]", 1.5), ("{X}[:{k}] = {f}", 1), ("{X}[{x} > {f}] = {f}", 1.5),
    ("{X}[{x} < 0] *= -1", 1), ("{X}[:] = {x}", 2), ("{X} += {x}", 2), ("{X} *= {f}", 2), ("{X} -= {f}", 1.5),
    ("{X}[{k}], {X}[{k}] = {X}[{k}], {X}[{k}]", 2), ("{M} += {f}", 0.7), ("{M}[:] = {m}", 1), ("{V} += {i}", 1),
    ("{X=} = {x}", 6), ("{X} = {X} + {x}", 3), ("{X} = {X} * {f}", 1), ("{X}, {X} = {X}, {X}", 2), ("{X}, {X} = {X}, {X}.copy()", 0.7),
    ("{X}, {X} = {x}, {X}", 1), ("{W=} = {w}", 4), ("{W} += {f}", 2), ("{W}[:] = {f}", 1), ("{W}[0] = {f}", 1.5), ("{W} = {W}[1:]", 0.7),
    ("{M=} = {m}", 1.5), ("{V=} = {v}", 2), ("{X=} = {M}[{k}]", 3), ("{X=}[0] = {f}", 0), ("np.add({x}, {f}, out={X})", 1),
    ("{X}.sort()", 0.4), ("{X}.fill({f})", 0.5), ("np.maximum({X}, {f}, out={X})", 0.6), ("{M}[{k}, :{k}] += {f}", 1),
    ("{L}.append({f})", 0.7), ("{L}.append({i})", 0.4), ("{L=} = []", 1), ("{L}.append({x}.copy())", 0.2), ("{L} += [{f}]", 0.2),
    ("{F=} = {L}[-1]", 0.3), ("log.append({i})", 0.5), ("{L=} = [{f}, {f}]", 0.6), ("{L}[0] = {f}", 0.3),
    ("assert {b}, 'no'", 0.5), ("if {b}:\n    raise ValueError({i})", 0.4), ("mode = 'ab'[{i} % 2]", 0.3), ("mode = 'c'", 0.3),
    ("{F=} = helper({f}, {i})", 2), ("{F=}, {I=} = scan({x}, {f})", 1.5), ("touch({X}, {k}, {f})", 1.5), ("{X=} = smooth({x}, {i} % 4)", 1),
    ("{I=} = first({x}, {f})", 1), ("{F=} = [{F} for {F} in {X}][-1]", 0.2), ("{F=} = sum([{X}[{I}] * 2 for {I} in range(3)])", 0.5),
    ("del {N}", 0.05), ("pass", 0.2), ("{X=} = [{X}, {X}][{i} % 2]", 0.5), ("{X}, {X} = ({X}, {X}) if {b} else ({X}, {X})", 0.4),
    ("{T=} = ({f}, {i})", 1), ("{F=}, {I=} = {T}", 1), ("{F=} = {T}[0]", 1),
)  # fmt: skip

LOOPS: tuple[tuple[str, float], ...] = (
    ("for {J=} in range({X}.shape[0]):", 3), ("for {J=} in range(len({X})):", 8), ("for {I=} in range(n):", 8),
    ("for {J=} in range(1, len({X})):", 4), ("for {J=} in range(1, len({X}) - 1):", 3), ("for {J=} in range(len({X}) - 1, -1, -1):", 3),
    ("for {J=} in range(0, len({X}), 2):", 2), ("for {I=} in range({i}, {i}):", 2), ("for {I=} in range({I}):", 2), ("for {J=} in range({J}, len({X})):", 3),
    ("for {J=} in range({J} + 1, len({X})):", 3), ("for {I=} in range(n, 0, -1):", 2), ("for {I=} in range(7):", 4), ("for {I=} in range(3):", 2),
    ("for {F=} in {X}:", 3), ("for {X=} in {M}:", 2), ("for {J=}, {F=} in enumerate({X}):", 3), ("for {J=}, {X=} in enumerate({M}):", 2),
    ("for {F=}, {F=} in zip({X}, {X}):", 2), ("for {F=}, {X=} in zip({X}, {M}):", 1.5), ("for {J=} in reversed(range(len({X}))):", 2),
    ("for {F=} in reversed({X}):", 0.7), ("for {I=} in {V}:", 2), ("for {F=} in (0.5, 1, {f}):", 1), ("for {F=} in {L}[:3]:", 0.5), ("for {I=} in range(n, len({X}) + n):", 1),
    ("for {J=}, ({F=}, {F=}) in enumerate(zip({X}, {X})):", 1), ("for {I=} in range(0, n, 3):", 1), ("for {F=} in {x}:", 1), ("for {F=} in {w}:", 1), ("for {I=}, {F=} in enumerate({X}, 1):", 1),
    ("for _ in range(n):", 4), ("for {I=} in range(int({f})):", 0.7), ("for {I=} in range({V}[{k}]):", 0.7), ("for mode in 'aba':", 0.4), ("for {J=} in range(min(n, len({X}))):", 2),
)  # fmt: skip

HELPERS = """\
def helper(s, k):
    if k <= 0:
        return s
    if s > 1.5:
        return s - k
    return s * 2


def scan(z, limit):
    best, at = 0.0, -1
    for i in range(len(z)):
        if z[i] > limit:
            continue
        if z[i] > best or at < 0:
            best, at = z[i], i
    return best, at


def touch(z, i, s):
    if s > 0:
        z[i] += s
        return
    for j in range(len(z)):
        if j == i:
            break
        z[j] = s


def smooth(z, steps):
    new = np.zeros(len(z))
    for _ in range(steps):
        new[1:-1] = 0.5 * (z[:-2] + z[2:])
        z, new = new, z.copy()
    return z


def first(z, s):
    for i, value in enumerate(z):
        if value > s:
            return i
    return -1
"""
PARAMETERS = {"x": "X", "y": "X", "A": "M", "v": "V", "n": "I", "log": "L"}  # c, flag, mode too
HEAD = "def program(x, y, A, v, n, c, flag, mode, log):"
KINDS = "FIJBXVMWLUT"
# What a new name of a kind may be.
NAMES = {
    "F": "s t p q f", "I": "a h d m", "J": "i j k l", "B": "ok", "X": "z u e r", "V": "idx",
    "M": "B C", "W": "w g", "L": "out", "U": "best", "T": "pair",
}  # fmt: skip
FIRST = (
    "{F=} = 0.0", "{F=} = 0", "{I=} = 0", "{F=} = {f}", "{X=} = np.zeros(len(x))",
    "{X=} = x.copy()", "{U=} = None", "{L=} = []",
)  # fmt: skip
