"""Every way to write: operators, ``out=``, assignments, functions that write."""

from __future__ import annotations

import numpy as np

from .model import Group

in_place = Group("In-place operators")


@in_place("`x += y`, `-=`, `*=`, `/=`, `**=`")
def arithmetic(x, y):
    x += y
    x *= x
    x -= 2 * y
    x /= 4
    x **= 2


@in_place("`//=`, `%=` of integers", dtype="int64")
def floor_arithmetic(x, y):
    x //= 3
    x += 2 * y
    x %= 5


@in_place("`&=`, `|=`, `^=`, `<<=`, `>>=`", dtype="int64")
def bitwise(x, y):
    x &= 13
    x |= y & 2
    x ^= y
    x <<= 2
    x >>= 1


@in_place("`&=`, `|=`, `^=` of bools", dtype="bool")
def logical(x, y):
    x &= y
    x[1:] |= x[:-1]
    x ^= True


@in_place("`x @= m`", shape=(4, 4))
def matrix_product(x, y):
    x @= y
    x += 1


@in_place("`x[1:] += x[:-1]`")
def shifted(x):
    x[1:] += x[:-1]
    x[:-1] -= x[1:] * 2


@in_place("`x += x.T`", shape=(4, 4))
def with_its_transpose(x):
    x += x.T
    x[:] = x[::-1]
    x.T[1:] = x[:-1]


@in_place("`x -= x[0]`, `x /= x[1, 1]`")
def by_its_own_elements(x):
    x -= x[0]
    x += 1
    x /= x[1, 1]
    x *= x[-1:, 2:3]


@in_place("`x[i, j] += v`, `x[1, 2, ...] += v`")
def elements(x):
    x[1, 2] += 3
    x[1, 2, ...] *= 2
    x[-1, -1] -= x[0, 0]


@in_place("an operand that broadcasts", empty=(4, 0))
def broadcasting(x, y):
    x += y[0]
    x *= y[:, :1]
    x -= np.float64(0.5)


@in_place("`x += …` of a larger shape raises")
def too_large(x):
    x *= 2
    x += np.ones((2, *x.shape))


@in_place("`ints += 1.5` raises", dtype="int64")
def not_same_kind(x):
    x += 1
    x += 1.5


@in_place("`int8 += 300` raises", dtype="int8")
def out_of_range(x):
    x += 1
    x += 300


@in_place("`float32 += float64` rounds", dtype="float32")
def narrowing(x):
    x += np.full(x.shape, 0.1)
    x *= np.float64(1.1)


with_out = Group("`out=` and `where=`")


@with_out("`np.add(x, y, out=x)`")
def out_is_an_operand(x, y):
    r = np.add(x, y, out=x)
    np.multiply(x, 2, out=x)
    return r


@with_out("`out=` a view")
def out_is_a_view(x, y):
    r = np.subtract(y[:, ::2], 1, out=x[:, 1::2])
    return r


@with_out("`out=` overlaps an operand")
def out_overlaps(x):
    np.add(x[:-1], x[1:], out=x[1:])
    np.multiply(x[:, ::-1], 2, out=x)


@with_out("`out=` a preallocated array made here")
def out_is_new(x, y):
    total = np.empty_like(x)
    np.multiply(x, y, out=total)
    np.add(total, x, total)
    return total


@with_out("`out=` of another dtype")
def out_casts(x, y):
    small = np.zeros(x.shape, np.float32)
    np.add(x, y, out=small)
    whole = np.zeros(x.shape, np.int64)
    np.multiply(x, 3, out=whole, casting="unsafe")
    return small, whole


@with_out("`out=` of a kind that may not be cast raises", dtype="float64")
def out_may_not_cast(x, y):
    x += 1
    np.add(x, y, out=np.zeros(x.shape, np.int64))


@with_out("`where=` with `out=`")
def where_and_out(x, y):
    np.sqrt(x, out=y, where=x > 0)
    np.add(x, 1, out=x, where=y > 1)


@with_out("two outputs: `np.divmod(x, 3, out=(a, b))`")
def two_outputs(x, y):
    a = np.empty_like(x)
    r = np.divmod(x, 1.5, out=(a, y))
    return a, r


@with_out("`x.sum(axis, out=)`, `np.max(…, out=)`")
def reductions(x, y):
    np.sum(x, axis=0, out=y[0])
    x.max(axis=1, out=x[:, 0])
    return y[0]


@with_out("running sum: `np.cumsum(x, out=)`")
def running_sum(x, y):
    np.cumsum(x, axis=1, out=y)
    np.add.accumulate(x, axis=0, out=x)
    return y


@with_out("`np.matmul(…, out=)`, `np.dot(…, out=)`", shape=(4, 4))
def products(x, y):
    np.matmul(x, y, out=y)
    np.dot(y, x, out=x)


@with_out("`np.clip(…, out=)`, `np.round(…, out=)`")
def clipped(x, y):
    np.clip(x, -1, 1.5, out=x)
    np.clip(y, None, x, out=y)
    return x.clip(0, 1, out=x)


@with_out("`out=` of a wrong shape raises")
def out_of_a_wrong_shape(x, y):
    x += 1
    np.add(x, y, out=x[1:])


set_items = Group("Assignments")


@set_items("`x[1:3] = 2.5`, `x[...] = y`, `x[:] = …`", empty=(4, 0))
def assigned(x, y):
    x[1:3] = 2.5
    x[:, 2:] = y[:, ::-1][:, 2:]
    x[0] = y[0]
    y[...] = 7


@set_items("overlapping: `x[1:] = x[:-1]`, `x[:] = x[::-1]`")
def assigned_from_itself(x):
    x[1:] = x[:-1]
    x[:] = x[::-1]
    x[:, :-1] = x[:, 1:]


@set_items("`ints[:] = 1.5` truncates", dtype="int64")
def assigned_with_a_cast(x):
    x[1:] = 1.75
    x[0] = np.linspace(-2, 3, x.shape[-1])
    x[:, 1] = True


@set_items("lists and tuples: `x[1] = [1, 2, …]`")
def assigned_from_lists(x):
    x[1] = [1, 2, 3, 4, 5, 6]
    x[0, :2] = (7.5, 8)


@set_items("a shape that does not broadcast raises")
def assigned_wrong_shape(x):
    x[0] = 1
    x[1:3] = np.ones(5)


@set_items("`x[mask] = 0`, `x[x > 1] = …`")
def masked_scalar(x):
    x[x > 1] = 0
    x[x < -1] = x[0, 0]
    m = x == 0
    x[~m] = 1


@set_items("`x[mask] = y[mask]`")
def masked_values(x, y):
    m = x > 0
    x[m] = y[m]
    y[~m] = -2 * y[~m] + 1


@set_items("`x[mask] += 1`, `x[mask] = x[mask] * 2`")
def masked_update(x):
    m = x > 0
    x[m] += 1
    x[~m] = x[~m] * 2


@set_items("a mask of rows, `x[mask, 1:] = …`")
def masked_rows(x):
    m = x[:, 0] > 0
    x[m] = 3
    x[~m, 1:] = -1


@set_items("`x[mask]`, read")
def masked_read(x):
    v = x[x > 0]
    v += 1
    return v, x[x[:, 0] > 0].sum()


@set_items("`x[[0, 2]]`, `x[i, j]`, read (copies)")
def gathered(x):
    i, j = np.array([2, 0, -1]), np.array([1, 1, 3])
    v, w = x[[0, 2]], x[i, j]
    v += 1
    x *= 2
    return v, w, x[:, i], x[i[:, None], j]


@set_items("`x[i] = values`: the last of equal indices wins")
def scattered(x):
    i = np.array([1, 3, 1])
    x[i] = np.arange(3.0)[:, None]
    x[i, 2] = [7, 8, 9]
    x[:, i] = 5


@set_items("`x[i] += v` does not accumulate")
def scattered_update(x):
    i = np.array([0, 2, 0, 2])
    x[i] += 1
    x[i, 1] *= x[i, 2]


@set_items("an index out of range raises, nothing is written")
def scattered_out_of_range(x):
    x += 1
    x[np.array([0, 99])] = 5


@set_items(
    "the index is the target: `i[i] = 0`",
    dtype="int64",
    shape=(4,),
)
def index_is_the_target(x):
    x[:] = [2, 0, 3, 1]
    x[x] = 0
    return x


@set_items("the mask is the target: `m[m] = False`", dtype="bool")
def mask_is_the_target(m):
    m[m] = False
    return m


@set_items("`x[mask][:1] = 5` is lost, `x[2:][0] = 5` is kept")
def chained(x):
    x[x > 0][:1] = 5
    x[[0, 1]][0] = 6
    x[2:][0] = 7


functions = Group("Functions and methods that write")


@functions("`np.add.at`, `np.maximum.at` accumulate")
def ufunc_at(x):
    i = np.array([0, 2, 0, -1])
    np.add.at(x, i, 1)
    np.maximum.at(x, (i, 1), 3)
    np.negative.at(x, [1, 1, 2])


@functions("`np.copyto`, with `where=`")
def copyto(x, y):
    np.copyto(x[1:], y[:-1])
    np.copyto(y, 0, where=x > 1)


@functions("`x.fill`")
def filled(x):
    x[1:].fill(2)
    x.T[0].fill(3)


@functions("`np.put`, `x.put`")
def put(x):
    np.put(x, [0, 5, -1], [1, 2])
    x.put(3, 9)


@functions("`np.put` out of range raises half way")
def put_out_of_range(x):
    np.put(x, [0, 1, 99], 7)


@functions("`np.putmask`, `np.place`")
def putmask(x):
    np.putmask(x, x > 1, [10, 20, 30])
    np.place(x, x < 0, [1, 2])


@functions("`np.take`, `np.take_along_axis` (copies)")
def take(x):
    a = np.take(x, [0, 2, 2], axis=0)
    b = np.take_along_axis(x, np.array([[0, 1], [2, 2], [3, 1], [5, 0]]), axis=1)
    a += 1
    return a, b, x.take([1, 4])


@functions("`np.put_along_axis`")
def put_along_axis(x):
    np.put_along_axis(x, np.array([[0], [2], [3], [5]]), 9, axis=1)


@functions("`np.fill_diagonal`", shape=(4, 5))
def fill_diagonal(x):
    np.fill_diagonal(x, 0)
    np.fill_diagonal(x[1:], [1, 2])


@functions("`x.sort()`, `x[1:].sort(axis=0)`")
def sorted_in_place(x):
    x.sort()
    x[1:].sort(axis=0)
    return x[0]


@functions("`x.partition(k)`", shape=(9,))
def partitioned(x):
    x.partition(4)
    return x[4]


@functions("`np.nan_to_num(x, copy=False)`")
def nan_to_num(x):
    x[0] = np.nan
    r = np.nan_to_num(x, copy=False)
    return r


@functions("`x[1, 2] = x.sum()`")
def scalar_stored(x):
    x[1, 2] = x.sum()
    x[0] = x[1, 2] * 2
