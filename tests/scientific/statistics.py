"""Statistics, learning, finance."""

from __future__ import annotations

import math

import numpy as np

from .registry import program


@program(
    lambda r: (100.0, 105.0, 0.05, 0.2, 1.0, 20),
    lambda r: (90.0, 80.0, 0.01, 0.4, 0.5, 33),
    ulps=1024,
)
def american_put(S, K, r, sigma, T, N):
    dt = T / N
    u = math.exp(sigma * math.sqrt(dt))
    d = 1 / u
    p = (math.exp(r * dt) - d) / (u - d)
    disc = math.exp(-r * dt)
    v = np.zeros(N + 1)
    for j in range(N + 1):
        v[j] = max(K - S * u**j * d ** (N - j), 0.0)
    for i in range(N - 1, -1, -1):
        for j in range(i + 1):
            hold = disc * (p * v[j + 1] + (1 - p) * v[j])
            exercise = K - S * u**j * d ** (i - j)
            v[j] = max(hold, exercise)
    return v[0]


@program(lambda r: (r.normal(size=40),), lambda r: (r.normal(size=9),))
def welford(x):
    mean = 0.0
    m2 = 0.0
    lo = np.inf
    hi = -np.inf
    for n, v in enumerate(x, start=1):
        delta = v - mean
        mean += delta / n
        m2 += delta * (v - mean)
        lo = min(lo, v)
        hi = max(hi, v)
    return mean, m2 / (len(x) - 1), lo, hi


@program(
    lambda r: (r.normal(size=(15, 3)), r.normal(size=15), 0.1, 30),
    lambda r: (r.normal(size=(20, 5)), r.normal(size=20), 0.5, 10),
)
def lasso_coordinate_descent(X, y, lam, sweeps):
    p = X.shape[1]
    beta = np.zeros(p)
    for _ in range(sweeps):
        biggest = 0.0
        for j in range(p):
            r = y - X @ beta + X[:, j] * beta[j]
            rho = X[:, j] @ r
            z = (X[:, j] ** 2).sum()
            old = beta[j]
            if rho < -lam:
                beta[j] = (rho + lam) / z
            elif rho > lam:
                beta[j] = (rho - lam) / z
            else:
                beta[j] = 0.0
            biggest = max(biggest, abs(beta[j] - old))
        if biggest < 1e-8:
            break
    return beta


@program(
    lambda r: (r.random((4, 5, 5)), r.random((5, 4)), 0.9, 1e-4),
    lambda r: (r.random((2, 7, 7)), r.random((7, 2)), 0.5, 1e-2),
)
def value_iteration(P, R, gamma, theta):
    P = P / P.sum(axis=2, keepdims=True)
    nS, nA = R.shape
    V = np.zeros(nS)
    policy = np.zeros(nS, dtype=int)
    while True:
        delta = 0.0
        for s in range(nS):
            v = V[s]
            q = np.zeros(nA)
            for a in range(nA):
                q[a] = R[s, a] + gamma * np.dot(P[a, s], V)
            V[s] = q.max()
            policy[s] = q.argmax()
            delta = max(delta, abs(v - V[s]))
        if delta < theta:
            break
    return V, policy
