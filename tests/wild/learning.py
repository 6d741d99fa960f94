"""Machine learning without a framework."""

import logging
from collections import defaultdict

import numpy as np
from numpy import argmin, exp, linalg, outer, power, unravel_index, zeros

from .registry import program

logger = logging.getLogger(__name__)


class Dense:
    """A layer with parameters and gradients in dictionaries."""

    def __init__(self, n_in, n_out, rng):
        self.params = {
            "W": rng.normal(scale=1 / np.sqrt(n_in), size=(n_in, n_out)),
            "b": np.zeros(n_out),
        }
        self.grads = {}
        self.cache = None

    def forward(self, x, retain=True):
        if retain:
            self.cache = x
        return x @ self.params["W"] + self.params["b"]

    def backward(self, grad):
        self.grads["W"] = self.cache.T @ grad
        self.grads["b"] = grad.sum(axis=0)
        return grad @ self.params["W"].T


class ReLU:
    params = {}
    grads = {}

    def forward(self, x, retain=True):
        self.mask = x > 0
        return x * self.mask

    def backward(self, grad):
        return grad * self.mask


class Network:
    def __init__(self, layers):
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, grad):
        for layer in reversed(self.layers):
            grad = layer.backward(grad)

    def __len__(self):
        return len(self.layers)


class Adam:
    def __init__(self, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        self.lr, self.eps = lr, eps
        self.b1, self.b2 = betas
        self.t = 0
        self.m = {}
        self.v = {}

    def step(self, layers):
        self.t += 1
        for i, layer in enumerate(layers):
            for name, p in layer.params.items():
                key = f"{name}{i}"
                g = layer.grads[name]
                if key not in self.m:
                    self.m[key] = np.zeros_like(p)
                    self.v[key] = np.zeros_like(p)
                self.m[key] = self.b1 * self.m[key] + (1 - self.b1) * g
                self.v[key] = self.b2 * self.v[key] + (1 - self.b2) * g**2
                m_hat = self.m[key] / (1 - self.b1**self.t)
                v_hat = self.v[key] / (1 - self.b2**self.t)
                p -= self.lr * m_hat / (np.sqrt(v_hat) + self.eps)


def softmax(x, axis=-1):
    z = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return z / np.sum(z, axis=axis, keepdims=True)


def make_training(rng, size):
    net = Network([Dense(8, 16, rng), ReLU(), Dense(16, 3, rng)])
    return net, Adam(lr=0.01), rng.normal(size=(size, 8)), rng.integers(0, 3, size)


@program(make_training, 12, 1_250, rtol=1e-9)
def train_step(net, optimizer, X, y):
    """One epoch of a network of layer objects, with a log line."""
    logits = net(X)
    probs = softmax(logits)
    n = X.shape[0]
    loss = -np.log(probs[np.arange(n), y] + 1e-12).mean()
    grad = probs.copy()
    grad[np.arange(n), y] -= 1
    net.backward(grad / n)
    optimizer.step(net.layers)
    logger.info("loss %.4f after %d layers", loss, len(net))
    return loss


@program(make_training, 12, 1_250, rtol=1e-9)
def fit_minibatches(net, optimizer, X, y, epochs=2, batch_size=6, shuffle=True):
    """Epochs over shuffled batches; the order comes from NumPy's global stream."""
    history = {"loss": []}
    n = len(X)
    if batch_size > n:
        batch_size = n
    batch_size = max(batch_size, n // 4)
    for epoch in range(epochs):
        idx = np.arange(n)
        if shuffle:
            np.random.shuffle(idx)
        total = 0.0
        for start in range(0, n, batch_size):
            batch = idx[start : start + batch_size]
            probs = softmax(net(X[batch]))
            m = len(batch)
            total += -np.sum(np.log(probs[range(m), y[batch]]))
            probs[range(m), y[batch]] -= 1
            net.backward(probs / m)
            optimizer.step(net.layers)
        history["loss"].append(total / n)
        print(f"epoch {epoch + 1}/{epochs} - loss: {total / n:.3f}")
    return history


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def layer_norm(x, g, b, eps: float = 1e-5):
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.var(x, axis=-1, keepdims=True)
    return g * (x - mean) / np.sqrt(variance + eps) + b


def linear(x, w, b):
    return x @ w + b


def attention(q, k, v, mask):
    return softmax(q @ k.T / np.sqrt(q.shape[-1]) + mask) @ v


def heads(x, c_attn, c_proj, n_head):
    qkv = np.split(linear(x, **c_attn), 3, axis=-1)
    parts = list(map(lambda each: np.split(each, n_head, axis=-1), qkv))
    mask = (1 - np.tri(x.shape[0], dtype=x.dtype)) * -1e10
    out = [attention(q, k, v, mask) for q, k, v in zip(*parts)]
    return linear(np.hstack(out), **c_proj)


def block(x, mlp, attn, ln_1, ln_2, n_head):
    x = x + heads(layer_norm(x, **ln_1), **attn, n_head=n_head)
    h = gelu(linear(layer_norm(x, **ln_2), **mlp["c_fc"]))
    return x + linear(h, **mlp["c_proj"])


def make_gpt(rng, size):
    def lin(n, m):
        return {
            "w": (rng.normal(size=(n, m)) * 0.1).astype(np.float32),
            "b": np.zeros(m, np.float32),
        }

    def norm(n):
        return {"g": np.ones(n, np.float32), "b": np.zeros(n, np.float32)}

    e = 32
    blocks = [
        {
            "mlp": {"c_fc": lin(e, 4 * e), "c_proj": lin(4 * e, e)},
            "attn": {"c_attn": lin(e, 3 * e), "c_proj": lin(e, e)},
            "ln_1": norm(e),
            "ln_2": norm(e),
        }
        for _ in range(2 if size > 50 else 1)
    ]
    params = {
        "wte": (rng.normal(size=(50, e)) * 0.3).astype(np.float32),
        "wpe": (rng.normal(size=(400, e)) * 0.1).astype(np.float32),
        "blocks": blocks,
        "ln_f": norm(e),
    }
    return [int(k) for k in rng.integers(0, 50, size)], params, 4, 2


def gpt(inputs, wte, wpe, blocks, ln_f, n_head):
    x = wte[inputs] + wpe[range(len(inputs))]
    for each in blocks:
        x = block(x, **each, n_head=n_head)
    return layer_norm(x, **ln_f) @ wte.T


@program(make_gpt, 5, 300, rtol=1e-4)
def generate(inputs, params, n_head, n_tokens):
    """A language model: a list of tokens that grows, parameters in dictionaries."""
    for _ in range(n_tokens):
        logits = gpt(inputs, **params, n_head=n_head)
        next_id = np.argmax(logits[-1])
        inputs = np.append(inputs, [next_id])
    return list(inputs[len(inputs) - n_tokens :])


@program(lambda r, n: make_gpt(r, n)[:3] + (0.8, 5), 5, 300, rtol=1e-4)
def sample_token(inputs, params, n_head, temperature, top_k):
    """The next token, drawn from the best ones by the global stream."""
    logits = gpt(inputs, **params, n_head=n_head)[-1] / temperature
    if top_k is not None:
        cut = np.sort(logits)[-top_k]
        logits = np.where(logits < cut, -np.inf, logits)
    p = softmax(logits.astype(np.float64))
    token = int(np.searchsorted(np.cumsum(p), np.random.rand()))
    inputs.append(token)
    return token


def decay(rate, t, max_iter):
    return rate / (1 + t / (max_iter / 2))


class SelfOrganisingMap(object):
    def __init__(
        self, x, y, input_len, sigma=1.0, learning_rate=0.5, decay_function=decay, random_seed=None
    ):
        self._rng = np.random.RandomState(random_seed)
        self._learning_rate = learning_rate
        self._sigma = sigma
        self._weights = self._rng.rand(x, y, input_len) * 2 - 1
        self._weights /= linalg.norm(self._weights, axis=-1, keepdims=True)
        self._activation_map = zeros((x, y))
        self._neigx = np.arange(x)
        self._neigy = np.arange(y)
        self._decay = decay_function
        self.neighborhood = {"gaussian": self._gaussian}["gaussian"]

    def _gaussian(self, c, sigma):
        d = 2 * np.pi * sigma * sigma
        ax = exp(-power(self._neigx - c[0], 2) / d)
        ay = exp(-power(self._neigy - c[1], 2) / d)
        return outer(ax, ay)

    def winner(self, x):
        s = np.subtract(x, self._weights)
        self._activation_map = linalg.norm(s, axis=-1)
        return unravel_index(self._activation_map.argmin(), self._activation_map.shape)

    def update(self, x, win, t, max_iteration):
        eta = self._decay(self._learning_rate, t, max_iteration)
        sig = self._decay(self._sigma, t, max_iteration)
        g = self.neighborhood(win, sig) * eta
        self._weights += np.einsum("ij, ijk->ijk", g, x - self._weights)

    def quantization_error(self, data):
        flat = self._weights.reshape(-1, self._weights.shape[2])
        d = (data**2).sum(axis=1, keepdims=True) - 2 * data @ flat.T + (flat**2).sum(axis=1)
        codes = self._weights[unravel_index(argmin(d, axis=1), self._weights.shape[:2])]
        return linalg.norm(codes - data, axis=1).mean()


@program(
    lambda r, n: (SelfOrganisingMap(7, 7, 4, random_seed=1), r.normal(size=(n, 4)), 20, False),
    12,
    2500,
    rtol=1e-9,
)
def som_train(som, data, num_iteration, verbose):
    """A self-organising map; samples are drawn by its own RandomState."""
    if num_iteration < 1:
        raise ValueError("num_iteration must be > 1")
    if som._weights.shape[2] != len(data[0]):
        raise ValueError(
            "Received %d features, expected %d." % (len(data[0]), som._weights.shape[2])
        )
    for t in range(num_iteration):
        rand_i = som._rng.randint(len(data))
        som.update(data[rand_i], som.winner(data[rand_i]), t, num_iteration)
    if verbose:
        print("\n quantization error:", som.quantization_error(data))
    return som.quantization_error(data)


@program(lambda r, n: (r.normal(size=(n, 2)) + r.integers(0, 3, (n, 1)) * 4, 3, 12, 42), 30, 5_000)
def kmeans(X, n_clusters, max_iter, random_state):
    """Clusters with a check of convergence, and empty clusters drawn anew."""
    rng = np.random.default_rng(random_state)
    centroids = X[rng.choice(len(X), n_clusters, replace=False)]
    labels = np.zeros(len(X), dtype=int)
    for it in range(max_iter):
        d = np.sqrt(((X[:, None, :] - centroids[None]) ** 2).sum(axis=2))
        labels = d.argmin(axis=1)
        new = np.empty_like(centroids)
        for k in range(n_clusters):
            members = X[labels == k]
            if len(members) == 0:
                new[k] = X[rng.integers(len(X))]
            else:
                new[k] = members.mean(axis=0)
        if np.allclose(new, centroids):
            break
        centroids = new
    inertia = float(sum(((X[labels == k] - centroids[k]) ** 2).sum() for k in range(n_clusters)))
    return labels, centroids, inertia, it


def make_mixture(rng, size):
    X = np.concatenate(
        [rng.normal(-2, 1, (size // 2, 2)), rng.normal(2, 0.5, (size - size // 2, 2))]
    )
    return X, 2, 10, 1e-3


@program(make_mixture, 20, 5_000, rtol=1e-8)
def gaussian_mixture(X, K, n_iter, tol):
    """EM with exceptions for singular covariances and progress in print."""
    n, d = X.shape
    means = X[:: max(n // K, 1)][:K].copy()
    covs = np.array([np.cov(X.T) for _ in range(K)])
    pis = np.ones(K) / K
    resp = np.zeros((n, K))
    last = -np.inf
    for i in range(n_iter):
        for k in range(K):
            diff = X - means[k]
            try:
                inv = np.linalg.inv(covs[k])
            except np.linalg.LinAlgError:
                inv = np.linalg.pinv(covs[k])
            norm = 1.0 / np.sqrt((2 * np.pi) ** d * np.linalg.det(covs[k]))
            resp[:, k] = pis[k] * norm * np.exp(-0.5 * np.sum(diff @ inv * diff, axis=1))
        ll = np.log(resp.sum(axis=1)).sum()
        resp /= resp.sum(axis=1, keepdims=True)
        Nk = resp.sum(axis=0)
        pis = Nk / n
        means = (resp.T @ X) / Nk[:, None]
        for k in range(K):
            diff = X - means[k]
            covs[k] = (resp[:, k, None] * diff).T @ diff / Nk[k] + 1e-6 * np.eye(d)
        print("iter %2d: %.2f" % (i, ll))
        if abs(ll - last) < tol:
            break
        last = ll
    return means, covs, pis


def make_hmm(rng, size):
    A = rng.random((3, 3)) + 0.1
    B = rng.random((3, 4)) + 0.1
    A /= A.sum(axis=1, keepdims=True)
    B /= B.sum(axis=1, keepdims=True)
    return A, B, np.full(3, 1 / 3), rng.integers(0, 4, size)


def logsumexp(log_probs, axis=None):
    _max = np.max(log_probs)
    ds = log_probs - _max
    return _max + np.log(np.exp(ds).sum(axis=axis))


@program(make_hmm, 6, 300, rtol=1e-9)
def hmm_forward(A, B, pi, obs, eps=None):
    """The forward pass as loops over states with lists of logarithms."""
    eps = np.finfo(float).eps if eps is None else eps
    if obs.ndim == 1:
        obs = obs.reshape(1, -1)
    I, T = obs.shape
    if I != 1:
        raise ValueError("Likelihood only accepts a single sequence")
    O = obs[0]
    N = A.shape[0]
    forward = np.zeros((N, T))
    ot = O[0]
    for s in range(N):
        forward[s, 0] = np.log(pi[s] + eps) + np.log(B[s, ot] + eps)
    for t in range(1, T):
        ot = O[t]
        for s in range(N):
            forward[s, t] = logsumexp(
                [
                    forward[s_, t - 1] + np.log(A[s_, s] + eps) + np.log(B[s, ot] + eps)
                    for s_ in range(N)
                ]
            )
    return logsumexp(forward[:, T - 1])


@program(make_hmm, 6, 300, rtol=1e-9)
def viterbi(A, B, pi, obs):
    """The best path, which is a list that is turned round at the end."""
    N, T = A.shape[0], len(obs)
    score = np.zeros((N, T))
    back = np.zeros((N, T)).astype(int)
    score[:, 0] = np.log(pi) + np.log(B[:, obs[0]])
    for t in range(1, T):
        for s in range(N):
            probs = score[:, t - 1] + np.log(A[:, s]) + np.log(B[s, obs[t]])
            score[s, t] = np.max(probs)
            back[s, t] = np.argmax(probs)
    pointer = score[:, T - 1].argmax()
    best_path = [pointer]
    for t in reversed(range(1, T)):
        pointer = back[pointer, t]
        best_path.append(pointer)
    best_path = best_path[::-1]
    return best_path, score[:, T - 1].max()


class QAgent:
    """Tabular learning with a dictionary of arrays by state."""

    def __init__(self, n_actions, epsilon=0.2, gamma=0.9, lr=0.5, seed=0):
        self.q = defaultdict(lambda: np.zeros(n_actions))
        self.n_actions, self.epsilon, self.gamma, self.lr = n_actions, epsilon, gamma, lr
        self.np_random = np.random.RandomState(seed)

    def act(self, state):
        if self.np_random.rand() < self.epsilon:
            return self.np_random.randint(self.n_actions)
        return int(np.argmax(self.q[state]))

    def learn(self, s, a, r, s2, done):
        target = r if done else r + self.gamma * np.max(self.q[s2])
        self.q[s][a] += self.lr * (target - self.q[s][a])


@program(lambda r, n: (QAgent(4), n, 8), 3, 8)
def q_learning(agent, episodes, width):
    """A walk on a grid by a learner of states in a dictionary."""
    moves = {0: (0, 1), 1: (1, 0), 2: (0, -1), 3: (-1, 0)}
    lengths = []
    for _ in range(episodes):
        state, steps = (0, 0), 0
        while steps < 30:
            a = agent.act(state)
            dx, dy = moves[a]
            new = (min(max(state[0] + dx, 0), width - 1), min(max(state[1] + dy, 0), width - 1))
            done = new == (2, 2)
            agent.learn(state, a, 1.0 if done else -0.01, new, done)
            state = new
            steps += 1
            if done:
                break
        lengths.append(steps)
    return lengths


class Node:
    def __init__(self, feature=None, threshold=None, value=None, left=None, right=None):
        self.feature, self.threshold, self.value = feature, threshold, value
        self.left, self.right = left, right


def best_split(X, y, n_thresholds=8):
    best = (0.0, None, None)
    total = np.var(y) * len(y)
    for j in range(X.shape[1]):
        for t in np.unique(np.percentile(X[:, j], np.linspace(10, 90, n_thresholds))):
            mask = X[:, j] <= t
            l, r = y[mask], y[~mask]
            if len(l) == 0 or len(r) == 0:
                continue
            gain = total - np.var(l) * len(l) - np.var(r) * len(r)
            if gain > best[0]:
                best = (gain, j, t)
    return best


@program(lambda r, n: (r.normal(size=(n, 3)), r.normal(size=n), 0), 25, 3400)
def regression_tree(X, y, depth, max_depth=2, min_samples=4):
    """Nodes of a tree, made by recursion that depends on data."""
    if len(y) < min_samples or depth >= max_depth:
        return Node(value=np.mean(y))
    gain, feature, threshold = best_split(X, y)
    if feature is None:
        return Node(value=np.mean(y))
    mask = X[:, feature] <= threshold
    left = regression_tree(X[mask], y[mask], depth + 1)
    right = regression_tree(X[~mask], y[~mask], depth + 1)
    return Node(feature, threshold, left=left, right=right)


def make_rnn(rng, size):
    h, v = 16, 12
    params = {
        "Wxh": rng.normal(size=(h, v)) * 0.1,
        "Whh": rng.normal(size=(h, h)) * 0.1,
        "Why": rng.normal(size=(v, h)) * 0.1,
        "bh": np.zeros((h, 1)),
        "by": np.zeros((v, 1)),
    }
    memory = {k: np.zeros_like(p) for k, p in params.items()}
    text = [int(k) for k in rng.integers(0, v, size + 1)]
    return params, memory, text[:-1], text[1:], np.zeros((h, 1))


@program(make_rnn, 5, 60, rtol=1e-9)
def char_rnn_step(params, memory, inputs, targets, hprev, learning_rate=0.1):
    """A recurrent network over characters, states in dictionaries by time step."""
    xs, hs, ps = {}, {}, {}
    hs[-1] = np.copy(hprev)
    loss = 0
    vocab = params["Why"].shape[0]
    for t in range(len(inputs)):
        xs[t] = np.zeros((vocab, 1))
        xs[t][inputs[t]] = 1
        hs[t] = np.tanh(
            np.dot(params["Wxh"], xs[t]) + np.dot(params["Whh"], hs[t - 1]) + params["bh"]
        )
        y = np.dot(params["Why"], hs[t]) + params["by"]
        ps[t] = np.exp(y) / np.sum(np.exp(y))
        loss += -np.log(ps[t][targets[t], 0])
    grads = {k: np.zeros_like(v) for k, v in params.items()}
    dhnext = np.zeros_like(hs[0])
    for t in reversed(range(len(inputs))):
        dy = np.copy(ps[t])
        dy[targets[t]] -= 1
        grads["Why"] += np.dot(dy, hs[t].T)
        grads["by"] += dy
        dh = np.dot(params["Why"].T, dy) + dhnext
        draw = (1 - hs[t] * hs[t]) * dh
        grads["bh"] += draw
        grads["Wxh"] += np.dot(draw, xs[t].T)
        grads["Whh"] += np.dot(draw, hs[t - 1].T)
        dhnext = np.dot(params["Whh"].T, draw)
    for g in grads.values():
        np.clip(g, -5, 5, out=g)
    for k in params:
        memory[k] += grads[k] * grads[k]
        params[k] += -learning_rate * grads[k] / np.sqrt(memory[k] + 1e-8)
    return loss, hs[len(inputs) - 1]
