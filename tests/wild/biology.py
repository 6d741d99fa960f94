"""Genes, cells, epidemics, flocks."""

import random

import numpy as np
from scipy.signal import convolve2d

from .registry import program


class Cell2D:
    """A game of life on a torus or not."""

    kernel = np.array([[1, 1, 1], [1, 10, 1], [1, 1, 1]])
    table = np.zeros(20, dtype=np.uint8)
    table[[3, 12, 13]] = 1

    def __init__(self, n, m=None):
        m = n if m is None else m
        self.array = np.zeros((n, m), np.uint8)

    def add_cells(self, row, col, *strings):
        for i, s in enumerate(strings):
            self.array[row + i, col : col + len(s)] = np.array([int(b) for b in s])

    def step(self):
        c = convolve2d(self.array, self.kernel, mode="same", boundary="wrap")
        self.array = self.table[c]


def make_life(rng, size):
    life = Cell2D(size)
    life.array[:] = rng.integers(0, 2, (size, size))
    return life, 5


@program(make_life, 12, 100)
def game_of_life(life, n):
    """Generations by SciPy's convolution and a table, with cells given as text."""
    life.add_cells(1, 1, "010", "001", "111")
    alive = []
    for _ in range(n):
        life.step()
        alive.append(int(life.array.sum()))
    return life.array.copy(), alive


@program(lambda r, n: (r.integers(0, 2, (n, n), dtype=np.uint8), 6), 9, 100)
def life_by_slices(Z, steps):
    """The same by sums of views and masks; the world is changed in place."""
    for _ in range(steps):
        N = (
            Z[0:-2, 0:-2] + Z[0:-2, 1:-1] + Z[0:-2, 2:]
            + Z[1:-1, 0:-2] + Z[1:-1, 2:]
            + Z[2:, 0:-2] + Z[2:, 1:-1] + Z[2:, 2:]
        )  # fmt: skip
        birth = (N == 3) & (Z[1:-1, 1:-1] == 0)
        survive = ((N == 2) | (N == 3)) & (Z[1:-1, 1:-1] == 1)
        Z[...] = 0
        Z[1:-1, 1:-1][birth | survive] = 1
    return Z.sum()


class Flock:
    def __init__(self, count, width=640, height=360, seed=0):
        rng = np.random.default_rng(seed)
        self.width, self.height = width, height
        self.min_velocity, self.max_velocity, self.max_acceleration = 0.5, 2.0, 0.03
        self.velocity = rng.normal(size=(count, 2)).astype(np.float32)
        self.position = (rng.random((count, 2)) * (width, height)).astype(np.float32)

    def run(self):
        position, velocity = self.position, self.velocity
        n = len(position)
        dx = np.absolute(np.subtract.outer(position[:, 0], position[:, 0]))
        dy = np.absolute(np.subtract.outer(position[:, 1], position[:, 1]))
        dx = np.minimum(dx, self.width - dx)
        dy = np.minimum(dy, self.height - dy)
        distance = np.hypot(dx, dy)
        mask_0 = distance > 0
        mask_1 = (distance < 25) * mask_0
        mask_2 = (distance < 50) * mask_0
        masks = [mask_1, mask_2, mask_2]
        targets = [position, velocity, position]
        acceleration = np.zeros((n, 2), dtype=np.float32)
        for i, (mask, vectors) in enumerate(zip(masks, targets)):
            count = np.maximum(mask.sum(axis=1), 1).reshape(n, 1)
            target = np.dot(mask, vectors) / count
            if i != 1:
                target = target - position
            norm = np.sqrt((target * target).sum(axis=1)).reshape(n, 1)
            target *= np.divide(self.max_velocity, norm, out=np.zeros_like(norm), where=norm != 0)
            steer = target - velocity
            acceleration += (-1 if i == 0 else 1) * steer.astype(np.float32)
        velocity += acceleration
        norm = np.sqrt((velocity * velocity).sum(axis=1)).reshape(n, 1)
        np.multiply(
            velocity,
            self.max_velocity / np.maximum(norm, 1e-6),
            out=velocity,
            where=norm > self.max_velocity,
        )
        position += velocity
        position += (self.width, self.height)
        position %= (self.width, self.height)


@program(lambda r, n: (Flock(n), 3), 30, 100, rtol=1e-4)
def boids(flock, steps):
    """A flock: distances of all pairs, masks in lists, ufuncs with out and where."""
    for _ in range(steps):
        flock.run()
    return flock.position.mean(axis=0)


AMINO = {"A": 0, "C": 1, "G": 2, "T": 3}


def make_sequences(rng, size):
    def text():
        return "".join("ACGT"[k] for k in rng.integers(0, 4, size))

    return text(), text(), {"match": 2, "mismatch": -1, "gap": -2}


@program(make_sequences, 8, 60)
def needleman_wunsch(seq1, seq2, scoring):
    """Alignment of two texts: a table, and a way back that builds strings."""
    n, m = len(seq1), len(seq2)
    gap = scoring["gap"]
    score = np.zeros((n + 1, m + 1), dtype=int)
    score[:, 0] = np.arange(n + 1) * gap
    score[0, :] = np.arange(m + 1) * gap
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            diag = score[i - 1, j - 1] + (
                scoring["match"] if seq1[i - 1] == seq2[j - 1] else scoring["mismatch"]
            )
            score[i, j] = max(diag, score[i - 1, j] + gap, score[i, j - 1] + gap)
    a, b, i, j = "", "", n, m
    while i > 0 and j > 0:
        here = score[i, j]
        if here == score[i - 1, j] + gap:
            a, b, i = seq1[i - 1] + a, "-" + b, i - 1
        elif here == score[i, j - 1] + gap:
            a, b, j = "-" + a, seq2[j - 1] + b, j - 1
        else:
            a, b, i, j = seq1[i - 1] + a, seq2[j - 1] + b, i - 1, j - 1
    return a, b, score


@program(lambda r, n: (r.integers(0, 4, n), r.integers(0, 4, n), 2, -1, -1), 10, 100)
def smith_waterman(a, b, match, mismatch, gap):
    """Local alignment of coded sequences, and the place of the best score."""
    H = np.zeros((len(a) + 1, len(b) + 1))
    best, where = 0.0, (0, 0)
    for i in range(1, H.shape[0]):
        for j in range(1, H.shape[1]):
            s = match if a[i - 1] == b[j - 1] else mismatch
            H[i, j] = max(0, H[i - 1, j - 1] + s, H[i - 1, j] + gap, H[i, j - 1] + gap)
            if H[i, j] > best:
                best, where = H[i, j], (i, j)
    return H, best, where


class SEIRNetwork:
    """An epidemic on a network by events, series that grow when they are full."""

    def __init__(self, A, beta, sigma, gamma, initI=3):
        self.numNodes = A.shape[0]
        self.A = A
        self.beta = (
            beta
            if isinstance(beta, (list, np.ndarray))
            else np.full(fill_value=beta, shape=(self.numNodes, 1))
        )
        self.sigma = (
            sigma
            if isinstance(sigma, (list, np.ndarray))
            else np.full(fill_value=sigma, shape=(self.numNodes, 1))
        )
        self.gamma = (
            gamma
            if isinstance(gamma, (list, np.ndarray))
            else np.full(fill_value=gamma, shape=(self.numNodes, 1))
        )
        self.degree = A.sum(axis=0).reshape(self.numNodes, 1).astype(float)
        self.S, self.E, self.I, self.R = 1, 2, 3, 4
        self.X = np.array([self.I] * int(initI) + [self.S] * int(self.numNodes - initI)).reshape(
            (self.numNodes, 1)
        )
        self.tseries = np.zeros(4)
        self.numI = np.zeros(4)
        self.t, self.tidx = 0, 0
        self.transitions = {
            "StoE": {"currentState": self.S, "newState": self.E},
            "EtoI": {"currentState": self.E, "newState": self.I},
            "ItoR": {"currentState": self.I, "newState": self.R},
        }

    def calc_propensities(self):
        contacts = np.zeros(shape=(self.numNodes, 1))
        if np.any(self.X == self.I):
            contacts = np.asarray(np.dot(self.A, self.X == self.I))
        infect = np.divide(
            self.beta * contacts,
            self.degree,
            out=np.zeros_like(self.degree),
            where=self.degree != 0,
        )
        columns = ["StoE", "EtoI", "ItoR"]
        return np.hstack(
            [
                infect * (self.X == self.S),
                self.sigma * (self.X == self.E),
                self.gamma * (self.X == self.I),
            ]
        ), columns

    def run_iteration(self):
        if self.tidx >= len(self.tseries) - 1:
            self.tseries = np.pad(self.tseries, [(0, 16)], mode="constant", constant_values=0)
            self.numI = np.pad(self.numI, [(0, 16)], mode="constant", constant_values=0)
        r1 = np.random.rand()
        r2 = np.random.rand()
        propensities, types = self.calc_propensities()
        if propensities.sum() <= 0.0:
            return False
        flat = propensities.ravel(order="F")
        cumsum = flat.cumsum()
        alpha = flat.sum()
        self.t += (1 / alpha) * np.log(float(1 / r1))
        idx = np.searchsorted(cumsum, r2 * alpha)
        node = idx % self.numNodes
        kind = types[int(idx / self.numNodes)]
        assert self.X[node] == self.transitions[kind]["currentState"], "wrong state for " + kind
        self.X[node] = self.transitions[kind]["newState"]
        self.tidx += 1
        self.tseries[self.tidx] = self.t
        self.numI[self.tidx] = np.clip(
            np.count_nonzero(self.X == self.I), a_min=0, a_max=self.numNodes
        )
        return True


def make_epidemic(rng, size):
    A = (rng.random((size, size)) < 0.2).astype(int)
    return SEIRNetwork(A | A.T, 0.6, 0.3, 0.1), 12


@program(make_epidemic, 12, 100, rtol=1e-9)
def epidemic(model, n_events):
    """Events of an epidemic on a network, drawn from the global stream."""
    running = True
    while running and model.tidx < n_events:
        running = model.run_iteration()
    if not running:
        print("Stopping: no more transitions")
    return model.numI[: model.tidx + 1]


@program(lambda r, n: (n, 0.3, 30), 40, 1000)
def wright_fisher(N, p0, generations):
    """Drift by binomial draws, until an allele is fixed."""
    p = p0
    history = [p]
    for g in range(generations):
        k = np.random.binomial(2 * N, p)
        p = k / (2 * N)
        history.append(p)
        if p == 0.0 or p == 1.0:
            break
    return np.array(history)


@program(lambda r, n: ([50, 0, 0], n), 12, 200, rtol=1e-9)
def gillespie(x0, max_events):
    """A reaction network with Python's own random numbers and tuples of changes."""
    reactions = (
        ((-1, 1, 0), lambda x: 0.5 * x[0]),
        ((0, -1, 1), lambda x: 0.2 * x[1]),
        ((1, 0, -1), lambda x: 0.1 * x[2]),
    )
    x, t, trajectory = list(x0), 0.0, []
    for _ in range(max_events):
        rates = [rate(x) for _, rate in reactions]
        total = sum(rates)
        if total == 0:
            break
        t += random.expovariate(total)
        u, k = random.random() * total, 0
        while u > rates[k]:
            u -= rates[k]
            k += 1
        x = [a + b for a, b in zip(x, reactions[k][0])]
        trajectory.append((t, *x))
    return np.array(trajectory)
