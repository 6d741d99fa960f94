"""Samples, densities, regressions, tests."""

import warnings

import numpy as np
from scipy import stats

from .registry import program


def first_order(A, AB, B):
    return np.mean(B * (AB - A), axis=0) / np.var(np.r_[A, B], axis=0)


def total_order(A, AB, B):
    return 0.5 * np.mean((A - AB) ** 2, axis=0) / np.var(np.r_[A, B], axis=0)


class ResultDict(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)

    def names(self):
        return list(self.keys())


@program(
    lambda r, n: ({"num_vars": 3, "names": ["a", "b", "c"]}, r.normal(size=n * 5), 20, 0.95, 7),
    16,
    2_000,
    rtol=1e-9,
)
def sobol_indices(problem, Y, num_resamples, conf_level, seed):
    """Sensitivity of a model, with bootstrap: draws by seed, quantiles of SciPy."""
    if seed:
        rng = np.random.default_rng(seed).integers
    else:
        rng = np.random.randint
    D = problem["num_vars"]
    if Y.size % (D + 2) == 0:
        N = int(Y.size / (D + 2))
    else:
        raise RuntimeError("Incorrect number of samples in model output file.")
    if not 0 < conf_level < 1:
        raise RuntimeError("Confidence level must be between 0-1.")
    Y = (Y - Y.mean()) / Y.std()
    step = D + 2
    AB = np.zeros((N, D))
    A = Y[0 : Y.size : step]
    B = Y[(step - 1) : Y.size : step]
    for j in range(D):
        AB[:, j] = Y[(j + 1) : Y.size : step]
    r = rng(N, size=(N, num_resamples))
    Z = stats.norm.ppf(0.5 + conf_level / 2)
    S = ResultDict((k, np.zeros(D)) for k in ("S1", "S1_conf", "ST", "ST_conf"))
    for j in range(D):
        S["S1"][j] = first_order(A, AB[:, j], B)
        S["S1_conf"][j] = Z * first_order(A[r], AB[r, j], B[r]).std(ddof=1)
        S["ST"][j] = total_order(A, AB[:, j], B)
        S["ST_conf"][j] = Z * total_order(A[r], AB[r, j], B[r]).std(ddof=1)
    return S


@program(lambda r, n: (r.normal(size=n), np.median, 50, 0.05), 20, 10_000)
def bootstrap(data, statistic, n_boot, alpha):
    """Percentiles of a statistic that is an argument, over resamples of the global stream."""
    n = len(data)
    values = np.empty(n_boot)
    for i in range(n_boot):
        idx = np.random.randint(0, n, n)
        values[i] = statistic(data[idx])
    low, high = np.percentile(values, [100 * alpha / 2, 100 * (1 - alpha / 2)])
    return statistic(data), (low, high), values.std(ddof=1)


@program(
    lambda r, n: (
        np.sort(r.uniform(0, 10, n)),
        np.sin(np.linspace(0, 6, n)) + 0.1 * r.normal(size=n),
        0.3,
        2,
    ),
    20,
    300,
    rtol=1e-7,
)
def lowess(x, y, f, iterations):
    """Robust local regression: a solve at every point, weights that improve."""
    n = len(x)
    r = int(np.ceil(f * n))
    h = [np.sort(np.abs(x - x[i]))[r] for i in range(n)]
    w = np.clip(np.abs((x[:, None] - x[None, :]) / h), 0.0, 1.0)
    w = (1 - w**3) ** 3
    yest = np.zeros(n)
    delta = np.ones(n)
    for iteration in range(iterations):
        for i in range(n):
            weights = delta * w[:, i]
            b = np.array([np.sum(weights * y), np.sum(weights * y * x)])
            A = np.array(
                [
                    [np.sum(weights), np.sum(weights * x)],
                    [np.sum(weights * x), np.sum(weights * x * x)],
                ]
            )
            beta = np.linalg.solve(A, b)
            yest[i] = beta[0] + beta[1] * x[i]
        residuals = y - yest
        s = np.median(np.abs(residuals))
        delta = np.clip(residuals / (6.0 * s), -1, 1)
        delta = (1 - delta**2) ** 2
    return yest


class KernelDensity:
    def __init__(self, data, bw_method=None):
        self.dataset = np.atleast_2d(np.asarray(data))
        if not self.dataset.size > 1:
            raise ValueError("`dataset` input should have multiple elements.")
        self.d, self.n = self.dataset.shape
        self.set_bandwidth(bw_method)

    def scotts_factor(self):
        return np.power(self.n, -1.0 / (self.d + 4))

    def silverman_factor(self):
        return np.power(self.n * (self.d + 2.0) / 4.0, -1.0 / (self.d + 4))

    def set_bandwidth(self, bw_method=None):
        if bw_method is None or bw_method == "scott":
            self.covariance_factor = self.scotts_factor
        elif bw_method == "silverman":
            self.covariance_factor = self.silverman_factor
        elif np.isscalar(bw_method) and not isinstance(bw_method, str):
            self._bw_method = "use constant"
            self.covariance_factor = lambda: bw_method
        else:
            raise ValueError("`bw_method` should be 'scott', 'silverman' or a scalar.")
        self.factor = self.covariance_factor()
        self.covariance = np.atleast_2d(np.cov(self.dataset, rowvar=1, bias=False)) * self.factor**2
        self.inv_cov = np.linalg.inv(self.covariance)
        self.norm_factor = np.sqrt(np.linalg.det(2 * np.pi * self.covariance))

    def evaluate(self, points):
        points = np.atleast_2d(np.asarray(points))
        d, m = points.shape
        if d != self.d:
            if d == 1 and m == self.d:
                points = np.reshape(points, (self.d, 1))
                m = 1
            else:
                raise ValueError(f"points have dimension {d}, dataset has dimension {self.d}")
        result = np.zeros((m,), dtype=float)
        for i in range(m):
            diff = self.dataset - points[:, i, np.newaxis]
            energy = np.sum(np.dot(self.inv_cov, diff) * diff, axis=0) / 2.0
            result[i] = np.sum(np.exp(-energy), axis=0)
        return result / self.norm_factor / self.n

    __call__ = evaluate


@program(lambda r, n: (r.normal(size=(2, n)), r.normal(size=(2, 12)), 0.4), 10, 5_000, rtol=1e-9)
def kernel_density(data, points, bw):
    """A density object that is made, has another bandwidth, and is called."""
    kde = KernelDensity(data)
    first = kde(points)
    kde.set_bandwidth(bw)
    return first, kde.evaluate(points), kde.factor


@program(lambda r, n: (r.normal(size=n), r.normal(size=n) + 0.3, n // 2), 12, 10_000, rtol=1e-9)
def compare_samples(a, b, n_perm):
    """Tests of two samples: SciPy's t-test, ranks, permutations."""
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError("samples must be 1-D")
    n_perm = min(n_perm, 20)
    t, p = stats.ttest_ind(a, b)
    pooled = np.concatenate([a, b])
    order = pooled.argsort()
    ranks = np.empty_like(order)
    ranks[order] = np.arange(1, len(pooled) + 1)
    U = ranks[: len(a)].sum() - len(a) * (len(a) + 1) / 2
    observed = abs(a.mean() - b.mean())
    count = 0
    for _ in range(n_perm):
        perm = np.random.permutation(pooled)
        count += abs(perm[: len(a)].mean() - perm[len(a) :].mean()) >= observed
    if count == 0:
        warnings.warn("p-value is below the resolution of the permutations", RuntimeWarning)
    return float(t), float(p), U, (count + 1) / (n_perm + 1)


@program(
    lambda r, n: (r.normal(size=(n, 5)) @ np.diag([3, 2, 1, 0.5, 0.1]), 2, True),
    12,
    2_000,
    rtol=1e-7,
)
def principal_components(X, n_components, whiten):
    """An SVD with signs made definite, and what each component explains."""
    X = np.array(X, copy=True)
    n, p = X.shape
    if not 1 <= n_components <= min(n, p):
        raise ValueError("n_components=%r must be between 1 and %d" % (n_components, min(n, p)))
    mean_ = X.mean(axis=0)
    X -= mean_
    U, S, Vt = np.linalg.svd(X, full_matrices=False)
    max_abs = np.argmax(np.abs(U), axis=0)
    signs = np.sign(U[max_abs, range(U.shape[1])])
    U *= signs
    Vt *= signs[:, np.newaxis]
    var = S**2 / (n - 1)
    ratio = var / var.sum()
    T = U[:, :n_components]
    T = T * np.sqrt(n - 1) if whiten else T * S[:n_components]
    return T, Vt[:n_components], ratio[:n_components]


@program(lambda r, n: (r.normal(size=(n, 2)), r.poisson(3, n), 5), 15, 5_000, rtol=1e-8)
def gibbs_poisson(X, y, n_iter):
    """A sampler that draws gamma and normal numbers by turns."""
    rng = np.random.RandomState(9)
    beta = np.zeros(X.shape[1])
    lam = 1.0
    draws = {"lam": [], "beta": []}
    for it in range(n_iter):
        lam = rng.gamma(shape=2.0 + y.sum(), scale=1.0 / (1.0 + len(y)))
        prec = X.T @ X / lam + np.eye(2)
        cov = np.linalg.inv(prec)
        mean = cov @ (X.T @ (y - lam)) / lam
        beta = mean + np.linalg.cholesky(cov) @ rng.randn(2)
        draws["lam"].append(lam)
        draws["beta"].append(beta)
    return {k: np.array(v) for k, v in draws.items()}


@program(lambda r, n: (r.normal(size=n).cumsum(), 4), 30, 10_000, rtol=1e-8)
def autocorrelation_time(x, c, tol=50, quiet=True):
    """The time of a chain, by a transform of twice its length; a short chain warns."""
    x = np.atleast_1d(x)
    if len(x.shape) != 1:
        raise ValueError("invalid dimensions for 1D autocorrelation function")
    n = 1
    while n < len(x):
        n = n << 1
    f = np.fft.fft(x - np.mean(x), n=2 * n)
    acf = np.fft.ifft(f * np.conjugate(f))[: len(x)].real
    acf /= acf[0]
    taus = 2.0 * np.cumsum(acf) - 1.0
    m = np.arange(len(taus)) < c * taus
    window = np.argmin(m) if np.any(m) else len(taus) - 1
    tau = taus[window]
    if tol * tau > len(x):
        msg = "The chain is shorter than {0} times the integrated autocorrelation time".format(tol)
        if not quiet:
            raise ValueError(msg)
        warnings.warn(msg)
    return tau, window
