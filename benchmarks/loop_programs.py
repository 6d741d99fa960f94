"""Programs with loops over array statements and over elements, as people write them.

Tests run them small, benchmarks large. Sources of the algorithms: textbook forms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def heat_1d(u, n):
    for _ in range(n):
        u[1:-1] += 0.1 * (u[:-2] - 2 * u[1:-1] + u[2:])
    return u


def jacobi_2d(A, B, n):
    for _t in range(n):
        B[1:-1, 1:-1] = 0.25 * (A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])
        A[...] = B
    return A


def double_buffer(A, B, n):
    for _t in range(n):
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        A, B = B, A
    return A


def gauss_seidel(u):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u


def cholesky(A):
    n = A.shape[0]
    L = np.zeros_like(A)
    for j in range(n):
        L[j, j] = np.sqrt(A[j, j] - np.dot(L[j, :j], L[j, :j]))
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - np.dot(L[i, :j], L[j, :j])) / L[j, j]
    return L


def thomas(a, b, c, d):
    n = len(d)
    cp = np.zeros(n)
    dp = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.zeros(n)
    x[n - 1] = dp[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


def floyd_warshall(D):
    n = D.shape[0]
    for k in range(n):
        D[:] = np.minimum(D, D[:, k, None] + D[None, k, :])
    return D


def mandelbrot(cr, ci, maxit):
    h, w = cr.shape[0], ci.shape[0]
    out = np.zeros((h, w), dtype=np.int64)
    for i in range(h):
        for j in range(w):
            zr = 0.0
            zi = 0.0
            n = 0
            while n < maxit and zr * zr + zi * zi <= 4.0:
                zr, zi = zr * zr - zi * zi + cr[i], 2 * zr * zi + ci[j]
                n += 1
            out[i, j] = n
    return out


def matmul(A, B):
    n, k = A.shape
    m = B.shape[1]
    C = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            s = 0.0
            for p in range(k):
                s += A[i, p] * B[p, j]
            C[i, j] = s
    return C


def fft(x):
    n = x.shape[0]
    X = x.reshape(1, -1).astype(np.complex128)
    while X.shape[0] < n:
        half = X.shape[1] // 2
        even, odd = X[:, :half], X[:, half:]
        turns = np.exp(-1j * np.pi * np.arange(X.shape[0]) / X.shape[0]).reshape(-1, 1)
        X = np.vstack((even + turns * odd, even - turns * odd))
    return X.ravel()


def fft_in_place(a):
    n = a.size
    h = 1
    while h < n:
        w = np.exp(-1j * np.pi * np.arange(h) / h)
        b = a.reshape(-1, 2 * h)
        t = w * b[:, h:]
        e = b[:, :h].copy()
        b[:, :h] = e + t
        b[:, h:] = e - t
        h *= 2
    return a


def edit_distance(a, b):
    n, m = len(a), len(b)
    D = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n + 1):
        D[i, 0] = i
    for j in range(m + 1):
        D[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            D[i, j] = min(D[i - 1, j] + 1, D[i, j - 1] + 1, D[i - 1, j - 1] + cost)
    return D[n, m]


def sieve(n):
    p = np.ones(n + 1, dtype=bool)
    p[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if p[i]:
            p[i * i :: i] = False
    return p


def csr_matvec(indptr, indices, data, x):
    n = len(indptr) - 1
    y = np.zeros(n)
    for i in range(n):
        s = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            s += data[k] * x[indices[k]]
        y[i] = s
    return y


def histogram(x, n):
    h = np.zeros(n, dtype=np.int64)
    for i in range(len(x)):
        h[int(x[i] * n)] += 1
    return h


def life(g, n):
    for _ in range(n):
        nb = sum(np.roll(np.roll(g, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        g = ((nb == 3) | ((g == 1) & (nb == 2))).astype(g.dtype)
    return g


def conv2d(x, k):
    H, W = x.shape
    kh, kw = k.shape
    out = np.zeros((H - kh + 1, W - kw + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            s = 0.0
            for a in range(kh):
                for b in range(kw):
                    s += x[i + a, j + b] * k[a, b]
            out[i, j] = s
    return out


def bisection(a):
    lo, hi = 0.0, 2.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if mid * mid > a:
            hi = mid
        else:
            lo = mid
    return lo


def crc32(data, table):
    c = 0xFFFFFFFF
    for i in range(len(data)):
        c = (c >> 8) ^ int(table[(c ^ int(data[i])) & 0xFF])
    return c ^ 0xFFFFFFFF


def gram_schmidt(A):
    _m, n = A.shape
    Q = A.copy()
    for j in range(n):
        Q[:, j] /= np.sqrt(np.dot(Q[:, j], Q[:, j]))
        for k in range(j + 1, n):
            Q[:, k] -= np.dot(Q[:, j], Q[:, k]) * Q[:, j]
    return Q


def lu(A):
    n = A.shape[0]
    for k in range(n - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= A[k + 1 :, k, None] * A[k, None, k + 1 :]
    return A


def newton(a):
    x = a
    err = 1.0
    while err > 1e-12:
        new = 0.5 * (x + a / x)
        err = abs(new - x)
        x = new
    return x


def power_iteration(A, v, n):
    lam = 0.0
    for _ in range(n):
        w = A @ v
        lam = np.sqrt((w * w).sum())
        v = w / lam
    return lam, v


def heat_3d(u, n):
    for _ in range(n):
        u[1:-1, 1:-1, 1:-1] += 0.1 * (
            u[:-2, 1:-1, 1:-1]
            + u[2:, 1:-1, 1:-1]
            + u[1:-1, :-2, 1:-1]
            + u[1:-1, 2:, 1:-1]
            + u[1:-1, 1:-1, :-2]
            + u[1:-1, 1:-1, 2:]
            - 6 * u[1:-1, 1:-1, 1:-1]
        )
    return u


def longest_common(a, b):
    n, m = len(a), len(b)
    row = np.zeros(m + 1, dtype=np.int64)
    for i in range(n):
        diagonal = row[0]
        for j in range(m):
            above = row[j + 1]
            if a[i] == b[j]:
                row[j + 1] = diagonal + 1
            elif row[j] > above:
                row[j + 1] = row[j]
            diagonal = above
    return row[m]


def k_means(x, centres, n):
    for _ in range(n):
        distance = ((x[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        nearest = distance.argmin(axis=1)
        for k in range(centres.shape[0]):
            mine = (nearest == k).astype(np.float64)
            count = mine.sum()
            if count > 0:
                centres[k] = (x * mine[:, None]).sum(axis=0) / count
    return centres


def levinson(r, y):
    n = len(y)
    x = np.zeros(n)
    f = np.zeros(n)
    f[0] = 1.0 / r[0]
    x[0] = y[0] / r[0]
    for i in range(1, n):
        e = 0.0
        for j in range(i):
            e += r[i - j] * f[j]
        b = f[:i][::-1].copy()
        scale = 1.0 / (1.0 - e * e)
        f[:i] *= scale
        f[1 : i + 1] -= scale * e * b
        d = 0.0
        for j in range(i):
            d += r[i - j] * x[j]
        x[: i + 1] += (y[i] - d) * f[: i + 1][::-1]
    return x


def durbin(r):
    n = len(r)
    y = np.zeros(n)
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, n):
        beta = (1.0 - alpha * alpha) * beta
        alpha = -(r[k] + np.dot(r[:k][::-1], y[:k])) / beta
        y[:k] += alpha * y[:k][::-1]
        y[k] = alpha
    return y


def running_median(x, k):
    n = len(x)
    out = np.empty(n - k + 1)
    for i in range(n - k + 1):
        out[i] = np.sort(x[i : i + k])[k // 2]
    return out


def power_to_tolerance(A, v, tol):
    v = v / np.sqrt((v * v).sum())
    lam = 0.0
    while True:
        w = A @ v
        new = (v * w).sum()
        v = w / np.sqrt((w * w).sum())
        if abs(new - lam) < tol:
            return new, v
        lam = new


@dataclass(frozen=True)
class LoopProgram:
    """A function and its arguments, made anew for each call; ``scalar`` if it works on elements.

    ``longest``: the size at which loops, or an array that they go over, reach 10**6.
    """

    function: Callable[..., Any]
    large: int  # the size for benchmarks
    arguments: Callable[[np.random.Generator, int], tuple[Any, ...]]
    scalar: bool = True
    longest: int = 1000


def _positive(r, n):
    a = r.random((n, n))
    return a @ a.T + n * np.eye(n)


def _sparse(r, n):
    counts = r.integers(0, 6, n)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return indptr, r.integers(0, n, indptr[-1]), r.random(indptr[-1]), r.random(n)


def _crc_table():
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(0xEDB88320), table >> 1)
    return table.astype(np.uint32)


def _power(n):
    return 1 << n.bit_length()


def _twice(x):
    return x, x.copy()


P = LoopProgram
PROGRAMS = (
    P(heat_1d, 2000, lambda r, n: (r.random(n), n), scalar=False, longest=10**6),
    P(jacobi_2d, 200, lambda r, n: (*_twice(r.random((n, n + 1))), n), scalar=False),
    P(heat_3d, 60, lambda r, n: (r.random((n, n, n)), 3), scalar=False, longest=100),
    P(double_buffer, 2000, lambda r, n: (*_twice(r.random(n)), n), scalar=False, longest=10**6),
    P(gauss_seidel, 400, lambda r, n: (r.random((n, n + 1)),)),
    P(cholesky, 150, lambda r, n: (_positive(r, n),), scalar=False),
    P(lu, 150, lambda r, n: (_positive(r, n),), scalar=False),
    P(gram_schmidt, 120, lambda r, n: (_positive(r, n),), scalar=False),
    P(
        thomas,
        20000,
        lambda r, n: (r.random(n), r.random(n) + 3, r.random(n), r.random(n)),
        longest=10**6,
    ),
    P(levinson, 500, lambda r, n: (2.0 ** -np.arange(n), r.random(n)), scalar=False),
    P(durbin, 500, lambda r, n: (2.0 ** -np.arange(1, n + 1),), scalar=False),
    P(floyd_warshall, 200, lambda r, n: (r.random((n, n)),), scalar=False),
    P(mandelbrot, 200, lambda r, n: (np.linspace(-2, 1, n), np.linspace(-1, 1, n), 50)),
    P(newton, 9, lambda r, n: (np.float64(r.random() + n),), longest=10**6),
    P(power_iteration, 200, lambda r, n: (_positive(r, n), r.random(n), n), scalar=False),
    P(power_to_tolerance, 200, lambda r, n: (_positive(r, n), r.random(n), 1e-9), scalar=False),
    P(
        k_means,
        500,
        lambda r, n: (r.random((4 * n, 3)), r.random((5, 3)), 4),
        scalar=False,
        longest=10**5,
    ),
    P(fft, 2**16 - 1, lambda r, n: (r.random(_power(n)),), scalar=False, longest=10**6),
    P(
        fft_in_place,
        2**16 - 1,
        lambda r, n: (r.random(_power(n)) + 0j,),
        scalar=False,
        longest=10**6,
    ),
    P(edit_distance, 500, lambda r, n: (r.integers(0, 4, n), r.integers(0, 4, n + 2))),
    P(longest_common, 500, lambda r, n: (r.integers(0, 4, n), r.integers(0, 4, n + 2))),
    P(sieve, 100000, lambda r, n: (10 * n,), scalar=False, longest=10**6),
    P(
        crc32,
        100000,
        lambda r, n: (r.integers(0, 256, n).astype(np.uint8), _crc_table()),
        longest=10**6,
    ),
    P(histogram, 100000, lambda r, n: (r.random(n), 10), longest=10**6),
    P(life, 100, lambda r, n: (r.integers(0, 2, (n, n)), n), scalar=False),
    P(conv2d, 200, lambda r, n: (r.random((n, n + 1)), r.random((3, 5)))),
    P(matmul, 120, lambda r, n: (r.random((n, n + 1)), r.random((n + 1, n - 1)))),
    P(csr_matvec, 20000, _sparse, longest=10**6),
    P(bisection, 9, lambda r, n: (np.float64(2.0),), longest=10**6),
    P(
        running_median,
        2000,
        lambda r, n: (r.random(n), 1 + n // 3),
        scalar=False,
    ),
)
