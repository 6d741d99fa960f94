"""Simulations with state: objects that change, events, draws, agents."""

import heapq
import itertools
import logging
import math
import random
from dataclasses import dataclass, field
from enum import Enum, IntEnum

import numpy as np

from .registry import program

log = logging.getLogger("wild.simulations")


class Grid:
    default_nu = 0.1

    def __init__(self, nx, ny, nu=None):
        self.nx, self.ny = nx, ny
        self.u = np.zeros((ny, nx))
        self.t = 0.0
        self.nsteps = 0
        self.nu = self.default_nu if nu is None else nu
        self.history = []

    @property
    def energy(self):
        return float((self.u**2).sum())

    def laplacian(self, out=None):
        if out is None:
            out = np.zeros_like(self.u)
        out[1:-1, 1:-1] = (
            self.u[2:, 1:-1]
            + self.u[:-2, 1:-1]
            + self.u[1:-1, 2:]
            + self.u[1:-1, :-2]
            - 4 * self.u[1:-1, 1:-1]
        )
        return out


def _grid(r, n):
    grid = Grid(n + 2, n)
    grid.u[...] = r.normal(size=grid.u.shape)
    return grid


@program(lambda r, n: (_grid(r, n), 0.01, 4), 6, 100)
def heat_run(grid, dt, n, tol=1e-12):
    """Advance; stop early if steady."""
    for it in range(n):
        lap = grid.laplacian()
        du = dt * grid.nu * lap
        grid.u += du
        grid.t += dt
        grid.nsteps += 1
        if np.abs(du).max() < tol:
            break
    grid.history.append(grid.energy)
    if len(grid.history) > 3:
        del grid.history[0]
    return it, grid.energy


class SWE:
    g = 9.81

    def __init__(self, n, h0):
        self.n = n
        self.h = h0.copy()
        self.hu = np.zeros(n)
        self.t = 0.0
        self._cache = {}

    @property
    def u(self):
        with np.errstate(invalid="ignore", divide="ignore"):
            u = self.hu / self.h
        u[self.h < 1e-8] = 0
        return u

    @u.setter
    def u(self, v):
        self.hu[:] = v * self.h

    def flux(self, h, hu):
        u = np.where(h > 1e-10, hu / np.where(h > 1e-10, h, 1), 0)
        return np.array([hu, hu * u + 0.5 * self.g * h**2])

    def step(self, dt=None, cfl=0.4, dx=1.0):
        c = np.abs(self.u) + np.sqrt(self.g * self.h)
        if dt is None:
            dt = cfl * dx / c.max()
        q = np.vstack([self.h, self.hu])
        qp = np.c_[q[:, :1], q, q[:, -1:]]
        qp[1, 0] *= -1
        qp[1, -1] *= -1
        F = self.flux(*qp)
        a = max(c.max(), 1e-12)
        Fh = 0.5 * (F[:, 1:] + F[:, :-1]) - 0.5 * a * (qp[:, 1:] - qp[:, :-1])
        q = q - dt / dx * (Fh[:, 1:] - Fh[:, :-1])
        self.h[:], self.hu[:] = q
        self.t += dt
        if np.any(self.h < 0):
            log.error("negative depth at t=%.3f", self.t)
            np.maximum(self.h, 0, out=self.h)
        return dt


@program(lambda r, n: (SWE(n, 1 + r.random(n)), 3), 8, 10000, rtol=1e-9)
def run_swe(s, n):
    dts = [s.step() for _ in range(n)]
    mass = s.h.sum()
    s._cache["mass"] = mass
    return dts, mass, s.t


class Layer:
    def __init__(self):
        self.training = True

    def forward(self, x):
        raise NotImplementedError

    def __call__(self, x, *a, **kw):
        self.last_in = x
        return self.forward(x, *a, **kw)


class Dense(Layer):
    def __init__(self, w, b):
        super().__init__()
        self.w, self.b = w, b
        self.dw = np.zeros_like(w)

    def forward(self, x):
        return x @ self.w + self.b

    def backward(self, g):
        self.dw += self.last_in.T @ g
        self.db = g.sum(0)
        return g @ self.w.T


class ReLU(Layer):
    def forward(self, x):
        self.mask = x > 0
        return np.where(self.mask, x, 0)

    def backward(self, g):
        return g * self.mask


class Dropout(Layer):
    def __init__(self, p, rng):
        super().__init__()
        self.p = p
        self.rng = rng

    def forward(self, x):
        if not self.training or self.p == 0:
            self.mask = None
            return x
        self.mask = self.rng.random(x.shape) >= self.p
        return x * self.mask / (1 - self.p)

    def backward(self, g):
        return g if self.mask is None else g * self.mask / (1 - self.p)


class Net:
    def __init__(self, layers):
        self.layers = layers
        self.loss_hist = []

    def __iter__(self):
        return iter(self.layers)

    def __len__(self):
        return len(self.layers)

    def fit_step(self, X, y, lr=0.1, *, clip=None):
        h = X
        for l in self:
            h = l(h)
        d = h - y
        loss = float(np.mean(d**2))
        g = 2 * d / d.size
        for l in reversed(self.layers):
            g = l.backward(g)
        for l in self.layers:
            if isinstance(l, Dense):
                if clip is not None:
                    nrm = np.sqrt((l.dw**2).sum())
                    if nrm > clip:
                        l.dw *= clip / nrm
                l.w -= lr * l.dw
                l.b -= lr * l.db
                l.dw[...] = 0
        self.loss_hist.append(loss)
        return loss


def _net(r):
    first = Dense(r.normal(size=(3, 4)), np.zeros(4))
    last = Dense(r.normal(size=(4, 1)), np.zeros(1))
    return Net([first, ReLU(), Dropout(0.2, np.random.default_rng(5)), last])


@program(
    lambda r, n: (_net(r), r.normal(size=(n, 3)), r.normal(size=(n, 1)), 0.05, 0.5),
    6,
    10000,
    rtol=1e-9,
)
def train(net, X, y, lr, clip=None):
    l0 = net.fit_step(X, y, lr, clip=clip)
    l1 = net.fit_step(X, y, lr, clip=clip)
    if l1 > l0:
        log.info("loss went up: %.4f -> %.4f", l0, l1)
    return l0, l1, len(net)


@dataclass
class KF:
    x: np.ndarray
    P: np.ndarray
    Q: np.ndarray = field(default_factory=lambda: np.eye(2) * 0.01)
    R: float = 0.5
    log_lik: float = 0.0
    innovations: list = field(default_factory=list)

    def predict(self, F):
        self.x = F @ self.x
        self.P = F @ self.P @ F.T + self.Q
        return self

    def update(self, z, H):
        y = z - H @ self.x
        S = H @ self.P @ H.T + self.R
        K = self.P @ H.T / S
        self.x = self.x + (K * y).ravel()
        self.P = (np.eye(2) - K @ H) @ self.P
        self.innovations.append(float(y[0]))
        self.log_lik -= 0.5 * float(np.log(2 * np.pi * S[0, 0]) + y[0] ** 2 / S[0, 0])


@program(
    lambda r, n: (
        KF(r.normal(size=2), np.eye(2)),
        np.where(r.random(n) > 0.8, np.nan, r.normal(size=n)),
        0.1,
    ),
    6,
    1000,
    rtol=1e-9,
)
def kalman_run(kf, zs, dt):
    F = np.array([[1, dt], [0, 1]])
    H = np.array([[1.0, 0.0]])
    out = []
    for z in zs:
        kf.predict(F)
        if not np.isnan(z):
            kf.update(z, H)
        out.append(kf.x.copy())
    return np.stack(out), kf.log_lik


@program(
    lambda r, n: (r.choice([-1, 1], (n, n + 1)), 0.4, 10 * n, random.Random(3)),
    4,
    100,
)
def ising(s, beta, n, r):
    h, w = s.shape
    E = -float((s * np.roll(s, 1, 0) + s * np.roll(s, 1, 1)).sum())
    acc = 0
    for _ in range(n):
        i = r.randrange(h)
        j = r.randrange(w)
        dE = 2 * s[i, j] * (s[(i + 1) % h, j] + s[i - 1, j] + s[i, (j + 1) % w] + s[i, j - 1])
        if dE <= 0 or r.random() < math.exp(-beta * dE):
            s[i, j] *= -1
            E += dE
            acc += 1
    return E, acc, s.mean()


@program(lambda r, n: (2 * r.random(n), 0.1, 1.0), 25, 10000)
def lif(I, dt, vth):
    v = 0.0
    spk = []
    ref = 0
    trace = np.empty_like(I)
    for t, i in enumerate(I):
        if ref > 0:
            ref -= 1
            v = 0.0
        else:
            v += dt * (-v + 5 * i)
        if v >= vth:
            spk.append(t)
            v = 0.0
            ref = 2
        trace[t] = v
    isi = np.diff(spk)
    return trace, spk, isi.mean() if isi.size else None


@dataclass(order=True)
class Event:
    t: float
    kind: str = field(compare=False)
    who: int = field(compare=False, default=-1)


@program(
    lambda r, n: (r.exponential(1, n).tolist(), r.exponential(0.8, n).tolist()),
    5,
    200,
)
def queue_sim(arr, srv):
    t = 0
    q = []
    evs = []
    for i, a in enumerate(itertools.accumulate(arr)):
        heapq.heappush(evs, Event(a, "arrive", i))
    busy = False
    wait = {}
    while evs:
        e = heapq.heappop(evs)
        t = e.t
        if e.kind == "arrive":
            if busy:
                q.append((e.who, t))
            else:
                busy = True
                wait[e.who] = 0.0
                heapq.heappush(evs, Event(t + srv[e.who], "done", e.who))
        elif q:
            w, ta = q.pop(0)
            wait[w] = t - ta
            heapq.heappush(evs, Event(t + srv[w], "done", w))
        else:
            busy = False
    return t, wait, np.mean(list(wait.values()))


@program(lambda r, n: (3 * r.random((n, 3)), 3.0, 1.2), 6, 60, rtol=1e-9)
def lj(pos, L, rc=None):
    n = len(pos)
    F = np.zeros_like(pos)
    E = 0.0
    pairs = []
    for i in range(n - 1):
        for j in range(i + 1, n):
            r = pos[i] - pos[j]
            r -= L * np.round(r / L)
            d2 = np.dot(r, r)
            if rc is not None and d2 > rc * rc:
                continue
            s6 = 1 / d2**3
            E += 4 * (s6 * s6 - s6)
            f = 24 * (2 * s6 * s6 - s6) / d2 * r
            F[i] += f
            F[j] -= f
            pairs.append((i, j))
    return E, F, len(pairs)


@program(lambda r, n: (r.integers(0, 2, (n, 8)), 3, np.random.default_rng(1)), 6, 1000)
def genetic(pop, gens, rng):
    best_hist = []
    for g in range(gens):
        fit = pop.sum(1).astype(float)
        p = fit / fit.sum() if fit.sum() > 0 else None
        par = rng.choice(len(pop), size=len(pop), p=p)
        new = pop[par].copy()
        for i in range(0, len(new) - 1, 2):
            if rng.random() < 0.7:
                c = rng.integers(1, pop.shape[1])
                new[i, c:], new[i + 1, c:] = new[i + 1, c:].copy(), new[i, c:].copy()
        mut = rng.random(new.shape) < 0.05
        new[mut] ^= 1
        pop[:] = new
        best_hist.append(int(pop.sum(1).max()))
    return best_hist, pop


@program(lambda r, n: (1.5, 0.1, 0.01, 0.1, r.normal(size=n)), 8, 5000)
def pid_sim(kp, ki, kd, dt, ref):
    integral = 0.0
    prev = None

    def controller(err):
        nonlocal integral, prev
        integral += err * dt
        deriv = 0.0 if prev is None else (err - prev) / dt
        prev = err
        return kp * err + ki * integral + kd * deriv

    y = 0.0
    ys = []
    for r in ref:
        u = controller(r - y)
        u = max(-10.0, min(10.0, u))
        y = y + dt * (-y + u)
        ys.append(y)
    return np.array(ys), integral


@program(lambda r, n: (r.normal(size=8), n, np.random.default_rng(2)), 6, 1000, rtol=1e-9)
def mcmc(data, n, rng):
    mu, sig = 0.0, 1.0
    chain = []
    acc = 0

    def lp(m, s):
        if s <= 0:
            return -np.inf
        return -0.5 * np.sum(((data - m) / s) ** 2) - len(data) * np.log(s) - 0.5 * m * m

    cur = lp(mu, sig)
    for _ in range(n):
        m2, s2 = mu + 0.3 * rng.normal(), sig + 0.3 * rng.standard_normal()
        new = lp(m2, s2)
        if np.log(rng.uniform()) < new - cur:
            mu, sig, cur = m2, s2, new
            acc += 1
        chain.append((mu, sig))
    return np.array(chain), acc / n


@program(
    lambda r, n: (r.normal(size=n), np.full(n, 1 / n), r.normal(size=3), np.random.RandomState(4)),
    12,
    10000,
    rtol=1e-9,
)
def pfilter(x, w, obs, rs):
    est = []
    for z in obs:
        x += rs.normal(0, 0.3, x.size)
        w *= np.exp(-0.5 * (z - x) ** 2)
        w += 1e-300
        w /= w.sum()
        neff = 1 / np.sum(w**2)
        if neff < len(x) / 2:
            c = np.cumsum(w)
            c[-1] = 1.0
            idx = np.searchsorted(c, (np.arange(len(x)) + rs.uniform()) / len(x))
            x[:] = x[idx]
            w.fill(1 / len(x))
        est.append((x * w).sum())
    return est, neff


class Desc:
    def __set_name__(s, o, n):
        s.n = "_" + n

    def __get__(s, i, o=None):
        return s if i is None else getattr(i, s.n, 0)

    def __set__(s, i, v):
        if v < 0:
            raise ValueError(f"{s.n[1:]} < 0")
        setattr(i, s.n, v)


class Tank:
    level = Desc()
    rate = Desc()
    __slots__ = ("_level", "_rate", "hist")

    def __init__(s):
        s.hist = []

    def step(s, dt):
        s.level = s.level + s.rate * dt
        s.hist.append(s.level)
        return s


@program(lambda r, n: (Tank(), float(r.normal()), n), 3, 500)
def tank(t, rate, n):
    t.rate = abs(rate)
    for _ in range(n):
        t.step(0.5)
    try:
        t.rate = rate
    except ValueError as e:
        return str(e), t.level
    return t.level, len(t.hist)


class Phase(Enum):
    IDLE = 0
    RUN = 1
    DONE = 2


class Prio(IntEnum):
    LOW = 1
    HIGH = 5


class Machine:
    def __init__(self):
        self.phase = Phase.IDLE
        self.prio = Prio.LOW
        self.buf = 0.0
        self.log = []

    def step(self, x):
        if self.phase is Phase.IDLE:
            self.phase = Phase.RUN
        elif self.phase is Phase.RUN and x.sum() > 0:
            self.phase = Phase.DONE
            self.prio = Prio.HIGH
        self.buf += x * self.prio
        self.log.append(self.phase.name)


@program(lambda r, n: (Machine(), r.normal(size=n)), 4, 10000)
def run_machine(m, x):
    m.step(x)
    return m.phase, m.prio + 1, m.buf / 2
