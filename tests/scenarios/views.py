"""Every way to make a view; each view is written through, or the array under it."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from .model import Absent, Group, Refused

basic = Group("Basic indexing")


@basic("`x[1:, ::2]`")
def slices(x):
    v = x[1:, ::2]
    v *= 2
    x += 1
    return v


@basic("`x[::-1, 4:0:-2]`")
def negative_steps(x):
    v = x[::-1, 4:0:-2]
    v -= x[:, 1:3]
    return v, v.sum()


@basic("`x[-100:100, 3:1]` (beyond the ends, empty)")
def slices_beyond_the_ends(x):
    x[-100:2] += x[2:100]
    x[:, 3:1] = 7
    x[:0] = 5
    return x[-100:100], x[3:1]


@basic("`x[:, None, ..., None]`")
def new_axes(x):
    v = x[:, None, ..., None]
    v += 1
    return v, x[None]


@basic("`x[...]`, `x[:]`, `x[()]`")
def ellipsis(x):
    v = x[...]
    v *= 3
    w = x[:]
    w -= 1
    return v, w, x[()]


@basic("`x[1, 2]` is a scalar")
def scalar_element(x):
    s = x[1, 2]
    x[1, 2] = s * 2
    x /= s
    return s, x[-1, -1]


@basic("`x[1, 2, ...]` is a view of rank 0")
def rank_0_view(x):
    v = x[1, 2, ...]
    x *= 2
    v += 1
    return v, v[()]


@basic("`x[1]`, `x[-1, 2:]`", empty=(4, 0))
def rows(x):
    r = x[1]
    r *= 2
    x -= x[0]
    return r, x[-1, 2:]


@basic("`for row in x:`")
def rows_in_a_loop(x, y):
    for row, other in zip(x, y, strict=True):
        row *= other[0]
        row[-1] = 1
    return x


@basic("`first, *rest = x`", empty=(4, 0))
def unpacked_rows(x):
    first, *rest = x
    rest[0] += first
    first -= 1
    return first, rest


@basic("`x[0], x[1] = x[1], x[0]` is no swap", empty=(4, 0))
def swap_of_views(x):
    x[0], x[1] = x[1], x[0]
    x[2], x[3] = x[3].copy(), x[2].copy()


@basic("a view of a view of a view", empty=(4, 0))
def nested_views(x):
    v = x[1:]
    w = v[:, ::-1]
    u = w.T[1:4]
    u *= 2
    x += 1
    w[0] = v[1]
    return u, w, v


turned = Group("Turned and reshaped")


@turned("`x.T`, `x.transpose(1, 0)`, `np.transpose(x)`")
def transposed(x):
    v = x.T
    v[1:] += 1
    w = np.transpose(x)
    w *= 2
    return v, x.transpose(1, 0), w


@turned("`np.swapaxes`, `np.moveaxis`, `np.rollaxis`", shape=(2, 3, 4))
def moved_axes(x):
    a = np.swapaxes(x, 0, 2)
    b = np.moveaxis(x, 0, -1)
    c = np.rollaxis(x, 2)
    a[1] += 1
    b *= 2
    c[..., 0] = 5
    return a, b, c, x.swapaxes(-1, 0)


@turned("`x.mT`")
def matrix_transposed(x):
    v = x.mT
    v[0] = 3
    return v


@turned("`np.squeeze`, `np.expand_dims`", shape=(4, 1, 6))
def squeezed(x):
    v = np.squeeze(x, 1)
    v += 1
    w = np.expand_dims(x, (0, -1))
    w *= 2
    return v, w, x.squeeze()


@turned("`np.atleast_1d`, `_2d`, `_3d`", shape=(6,))
def at_least(x):
    a, b, c = np.atleast_1d(x), np.atleast_2d(x), np.atleast_3d(x)
    a += 1
    b *= 2
    c -= 3
    return a, b, c


@turned("`x.reshape` (a view or a copy)")
def reshaped(x):
    v = x.reshape(-1)
    v[1:] += 1
    w = x.reshape(2, -1)
    w *= 2
    return v, w


@turned("`x.T.reshape`, `order='F'`")
def reshaped_in_fortran_order(x):
    v = x.reshape(3, -1, order="F")
    v += 1
    w = x.T.reshape(-1)
    w *= 2
    return v, w


@turned("`reshape` of a value computed here")
def reshaped_value(x):
    t = x * 2
    v = t.reshape(-1)
    w = t.T.reshape(-1)
    v += 1
    w -= 1
    return t, v, w


@turned(
    "`np.ravel`, `x.ravel(order='K')` (a view or a copy)",
)
def ravelled(x):
    v = x.ravel()
    v[::2] = 0
    w = np.ravel(x, order="K")
    w += 1
    u = x.T.ravel(order="A")
    u *= 2
    return v, w, u


@turned("`x.flatten`, `x.copy`, `np.array(x)` (copies)")
def copies(x):
    a, b, c = x.flatten(), x.copy(), np.array(x)
    x += 1
    a *= 2
    b -= 1
    return a, b, c


@turned("`np.asarray`, `np.asanyarray`, `np.array(x, copy=None)`")
def as_array(x):
    a, b, c = np.asarray(x), np.asanyarray(x), np.array(x, copy=None)
    a += 1
    b *= 2
    c -= 1
    return a, b, c


@turned("`np.ascontiguousarray`, `np.asfortranarray` (a view or a copy)")
def as_contiguous(x):
    c = np.ascontiguousarray(x)
    f = np.asfortranarray(x)
    c += 1
    f *= 2
    return c, f


@turned("`x.astype(…, copy=False)` (the object or a copy)")
def as_type(x):
    a = x.astype(np.float64, copy=False)
    b = x.astype(np.float32, copy=False)
    c = x.astype(np.float64)
    a += 1
    b *= 2
    return a, b, c


@turned("`v.shape = …` of a view made here")
def shape_of_a_view(x):
    v = x[:]
    v.shape = (3, 8)
    v *= 2
    return v


@turned(
    "`np.resize`, `t.resize(…, refcheck=False)` of an array made here",
    differs={
        "F": Refused("x.resize of an array that is not in C order"),
        "rank-0": Refused(".resize needs the value"),
    },
)
def resized(x):
    t = x + 1
    t.resize((2, 3), refcheck=False)
    w = np.resize(x, (3, 9))
    w[0] = 0
    return t, w


parts = Group("Parts")


@parts("`np.split`, `np.vsplit`, `np.hsplit`", empty=(4, 0))
def split(x):
    top, bottom = np.split(x, 2)
    top += bottom
    a, b, c = np.hsplit(x, 3)
    b *= a
    upper, lower = np.vsplit(x, [1])
    lower -= 1
    return top, c, upper


@parts("`np.array_split`", empty=(4, 0))
def array_split(x):
    pieces = np.array_split(x, 3)
    for k, piece in enumerate(pieces):
        piece *= k + 2
    return pieces


@parts("`np.dsplit`", shape=(2, 3, 4))
def depth_split(x):
    front, back = np.dsplit(x, 2)
    front += back
    return back


@parts("split, modify, concatenate")
def split_and_joined(x):
    left, right = x[:, :3], x[:, 3:]
    left *= 2
    return np.concatenate([right, left], axis=1), np.stack([left, right])


@parts("`np.diagonal`, `np.diag` (read-only)", shape=(4, 5))
def diagonal(x):
    d = x.diagonal(1)
    e = np.diag(x)
    x += 1
    return d, e, d + e[: d.size]


@parts("a write to `x.diagonal()` raises", shape=(4, 5))
def write_to_a_diagonal(x):
    x += 1
    d = x.diagonal()
    d += 1


@parts("`np.broadcast_to` (read-only)")
def broadcast_to(x):
    b = np.broadcast_to(x, (3, *x.shape))
    x *= 2
    return b, b.sum(axis=0)


@parts("a write to `np.broadcast_to(…)` raises")
def write_to_a_broadcast(x):
    x += 1
    b = np.broadcast_to(x, (3, *x.shape))
    b[0] = 0


@parts("`np.broadcast_arrays`")
def broadcast_arrays(x):
    a, b = np.broadcast_arrays(x, x[:1])
    x += 1
    return a, b


@parts(
    "`sliding_window_view` (read-only, overlaps itself)",
    shape=(9,),
)
def sliding_windows(x):
    w = sliding_window_view(x, 3)
    x *= 2
    return w, w.mean(axis=1)


@parts(
    "`as_strided`, read",
    shape=(9,),
    differs={
        "zero-size": Absent("the windows would reach outside of the memory"),
    },
)
def strided_windows(x):
    w = as_strided(x, (4, 3), (x.strides[0], x.strides[0]))
    x += 1
    return w, w.sum(axis=1)


@parts(
    "`as_strided`, elements apart, written",
    shape=(9,),
    differs={
        "zero-size": Absent("the windows would reach outside of the memory"),
    },
)
def strided_blocks(x):
    w = as_strided(x, (4, 2), (2 * x.strides[0], x.strides[0]))
    w *= 2
    return w


flipped = Group("Flipped, flat, reinterpreted")


@flipped("`np.flip`, `np.flipud`, `np.fliplr`")
def flips(x):
    a, b, c = np.flip(x), np.flipud(x), np.fliplr(x)
    a[0] += 1
    b[:, 0] *= 2
    c[1] = 3
    return a, b, c, np.flip(x, 0)


@flipped("`np.rot90`")
def rotated(x):
    a, b = np.rot90(x), np.rot90(x, 2)
    a += 1
    b[0] = 0
    return a, b, np.rot90(x, -1)


@flipped("`np.roll` (a copy)")
def rolled(x):
    r = np.roll(x, 1, axis=0)
    x += r
    return r


@flipped("`x.flat[2:9:2] = …`, `x.flat[3]`")
def flat_items(x):
    x.flat[2:9:2] = 1
    x.flat[0] += 2
    return x.flat[3], x.flat[1:5]


@flipped("`x.flat = …`", differs={"overlapping": Refused("an assignment to x.flat from x itself")})
def flat_assigned(x, y):
    x.flat = y[1:]
    return x


@flipped("`x.view()`, `x.view(np.float64)`")
def plain_view(x):
    v, w = x.view(), x.view(np.float64)
    v += 1
    w *= 2
    return v, w


@flipped("`x.view(np.int64)`: the bits")
def view_of_bits(x):
    bits = x.view(np.int64)
    bits ^= 1 << 52
    x += 1
    return bits, bits >> 52


@flipped("`x.view(np.float32)`: elements of another size")
def view_of_halves(x):
    v = x.view(np.int32)
    v[..., ::2] = 5
    return v


@flipped("`z.real`, `z.imag`", dtype="complex128")
def real_and_imaginary(z):
    z.real += 1
    z.imag[...] = z.real * 2
    z *= 1j
    return z.real, z.imag, z.conj()


@flipped("`z.real`, `z.imag`, complex64", dtype="complex64")
def real_and_imaginary_single(z):
    re, im = z.real, z.imag
    re[...], im[...] = im.copy(), re.copy()
    return re, z * z


@flipped("`x.real` is `x`, `x.imag` is read-only zeros")
def parts_of_a_real_array(x):
    r = x.real
    r += 1
    return r, x.imag
