"""Models made of objects: layers, rounds, policies, circuits."""

import collections
import functools
import math

import numpy as np

from .registry import program


class Module:
    def __init__(self):
        object.__setattr__(self, "_params", {})
        object.__setattr__(self, "_mods", {})

    def __setattr__(self, k, v):
        if isinstance(v, Module):
            self._mods[k] = v
        elif isinstance(v, np.ndarray):
            self._params[k] = v
        object.__setattr__(self, k, v)

    def parameters(self):
        yield from self._params.items()
        for n, m in self._mods.items():
            for k, v in m.parameters():
                yield (f"{n}.{k}", v)

    def __call__(self, *a, **k):
        return self.forward(*a, **k)


class Linear(Module):
    def __init__(self, i, o, rng, bias=True):
        super().__init__()
        self.W = rng.uniform(-1, 1, (i, o)) / math.sqrt(i)
        self.b = np.zeros(o) if bias else None

    def forward(self, x):
        y = x @ self.W
        return y + self.b if self.b is not None else y


class LayerNorm(Module):
    def __init__(self, d, eps=1e-05):
        super().__init__()
        self.g, self.b, self.eps = (np.ones(d), np.zeros(d), eps)

    def forward(self, x):
        m = x.mean(-1, keepdims=True)
        v = x.var(-1, keepdims=True)
        return self.g * (x - m) / np.sqrt(v + self.eps) + self.b


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


class Attention(Module):
    def __init__(self, d, h, rng):
        super().__init__()
        assert d % h == 0
        self.h = h
        self.qkv = Linear(d, 3 * d, rng, False)
        self.o = Linear(d, d, rng)

    def forward(self, x, mask=None, cache=None):
        B, T, D = x.shape
        q, k, v = np.split(self.qkv(x), 3, axis=-1)
        q, k, v = (t.reshape(B, T, self.h, D // self.h).transpose(0, 2, 1, 3) for t in (q, k, v))
        if cache is not None:
            if "k" in cache:
                k = np.concatenate([cache["k"], k], axis=2)
                v = np.concatenate([cache["v"], v], axis=2)
            cache["k"], cache["v"] = (k, v)
        s = q @ k.swapaxes(-1, -2) / math.sqrt(D // self.h)
        if mask is not None:
            s = np.where(mask[None, None, -T:, : k.shape[2]], s, -np.inf)
        return self.o((softmax(s) @ v).transpose(0, 2, 1, 3).reshape(B, T, D))


class Block(Module):
    def __init__(self, d, h, rng):
        super().__init__()
        self.ln1, self.at, self.ln2, self.up, self.down = (
            LayerNorm(d),
            Attention(d, h, rng),
            LayerNorm(d),
            Linear(d, 4 * d, rng),
            Linear(4 * d, d, rng),
        )

    def forward(self, x, mask=None, cache=None):
        x = x + self.at(self.ln1(x), mask, cache)
        u = self.up(self.ln2(x))
        return x + self.down(0.5 * u * (1 + np.tanh(0.79788456 * (u + 0.044715 * u**3))))


def _tr(r, n):
    return (
        [Block(8, 2, r) for _ in range(2)],
        r.normal(size=(2, n, 8)),
        np.tril(np.ones((64, 64), bool)),
    )


@program(_tr, 4, 24, rtol=1e-06)
def transformer(blocks, x, mask):
    """Blocks with parameters that a class collects, a mask, and a cache of keys and values."""
    caches = [{} for _ in blocks]
    for b, c in zip(blocks, caches):
        x = b(x, mask[: x.shape[1]], c)
    y = x[:, -1:]
    for b, c in zip(blocks, caches):
        y = b(y, None, c)
    n = sum((p.size for b in blocks for _, p in b.parameters()))
    return (x, y, n, [c["k"].shape for c in caches], sorted((k for k, _ in blocks[0].parameters())))


def fit_stump(X, r):
    best = dict(loss=np.inf, feature=0, thr=0.0, left=r.mean() if r.size else 0.0, right=0.0)
    for j in range(X.shape[1]):
        order = np.argsort(X[:, j])
        xs, rs = (X[order, j], r[order])
        csum = np.cumsum(rs)
        n = len(rs)
        for i in range(1, n):
            if xs[i] == xs[i - 1]:
                continue
            l, rr = (csum[i - 1] / i, (csum[-1] - csum[i - 1]) / (n - i))
            loss = -(i * l**2 + (n - i) * rr**2)
            if loss < best["loss"]:
                best.update(loss=loss, feature=j, thr=0.5 * (xs[i] + xs[i - 1]), left=l, right=rr)
    return best


@program(lambda r, n: (r.normal(size=(n, 3)), r.normal(size=n), 3), 10, 100, rtol=1e-09)
def boosting(X, y, n_rounds, lr=0.1):
    """Stumps as dictionaries, gradient steps, counts of the features."""
    F = np.full(len(y), y.mean())
    models = []
    losses = []
    for m in range(n_rounds):
        s = fit_stump(X, y - F)
        F += lr * np.where(X[:, s["feature"]] <= s["thr"], s["left"], s["right"])
        models.append(s)
        losses.append(float(np.mean((y - F) ** 2)))
    imp = collections.Counter((m["feature"] for m in models))
    return (F, models, losses, dict(imp))


@program(lambda r, n: (r.normal(size=(3, 3)), n), 20, 500, rtol=1e-09)
def fictitious(A, rounds):
    """Play by averages, replicators, and saddle points of a game."""
    n, mm = A.shape
    cr, cc = (np.zeros(n), np.zeros(mm))
    i, j = (0, 0)
    regret = []
    for t in range(1, rounds + 1):
        cr[i] += 1
        cc[j] += 1
        i = int(np.argmax(A @ (cc / t)))
        j = int(np.argmin(cr / t @ A))
        regret.append((A @ (cc / t)).max() - (cr / t @ A).min())
    x = np.ones(n) / n
    for _ in range(50):
        f = A @ x
        x = x * np.exp(0.1 * (f - x @ f))
        x /= x.sum()
    saddle = [(a, b) for a in range(n) for b in range(mm) if A[a, b] == A[a].min() == A[:, b].max()]
    return (cr / rounds, cc / rounds, regret[-1], x, saddle)


class CartPole:
    metadata = {"fps": 50}

    def __init__(self, seed=None):
        self.rng = np.random.default_rng(seed)
        self.state = None
        self.steps = 0

    def reset(self):
        self.state = self.rng.uniform(-0.05, 0.05, 4)
        self.steps = 0
        return (self.state.copy(), {})

    def step(self, a):
        assert a in (0, 1), f"{a!r} is no action"
        x, v, th, w = self.state
        F = 10.0 if a == 1 else -10.0
        c, s = (math.cos(th), math.sin(th))
        tmp = (F + 0.05 * w**2 * s) / 1.1
        ta = (9.8 * s - c * tmp) / (0.5 * (4 / 3 - 0.1 * c**2 / 1.1))
        xa = tmp - 0.05 * ta * c / 1.1
        dt = 0.02
        self.state = np.array([x + dt * v, v + dt * xa, th + dt * w, w + dt * ta])
        self.steps += 1
        done = bool(abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.2095)
        return (self.state.copy(), 1.0, done, self.steps >= 200, {})


@program(lambda r, n: (CartPole(3), r.normal(size=(n, 4))), 3, 12, rtol=1e-09)
def policy_search(env, pop, keep=2):
    """Episodes of an environment whose end depends on data."""
    scores = []
    for w in pop:
        obs, _ = env.reset()
        total, done, trunc = (0.0, False, False)
        while not (done or trunc):
            obs, r, done, trunc, info = env.step(int(w @ obs > 0))
            total += r
        scores.append(total)
    order = np.argsort(scores)[::-1]
    elite = pop[order[:keep]]
    return (scores, elite.mean(0), elite.std(0), env.steps)


class Circuit:
    H = np.array([[1, 1], [1, -1]], dtype=complex) / np.sqrt(2)
    X = np.array([[0, 1], [1, 0]], dtype=complex)

    def __init__(self, n, rng=None):
        self.n = n
        self.state = np.zeros(2**n, dtype=complex)
        self.state[0] = 1
        self.ops = []
        self.rng = rng or np.random.default_rng(7)

    def gate(self, U, *qubits):
        k = len(qubits)
        if U.shape != (2**k, 2**k):
            raise ValueError(f"gate of shape {U.shape} on {k} qubits")
        psi = self.state.reshape((2,) * self.n)
        psi = np.tensordot(U.reshape((2,) * (2 * k)), psi, axes=(range(k, 2 * k), qubits))
        psi = np.moveaxis(psi, range(k), qubits)
        self.state = psi.reshape(-1)
        self.ops.append((U.shape[0], qubits))
        return self

    def h(self, q):
        return self.gate(self.H, q)

    def rx(self, t, q):
        c, s = (np.cos(t / 2), -1j * np.sin(t / 2))
        return self.gate(np.array([[c, s], [s, c]]), q)

    def cx(self, a, b):
        U = np.eye(4, dtype=complex)
        U[2:, 2:] = self.X
        return self.gate(U, a, b)

    def probs(self):
        return np.abs(self.state) ** 2

    def measure(self, q):
        p = self.probs().reshape((2,) * self.n)
        p1 = p.take(1, axis=q).sum()
        bit = int(self.rng.random() < p1)
        idx = [slice(None)] * self.n
        idx[q] = 1 - bit
        psi = self.state.reshape((2,) * self.n).copy()
        psi[tuple(idx)] = 0
        self.state = (psi / np.linalg.norm(psi)).ravel()
        return bit

    def expect(self, paulis):
        psi = self.state
        P = {"X": self.X, "Z": np.diag([1.0, -1]).astype(complex), "I": np.eye(2, dtype=complex)}
        M = functools.reduce(np.kron, [P[c] for c in paulis])
        return (psi.conj() @ M @ psi).real


@program(
    lambda r, n: (Circuit(min(n, 6), np.random.default_rng(3)), r.uniform(0, 3, size=n)),
    3,
    6,
    rtol=1e-09,
)
def circuit(c, angles):
    """Gates on a state vector, measurements by a generator, chained methods."""
    for q in range(c.n):
        c.h(q)
    for q, t in enumerate(angles[: c.n]):
        c.rx(t, q)
    for a, b in zip(range(c.n - 1), range(1, c.n)):
        c.cx(a, b)
    e = c.expect("Z" * c.n)
    bits = [c.measure(q) for q in range(c.n)]
    return (e, bits, c.probs(), c.state)
