"""What wide random programs are made of, besides the statements of the others: texts with gaps.

A gap in braces is filled by ``tests/random_wide.py``: ``x`` an array, ``v`` a view of one, ``y`` what
broadcasts to ``x``, ``m`` a mask of its shape, ``k`` a number of its dtype, ``s`` a scalar, ``a`` an
axis, ``p`` a place of its first axis, ``d`` a dtype, ``n`` a new variable, ``N`` another one. ``X`` is
an array of the shape of ``x``. What NumPy refuses is not written, so that few gaps have to fit.
"""

from __future__ import annotations

# Integers at the ends of their range, divisors of zero, nan: what is no number of quarters. Sizes of complex
# numbers that are walked backwards have a bound alone.
_ARITHMETIC = (
    "{n} = {x} // {y}", "{n} = {x} % {y}", "{n} = {x} / {y}", "{n} = {x} // {k}", "{n} = {x} % {k}", "{n} = {k} - {x}",
    "{n} = {k} % {x}", "{n} = {k} // {x}", "{n} = -{x}", "{n} = +{x}", "{n} = ~{x}", "{n} = abs({v}.real)", "{n} = {x} << 3",
    "{n} = {x} >> {y}", "{n} = {x} & {y}", "{n} = {x} | {k}", "{n} = {x} ^ {X}", "{n} = {x} ** 2", "{n} = {x} * {x} * {x}",
    "{n} = np.square({v})", "{n} = np.sign({v})", "{n} = {x} // -1", "{x} //= {y}", "{x} %= {y}", "{x} >>= 1", "{x} <<= {k}",
    "{x} -= {x}[::-1]", "{x} *= {x}.T", "{x} += {s}", "{n}, {N} = divmod({x}, {y})", "{n}, {N} = np.divmod({x}, {k})",
    "{n} = np.maximum({x}, {y})", "{n} = np.fmin({x} + 0, {y})", "{n} = np.minimum({x}, {k}) == {X}", "{n} = {x} != {x}",
    "{n} = np.add({x}, {y}, dtype={d}, casting='unsafe')", "{n} = np.multiply({x}, {y}, dtype='f8')", "{n} = np.subtract({x}, {X}, order='F')",
    "{n} = np.copysign({v}, {y})", "{n} = np.isnan({x}) | np.isinf({X})", "{n} = np.signbit({v})", "{n} = np.nan_to_num({x}, nan=1.5)",
    "{n} = np.clip({x}, {k}, None)", "{n} = {x}.clip({k}, {k})", "{n} = np.clip({x}, None, {y})", "{n} = np.logical_xor({x}, {y})",
    "{n} = {x} > {s}", "{n} = ({x} < {y}) & ~({X} == {k})", "{n} = np.where({m}, {x}, {s})", "{n} = np.where({m}, {X}, {y})",
    "{n} = np.select([{m}, {m}], [{x}, {X}], {k})", "{n} = np.choose({m} * 1, [{x}, {X}])", "{n} = np.isclose({x}, {X})",
    "{n} = np.trunc({v}) + np.floor({v})", "{n} = np.round({v})", "{n} = np.rint({x} / 3)", "{n} = ({x} + {k}).real",
)  # fmt: skip
_REDUCED = (
    "{n} = {x}.sum(axis={a}, dtype='f8')", "{n} = np.sum({x}, axis={a}, where={m})", "{n} = np.sum({v}, initial={k})",
    "{n} = {x}.max(axis={a}, keepdims=True)", "{n} = np.min({x}, initial={k}, where={m})", "{n} = np.prod({v}, axis={a})",
    "{n} = np.any({x}, axis={a}, where={m})", "{n} = {x}.all({a})", "{n} = {x}.argmax({a})", "{n} = {v}.argmin()", "{n} = np.ptp({x}, {a})",
    "{n} = {x}.mean({a}, keepdims=True)", "{n} = {x}.var(ddof=1)", "{n} = {x}.std({a})", "{n} = np.nansum({x}, {a})", "{n} = np.nanmax({v})",
    "{n} = np.median({x}, axis={a})", "{n} = np.count_nonzero({x}, axis={a})", "{n} = {x}.cumprod({a})", "{n} = np.cumsum({v}, dtype='i8')",
    "{n} = np.trace({x})", "{n} = np.add.reduce({x}, {a})", "{n} = np.maximum.accumulate({x}, {a})", "{n} = np.multiply.reduce({x}, axis=None)",
    "{n} = np.subtract.accumulate({x})", "{n} = np.add.reduceat({x}, [0, 1], {a})", "{n} = np.subtract.outer({x}, {k})",
    "{n} = np.logical_or.reduce({x}, {a})", "{n} = np.bitwise_xor.reduce({x}, {a})", "{n} = np.average({x}, axis={a})", "{n} = {x} @ {x}.T",
    "{n} = np.dot({x}, {X})", "{n} = np.einsum('ij->j', {x})", "{n} = np.einsum('i,i', {x}, {X})", "{n} = np.array_equal({x}, {X})",
    "{n} = {x}.sum() / max({x}.size, 1)", "{n} = np.inner({x}, {X})", "{n} = np.linalg.norm({x} * 0)", "{n} = np.nanmin({x}, axis={a})",
)  # fmt: skip
_MOVED = (
    "{n} = np.roll({x}, {p}, axis={a})", "{n} = np.roll({x}, -1)", "{n} = np.repeat({x}, 2, axis={a})", "{n} = np.tile({v}, 2)",
    "{n} = np.pad({x}, 1)", "{n} = np.pad({x}, 1, mode='edge')", "{n} = np.pad({x}, 1, mode='wrap')", "{n} = np.diff({x}, axis={a})",
    "{n} = np.insert({x}, {p}, {k})", "{n} = np.delete({x}, {p}, axis={a})", "{n} = np.rot90({x})", "{n} = np.append({x}, {k})",
    "{n} = np.resize({x}, (2, 3))", "{n} = np.sort({x}, axis={a})", "{n} = np.argsort({x}, axis={a}, kind='stable')", "{n} = np.unique({x})",
    "{n}, {N} = np.unique({x}, return_counts=True)", "{n} = np.searchsorted(np.sort({x}.ravel()), {k})", "{n} = np.vstack([{x}, {X}])",
    "{n} = np.hstack(({x}, {x}))", "{n} = np.column_stack([{x}, {X}])", "{n} = np.triu({x})", "{n} = np.array({x}, ndmin=3)",
    "{n} = np.array([{x}, {X}])", "{n} = np.array([{k}, {s}])", "{n} = {x}.astype({x}.dtype, order='F')", "{n} = np.array({x}, copy=None)",
    "{n} = np.full_like({x}, {k})", "{n} = np.full({x}.shape, {s})", "{n} = np.ones_like({x}, dtype={d})", "{n} = np.meshgrid({x}, {x})[1]",
    "{n} = np.split({x}, 2)[1]", "{n} = np.array_split({x}, 2, axis={a})[0]", "{n} = np.flatnonzero({x})", "{n} = np.nonzero({x})[0]",
    "{n} = np.argwhere({x} > {k})", "{n} = {x}[{x} > {k}]", "{n} = {x}[{m}] + 1", "{n} = {x}[~{m}].sum()", "{n} = np.compress({m}.ravel(), {x})",
    "{n} = np.extract({m}, {x})", "{n} = {x}.flat[{p}]", "{n} = {x}.flat[1::2]", "{n} = {x}[np.argsort({x}, kind='stable')]",
    "{n} = {x}[::-1][{m}]", "{n} = {x}[..., None] - {x}", "{n} = {x}[np.ix_([0, {p}])]", "{n} = ~np.isin({x}, {y})",
    "{n} = np.bincount({x}.ravel() % 5)", "{n} = np.interp({k}, [0, 1, 2], [1, 3, 5])", "{n} = np.tril({x}, -1).T", "{n} = np.cross({x}, {X})",
)  # fmt: skip
_WRITTEN = (
    "{x}.flat[{p}] = {k}", "{x}.flat[::2] = {k}", "{x}.flat = {k}", "{x}[:, {p}] *= {x}[{p}]", "{x}[1:] += {x}[:-1]", "{x}[:-1] -= {x}[1:]",
    "np.add({x}[:-1], {x}[1:], out={x}[1:])", "np.subtract({x}[1:], {x}[:-1], out={x}[:-1])", "{x} += {x}.T", "{x}[...] = {x}[::-1].copy()",
    "{x}[1:, :-1] = {x}[:-1, 1:]", "{x}[{m}] *= {k}", "{x}[{m}] = {X}[{m}]", "{x}[{m}] -= {x}[{m}].max()", "{x}[[0, 0, {p}]] += {k}",
    "{x}[[{p}, 0]] = {x}[[0, {p}]]", "np.add.at({x}, [0, 0, {p}], {k})", "np.multiply.at({x}, {X} % 2 == 0, {k})", "np.maximum.at({x}, ({p},), {k})",
    "np.divmod({x}, {y}, out=({n}_q := np.zeros_like({x}), {x}))", "np.negative({x}, out={x}, where={m})", "np.add({x}, {y}, out={x}, casting='unsafe')",
    "np.multiply({x}, {k}, {x})", "np.copyto({x}, {k}, where={m})", "{x}[{x} == {k}] = {k}", "{x}[np.isnan({x})] = 0", "{x}.sort(axis={a})",
    "{x}[{p}], {x}[0] = {x}[0], {x}[{p}] + {k}", "{x}[{p}:] = {x}[{p}]", "{x}[:{p}] += {x}[{p}]", "{n} = {x}.copy(); {n}[{m}] = {k}; {x} = {n}",
    "{n} = {x}[:]; {n} += {k}; {n} = {n} + {x}", "{n} = {x}.ravel(); {n}[{p}] = {k}", "{n} = {x}.reshape(-1); {n} *= {k}",
    "{n} = {x}[{x} > {k}]; {n} *= 2; {x}.flat[:{n}.size] = {n}", "{n} = np.zeros({x}.size, {x}.dtype); {n}[{x}.ravel() > {k}] = {k}",
    "{n} = np.empty({x}.shape); {n}.fill({k}); {n} += {x}", "{x}.put([{p}, -1], {x}.take(0))", "{x}.partition(0)", "np.fill_diagonal({x}, {k})",
    "np.clip({x}, {k}, {k}, out={x})", "np.cumsum({x}, axis={a}, out={x})", "np.place({x}, {m}, [{k}])", "{x}[{X} > {k}] += {X}[{X} > {k}]",
)  # fmt: skip
_NUMBERS = (
    "{n} = float({x}.flat[{p}])", "{n} = int({x}.flat[0]) % 7", "{n} = {x}.item({p})", "{n} = {x}.tolist()", "{n} = bool({x}.any()) + {p}",
    "{n} = len({x}) * {s}", "{n} = {x}.size - {p}", "{n} = min({x}.flat[0], {k})", "{n} = max({x}.flat[0], {x}.flat[-1])", "{n} = sum({x}.tolist())",
    "{n} = {x}.shape[0] / 3", "{n} = {x}.flat[0] * {k} - {s}", "{n} = {s} if {x}.flat[{p}] > {k} else {k}", "{n} = not {x}.any()",
    "{n} = {x}.max() > {s} or {x}.min() < {s}", "{n} = {s} * {s} % 5", "{n} = divmod({s}, 3)", "{n} = round(float({x}.flat[0]), 1)",
    "{n} = -{s}", "{n} = abs({s}) // 2", "{n} = {x}.flat[0] ** 2", "{n} = int({x}.sum() % 100)", "{n} = {x}.ndim + {x}.itemsize",
    "{n} = [{x}.sum(), {s}]", "{n} = {{'a': {x}, 'b': {k}}}['a'] + 1", "{n} = str({x}.dtype)", "{n} = {x}.dtype == {X}.dtype",
    "{n}, *{N} = [{s}, {k}, {s}]", "{n} = [row.sum() for row in {x}]", "{n} = np.array([v * 2 for v in {x}])", "{n} = [v for v in {x} if v > {k}]",
    "{n} = sum(v * v for v in {x})", "{n} = {{i: v for i, v in enumerate({x})}}", "{n} = [a + b for a, b in zip({x}, {X})]",
    "{n} = any(v > {k} for v in {x})", "{n} = sorted({x}.tolist())[{p}]", "{n} = max(({x}.flat[0], 1), ({x}.flat[-1], 2))[1]",
    "{n} = dict(zip('abc', {x}))", "{n} = list(reversed({x}))", "{n} = tuple({x}[:2])", "{n} = {x}[{p}] in ({k}, {s})",
)  # fmt: skip
_LOOPS = (
    "{n} = {k}\nfor q in {x}:\n    if q > {k}:\n        continue\n    {n} = {n} + q\nelse:\n    {n} = {n} * 2",
    "{n} = {x}.copy()\nfor i in range(len({x})):\n    for j in range(len({n})):\n        if i > j:\n            continue\n        if {n}[j] > {k}:\n            break\n        {n}[j] += {x}[i]\n    else:\n        {n}[i] -= 1",
    "{n} = 0\nwhile {n} < len({x}):\n    {n} += 1\n    if {x}[{n} - 1] > {k}:\n        break\nelse:\n    {n} = -1",
    "def {n}_of(x):\n    for i in range(len(x)):\n        if x[i] > {k}:\n            return x[i], i\n    return x[0], -1\n{n} = {n}_of({x})",
    "def {n}_of(x):\n    if x.sum() > {k}:\n        return x\n    x[0] = {k}\n    return x[::-1]\n{n} = {n}_of({x})[0]",
    "def {n}_of(x, left):\n    while True:\n        x = x - 1\n        left -= 1\n        if not left or not (x > {k}).any():\n            return x\n{n} = {n}_of({x} % 5, 4)",
    "try:\n    {n} = {x}[{p} + 2]\nexcept IndexError:\n    {n} = {x}[0]",
    "try:\n    {x}[...] = np.zeros((2, 3, 1))\nexcept ValueError:\n    {x}[0] = {k}\nfinally:\n    {n} = {x} + 1",
    "try:\n    if {x}.max() > {k}:\n        raise ValueError('large')\n    {n} = {x} * 2\nexcept ValueError as error:\n    {n} = {x} - 1",
    "{n} = []\nfor i in range(len({x})):\n    {n}.append({x}[i] * 2)\n{n} = np.array({n})",
    "{n} = []\nfor q in {x}:\n    if q > {k}:\n        {n}.append(q)",
    "{n} = {{}}\nfor i, q in enumerate({x}):\n    {n}[i % 2] = {n}.get(i % 2, 0) + q",
    "{n} = np.zeros_like({x})\nfor i in range(1, len({x})):\n    {n}[i] = {n}[i - 1] + {x}[-i]",
    "for i in range(len({x}) - 1, 0, -1):\n    {x}[i] = {x}[i] - {x}[i - 1]",
    "for i in range(len({x})):\n    {x}[i], {x}[-1 - i] = {x}[-1 - i], {x}[i]",
    "{n} = {x}\nfor i in range(3):\n    {n} = {n} + {n}[::-1]\n    {x}[0] += 1",
    "for i, j in np.ndindex({x}.shape):\n    if i != j:\n        {x}[i, j] += {x}[j % len({x}), 0]",
    "{n} = {x}.copy()\nfor row in {n}:\n    row -= row.max()\n    row[0] = {k}",
    "{n} = {x}[0]\n{N} = 0\nfor i, q in enumerate({x}):\n    if q > {n}:\n        {n}, {N} = q, i",
    "{n}, {N} = {x}, {X}\nfor i in range(3):\n    {n}, {N} = {N}, {n} + i\n    if {N}.max() > {k}:\n        break",
    "for q in ({x}, {X}):\n    q += 1\n    q[...] = q[::-1].copy()",
    "{n} = 0\nfor q, r in zip({x}, {X}[::-1]):\n    {n} += 1 if q > r else -1",
    "if {x}.any() and {x}.flat[0] > {k}:\n    {x}[0] = {k}\n    {n} = 1\nelif {x}.flat[-1] > {k}:\n    {n} = {x}\nelse:\n    {n} = {x} + 1\n{n} = {n} * 2",
)  # fmt: skip
_DATES = (
    "{n} = {t} + np.timedelta64(3, 'D')", "{n} = {t} - {t}[::-1]", "{n} = {t} > {t}[0]", "{n} = np.isnat({t})", "{n} = {t}.astype('M8[h]')",
    "{n} = ({t} - {t}[0]) * 2", "{n} = ({t} - {t}[0]) // np.timedelta64(2, 'D')", "{n} = ({t} - {t}[0]).astype('i8')", "{n} = {t}.max()",
    "{n} = {t}.min()", "{n} = np.sort({t})", "{n} = np.where(np.isnat({t}), {t}[0], {t})", "{n} = {t}[~np.isnat({t})]", "{t}[0] = {t}[-1]",
    "{t} += 1", "{t}[::2] = np.datetime64('NaT')", "{n} = {t}.argmax()", "{n} = np.maximum({t}, {t}[::-1])", "{n} = {t} == {t}[1]",
    "{n} = abs({t} - {t}[1])", "{n} = ({t} - {t}[0]) / np.timedelta64(1, 'h')", "{n} = np.diff({t})", "{n} = {t}.view('i8')", "{n} = -({t} - {t}[0])",
    "{n} = ({t} - {t}[0]) % np.timedelta64(3, 'D')", "{n} = np.unique({t})", "{n} = {t}.copy(); {n}[{n} < {t}[0]] = {t}[0]", "{n} = ({t} - {t}[1]).sum()",
)  # fmt: skip

TEMPLATES = (
    (_ARITHMETIC, 10), (_REDUCED, 6), (_MOVED, 6), (_WRITTEN, 10), (_NUMBERS, 6), (_LOOPS, 7), (_DATES, 2),
)  # fmt: skip
