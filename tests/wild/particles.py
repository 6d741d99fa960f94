"""Particles, populations and flows."""

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from .registry import program


@dataclass
class SPH:
    pos: np.ndarray
    vel: np.ndarray
    m: float = 1.0
    h: float = 0.3
    k: float = 0.1
    n: float = 1.0
    rho: np.ndarray | None = None

    def W(self, x, y):
        r = np.sqrt(x**2 + y**2)
        return (1.0 / (self.h * np.sqrt(np.pi))) ** 2 * np.exp(-(r**2) / self.h**2)

    def gradW(self, x, y):
        r = np.sqrt(x**2 + y**2)
        nn = -2 * np.exp(-(r**2) / self.h**2) / self.h**4 / np.pi
        return (nn * x, nn * y)

    def pairwise(self, ri, rj):
        M, N = (ri.shape[0], rj.shape[0])
        dx = ri[:, 0].reshape((M, 1)) - rj[:, 0].reshape((N, 1)).T
        dy = ri[:, 1].reshape((M, 1)) - rj[:, 1].reshape((N, 1)).T
        return (dx, dy)

    def density(self):
        dx, dy = self.pairwise(self.pos, self.pos)
        self.rho = np.sum(self.m * self.W(dx, dy), 1).reshape((-1, 1))
        return self.rho

    def acc(self, lam, nu):
        N = self.pos.shape[0]
        rho = self.density()
        P = self.k * rho ** (1 + 1 / self.n)
        dx, dy = self.pairwise(self.pos, self.pos)
        dWx, dWy = self.gradW(dx, dy)
        ax = -np.sum(self.m * (P / rho**2 + P.T / rho.T**2) * dWx, 1).reshape((N, 1))
        ay = -np.sum(self.m * (P / rho**2 + P.T / rho.T**2) * dWy, 1).reshape((N, 1))
        a = np.hstack((ax, ay))
        a -= lam * self.pos
        a -= nu * self.vel
        return a


@program(
    lambda r, n: (SPH(r.normal(size=(n, 2)), np.zeros((n, 2)), 2.0 / n), 4, 0.04),
    9,
    200,
    rtol=1e-09,
)
def sph(s, steps, dt, lam=2.0, nu=1.0):
    """Smoothed particles in a dataclass that keeps its density."""
    a = s.acc(lam, nu)
    ke = []
    for i in range(steps):
        s.vel += a * dt / 2
        s.pos += s.vel * dt
        a = s.acc(lam, nu)
        s.vel += a * dt / 2
        ke.append(0.5 * s.m * np.sum(s.vel**2))
    return (s.density().ravel(), np.asarray(ke))


@contextmanager
def stage(name, log):
    log.append(("enter", name))
    try:
        yield log
    finally:
        log.append(("exit", name))


@program(lambda r, n: (r.random((n, n)) * 0.1 + 1, 0.6, 3), 6, 60, rtol=1e-09)
def lbm_cavity(rho, tau, steps):
    """Streaming and bounce-back, in stages of a context manager that keeps a log."""
    ex = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
    ey = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
    w = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    opp = [0, 3, 4, 1, 2, 7, 8, 5, 6]
    f = w[:, None, None] * rho
    log = []
    solid = np.zeros(rho.shape, bool)
    solid[0] = solid[-1] = solid[:, 0] = solid[:, -1] = True
    for it in range(steps):
        with stage(f"collide{it}", log):
            rho = f.sum(0)
            ux = np.einsum("i,ijk->jk", ex, f) / rho
            uy = np.einsum("i,ijk->jk", ey, f) / rho
            usq = 1.5 * (ux**2 + uy**2)
            for i in range(9):
                cu = 3 * (ex[i] * ux + ey[i] * uy)
                feq = w[i] * rho * (1 + cu + 0.5 * cu**2 - usq)
                f[i] += (feq - f[i]) / tau
        with stage("stream", log):
            bounce = f[:, solid]
            f[:, solid] = bounce[opp]
            for i in range(9):
                f[i] = np.roll(f[i], (ex[i], ey[i]), axis=(0, 1))
    return (rho, ux, uy, log)


class HMC:
    def __init__(self, logp, grad, eps=0.1, L=5, rng=None):
        self.logp, self.grad, self.eps, self.L = (logp, grad, eps, L)
        self.rng = np.random.default_rng() if rng is None else rng
        self.accepted = self.total = 0

    def leapfrog(self, q, p):
        p = p + 0.5 * self.eps * self.grad(q)
        for _ in range(self.L - 1):
            q = q + self.eps * p
            p = p + self.eps * self.grad(q)
        q = q + self.eps * p
        return (q, -(p + 0.5 * self.eps * self.grad(q)))

    def sample(self, q, n):
        out = np.empty((n, q.size))
        for i in range(n):
            p = self.rng.standard_normal(q.shape)
            qn, pn = self.leapfrog(q, p)
            dH = self.logp(qn) - 0.5 * pn @ pn - self.logp(q) + 0.5 * p @ p
            if np.log(self.rng.uniform()) < dH:
                q = qn
                self.accepted += 1
            self.total += 1
            if (i + 1) % 10 == 0:
                rate = self.accepted / self.total
                self.eps *= 1.1 if rate > 0.8 else 0.9
            out[i] = q
        return out

    @property
    def rate(self):
        return self.accepted / max(1, self.total)


@program(
    lambda r, n: (r.normal(size=(n, 3)), np.eye(3), np.random.default_rng(5), 25),
    6,
    400,
    rtol=1e-06,
)
def hmc(X, prec, rng, n):
    """A Hamiltonian sampler that tunes its step; densities are lambdas."""
    mu = X.mean(axis=0)
    N = len(X)
    logp = lambda q: -0.5 * N * (q - mu) @ prec @ (q - mu)
    grad = lambda q: -N * prec @ (q - mu)
    h = HMC(logp, grad, eps=1 / np.sqrt(N) / 3, rng=rng)
    s = h.sample(np.zeros(3), n)
    return (s.mean(0), np.cov(s.T), h.rate, h.eps)
