"""Time series: volatility, hidden states, robust regressions."""

import collections
import math
import warnings

import numpy as np

from .registry import program


def garch_filter(params, resid, sigma2, backcast):
    omega, alpha, gamma, beta = params
    T = len(resid)
    for t in range(T):
        if t == 0:
            sigma2[t] = omega + alpha * backcast + 0.5 * gamma * backcast + beta * backcast
        else:
            sigma2[t] = omega + alpha * resid[t - 1] ** 2
            if resid[t - 1] < 0:
                sigma2[t] += gamma * resid[t - 1] ** 2
            sigma2[t] += beta * sigma2[t - 1]
        if sigma2[t] < 1e-12:
            sigma2[t] = 1e-12
        elif sigma2[t] > 100000000.0:
            sigma2[t] = 100000000.0 + np.log(sigma2[t] / 100000000.0)
    return sigma2


def neg_loglik(params, resid, out=None):
    sigma2 = np.empty_like(resid) if out is None else out
    backcast = np.mean(resid**2)
    garch_filter(params, resid, sigma2, backcast)
    ll = -0.5 * (np.log(2 * np.pi) + np.log(sigma2) + resid**2 / sigma2)
    return -ll.sum()


@program(
    lambda r, n: (r.normal(size=n) * 0.1, np.array([0.001, 0.05, 0.02, 0.9]), 3),
    15,
    500,
    rtol=1e-08,
)
def garch_fit(returns, start, sweeps):
    """Variances with an asymmetry, fitted by coordinates; the result is a dictionary."""
    resid = returns - returns.mean()
    theta = start.copy()
    best = neg_loglik(theta, resid)
    step = 0.1 * np.abs(theta)
    evals = 1
    trace = [best]
    while sweeps > 0:
        improved = False
        for j in range(theta.size):
            for sgn in (1, -1):
                cand = theta.copy()
                cand[j] = max(cand[j] + sgn * step[j], 1e-08)
                if cand[1] + cand[3] + 0.5 * cand[2] >= 1:
                    continue
                val = neg_loglik(cand, resid)
                evals += 1
                if val < best:
                    best, theta, improved = (val, cand, True)
                    break
        if not improved:
            step *= 0.5
        trace.append(best)
        sweeps -= 1
    return {
        "params": theta,
        "loglik": -best,
        "nfev": evals,
        "aic": 2 * len(theta) + 2 * best,
        "trace": trace,
    }


class HMM:
    def __init__(self, A, B, pi):
        self.A, self.B, self.pi = (A, B, pi)
        self.loglik_ = -np.inf

    @property
    def n_states(self):
        return self.A.shape[0]

    def _forward(self, obs):
        T = len(obs)
        alpha = np.zeros((T, self.n_states))
        c = np.zeros(T)
        alpha[0] = self.pi * self.B[:, obs[0]]
        c[0] = 1 / alpha[0].sum()
        alpha[0] *= c[0]
        for t in range(1, T):
            alpha[t] = alpha[t - 1] @ self.A * self.B[:, obs[t]]
            c[t] = 1 / alpha[t].sum()
            alpha[t] *= c[t]
        return (alpha, c)

    def _backward(self, obs, c):
        T = len(obs)
        beta = np.zeros((T, self.n_states))
        beta[-1] = c[-1]
        for t in reversed(range(T - 1)):
            beta[t] = self.A @ (self.B[:, obs[t + 1]] * beta[t + 1]) * c[t]
        return beta

    def fit(self, obs, n_iter=5, tol=0.0001, verbose=False):
        for it in range(n_iter):
            alpha, c = self._forward(obs)
            beta = self._backward(obs, c)
            ll = -np.log(c).sum()
            gamma = alpha * beta
            gamma /= gamma.sum(axis=1, keepdims=True)
            xi = np.zeros_like(self.A)
            for t in range(len(obs) - 1):
                xi += np.outer(alpha[t], self.B[:, obs[t + 1]] * beta[t + 1]) * self.A
            self.A = xi / xi.sum(axis=1, keepdims=True)
            for k in range(self.B.shape[1]):
                self.B[:, k] = gamma[obs == k].sum(axis=0)
            self.B /= self.B.sum(axis=1, keepdims=True)
            self.pi = gamma[0]
            if verbose:
                print(f"iter {it:3d}  ll={ll:.4f}")
            if ll - self.loglik_ < tol:
                self.loglik_ = ll
                break
            self.loglik_ = ll
        return self


def _hmm(r, n):
    A = r.random((3, 3))
    B = r.random((3, 4))
    pi = r.random(3)
    return (
        HMM(A / A.sum(1, keepdims=True), B / B.sum(1, keepdims=True), pi / pi.sum()),
        r.integers(0, 4, size=n),
    )


@program(_hmm, 12, 300, rtol=1e-08)
def baum_welch(m, obs):
    """Expectation and maximisation of a hidden Markov model that prints its progress."""
    m.fit(obs, verbose=True)
    return (m.A, m.B, m.pi, m.loglik_)


KF = collections.namedtuple("KF", "m P ll")


@program(
    lambda r, n: (np.where(r.random(n) < 0.2, np.nan, r.normal(size=n).cumsum()), 0.5, 1.0),
    12,
    300,
    rtol=1e-08,
)
def local_level(y, q, r):
    """A filter over observations of which some are missing, and its smoother."""
    m, P, ll = (0.0, 1000000.0, 0.0)
    ms, Ps = ([], [])
    for t, obs in enumerate(y):
        P += q
        if not np.isnan(obs):
            S = P + r
            K = P / S
            v = obs - m
            m += K * v
            P *= 1 - K
            if t > 0:
                ll -= 0.5 * (math.log(2 * math.pi * S) + v * v / S)
        ms.append(m)
        Ps.append(P)
    sm = [ms[-1]]
    for t in range(len(y) - 2, -1, -1):
        J = Ps[t] / (Ps[t] + q)
        sm.append(ms[t] + J * (sm[-1] - ms[t]))
    return (KF(np.array(ms), np.array(Ps), ll), np.array(sm[::-1]))


class ConvergenceWarning(UserWarning):
    pass


@program(
    lambda r, n: (np.c_[np.ones(n), r.normal(size=(n, 2))], r.standard_t(2, size=n), "huber"),
    8,
    300,
    rtol=1e-08,
)
def irls(X, y, norm="huber", maxiter=6, tol=1e-08, c=None):
    """Robust regression by name of the norm; checks of arguments, a warning of its own."""
    norms = {
        "huber": (
            1.345,
            lambda u, c: np.where(np.abs(u) <= c, 1.0, c / np.maximum(np.abs(u), 1e-12)),
        ),
        "bisquare": (4.685, lambda u, c: np.where(np.abs(u) <= c, (1 - (u / c) ** 2) ** 2, 0.0)),
    }
    if norm not in norms:
        raise KeyError(norm)
    if X.ndim != 2 or y.ndim != 1 or X.shape[0] != y.shape[0]:
        raise ValueError("shapes {} and {} do not fit".format(X.shape, y.shape))
    c0, wfun = norms[norm]
    c = c0 if c is None else c
    beta, *_ = np.linalg.lstsq(X, y, rcond=None)
    for it in range(maxiter):
        r = y - X @ beta
        s = np.median(np.abs(r - np.median(r))) / 0.6745
        if s == 0:
            break
        w = wfun(r / s, c)
        new = np.linalg.solve(X.T * w @ X, X.T @ (w * y))
        done = np.max(np.abs(new - beta)) < tol * np.max(np.abs(beta))
        beta = new
        if done:
            break
    else:
        warnings.warn(f"not converged in {maxiter} iterations", ConvergenceWarning, stacklevel=2)
    return (beta, s, w, it)
