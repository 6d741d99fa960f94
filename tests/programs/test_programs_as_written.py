"""Programs as a scientist writes them, with views and writes: equal to NumPy in every bit, captured as
a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

Make = Callable[[], tuple[Any, ...]]
PROGRAMS: list[tuple[Callable[..., Any], tuple[Make, ...]]] = []


def program(*makes: Make) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A program and its arguments."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append((fn, makes))
        return fn

    return register


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).normal(size=shape)


@program(lambda: (random(50), 0.1, 0.3))
def finite_volume_upwind(u, dt, c):
    flux = np.empty(u.size + 1)
    flux[1:] = c * u
    flux[0] = flux[-1]
    u -= dt * (flux[1:] - flux[:-1])


@program(lambda: (random(20, 20), random(20, 20), random(20, 20)))
def shallow_water(h, u, v):
    g, dt = 9.81, 0.01
    u[1:-1] -= dt * g * (h[2:] - h[:-2]) / 2
    v[:, 1:-1] -= dt * g * (h[:, 2:] - h[:, :-2]) / 2
    h[1:-1, 1:-1] -= dt * ((u[2:, 1:-1] - u[:-2, 1:-1]) + (v[1:-1, 2:] - v[1:-1, :-2]))
    h[0] = h[1]
    h[-1] = h[-2]
    h[:, 0] = h[:, 1]
    h[:, -1] = h[:, -2]
    return h.sum(), np.abs(u).max()


@program(
    lambda: (np.zeros((8, 3)), np.arange(3.0), 3), lambda: (np.zeros((8, 3)), np.arange(3.0), 7)
)
def ring_buffer(buf, sample, head):
    buf[head] = sample
    head = (head + 1) % len(buf)
    return head, np.roll(buf, -head, axis=0).mean(axis=0)


@program(lambda: (random(10), random(10), np.array([1, 3, 5])))
def particle_exchange(a, b, idx):
    tmp = a[idx].copy()
    a[idx] = b[idx]
    b[idx] = tmp


@program(lambda: (random(10, 3), random(10, 3)))
def particles_reflect(x, v):
    hit = np.abs(x) > 1
    v[hit] *= -1
    x[hit] = np.sign(x[hit]) * 2 - x[hit]
    x += 0.01 * v


@program(lambda: (np.random.default_rng(1).integers(0, 2, (12, 12)).astype(bool),))
def life_bool(g):
    n = np.zeros(g.shape, int)
    n[1:] += g[:-1]
    n[:-1] += g[1:]
    n[:, 1:] += g[:, :-1]
    n[:, :-1] += g[:, 1:]
    g[:] = np.logical_or(n == 3, np.logical_and(g, n == 2))


@program(lambda: (np.random.default_rng(1).integers(0, 2, 64).astype(bool), 110))
def rule110(cells, rule):
    left, right = np.roll(cells, 1), np.roll(cells, -1)
    code = 4 * left + 2 * cells + right
    cells[:] = (rule >> code) & 1


@program(lambda: (random(5, 5) + 5 * np.eye(5),))
def lu_inplace(a):
    n = a.shape[0]
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])


@program(lambda: (lambda m: (m @ m.T + 5 * np.eye(5),))(random(5, 5)))
def cholesky(a):
    n = len(a)
    low = np.zeros_like(a)
    for j in range(n):
        low[j, j] = np.sqrt(a[j, j] - np.dot(low[j, :j], low[j, :j]))
        for i in range(j + 1, n):
            low[i, j] = (a[i, j] - low[i, :j] @ low[j, :j]) / low[j, j]
    return low


@program(lambda: (random(6, 4),))
def gram_schmidt(q):
    for j in range(q.shape[1]):
        for i in range(j):
            q[:, j] -= (q[:, i] @ q[:, j]) * q[:, i]
        q[:, j] /= np.sqrt((q[:, j] ** 2).sum())


@program(lambda: (random(5, 5) + 5 * np.eye(5), random(5)))
def back_substitution(u, b):
    x = b.copy()
    for i in range(len(x) - 1, -1, -1):
        x[i] = (x[i] - u[i, i + 1 :] @ x[i + 1 :]) / u[i, i]
    return x


@program(lambda: (random(30), 5))
def moving_average2(x, w):
    c = np.cumsum(x)
    c[w:] = c[w:] - c[:-w]
    return c[w - 1 :] / w


@program(lambda: (random(30), 0.2))
def iir(x, a):
    y = np.empty_like(x)
    y[0] = x[0]
    for k in range(1, len(x)):
        y[k] = a * x[k] + (1 - a) * y[k - 1]
    return y


@program(lambda: (random(32),))
def haar(x):
    n = x.size
    while n > 1:
        a = (x[:n:2] + x[1:n:2]) / 2
        d = (x[:n:2] - x[1:n:2]) / 2
        n //= 2
        x[:n], x[n : 2 * n] = a, d


@program(lambda: (random(8),))
def sorting_network_np(x):
    for i, j in [(0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7)]:
        lo, hi = np.minimum(x[i], x[j]), np.maximum(x[i], x[j])
        x[i], x[j] = lo, hi


@program(lambda: (random(16, 4),))
def odd_even_sort(x):
    for k in range(4):
        s = x[k % 2 : len(x) - (k % 2)]
        a, b = s[::2], s[1::2]
        lo = np.minimum(a, b)
        b[:] = np.maximum(a, b)
        a[:] = lo


@program(lambda: (random(40, 2), random(3, 2)))
def kmeans_onehot(x, c):
    d = ((x[:, None, :] - c[None]) ** 2).sum(-1)
    one = (d.argmin(axis=1)[:, None] == np.arange(3)).astype(float)
    c[...] = (one.T @ x) / np.maximum(one.sum(0), 1)[:, None]


@program(lambda: (np.random.default_rng(1).integers(0, 8, 50), np.zeros(8, int)))
def histogram_at(x, h):
    np.add.at(h, x, 1)


@program(
    lambda: (
        random(6),
        np.array([0, 2, 3, 0, 1, 2]),
        np.array([0, 0, 1, 2, 2, 3]),
        random(4),
        np.zeros(4),
    )
)
def sparse_coo_matvec(data, col, row, x, y):
    y[:] = 0
    np.add.at(y, row, data * x[col])


@program(lambda: (random(10, 3), random(10, 3), np.ones(10)))
def nbody_leapfrog(x, v, m):
    d = x[None] - x[:, None]
    r2 = (d**2).sum(-1) + 0.01
    a = (m[None, :, None] * d / (r2 * np.sqrt(r2))[..., None]).sum(axis=1)
    v += 0.01 * a
    x += 0.01 * v


@program(lambda: (random(20, 20),))
def checkerboard_sor(u):
    for s in (0, 1):
        for o in (0, 1):
            i, j = 1 + o, 1 + (s + o) % 2
            c = u[i:-1:2, j:-1:2]
            n = (
                u[i - 1 : -2 : 2, j:-1:2]
                + u[i + 1 :: 2, j:-1:2]
                + u[i:-1:2, j - 1 : -2 : 2]
                + u[i:-1:2, j + 1 :: 2]
            )
            c += 1.5 * (n / 4 - c)


@program(lambda: (random(20), random(20), random(20), random(20)))
def thomas(a, b, c, d):
    n = len(d)
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    d[-1] /= b[-1]
    for i in range(n - 2, -1, -1):
        d[i] = (d[i] - c[i] * d[i + 1]) / b[i]


@program(lambda: (random(6, 6),))
def matrix_power_trick(m):
    out = np.eye(6)
    k = 5
    while k:
        if k & 1:
            out = out @ m
        m = m @ m
        k >>= 1
    return out


@program(lambda: (random(12, 12) + 1j * random(12, 12),))
def wavefunction_norm(psi):
    psi /= np.sqrt((np.abs(psi) ** 2).sum())
    psi *= 1 - 0.1j
    psi.imag[0] = 0
    return psi.real.copy()


@program(lambda: (random(30, 30),))
def thinning_downsample(img):
    return img.reshape(10, 3, 10, 3).mean(axis=(1, 3)), img[::3, ::3].copy()


@program(lambda: (random(30),))
def clip_outliers(x):
    m, s = x.mean(), x.std()
    x[np.abs(x - m) > 2 * s] = m
    np.clip(x, m - s, m + s, out=x)


@program(lambda: (random(30, 4),))
def standardize(x):
    x -= x.mean(axis=0)
    x /= x.std(axis=0, ddof=1)


@program(lambda: (random(6, 6),))
def symmetrize(a):
    i = np.triu_indices(6, 1)
    a.T[i] = a[i]


@program(lambda: (random(4, 4),))
def power_iteration(a):
    v = np.ones(4)
    for _ in range(20):
        v = a @ v
        v /= np.sqrt(v @ v)
    return v, v @ a @ v


@program(lambda: (random(10, 10),))
def spiral_halo(a):
    a[0, :], a[-1, :] = a[-2, :], a[1, :]
    a[:, 0], a[:, -1] = a[:, -2], a[:, 1]


@program(lambda: (np.arange(24.0).reshape(4, 6),))
def block_view_transpose(a):
    b = a.reshape(2, 2, 2, 3).swapaxes(1, 2)
    b[0, 0] += 1
    b[1, 1] *= b[0, 0]
    return b.reshape(-1)


@program(lambda: (random(10, 4), random(10, 4)))
def momentum_sgd(w, g):
    vel = np.zeros_like(w)
    for _ in range(5):
        vel *= 0.9
        vel -= 0.1 * g
        w += vel
    return vel


@program(lambda: (random(16),))
def bit_reverse(x):
    n = 16
    j = 0
    for i in range(1, n):
        b = n >> 1
        while j & b:
            j ^= b
            b >>= 1
        j ^= b
        if i < j:
            x[i], x[j] = x[j], x[i]


@program(lambda: (random(5, 5, 5),))
def laplace3d(u):
    lap = -6 * u
    for ax in range(3):
        lap += np.roll(u, 1, ax) + np.roll(u, -1, ax)
    u += 0.1 * lap
    return np.abs(lap).max()


@pytest.mark.parametrize("fn, makes", PROGRAMS, ids=[fn.__name__ for fn, _ in PROGRAMS])
def test_program(fn: Callable[..., Any], makes: tuple[Make, ...]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for make in makes * 2:
        assert not difference(run(fn, make()), run(compiled, make()))
    assert compiled.cache_info().eager_calls == 0
