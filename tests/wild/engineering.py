"""Grids, lenses, steps in time, codes."""

import sys
from enum import Enum
from math import inf

import numpy as np
from numpy import angle, array, conj, exp, linalg, r_

from .registry import program


def _grid(r, n):
    branch = []
    for k in range(1, n):
        branch.append(
            (
                k,
                int(r.integers(0, k)),
                0.01 + 0.02 * r.random(),
                0.05 + 0.1 * r.random(),
                0.02,
                1.0 if r.random() < 0.7 else 0.98,
            )
        )
    load = -(0.02 * r.random(n) + 1j * 0.01 * r.random(n))
    return np.array(branch, float), load, np.ones(n, complex)


@program(_grid, 6, 40, rtol=1e-6)
def newton_power_flow(branch, Sbus, V0, opts=None):
    """Admittances from a table of branches, Newton on real and imaginary mismatches, text."""
    opts = {"tol": 1e-8, "max_it": 10, "verbose": 1, **(opts or {})}
    nb = len(V0)
    f, t = branch[:, 0].astype(int), branch[:, 1].astype(int)
    Ys = 1 / (branch[:, 2] + 1j * branch[:, 3])
    Bc = branch[:, 4]
    tap = np.ones(len(branch))
    i = np.nonzero(branch[:, 5])
    tap[i] = branch[i[0], 5]
    Ytt = Ys + 1j * Bc / 2
    Yff = Ytt / (tap * conj(tap))
    Y = np.zeros((nb, nb), complex)
    np.add.at(Y, (f, f), Yff)
    np.add.at(Y, (t, t), Ytt)
    np.add.at(Y, (f, t), -Ys / conj(tap))
    np.add.at(Y, (t, f), -Ys / tap)
    pq = np.arange(1, nb)
    V = V0.copy()
    Va, Vm = angle(V), abs(V)
    converged, it = False, 0
    mis = V * conj(Y @ V) - Sbus
    F = r_[mis[pq].real, mis[pq].imag]
    normF = linalg.norm(F, inf)
    if normF < opts["tol"]:
        converged = True
    while not converged and it < opts["max_it"]:
        it += 1
        Ibus = Y @ V
        dVm = np.diag(V) @ conj(Y @ np.diag(V / abs(V))) + conj(np.diag(Ibus)) @ np.diag(V / abs(V))
        dVa = 1j * np.diag(V) @ conj(np.diag(Ibus) - Y @ np.diag(V))
        J11 = dVa[array([pq]).T, pq].real
        J12 = dVm[array([pq]).T, pq].real
        J21 = dVa[array([pq]).T, pq].imag
        J22 = dVm[array([pq]).T, pq].imag
        J = np.vstack([np.hstack([J11, J12]), np.hstack([J21, J22])])
        dx = -1 * linalg.solve(J, F)
        Va[pq] = Va[pq] + dx[: len(pq)]
        Vm[pq] = Vm[pq] + dx[len(pq) :]
        V = Vm * exp(1j * Va)
        mis = V * conj(Y @ V) - Sbus
        F = r_[mis[pq].real, mis[pq].imag]
        normF = linalg.norm(F, inf)
        if normF < opts["tol"]:
            converged = True
    if opts["verbose"]:
        sys.stdout.write("converged in %d iterations\n" % it if converged else "did not converge\n")
    return V, converged, it


class Integrator(Enum):
    EULER = "euler"
    RK4 = "rk4"


def lorenz(t, y, s=10.0, r=28.0, b=8 / 3):
    return np.array([s * (y[1] - y[0]), y[0] * (r - y[2]) - y[1], y[0] * y[1] - b * y[2]])


@program(
    lambda r, n: (
        lorenz,
        r.normal(size=3),
        n,
        Integrator.RK4 if r.random() < 0.6 else Integrator.EULER,
    ),
    30,
    2000,
)
def fixed_step(f, y0, n, method=Integrator.RK4, h=0.005, args=(), callback=None):
    """A step chosen by an Enum, a function as argument, a callback that may be None."""
    if not callable(f):
        raise TypeError("f must be callable")
    method = Integrator(method)
    y = np.asarray(y0, float)
    out = np.empty((n + 1, y.size))
    out[0] = y
    t = 0.0
    for k in range(n):
        if method is Integrator.EULER:
            y = y + h * f(t, y, *args)
        elif method is Integrator.RK4:
            k1 = f(t, y, *args)
            k2 = f(t + h / 2, y + h / 2 * k1, *args)
            k3 = f(t + h / 2, y + h / 2 * k2, *args)
            k4 = f(t + h, y + h * k3, *args)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        else:
            raise NotImplementedError(method)
        t += h
        out[k + 1] = y
        if callback is not None:
            callback(t, y)
    return out, t


class Surface:
    def __init__(self, z, curvature, n_after, aperture=np.inf):
        self.z, self.c, self.n_after, self.aperture = z, curvature, n_after, aperture

    @property
    def radius(self):
        return np.inf if self.c == 0 else 1 / self.c

    def intersect(self, p, d):
        if self.c == 0:
            return (self.z - p[:, 2]) / d[:, 2]
        centre = np.array([0, 0, self.z + self.radius])
        r = p - centre
        b = np.einsum("ij,ij->i", r, d)
        disc = b**2 - (np.einsum("ij,ij->i", r, r) - self.radius**2)
        disc = np.where(disc < 0, np.nan, disc)
        return -b - np.sign(self.c) * np.sqrt(disc) if self.c > 0 else -b + np.sqrt(disc)

    def normal(self, p):
        if self.c == 0:
            return np.broadcast_to(np.array([0.0, 0.0, -1.0]), p.shape)
        n = p - np.array([0, 0, self.z + self.radius])
        n = n / np.linalg.norm(n, axis=1, keepdims=True)
        return n * -np.sign(n[:, 2:3])


class Lens(list):
    """A system of surfaces: a list with more methods."""

    def trace(self, p, d, n=1.0):
        path = [p]
        for s in self:
            p = p + s.intersect(p, d)[:, None] * d
            N = s.normal(p)
            eta = n / s.n_after
            cosi = -np.einsum("ij,ij->i", N, d)
            k = 1 - eta**2 * (1 - cosi**2)
            d = eta * d + ((eta * cosi - np.sqrt(k))[:, None]) * N
            bad = np.hypot(p[:, 0], p[:, 1]) > s.aperture
            d[bad] = np.nan
            n = s.n_after
            path.append(p)
        return p, d, path


def _lens(r, n):
    lens = Lens(
        [Surface(5.0, 1 / 20, 1.5, 4.0), Surface(6.0, -1 / 25, 1.0, 4.0), Surface(30.0, 0, 1.0)]
    )
    p = np.zeros((n, 3))
    p[:, :2] = r.uniform(-3, 3, (n, 2))
    d = np.zeros((n, 3))
    d[:, 2] = 1
    return lens, p, d


@program(_lens, 10, 4000, rtol=1e-5)
def trace_lens(lens, p, d):
    """Rays through spherical surfaces; spot size with nans; a list subclass."""
    with np.errstate(invalid="ignore"):
        q, d, path = lens.trace(p, d)
    ok = ~np.isnan(d).any(axis=1)
    spot = q[ok, :2] - q[ok, :2].mean(axis=0)
    return q, d, np.sqrt((spot**2).sum(1).mean()), len(path), ok.sum()


@program(lambda r, n: (r.integers(0, 2, n).astype(np.uint8), 0.05, r), 16, 2000)
def hamming_code(bits, p, rng):
    """Hamming (7,4) over a noisy channel: matrices modulo 2, syndromes, packbits."""
    G = np.array(
        [
            [1, 0, 0, 0, 1, 1, 0],
            [0, 1, 0, 0, 1, 0, 1],
            [0, 0, 1, 0, 0, 1, 1],
            [0, 0, 0, 1, 1, 1, 1],
        ],
        np.uint8,
    )
    H = np.array([[1, 1, 0, 1, 1, 0, 0], [1, 0, 1, 1, 0, 1, 0], [0, 1, 1, 1, 0, 0, 1]], np.uint8)
    words = np.resize(bits, (-(-len(bits) // 4), 4))
    coded = words @ G % 2
    received = coded ^ (rng.random(coded.shape) < p)
    syn = received @ H.T % 2
    weights = 1 << np.arange(3)[::-1]
    value = syn @ weights
    columns = (H.T @ weights).tolist()
    where = np.array([columns.index(v) if v else -1 for v in value])
    bad = np.flatnonzero(where >= 0)
    received[bad, where[bad]] ^= 1
    errors = int(np.count_nonzero(received[:, :4] != words))
    return received, errors, np.packbits(received[:, :4].ravel())
