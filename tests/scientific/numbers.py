"""Numbers: bits, primes, polynomials, quadrature, roots."""

from __future__ import annotations

import numpy as np

import fxc

from .registry import program


@program(lambda r: (np.uint64(88172645463325252), 12), lambda r: (np.uint64(1), 20))
def xorshift(state, n):
    out = np.zeros(n, dtype=np.uint64)
    for i in range(n):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        out[i] = state
    return out


@program(lambda r: (0.0, 2.0, 1e-12), lambda r: (1.0, 4.0, 1e-6))
def brent(a, b, tol):
    def f(x):
        return x * x * x - 2 * x - 5

    fa, fb = f(a), f(b)
    if abs(fa) < abs(fb):
        a, b = b, a
        fa, fb = fb, fa
    c, fc = a, fa
    d = c
    bisected = True
    it = 0
    while fb != 0 and abs(b - a) > tol and it < 100:
        it += 1
        if fa != fc and fb != fc:
            s = (
                a * fb * fc / ((fa - fb) * (fa - fc))
                + b * fa * fc / ((fb - fa) * (fb - fc))
                + c * fa * fb / ((fc - fa) * (fc - fb))
            )
        else:
            s = b - fb * (b - a) / (fb - fa)
        lo, hi = (3 * a + b) / 4, b
        if lo > hi:
            lo, hi = hi, lo
        if (
            not lo < s < hi
            or (bisected and abs(s - b) >= abs(b - c) / 2)
            or (not bisected and abs(s - b) >= abs(c - d) / 2)
        ):
            s = (a + b) / 2
            bisected = True
        else:
            bisected = False
        fs = f(s)
        d, c, fc = c, b, fb
        if fa * fs < 0:
            b, fb = s, fs
        else:
            a, fa = s, fs
        if abs(fa) < abs(fb):
            a, b = b, a
            fa, fb = fb, fa
    return b, it


@program(lambda r: (50,), lambda r: (97,))
def primes_by_trial(n):
    primes = np.zeros(n, dtype=np.int64)
    count = 0
    k = 2
    while k <= n:
        is_prime = True
        for i in range(count):
            p = primes[i]
            if p * p > k:
                break
            if k % p == 0:
                is_prime = False
                break
        if is_prime:
            primes[count] = k
            count += 1
        k += 1
    return primes, count


@program(lambda r: (r.random((6, 3)),), lambda r: (r.random((9, 2)),))
def closest_pair(p):
    best = np.inf
    pair = (-1, -1)
    for i in range(len(p)):
        for j in range(i + 1, len(p)):
            d = np.sqrt(np.sum((p[i] - p[j]) ** 2))
            if d < best:
                best = d
                pair = (i, j)
    return best, pair


@program(lambda r: (np.float64(2.0),), lambda r: (np.float64(3.5),))
def bisection_of_fori_loop(a):
    def halve(_, ends):
        lo, hi = ends
        mid = 0.5 * (lo + hi)
        return np.where(mid * mid > a, lo, mid)[()], np.where(mid * mid > a, mid, hi)[()]

    return fxc.fori_loop(0, 60, halve, (np.float64(0.0), np.float64(2.0)))[0]
