"""Learners and agents as classes."""

import numpy as np

from .registry import program


class DecisionStump:
    def __init__(self):
        self.polarity = 1
        self.feature_idx = None
        self.threshold = None
        self.alpha = None

    def predict(self, X):
        column = X[:, self.feature_idx]
        predictions = np.ones(X.shape[0])
        if self.polarity == 1:
            predictions[column < self.threshold] = -1
        else:
            predictions[column > self.threshold] = -1
        return predictions


class Adaboost:
    def __init__(self, n_clf=3):
        self.n_clf = n_clf
        self.clfs = []

    def fit(self, X, y):
        n_samples, n_features = X.shape
        w = np.full(n_samples, (1 / n_samples))
        self.clfs = []
        for _ in range(self.n_clf):
            clf = DecisionStump()
            min_error = float("inf")
            for feature in range(n_features):
                column = X[:, feature]
                for threshold in np.unique(column):
                    p = 1
                    predictions = np.ones(n_samples)
                    predictions[column < threshold] = -1
                    error = sum(w[y != predictions])
                    if error > 0.5:
                        error = 1 - error
                        p = -1
                    if error < min_error:
                        clf.polarity = p
                        clf.threshold = threshold
                        clf.feature_idx = feature
                        min_error = error
            eps = 1e-10
            clf.alpha = 0.5 * np.log((1.0 - min_error + eps) / (min_error + eps))
            predictions = clf.predict(X)
            w *= np.exp(-clf.alpha * y * predictions)
            w /= np.sum(w)
            self.clfs.append(clf)

    def predict(self, X):
        votes = [clf.alpha * clf.predict(X) for clf in self.clfs]
        return np.sign(np.sum(votes, axis=0))


def points_of_two_kinds(rng, n):
    X = rng.normal(size=(n, 2))
    return Adaboost(), X, np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1, -1)


@program(points_of_two_kinds, 12, 60, rtol=1e-9)
def adaboost(model, X, y):
    """Boosted stumps; the smallest error is infinite before it is a float or an int."""
    model.fit(X, y)
    pred = model.predict(X)
    acc = np.sum(y == pred) / len(y)
    print("Accuracy:", acc)
    return pred, acc


class ReplayBuffer:
    def __init__(self, capacity, dim, dtype=np.float32):
        self.obs = np.zeros((capacity, dim), dtype=dtype)
        self.act = np.zeros(capacity, dtype=np.int8)
        self.rew = np.zeros(capacity, dtype=dtype)
        self.done = np.zeros(capacity, dtype=bool)
        self.ptr = 0
        self.size = 0
        self.capacity = capacity

    def push(self, o, a, r, d):
        self.obs[self.ptr] = o
        self.act[self.ptr] = a
        self.rew[self.ptr] = r
        self.done[self.ptr] = d
        self.ptr = (self.ptr + 1) % self.capacity
        self.size = min(self.size + 1, self.capacity)

    def __len__(self):
        return self.size

    def sample(self, n, rng):
        idx = rng.integers(0, self.size, size=n)
        return {k: getattr(self, k)[idx] for k in ("obs", "act", "rew", "done")}


@program(
    lambda rng, n: (ReplayBuffer(16, 3), rng.normal(size=(n, 3)), rng),
    10,
    300,
    rtol=1e-6,
)
def replay(buffer, observations, rng):
    """A ring buffer whose length its loop asks for."""
    stats = []
    for t, o in enumerate(observations):
        buffer.push(o, int(o.sum() > 0), -np.abs(o).max(), t % 7 == 6)
        if len(buffer) >= 4:
            b = buffer.sample(4, rng)
            target = b["rew"] + 0.9 * b["obs"].max(axis=1) * (1 - b["done"])
            stats.append(target.mean())
    return stats, buffer.ptr
