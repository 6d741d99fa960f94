"""What random loops are made of: templates of expressions, statements and heads of loops.

Kinds, small letters for expressions and capitals for names: f, F float, i, I int, b, B bool, x, X
vector, v, V vector of ints, m, M matrix, w, W vector of any length, J a counter that indexes
vectors, k an index of them, N a name of any number, L list, U a number or None, T a pair, D dict,
Q function of a number, R function that writes. ``{F=}`` assigns: the name is new or there already;
``{F!}`` is the first name of that kind in the template. The first ``LEAVES`` templates of a kind end
an expression. ``o`` is an object, in some programs. All functions have NumPy's bits (docs/numerics.md).
"""

from __future__ import annotations

from tests.loop_idioms import IDIOMS

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
        "{Q}({f})", "{Q}({f})", "{Q}({f})", "{D}['s']", "o.step({f})", "o.u[{k}]", "o.t", "o.t", "np.dot({X}, {x})", "{X}[{x} > {f}].sum()",
        "{w}.max()", "{w}.mean()", "{x}.std()", "np.prod({w})", "{M}[{k}].sum()", "{M}[:, {k}].dot({M}[{k}])", "1 / {i}", "{f} / {i}", "sum(v_ * {f} for v_ in {X})",
        "sum([{X}[j_] * {f} for j_ in range(len({X}))])", "max(abs(v_) for v_ in {X})", "np.cumsum({x})[{k}]", "np.sort({X})[{k}]",
        "np.clip({f}, 0, {f})", "math.floor({f})", "np.trace({M})", "{x}.min()", "np.median({X})", "float(np.abs({x}).max())", "abs({f} - {f})",
        "np.interp({f}, np.arange(3.0), [1.0, {f}, 2.0])", "np.linalg.norm({X})", "np.vdot({X}, {x})", "np.inner({x}, {X})", "np.copysign({f}, {f})",
        "np.floor({f})", "np.rint({f})", "np.sign({f})", "np.fmod({f}, {f})", "np.ptp({X})", "{m}.sum(axis=0)[{k}]", "{m}.max(axis=1)[{k}]",
        "np.add.reduce({x})", "np.maximum.reduce({x})", "{x}.sum(where={x} > {f})", "{x}.max(initial={f})", "{x}.min(where={x} > {f}, initial=9.0)",
        "np.einsum('i,i', {X}, {X})", "np.minimum.accumulate({x})[{k}]", "np.median({w})", "np.ravel({M})[{k}]", "{M}[{k}][::-1][{k}]", "{M}.T[{k}, {k}]",
        "{X}[::-1][{k}]", "{X}[{k}, ...] + 0", "{X}.item({k})", "{X}.take({k})", "{V}[{k}] * {f}", "{V}[{k}] / {V}[{k}]", "{i} / 3", "{f} // {f}",
        "{f} % {f}", "{f} ** {i}", "{i} ** {i}", "np.float32({f})", "np.where({x} > {f}, {x}, 0)[{k}]", "np.sum([{f}, {f}, {i}])",
        "np.array([{f}, {f}]).max()", "(np.array([{f}, {f}]) * {f}).sum()", "len({w}) * {f}", "{w}.sum() if len({w}) else {f}", "np.abs(np.diff({X})).sum()",
        "np.count_nonzero({w})", "np.nansum({X})", "next((v_ for v_ in {X} if v_ > {f}), {f})", "min({X}, key=abs)",
        "max(range(len({X})), key=lambda j_: {X}[j_])", "round({f}, 1)", "divmod({f}, 2)[1]", "float({b})", "{X}.real[{k}]", "{x}.conj()[{k}]",
        "math.copysign(1, {f})", "math.fabs({f} - {f})", "math.fsum([{f}, {f}])",
    ),
    "i": (
        "{I}", "{I}", "{I}", "n", "1", "2", "3", "0", "-1", "len({X})", "{V}[{k}]", "{X}.shape[0]",
        "{i} + 1", "{i} - 1", "{i} + {i}", "{i} - {i}", "{I} * {I}", "{i} * 2", "{i} % 3", "{i} // 2",
        "{i} % (abs({i}) + 1)", "{i} // ({I} ** 2 + 1)", "{i} % {i}", "-{i}", "abs({i})", "min({i}, {i})", "max({i}, {i})",
        "int({f})", "int({V}[{k}])", "{X}.argmax()", "divmod({i}, 3)[1]", "round({f})",
        "({i} if {b} else {i})", "{i} & 3", "{i} ^ 1", "{I} << 1", "{i} >> 1", "int({b})",
        "{v}.sum()", "({x} > {f}).sum()", "({b}) + 0", "{I} ** 2", "pow({i}, 2)", "len({L})",
        "~{i}", "np.int64({i})", "({b}) + ({b})", "len({X}) // 2",
        "np.count_nonzero({x} > {f})", "len({X}[{x} > {f}])", "np.argmin({X})", "int(np.argmax({x}))", "{D}['n']", "o.k", "{i} // {i}", "len({W})",
        "np.searchsorted({X}, {f})", "sum(1 for v_ in {X} if v_ > {f})", "np.int32({i})", "{V}.argmax()", "int({x}.sum())", "sum([int(v_ > {f}) for v_ in {X}])",
        "int({X}[{k}])", "{V}.max()", "{V}.min()", "{V}[::-1][{k}]", "{v}[{k}]", "np.argmax({M}[{k}])", "np.argmin({x})", "{m}.argmax()",
        "{m}.argmax() % len({X})", "np.bincount({V} % 3)[0]", "np.unique({V}).size", "np.uint8({i} % 200)", "np.int8({i} % 100)", "int(np.floor({f}))",
        "np.searchsorted({X}, {f}, side='right')", "{V}.dot({V})", "np.sum({x} > {f})", "({x} > {f}).argmax()", "int(({x} > {f}).all())", "{x}.shape[0]",
        "{M}.shape[1] - {i}", "{X}.size", "{w}.size", "{M}.ndim", "int({f} > {f})", "{i} | 1", "({i}).bit_length()", "math.gcd({i}, {i})",
        "min({i}, {i}, {i})", "len(range(0, {i}, 2))", "-7 // ({i} % 3 + 1)", "np.int64({i}) * 3", "np.array([{i}, {i}]).sum()", "sum(({i}, {i}))",
        "len({x}[{x} < {f}])",
    ),
    "b": (
        "{f} > {f}", "{f} < 0", "{X}[{k}] > {f}", "{i} < {i}", "{i} % 2 == 0", "{I} == {i}",
        "flag", "{f} != {f}", "{X}[{k}] < {X}[{k}]", "{f} > 0.5", "{I} > 2", "{V}[{k}] > {i}",
        "{B}", "{b} and {b}", "{b} or {b}", "not {b}", "0 < {f} < 2", "{i} <= {i} < {i}",
        "mode == 'a'", "{I}", "{f}", "({x} > {f}).any()", "({x} >= 0).all()", "{U} is None",
        "{U} is not None and {b}", "bool({f})", "{X}[{k}] == {X}[{k}]", "{L}", "len({w}) > 1",
        "{V}[{k}]", "{i} in (0, 2)", "True", "isinstance({F}, float)", "{b} == {b}", "mode != 'b'",
        "({N} := {f}) > {f}", "any(v_ > {f} for v_ in {X})", "all([v_ < {f} for v_ in {X}])", "o.best is None", "np.any({x} < {f})", "len({L}) > {i}",
        "np.allclose({X}, {x})", "abs({f} - {f}) < 1e-3", "np.isnan({f})", "{X} is {X}", "{X}[{k}] and {b}", "0 <= {i} < len({X})",
        "({x} > {f})[{k}]", "np.isclose({f}, {f})", "np.array_equal({X}, {x})", "not ({x} > {f}).any()", "np.isfinite({x}).all()", "{f} < {f} <= {f}",
        "{i} != {i} or {f} > {f}", "{X}.any()", "{f} in {X}", "{w}.size > 2", "np.logical_and({b}, {b})", "({b}) ^ ({b})", "({b}) & ({b})",
        "({x} == {x}).all()", "np.all({x} < {f}) and not np.any({x} > {f})", "(lambda q_: q_ > {f})({f})", "isinstance({I}, int)", "type({F}) is float",
    ),
    "k": (
        "{J}", "{J}", "{J}", "{J}", "{J}", "0", "-1", "{J} - 1", "-{J} - 1", "{J}", "{J}", "{J}",
        "{i} % len({X})", "{V}[{k}] % len({X})", "len({X}) - 1 - {J}", "{J} // 2", "{J} - 1",
        "{X}.argmax()", "min({J} + 1, len({X}) - 1)", "{i} % len({X})", "({J} + 1) % len({X})", "{I} % len({X})",
    ),
    "x": (
        "{X}", "{X}", "{X}",
        "{x} + {x}", "{x} * {f}", "{x} - {f}", "{f} - {x}", "{M}[{k}]", "{M}[:, {k}]", "np.abs({x})",
        "np.where({x} > {f}, {x}, {x})", "{X}.copy()", "{X}[::-1]", "-{x}", "np.maximum({x}, {x})",
        "np.zeros(len({X}))", "np.zeros_like({X})", "np.full(len({X}), {f})", "{M} @ {X}",
        "{m}.sum(axis=0)", "np.roll({X}, 1)", "{V} * {f}", "{x} / 2", "np.ones_like({X})", "{X}[:]",
        "np.minimum({x}, {f})", "({x} if {b} else {x})", "np.cumsum({x})", "np.sort({X})", "{X} ** 2",
        "{X}[{V} % len({X})]", "o.u", "np.array([v_ * {f} for v_ in {X}])", "np.array([{f} for _ in {X}])", "np.where({M}[{k}] > {x}, {X}, {f})", "np.clip({x}, {f}, 2.0)",
        "np.diff({X}, append={f})", "{X}[np.argsort({X})]", "{M}.diagonal()", "{X}.astype('f4')", "{X}.reshape(-1)", "np.concatenate(({X}[1:], {X}[:1]))",
        "np.clip({x}, {f}, {f})", "np.sign({x})", "np.floor({x})", "{x} // 2", "{x} % 1", "np.flip({X})", "np.roll({X}, {i})", "np.tile({X}, 2)[:len({X})]",
        "np.repeat({X}, 2)[::2]", "np.triu({M})[{k}]", "np.tril({M}) @ {X}", "np.outer({X}, {x})[{k}]", "np.stack(({X}, {X}))[{i} % 2]",
        "np.vstack(({X}, {x})).sum(axis=0)", "np.concatenate(({X}[:{k}], {X!}[{k}:]))", "np.subtract.outer({X}, {X})[{k}]", "np.einsum('ij,j->i', {M}, {X})",
        "{m}.mean(axis=1)", "{m}.max(axis=0)", "{m}.std(axis=0)", "np.add.accumulate({x})", "np.maximum.accumulate({X})",
        "np.select([{x} > {f}, {x} < 0], [{x}, {x}], {f})", "np.where({b}, {x}, {x})", "np.where({x} > {x}, {f}, {i})", "{X}[::-1][::-1]", "{X}[::1]",
        "{M}.ravel()[:len({X})]", "{M}[::-1, {k}]", "{M}[{k}, ::-1]", "{M}.T[{k}]", "{M}[{V} % len({M}), {k}]", "{M}[{k}][{V} % len({M})]",
        "{X}.astype('f4') + {f}", "{X}.astype('f4').astype(float)", "{V} + {x}", "{V} / 2", "{V} * 1.0", "({x} > {f}) * {f}", "({x} > {f}).astype(float)",
        "np.float32({f}) * {x}", "np.linspace(0.0, 1.0, len({X}))", "np.arange(len({X})) * {f}", "np.convolve({X}, [1.0, 2.0, {f}], 'same')",
        "np.interp({x}, np.arange(4.0), [0.0, 1.0, {f}, 3.0])", "np.nan_to_num({x})", "np.sqrt(np.abs({x}))", "np.square({x})", "np.reciprocal({x} * 0 + 2)",
        "np.copysign({x}, {f})", "np.array({X})", "np.asarray({X})", "np.ascontiguousarray({X}[::-1])", "np.sort({x})[::-1]", "np.partition({X}, 0)",
        "np.gradient({X}) if len({X}) > 1 else {X}", "np.pad({X}[1:], (0, 1))", "np.append({X}[1:], {f})", "np.insert({X}[1:], 0, {f})",
        "np.take({X}, {V}, mode='wrap')", "{X}.take({V} % len({X}))", "np.fromiter((v_ * {f} for v_ in {X}), float)",
        "np.array([{X}[j_] if {X}[j_] > {f} else {f} for j_ in range(len({X}))])",
    ),
    "v": (
        "{V}", "{V}",
        "{v} + 1", "{v} * 2", "{v} + {v}", "{v} % 3", "np.arange(len({X}))", "{V}.copy()", "{v} + {i}",
        "np.zeros(len({X}), int)", "({x} > {f}).astype(int)", "{V}[::-1]", "-{v}",
        "np.argsort({X})", "{V} // 2", "np.cumsum({V})", "np.where({x} > {f}, {V}, {i})", "{V}.astype('i4')",
        "{V} ** 2", "{V} & 3", "{V} ^ {i}", "~{V}", "{V} << 1", "{V} % (abs({i}) + 1)", "np.sort({V})", "np.abs({V})", "np.minimum({V}, {i})",
        "np.clip({V}, 0, 5)", "{v} - {V}", "{V}.astype('u1')", "{V}.astype('i2') * 2", "{x}.astype(int)", "{x}.astype('i4')", "np.rint({x}).astype(int)",
        "np.full(len({X}), {i})", "np.argsort({x}, kind='stable')", "({M} > {f}).sum(axis=0)", "{M}.argmax(axis=1)", "np.searchsorted({X}, {x})",
        "np.roll({V}, {i})", "np.where({V} > {i}, 1, {V})", "np.array([int(v_) for v_ in {X}])", "np.cumsum({x} > {f})", "{V} | 1",
        "np.maximum({V}, {V}[::-1])",
    ),
    "m": (
        "{M}", "{M}",
        "{m} + {m}", "{m} * {f}", "{M}.T", "{m} + {x}", "{M}.copy()", "np.outer({X}, {X})",
        "np.zeros_like({M})", "{M}[::-1]", "np.where({m} > {f}, {m}, 0.0)", "{M} @ {M}",
        "{M} * {x}[:, None]", "np.abs({m})", "{m} - {m}.mean()", "np.cumsum({M}, axis=0)", "({m} if {b} else {m})",
        "{M}.T.copy()", "{M}[::-1, ::-1]", "{M}[:, ::-1]", "{M} ** 2", "np.triu({M})", "np.tril({M})", "np.eye(len({X})) * {f}", "np.diag({X})", "{M} - {X}",
        "{M} / ({M} ** 2 + 1)", "{M}[np.argsort({X})]", "{M}[:, {V} % len({M})]", "np.rot90({M})", "np.cumsum({M}, axis=1)", "np.sort({M}, axis=0)",
        "np.roll({M}, 1, axis=0)", "np.add.outer({X}, {x})", "np.where({M} > {x}, {M}, {f})", "np.clip({M}, {f}, {f})", "np.maximum({M}, {M}.T)",
        "{M}.astype('f4')", "np.asfortranarray({M})", "{M} @ {M}.T", "np.tile({X}, (len({X}), 1))", "np.repeat({X}[:, None], len({X}), axis=1)", "{M} % 2",
        "np.einsum('ij,kj->ik', {M}, {M})", "{M}.reshape(len({M}), -1)", "{M}.transpose(1, 0)", "np.broadcast_to({X}, {M}.shape) + 0",
        "np.array([{x} for _ in {X}])",
    ),
    "w": (
        "{W}", "{X}[1:]", "{X}[:{k}]",
        "{X}[{k}:]", "{X}[:-1]", "{X}[::2]", "{X}[{k}:{k}]", "{M}[{k}, :{k}]", "{M}[{k}:, {k}]",
        "{w} * 2", "{X}[1:-1]", "{X}[1:] - {X}[:-1]", "{X}[{k}::-1]", "{X}[{k}:{k} + 2]",
        "{X}[{x} > {f}]", "np.diff({X})", "{w} + {f}", "{W}[:-1]", "{W}[::-1]", "{M}.ravel()", "({w} if {b} else {w})", "{X}[max({k} - 1, 0):{k} + 2]",
        "{X}[::-1][:{k}]", "{X}[{k}::2]", "{X}[::{i}]", "{X}[{k}:{k}:-1]", "{X}[{k}:{k}:{i}]", "{X}[-{J}:]", "{X}[:-{J}]", "{M}[::2, {k}]", "{M}[{k}, ::-2]",
        "{M}[::-1, ::-1][{k}]", "{M}.T[{k}:, {k}]", "{M}.ravel()[{k}:]", "{M}.reshape(-1)[::{i}]", "{M}.diagonal()[{k}:]", "{X}[1:][::-1][{k}:]",
        "{X}[np.nonzero({x} > {f})]", "{X}[{x} > {f}] * {f}", "{W}[{k}:]", "{W}[::-2]", "{W} * {W}[::-1]", "{W} - {W}.mean()", "np.cumsum({W})",
        "np.where({w} > {f}, {f}, {i})", "np.unique({X})", "np.flatnonzero({x} > {f})", "np.concatenate(({X}[{k}:], {X}))", "np.append({W}, {f})",
        "np.repeat({X}, 2)", "np.zeros({i} % 5)", "np.arange({i})", "np.linspace(0.0, {f}, 4)", "np.array([{f}, {f}])", "np.array([{i}, {f}, {i}])",
        "{X}[{J}:{J} + {i}]", "{X}[max({i}, 0):]", "{X}[:{i}]", "{X}[{i}:]", "{V}[{k}:] * {f}", "np.ones(len({X}) + 1)", "np.maximum({w}, {f})", "{W}.copy()",
        "np.sort({w})", "np.array([v_ for v_ in {X} if v_ > {f}])",
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
    ("{X}, {X} = {x}, {X}", 1), ("{W=} = {w}", 4), ("{W} += {f}", 2), ("{W}[:] = {f}", 1), ("{W}[0] = {f}", 1.5), ("{W} = {W}[1:]", 2),
    ("{M=} = {m}", 1.5), ("{V=} = {v}", 2), ("{X=} = {M}[{k}]", 3), ("{X=}[0] = {f}", 0), ("np.add({x}, {f}, out={X})", 1),
    ("{X}.sort()", 0.4), ("{X}.fill({f})", 0.5), ("np.maximum({X}, {f}, out={X})", 0.6), ("{M}[{k}, :{k}] += {f}", 1),
    ("{L}.append({f})", 0.7), ("{L}.append({i})", 0.4), ("{L=} = []", 1), ("{L}.append({x}.copy())", 0.8), ("{L} += [{f}]", 0.2),
    ("{F=} = {L}[-1]", 0.3), ("log.append({i})", 0.5), ("{L=} = [{f}, {f}]", 0.6), ("{L}[0] = {f}", 0.3),
    ("assert {b}, 'no'", 0.5), ("if {b}:\n    raise ValueError({i})", 0.8), ("mode = 'ab'[{i} % 2]", 0.3), ("mode = 'c'", 0.3),
    ("{F=} = helper({f}, {i})", 2), ("{F=}, {I=} = scan({x}, {f})", 1.5), ("touch({X}, {k}, {f})", 1.5), ("{X=} = smooth({x}, {i} % 4)", 1),
    ("{I=} = first({x}, {f})", 1), ("{F=} = [{F} for {F} in {X}][-1]", 0.2), ("{F=} = sum([{X}[{I}] * 2 for {I} in range(3)])", 0.5),
    ("del {N}", 0.05), ("pass", 0.2), ("{X=} = [{X}, {X}][{i} % 2]", 0.5), ("{X}, {X} = ({X}, {X}) if {b} else ({X}, {X})", 0.4),
    ("{T=} = ({f}, {i})", 1), ("{F=}, {I=} = {T}", 1), ("{F=} = {T}[0]", 1),
    # One array or another, and what is written to it.
    ("tmp = {X} if {b} else {X}\ntmp[{k}] += {f}", 2), ("tmp = {X} if {b} else {x}\ntmp[{k}] = {f}", 0.5), ("({X} if {b} else {X})[{k}] = {f}", 0.7),
    ("if {b}:\n    {X} = {X}\n{X}[{k}] += {f}", 1), ("if {b}:\n    {X}, {X} = {X}, {X}", 1.5), ("{X=} = {X} if {b} else {X}", 2), ("{M=} = {M} if {b} else {M}.T", 0.5),
    ("{X}, {X}, {X} = {X}, {X}, {X}", 1), ("tmp = {X}\n{X=} = {X}\n{X=} = tmp", 1), ("{M}, {M} = {M}, {M}", 0.7), ("{M}[{k}], {M}[{k}] = {M}[{k}], {M}[{k}].copy()", 0.7),
    ("{X}[{k}], {X}[{k}], {F=} = {X}[{k}], {f}, {X}[{k}]", 0.5), ("{X=} = new_ = {x}\nnew_[{k}] = {f}", 0.5),
    # Views that get shorter, rows, stencils.
    ("{W} = {W}[:-1]", 2), ("{W} = {W}[::2]", 0.5), ("{W} = {W}[1:-1]", 0.5), ("{W}[-1] += {W}[0]", 0.7), ("{W}[{i}] = {f}", 0.7), ("{W} *= {w}[0]", 0.5),
    ("row = {M}[{k}]\nrow[{k}] += {f}", 1.5), ("row = {M}[{k}, 1:]\nrow -= {f}", 0.7), ("col = {M}[:, {k}]\ncol *= {f}\ncol[{k}] = {f}", 0.7), ("{M}[{k}][{k}] = {f}", 0.7),
    ("{X}[1:-1] += 0.25 * ({X}[2:] - 2 * {X}[1:-1] + {X}[:-2])", 1), ("{X}[1:] = {X}[:-1]", 1), ("{X}[::-1] += {X}", 0.5), ("{X}[::2] = {X}[1::2]", 0.3), ("{X}[{k}:{k} + 2] = {X}[{k}:{k} + 2] * {f}", 0.6),
    ("{M}[1:-1, 1:-1] += 0.25 * ({M}[2:, 1:-1] + {M}[:-2, 1:-1] - {M}[1:-1, 2:])", 1), ("{M}[1:] -= {M}[:-1]", 0.7), ("{M} += {M}.T", 0.5), ("{M}[{k}:, {k}] /= 2", 0.5), ("{M}[{k}] += {M}[{k}]", 0.7),
    ("{M}[{M} > {f}] = {f}", 0.5), ("np.multiply({M}, {f}, out={M})", 0.4), ("{X}[{V} % len({X})] += {f}", 0.5), ("{X}[{v} % len({X})] = {x}", 0.4), ("np.add.at({X}, {V} % len({X}), {f})", 0.3),
    ("{V}[{V}[{k}] % len({V})] += {i}", 0.7), ("{V}[{k}], {V}[{k}] = {V}[{k}], {V}[{k}]", 0.7), ("{X}[int({i}) % len({X})] -= {f}", 0.5), ("np.cumsum({X}, out={X})", 0.3),
    # Lists under conditions, dicts, objects.
    ("if {b}:\n    {L}.append({f})", 1.5), ("if {b}:\n    log.append({i})", 0.1), ("{L=} = [v_ for v_ in {X} if v_ > {f}]", 0.6), ("if {L}:\n    {F=} = {L}.pop()", 0.6), ("{F=} = sum({L})", 0.4),
    ("{L}[-1] += {f}", 0.3), ("{D=} = dict(s={f}, n=0)", 1), ("{D}['s'] += {f}", 1), ("{D}['n'] += 1", 0.7), ("{D}['u'] = {X}", 0.2),
    ("o.t += {f}", 1.5), ("o.k += 1", 1), ("o.t = {f}", 1), ("o.u[{k}] += {f}", 1), ("o.u = {x}", 0.6), ("o.u = {X}", 0.4), ("o.best = {f}", 0.6), ("if o.best is None or {f} > o.best:\n    o.best = {f}", 0.8),
    ("o.deposit({k}, {f})", 0.7), ("{F=} = o.step({f})", 0.7), ("{X=} = o.u", 0.5), ("o.u, {X} = {X}, o.u", 0.4), ("u_ = o.u\nu_ *= {f}", 0.4),
    # Functions inside.
    ("{R}({k}, {f})", 3), ("{F=} = {Q}({F})", 2), ("{F=} = (lambda q_: q_ * {f})({f})", 0.4), ("fun = {Q} if {b} else abs\n{F=} = fun({f})", 0.2),
    # Exceptions.
    ("if {b}:\n    raise IndexError('out')", 0.2), ("{F=} = {f} / {i}", 0.5), ("{I=} = {i} // {I}", 0.4), ("{X}[{i}] = {f}", 0.25), ("{X}[{I}] += {f}", 0.15), ("{M}[{I}, {k}] = {f}", 0.1),
    ("try:\n    {F=} = 1 / {i}\nexcept ZeroDivisionError:\n    {F=} = 0.0", 0.2), ("try:\n    {X}[{i}] = {f}\nexcept IndexError:\n    pass", 0.2), ("assert len({X}) > {i}", 0.2),
    # Masks, and what is counted by them.
    ("m_ = {x} > {f}\n{X}[m_] = {X}[m_] * {f}", 1), ("m_ = {x} < {f}\n{X}[~m_] = {f}\n{F=} = {X}[m_].sum()", 0.7), ("{M}[{x} > {f}] = {f}", 0.5), ("{M}[{x} > {f}] += {x}", 0.3), ("{M}[:, {x} > {f}] *= {f}", 0.3),
    ("np.copyto({X}, {x}, where={x} > {f})", 0.5), ("np.putmask({X}, {x} > {f}, {f})", 0.3), ("np.add({X}, {f}, out={X}, where={x} > {f})", 0.4), ("{X}[{x} > {f}] = {x}[{x} > {f}]", 0.2), ("{V}[{V} > {i}] = {i}", 0.4),
    ("g_ = {X}[{x} > {f}]\n{F=} = g_.sum() if len(g_) else {f}", 0.8), ("at_ = np.nonzero({x} > {f})[0]\n{X}[at_] += {f}\n{I=} = len(at_)", 0.7), ("g_ = {X}[{x} > {f}]\n{X}[:len(g_)] = g_", 0.5),
    ("for v_ in {X}[{x} > {f}]:\n    {F} += v_", 0.4), ("for j_ in np.flatnonzero({x} > {f}):\n    {X}[j_] -= {f}", 0.4), ("g_ = {X}[{x} > {f}].copy()\ng_ *= {f}\n{F} += g_.sum()", 0.4), ("{I=} = np.flatnonzero({x} > {f}).size", 0.3),
    # What is written while it is walked.
    ("for j_, v_ in enumerate({X}):\n    {X}[-1 - j_] += v_", 0.7), ("for v_, w_ in zip({X}, {X}[1:]):\n    {X}[{k}] = v_ - w_", 0.6), ("for v_, row_ in zip({X}, {M}):\n    row_ += v_\n    {X}[{k}] = v_", 0.6),
    ("for row_ in {M}:\n    row_[{k}] = row_.sum()\n    {M}[{k}] -= row_", 0.6), ("for j_, (v_, w_) in enumerate(zip({X}, {X})):\n    {X}[j_] = w_\n    {X}[j_ - 1] += v_", 0.6), ("for v_ in {X}:\n    {X}[{k}] = v_ + {f}", 0.5),
    # Things of several kinds at once.
    ("{F=}, {X=}, {I=} = {f}, {x}, {i}", 0.7), ("{F=}, ({I=}, {F=}) = {f}, ({i}, {X}[{k}])", 0.6), ("{X=}, {F=} = {X}, {X}[{k}]", 0.5), ("{X}[{k}], {F=}, {I=} = {f}, {X}[{k}], {i}", 0.5), ("{F=}, *rest_ = {X}[:3]", 0.2),
    ("{F=}, o.t = o.t, {f}", 0.4), ("{X=} = {X=} = {x}", 0.4), ("{B=}, {F=} = {b}, {f}", 0.4), ("{M}[{k}], {F=} = {x}, {f}", 0.3), ("{W=}, {F=} = {X}[{k}:], {f}", 0.4),
    # Effects in conditions.
    ("if 0 < bump({X}, {k}) < {f}:\n    {F} += 1", 0.5), ("if {f} < bump({X}, {k}) < bump({X}, {k}):\n    {X}[{k}] = {f}", 0.4), ("{B=} = {f} > bump({X}, {k}) or bump({X}, {k}) > {f}", 0.4), ("{F=} = bump({X}, {k}) if {b} else bump({X}, {k})", 0.5),
    ("if {b} and bump({X}, {k}) > {f}:\n    {F=} = {X}[{k}]", 0.4), ("{F=} = {f} + bump({X}, {k}) * {X}[{k}]", 0.3), ("if {X}[{k}] < ({F=} := {f}) <= {X}[{k}]:\n    {X}[{k}] = {F}", 0.3), ("assert {f} < bump({X}, {k}) < 1e6", 0.1),
    # One array or another, written by both names.
    ("tmp = {X} if {b} else {X}\ntmp[{k}] += {f}\n{X}[{k}] *= 2\n{F=} = tmp[{k}]", 1), ("if {b}:\n    tmp = {X}\nelse:\n    tmp = {M}[{k}]\ntmp += {f}\n{X}[{k}] = tmp[{k}]", 0.5), ("tmp = {X}[1:] if {b} else {X}[:-1]\ntmp *= {f}\n{X}[{k}] += tmp.sum()", 0.5),
    ("tmp = {M} if {b} else {M}.T\ntmp[{k}] = {x}\n{M}[{k}, {k}] += {f}", 0.3), ("{X=} = {X} if {b} else {X}.copy()\n{X}[{k}] -= {f}", 0.5), ("tmp = {X}\nif {b}:\n    {X} = {x}\ntmp[{k}] = {f}", 0.5),
    # Lists of arrays.
    ("rows_ = []\nfor j_ in range(len({X})):\n    rows_.append({x} * {X}[j_])\n{F=} = rows_[{k}][{k}] if rows_ else {f}", 0.6), ("rows_ = []\nfor v_ in {X}:\n    rows_.append({X}.copy())\n    {X}[{k}] += v_\n{X=} = rows_[-1] if rows_ else {x}", 0.5),
    ("rows_ = []\nfor v_ in {X}:\n    if v_ > {f}:\n        rows_.append({x} + v_)\n{I=} = len(rows_)\nif rows_:\n    {X=} = rows_[0]", 0.5), ("rows_ = []\nfor row_ in {M}:\n    rows_.append(row_ * {f})\n{M=} = np.array(rows_)", 0.3), ("{L} += [{f}, {i}]", 0.2),
    # Ends of blocks.
    ("try:\n    {X}[{k}] = {f}\nfinally:\n    {F} += 1", 0.4), ("try:\n    {X}[{i}] += {f}\n    {F=} = {X}[{k}] / {i}\nexcept (IndexError, ZeroDivisionError):\n    {F=} = {f}\nelse:\n    {X}[{k}] = {f}\nfinally:\n    {I} += 1", 0.3),
    ("for j_ in range(len({X})):\n    {X}[j_] = {f}\n    if {b}:\n        raise ValueError(j_)", 0.3), ("for j_ in range(len({X})):\n    {X}[j_] += {f}\n    {X}[j_ + {i}] = {f}", 0.15), ("for j_ in range(1, len({X})):\n    {X}[j_] -= 1 / ({V}[j_] - {i})", 0.3),
    ("for j_ in range(len({X})):\n    if {X}[j_] > {f}:\n        continue\n    for l_ in range(j_, len({X})):\n        if {X}[l_] > {f}:\n            break\n        {X}[l_] += {X}[j_]\n    else:\n        {F} += 1", 0.7),
    ("with np.errstate(all='ignore'):\n    {X} /= {x}", 0.2), ("while {X}[{k}] > {f} and {I} < 9:\n    {X!}[{k}] -= 1\n    {I!} += 1\n    if {b}:\n        continue\n    {F} += {X}[{k}]", 0.6),
    ("{I} = {I} * 6364136223846793005 + {I}", 1), ("{I} = ({I} * 1103515245 + 12345) % 2147483648", 0.5), ("{I} ^= {I} << 13", 0.3), ("{I} = {I} * {I} + 1", 0.4), ("{F} = {F} * {F} - {f}", 1),
    *((statement, 0.35) for statement in IDIOMS),
)  # fmt: skip

# What one iteration leaves to the next, in another array.
CARRIED = (
    "{X} = {X!} * {f} + {x}", "{X} = {X!} + {x}", "{X} = np.where({x} > {f}, {X!}, {x})", "{X} = {X!}[::-1] + {f}", "{X} = {M} @ {X!}", "{X} = -{X!}\n{X!}[{k}] = {f}",
    "tmp = {X}\n{X!} = {x}\ntmp[{k}] += {X!}[{k}]", "{M} = {M!} @ {M!} * 0.5", "{M} = {M!}.T + {f}", "{V} = {V!} * 3 % 7", "{X} = np.roll({X!}, 1)\n{X!}[0] = {f}", "{X} = {X!}.copy()\n{X!}[{k}] = {f}",
    "new_ = np.empty_like({X})\nnew_[:] = {x}\n{X!}, new_ = new_, {X!}", "if {b}:\n    {X} = {X!} + {f}", "if {b}:\n    {X} = {X!} * {f}\nelse:\n    {X!}[{k}] = {f}", "{W} = {W!}[1:] + {W!}[:-1]", "{W} = {W!}[1:]\n{F} += {W!}.sum()",
    "{W} = {W!} * {f}", "{I} = {I!} * 3 + 1 if {I!} % 2 else {I!} // 2", "{X}, {F} = {X!} * {F}, {f}", "{X} = {X!} / (1 + np.abs({X!}).max())", "{X} = np.concatenate(({X!}[1:], [{f}]))", "{X} = {M}[{k}] - {X!}",
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
    ("for {J=} in range({k}, -1, -1):", 1.5), ("for {I=} in range({i}, {i}, -1):", 1), ("for {J=} in range(len({X}) - 1, {i}, -2):", 0.7), ("for {J=} in range({V}[{k}], len({X})):", 0.7), ("for {I=} in range({i}, {i}, {i}):", 0.4),
    ("for {I=} in range(len({W})):", 1), ("for {J=} in range({i} % (len({X}) + 1)):", 1), ("for {J=} in {V} % len({X}):", 0.7), ("for {J=} in np.arange(len({X})):", 0.7), ("for {J=} in np.argsort({X}):", 0.4),
    ("for {F=} in {X}[::-1]:", 0.7), ("for {X=} in {M}.T:", 0.7), ("for {X=} in {M}[1:]:", 0.7), ("for {J=}, {X=} in enumerate({M}[::-1]):", 0.4), ("for {F=}, {I=} in zip({X}, {V}):", 0.7), ("for {X=}, {X=} in zip({M}, {M}):", 0.5),
    ("for {J=} in [j_ for j_ in range(len({X})) if {X}[j_] > {f}]:", 0.4), ("for {X=} in ({X}, {X}):", 0.7), ("for {I=} in range(n, 0, -2):", 0.5), ("for {J=}, {I=} in enumerate({V}):", 0.7),
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


def bump(z, i):
    z[i] += 1
    return z[i]


def first(z, s):
    for i, value in enumerate(z):
        if value > s:
            return i
    return -1


def depth(z, i):
    if i <= 0 or i > len(z):
        return 0.0
    return z[i - 1] + depth(z, i - 1) * 0.5


def total(*values, by=2):
    s = 0.0
    for value in values:
        s += value * by
    return s


def kept(z, i, *, s=1.0):
    old = z[i]
    z[i] = s
    return old


def parted(z, s):
    low = z[z < s]
    if len(low) == len(z):
        return z, 0.0
    return z * s, low.sum()


def stream(z, s):
    for value in z:
        if value > s:
            yield value * 2
"""
PARAMETERS = {"x": "X", "y": "X", "A": "M", "v": "V", "n": "I", "log": "L"}  # c, flag, mode too
HEAD = "def program(x, y, A, v, n, c, flag, mode, log, o):"
KINDS = "FIJBXVMWLUTDQR"
# What a new name of a kind may be.
NAMES = {
    "F": "s t p q f", "I": "a h d m", "J": "i j k l", "B": "ok", "X": "z u e r", "V": "idx",
    "M": "B C", "W": "w g", "L": "out", "U": "best", "T": "pair", "D": "acc", "Q": "inner fn", "R": "put",
}  # fmt: skip
FIRST = (
    "{F=} = 0.0",
    "{F=} = 0",
    "{I=} = 0",
    "{F=} = {f}",
    "{X=} = np.zeros(len(x))",
    "{X=} = x.copy()",
    "{U=} = None",
    "{L=} = []",
    "{D=} = dict(s=0.0, n=0)",
    "{W=} = {w}",
    "{X=} = np.zeros_like({X})",
    "{V=} = np.zeros(len({X}), int)",
    "{M=} = np.zeros((len(x), len(x)))",
)
CLOSURES = (
    "def {Q=}(q_):\n    return {f} * q_",
    "def {Q=}(q_):\n    if {b}:\n        return q_\n    return {f} + q_",
    "def {Q=}(q_):\n    return q_ + c",
    "def {Q=}(q_):\n    s_ = 0.0\n    for v_ in {X}:\n        if v_ > q_:\n            break\n        s_ += v_ * {f}\n    return s_",
    "{Q=} = lambda q_: q_ + {f}",
    "def {R=}(i_, q_):\n    {X}[i_] += q_",
    "def {R=}(i_, q_):\n    if q_ > {f}:\n        return\n    {X}[i_] = q_ * {f}\n    {M}[i_, {k}] += 1",
    "def {R=}(i_, q_):\n    nonlocal {F}\n    {X}[i_] = q_",
    "def {R=}(i_, q_):\n    nonlocal {I}\n    {I} += 1\n    {X}[i_] += {I}",
    "def {R=}(i_, q_):\n    nonlocal {F}, {X}\n    if q_ > {f}:\n        {F} = q_\n    else:\n        {X} = {X} * 2",
    "def {Q=}(q_):\n    nonlocal {F}\n    {F} = q_\n    return {F} * {f}",
    "def {R=}(i_, q_):\n    for j_ in range(len({X})):\n        if {X}[j_] > q_:\n            {X}[j_] -= {f}\n            break\n    else:\n        {X}[i_] = q_",
)  # fmt: skip
CALLS = (("{F=} = {Q}({f})", "Q"), ("{R}({k}, {f})", "R"))
TESTS = (  # of a while
    "{b}", "{f} > {f}", "{f} > 0.1", "True", "{i} < {i}", "({F=} := {f}) > {f}", "len({W}) > 1", "{b} and {b}",
    "not {B}", "abs({f} - {f}) > 1e-6", "{i} > 0", "{X}[{k}] < {f} or {b}",
)  # fmt: skip
