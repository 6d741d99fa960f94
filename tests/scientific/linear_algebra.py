"""Linear algebra by loops over rows and elements."""

from __future__ import annotations

import numpy as np

from .registry import program


def spd(r, n):
    a = r.random((n, n))
    return a @ a.T + n * np.eye(n)


@program(lambda r: (spd(r, 6), r.random(6)), lambda r: (spd(r, 9), r.random(9)))
def gaussian_elimination(A, b):
    A = A.copy()
    b = b.copy()
    n = len(b)
    for k in range(n):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            b[[k, p]] = b[[p, k]]
        for i in range(k + 1, n):
            m = A[i, k] / A[k, k]
            A[i, k:] -= m * A[k, k:]
            b[i] -= m * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


@program(lambda r: (r.random((5, 5)),), lambda r: (r.random((8, 6)),), ulps=0)
def givens_qr(A):
    R = A.copy()
    m, n = R.shape
    Q = np.eye(m)
    for j in range(n):
        for i in range(m - 1, j, -1):
            a, b = R[i - 1, j], R[i, j]
            r = np.sqrt(a * a + b * b)
            if r == 0:
                continue
            c, s = a / r, -b / r
            for k in range(n):
                t = c * R[i - 1, k] - s * R[i, k]
                R[i, k] = s * R[i - 1, k] + c * R[i, k]
                R[i - 1, k] = t
            for k in range(m):
                t = c * Q[k, i - 1] - s * Q[k, i]
                Q[k, i] = s * Q[k, i - 1] + c * Q[k, i]
                Q[k, i - 1] = t
    return Q, R


@program(
    lambda r: (spd(r, 6), r.random(6), 1.2, 1e-9, 200),
    lambda r: (spd(r, 9), r.random(9), 0.9, 1e-6, 3),
)
def sor(A, b, omega, tol, maxiter):
    n = len(b)
    x = np.zeros(n)
    for it in range(maxiter):
        change = 0.0
        for i in range(n):
            sigma = 0.0
            for j in range(n):
                if j != i:
                    sigma += A[i, j] * x[j]
            new = (1 - omega) * x[i] + omega * (b[i] - sigma) / A[i, i]
            change = max(change, abs(new - x[i]))
            x[i] = new
        if change < tol:
            return x, it + 1
    return x, maxiter


@program(lambda r: (spd(r, 6), r.random(6), 1e-10), lambda r: (spd(r, 9), r.random(9), 1e-3))
def power_iteration_to_tolerance(A, v, tol):
    v = v / np.linalg.norm(v)
    lam = 0.0
    while True:
        w = A @ v
        lam_new = v @ w
        v = w / np.linalg.norm(w)
        if abs(lam_new - lam) < tol:
            break
        lam = lam_new
    return lam_new, v


def sparse(r, n):
    dense = np.where(r.random((n, n)) < 0.3, r.random((n, n)), 0.0) + 4 * np.eye(n)
    rows, cols = np.nonzero(dense)
    return rows, cols, dense[rows, cols]


@program(lambda r: (*sparse(r, 6), 6), lambda r: (*sparse(r, 10), 10))
def coo_to_csr(row, col, val, n):
    nnz = len(val)
    indptr = np.zeros(n + 1, dtype=np.int64)
    for k in range(nnz):
        indptr[row[k] + 1] += 1
    for i in range(n):
        indptr[i + 1] += indptr[i]
    indices = np.zeros(nnz, dtype=np.int64)
    data = np.zeros(nnz)
    nxt = indptr[:-1].copy()
    for k in range(nnz):
        dest = nxt[row[k]]
        indices[dest] = col[k]
        data[dest] = val[k]
        nxt[row[k]] += 1
    return indptr, indices, data


def _sparse(r, n):
    ptr = np.cumsum(np.r_[0, r.integers(0, 4, n)]).astype(np.int32)
    return ptr, r.integers(0, n, ptr[-1]), r.random(ptr[-1]).astype(np.float32), r.random(n)


@program(lambda r: _sparse(r, 17), lambda r: _sparse(r, 9))
def sparse_rows_backwards_by_slices(ptr, cols, vals, x):
    y = np.zeros(ptr.size - 1)
    for i in range(len(y))[::-1]:
        lo, hi = ptr[i], ptr[i + 1]
        y[i] += (vals[lo:hi] * x[cols[lo:hi]]).sum()
    return y


@program(
    lambda r: (r.random((4, 4)) + 4 * np.eye(4), r.random((9, 4))),
    lambda r: (r.random((3, 3)) + 3 * np.eye(3), r.random((7, 3))),
)
def kalman_filter(f, observed):
    n = f.shape[0]
    x, p = np.zeros(n), np.eye(n)
    states = np.zeros_like(observed)
    for k, z in enumerate(observed):
        p = f @ p @ f.T + 0.1 * np.eye(n)
        gain = p @ np.linalg.inv(p + np.eye(n))
        x = x + gain @ (z - x)
        p = (np.eye(n) - gain) @ p
        states[k] = x
    return states, p
