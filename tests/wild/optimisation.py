"""Minimisers, evolutions, searches."""

import math
import random
from functools import reduce

import numpy as np

from .registry import program


def rosen(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0)


class Result(dict):
    """A dictionary whose items are attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError as e:
            raise AttributeError(name) from e


@program(lambda r, n: (rosen, r.normal(size=4), n), 12, 300, rtol=1e-6)
def nelder_mead(func, x0, maxiter, callback=None, xatol=1e-6):
    """The simplex of a function, with counts, a result that is a dictionary, and a message."""
    fcalls = [0]

    def wrapped(x):
        fcalls[0] += 1
        return func(x)

    x0 = np.asarray(x0).flatten()
    N = len(x0)
    sim = np.empty((N + 1, N), dtype=x0.dtype)
    sim[0] = x0
    for k in range(N):
        y = np.array(x0, copy=True)
        y[k] = 1.05 * y[k] if y[k] != 0 else 0.00025
        sim[k + 1] = y
    fsim = np.array([wrapped(s) for s in sim])
    ind = np.argsort(fsim)
    sim, fsim = np.take(sim, ind, 0), np.take(fsim, ind, 0)
    iterations = 1
    while iterations < maxiter:
        if np.max(np.ravel(np.abs(sim[1:] - sim[0]))) <= xatol:
            break
        xbar = np.add.reduce(sim[:-1], 0) / N
        xr = 2 * xbar - sim[-1]
        fxr = wrapped(xr)
        doshrink = 0
        if fxr < fsim[0]:
            xe = 3 * xbar - 2 * sim[-1]
            fxe = wrapped(xe)
            if fxe < fxr:
                sim[-1], fsim[-1] = xe, fxe
            else:
                sim[-1], fsim[-1] = xr, fxr
        elif fxr < fsim[-2]:
            sim[-1], fsim[-1] = xr, fxr
        else:
            if fxr < fsim[-1]:
                xc = 1.5 * xbar - 0.5 * sim[-1]
                fxc = wrapped(xc)
                if fxc <= fxr:
                    sim[-1], fsim[-1] = xc, fxc
                else:
                    doshrink = 1
            else:
                xcc = 0.5 * xbar + 0.5 * sim[-1]
                fxcc = wrapped(xcc)
                if fxcc < fsim[-1]:
                    sim[-1], fsim[-1] = xcc, fxcc
                else:
                    doshrink = 1
            if doshrink:
                for j in range(1, N + 1):
                    sim[j] = sim[0] + 0.5 * (sim[j] - sim[0])
                    fsim[j] = wrapped(sim[j])
        ind = np.argsort(fsim)
        sim, fsim = np.take(sim, ind, 0), np.take(fsim, ind, 0)
        if callback is not None:
            callback(sim[0])
        iterations += 1
    message = (
        "Maximum number of iterations has been exceeded."
        if iterations >= maxiter
        else "Optimization terminated."
    )
    return Result(x=sim[0], fun=np.min(fsim), nit=iterations, nfev=fcalls[0], message=message)


class CMA:
    def __init__(self, xstart, sigma, popsize=None, seed=1):
        N = len(xstart)
        self.lam = popsize or 4 + int(3 * math.log(N))
        self.mu = self.lam // 2
        w = np.log(self.lam / 2 + 0.5) - np.log(np.arange(1, self.mu + 1))
        self.weights = w / w.sum()
        self.mueff = 1 / np.sum(self.weights**2)
        self.cc, self.cs = 4 / (N + 4), (self.mueff + 2) / (N + self.mueff + 5)
        self.c1 = 2 / ((N + 1.3) ** 2 + self.mueff)
        self.cmu = min(
            1 - self.c1, 2 * (self.mueff - 2 + 1 / self.mueff) / ((N + 2) ** 2 + self.mueff)
        )
        self.damps = 1 + 2 * max(0, ((self.mueff - 1) / (N + 1)) ** 0.5 - 1) + self.cs
        self.xmean, self.sigma = np.array(xstart, dtype=float), sigma
        self.pc, self.ps = np.zeros(N), np.zeros(N)
        self.C = np.eye(N)
        self.counteval = 0
        self.rng = np.random.RandomState(seed)
        self.best = (None, np.inf)

    def ask(self):
        self.D, self.B = np.linalg.eigh(self.C)
        self.D = np.sqrt(np.maximum(self.D, 1e-20))
        return [
            self.xmean + self.sigma * self.B.dot(self.D * self.rng.randn(len(self.xmean)))
            for _ in range(self.lam)
        ]

    def tell(self, X, fitvals):
        self.counteval += len(fitvals)
        N = len(self.xmean)
        xold = self.xmean
        order = np.argsort(fitvals)
        if fitvals[order[0]] < self.best[1]:
            self.best = (X[order[0]], fitvals[order[0]])
        chosen = np.array([X[k] for k in order[: self.mu]])
        self.xmean = self.weights @ chosen
        y = (self.xmean - xold) / self.sigma
        z = self.B @ ((self.B.T @ y) / self.D)
        self.ps = (1 - self.cs) * self.ps + np.sqrt(self.cs * (2 - self.cs) * self.mueff) * z
        hsig = np.sum(self.ps**2) / N / (
            1 - (1 - self.cs) ** (2 * self.counteval / self.lam)
        ) < 2 + 4.0 / (N + 1)
        self.pc = (1 - self.cc) * self.pc + hsig * np.sqrt(self.cc * (2 - self.cc) * self.mueff) * y
        artmp = (chosen - xold) / self.sigma
        self.C = (
            (1 - self.c1 - self.cmu) * self.C
            + self.c1 * np.outer(self.pc, self.pc)
            + self.cmu * artmp.T @ (self.weights[:, None] * artmp)
        )
        self.sigma *= np.exp(min(1, (self.cs / self.damps) * (np.sum(self.ps**2) / N - 1) / 2))

    def stop(self):
        res = {}
        if self.sigma < 1e-11:
            res["tolx"] = 1e-11
        return res


@program(lambda r, n: (CMA(r.normal(size=5), 0.5), rosen, n), 3, 30, rtol=1e-6)
def cma_es(es, func, iterations):
    """Ask and tell, with lists of candidates and a dictionary of reasons to stop."""
    for it in range(iterations):
        if es.stop():
            break
        X = es.ask()
        es.tell(X, [func(x) for x in X])
        if it % 10 == 0:
            print("%5d: %9.2e" % (es.counteval, es.sigma))
    return es.best


class Swarm:
    def __init__(self, n, dim, bounds, seed=3):
        self.rng = np.random.default_rng(seed)
        low, high = bounds
        self.x = self.rng.uniform(low, high, (n, dim))
        self.v = np.zeros_like(self.x)
        self.pbest, self.pcost = self.x.copy(), np.full(n, np.inf)
        self.gbest, self.gcost = None, np.inf
        self.bounds = bounds


def sphere(x):
    return (x**2).sum(axis=1)


@program(
    lambda r, n: (Swarm(n, 4, (-5, 5)), sphere, {"w": 0.7, "c1": 1.4, "c2": 1.4}, 4),
    10,
    2_500,
    rtol=1e-9,
)
def particle_swarm(swarm, cost, options, iters):
    """A swarm with bests that are None at first, options in a dictionary."""
    w, c1, c2 = options["w"], options["c1"], options.get("c2", 2.0)
    history = []
    for _ in range(iters):
        c = cost(swarm.x)
        better = c < swarm.pcost
        swarm.pbest[better] = swarm.x[better]
        swarm.pcost = np.where(better, c, swarm.pcost)
        k = np.argmin(swarm.pcost)
        if swarm.gbest is None or swarm.pcost[k] < swarm.gcost:
            swarm.gbest, swarm.gcost = swarm.pbest[k].copy(), swarm.pcost[k]
        r1, r2 = swarm.rng.random(swarm.x.shape), swarm.rng.random(swarm.x.shape)
        swarm.v = (
            w * swarm.v + c1 * r1 * (swarm.pbest - swarm.x) + c2 * r2 * (swarm.gbest - swarm.x)
        )
        swarm.x = np.clip(swarm.x + swarm.v, *swarm.bounds)
        history.append(swarm.gcost)
    return swarm.gcost, history


def tour_length(D, tour):
    return sum(D[tour[i - 1], tour[i]] for i in range(len(tour)))


@program(lambda r, n: (r.random((n, 2)), 1.0, 0.95, 60), 8, 40, rtol=1e-9)
def annealing(cities, T, cooling, steps):
    """A tour by reversals, with Python's random numbers and lists that are cut and joined."""
    D = np.sqrt(((cities[:, None] - cities[None]) ** 2).sum(-1))
    tour = list(range(len(cities)))
    current = best = tour_length(D, tour)
    best_tour = tour[:]
    for _ in range(steps):
        i, j = sorted(random.sample(range(len(tour)), 2))
        candidate = tour[:i] + tour[i : j + 1][::-1] + tour[j + 1 :]
        length = tour_length(D, candidate)
        if length < current or random.random() < math.exp((current - length) / T):
            tour, current = candidate, length
            if current < best:
                best, best_tour = current, tour[:]
        T *= cooling
    return best_tour, best


@program(lambda r, n: ((r.random((n, 20)) < 0.5).astype(int), 5, 0.02), 8, 500)
def genetic(population, generations, p_mutation):
    """Bit strings: a tournament, crossover, mutation; NumPy's global stream."""
    n, length = population.shape
    for g in range(generations):
        fitness = population.sum(axis=1)
        idx = np.random.randint(0, n, (n, 2))
        winners = np.where(fitness[idx[:, 0]] >= fitness[idx[:, 1]], idx[:, 0], idx[:, 1])
        parents = population[winners]
        children = parents.copy()
        for i in range(0, n - 1, 2):
            cut = np.random.randint(1, length)
            children[i, cut:], children[i + 1, cut:] = parents[i + 1, cut:], parents[i, cut:]
        flip = np.random.random(children.shape) < p_mutation
        children[flip] = 1 - children[flip]
        population = children
        if population.sum(axis=1).max() == length:
            print(f"solved in generation {g}")
            break
    return population, population.sum(axis=1).max()


@program(
    lambda r, n: (
        (lambda A: A @ A.T + n * np.eye(n))(r.normal(size=(n, n))),
        r.normal(size=n),
        1e-8,
    ),
    6,
    100,
    rtol=1e-8,
)
def conjugate_gradient(A, b, tol, x0=None, maxiter=None, M=None):
    """A solver with everything optional, and a preconditioner that may be a function."""
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError("expected square matrix (shape=%s)" % (A.shape,))
    n = len(b)
    if maxiter is None:
        maxiter = n * 10
    psolve = M if callable(M) else (lambda r: r) if M is None else (lambda r: M @ r)
    x = np.zeros(n) if x0 is None else np.array(x0, dtype=float)
    r = b - A @ x
    z = psolve(r)
    p = z.copy()
    rz = r @ z
    info = maxiter
    for it in range(maxiter):
        Ap = A @ p
        alpha = rz / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        if np.linalg.norm(r) <= tol * np.linalg.norm(b):
            info = 0
            break
        z = psolve(r)
        rz_new = r @ z
        p = z + (rz_new / rz) * p
        rz = rz_new
    return x, info


@program(lambda r, n: (r.normal(size=(n, 3)), r.normal(size=n), 3, 0.7), 20, 5000, rtol=1e-8)
def levenberg_marquardt(X, y, iterations, lam):
    """A fit whose damping goes up and down; singular steps are caught."""
    beta = np.zeros(X.shape[1])
    cost = np.inf
    accepted = []
    for k in range(iterations):
        pred = np.tanh(X @ beta)
        res = y - pred
        J = (1 - pred**2)[:, None] * X
        g = J.T @ res
        H = J.T @ J
        try:
            step = np.linalg.solve(H + lam * np.diag(np.diag(H)), g)
        except np.linalg.LinAlgError:
            step = g * 1e-3
        new_cost = np.sum((y - np.tanh(X @ (beta + step))) ** 2)
        if new_cost < cost:
            beta, cost, lam = beta + step, new_cost, lam * 0.5
            accepted.append(k)
        else:
            lam *= 2.0
    total = reduce(lambda a, b: a + b, accepted, 0)
    return beta, cost, total
