"""Prices, risks, portfolios, economies."""

import logging
from collections import namedtuple
from math import erf, exp, log, sqrt

import numpy as np
from scipy.stats import norm

from .registry import program

logger = logging.getLogger("wild.finance")

APPROX_BDAYS_PER_YEAR = 252
ANNUALIZATION_FACTORS = {"daily": APPROX_BDAYS_PER_YEAR, "weekly": 52, "monthly": 12, "yearly": 1}


def annualization_factor(period, annualization):
    if annualization is None:
        try:
            factor = ANNUALIZATION_FACTORS[period]
        except KeyError:
            raise ValueError(
                "Period cannot be '{}'. Can be '{}'.".format(
                    period, "', '".join(ANNUALIZATION_FACTORS.keys())
                )
            )
    else:
        factor = annualization
    return factor


def cum_returns(returns, starting_value=0, out=None):
    if len(returns) < 1:
        return returns.copy()
    nanmask = np.isnan(returns)
    if np.any(nanmask):
        returns = returns.copy()
        returns[nanmask] = 0
    allocated_output = out is None
    if allocated_output:
        out = np.empty_like(returns)
    np.add(returns, 1, out=out)
    out.cumprod(axis=0, out=out)
    if starting_value == 0:
        np.subtract(out, 1, out=out)
    else:
        np.multiply(out, starting_value, out=out)
    return out


def max_drawdown(returns, out=None):
    allocated_output = out is None
    if allocated_output:
        out = np.empty(returns.shape[1:])
    returns_1d = returns.ndim == 1
    if len(returns) < 1:
        out[()] = np.nan
        if returns_1d:
            out = out.item()
        return out
    cumulative = np.empty((returns.shape[0] + 1,) + returns.shape[1:], dtype="float64")
    cumulative[0] = start = 100
    cum_returns(returns, starting_value=start, out=cumulative[1:])
    max_return = np.fmax.accumulate(cumulative, axis=0)
    np.nanmin((cumulative - max_return) / max_return, axis=0, out=out)
    if returns_1d:
        out = out.item()
    return out


def beta_aligned(returns, factor_returns, risk_free=0.0):
    if len(returns) < 2 or len(factor_returns) < 2:
        return np.nan
    joint = np.vstack([returns - risk_free, factor_returns])
    joint = joint[:, ~np.isnan(joint).any(axis=0)]
    if joint.shape[1] < 2:
        return np.nan
    cov = np.cov(joint, ddof=0)
    if np.absolute(cov[1, 1]) < 1.0e-30:
        return np.nan
    return cov[0, 1] / cov[1, 1]


def make_returns(rng, size):
    r = rng.normal(0, 0.01, size)
    r[3] = np.nan
    return r, rng.normal(0, 0.01, size), "daily"


@program(make_returns, 40, 10_000, rtol=1e-10)
def performance(returns, factor_returns, period, annualization=None):
    """Ratios of a strategy, by functions with many ways out."""
    ann = annualization_factor(period, annualization)
    total = cum_returns(np.asanyarray(returns), starting_value=1)[-1]
    years = len(returns) / float(ann)
    downside = np.clip(returns, -np.inf, 0.0)
    stats = {
        "annual": total ** (1.0 / years) - 1,
        "sharpe": np.nanmean(returns) / np.nanstd(returns, ddof=1) * np.sqrt(ann),
        "drawdown": max_drawdown(returns),
        "sortino": np.nanmean(returns)
        * ann
        / (np.sqrt(np.nanmean(np.square(downside))) * np.sqrt(ann)),
        "beta": beta_aligned(returns, factor_returns),
    }
    clean = returns[~np.isnan(returns)]
    if len(clean) < 1:
        return stats
    stats["tail"] = np.abs(np.percentile(clean, 95)) / np.abs(np.percentile(clean, 5))
    return stats


def roll(*args, **kwargs):
    func = kwargs.pop("function")
    window = kwargs.pop("window")
    if len(args) > 2:
        raise ValueError("Cannot pass more than 2 return sets")
    if len(args) == 2:
        if not isinstance(args[0], type(args[1])):
            raise ValueError("The two returns arguments are not the same.")
    data = []
    for i in range(window, len(args[0]) + 1):
        rets = [s[i - window : i] for s in args]
        data.append(func(*rets, **kwargs))
    return np.array(data)


@program(lambda r, n: (r.normal(0, 0.01, n), r.normal(0, 0.01, n), 10), 20, 300)
def rolling_beta(returns, factor, window):
    """A statistic over windows, with the function and the window by keyword."""
    up = returns[factor > 0]
    return roll(returns, factor, function=beta_aligned, window=window, risk_free=0.0), up.mean()


def cdf(x):
    return 0.5 * (1.0 + erf(x / sqrt(2.0)))


def black_scholes(S, K, T, r, sigma, kind="call"):
    if T <= 0 or sigma <= 0:
        return max(S - K, 0.0) if kind == "call" else max(K - S, 0.0)
    d1 = (log(S / K) + (r + 0.5 * sigma**2) * T) / (sigma * sqrt(T))
    d2 = d1 - sigma * sqrt(T)
    if kind == "call":
        return S * cdf(d1) - K * exp(-r * T) * cdf(d2)
    elif kind == "put":
        return K * exp(-r * T) * cdf(-d2) - S * cdf(-d1)
    raise ValueError("unknown option type: %r" % kind)


@program(
    lambda r, n: (r.uniform(5, 20, n), 100.0, np.linspace(90, 110, n), 0.5, 0.01),
    6,
    100,
    rtol=1e-8,
)
def implied_volatility(prices, S, strikes, T, r):
    """Bisection for each price; no solution is nan and a line in the log."""
    vols = np.full(len(prices), np.nan)
    for i, (price, K) in enumerate(zip(prices, strikes)):
        lo, hi = 1e-6, 5.0
        if price < black_scholes(S, K, T, r, lo) or price > black_scholes(S, K, T, r, hi):
            logger.warning("no volatility for strike %.2f", K)
            continue
        for _ in range(60):
            mid = 0.5 * (lo + hi)
            if black_scholes(S, K, T, r, mid) > price:
                hi = mid
            else:
                lo = mid
            if hi - lo < 1e-8:
                break
        vols[i] = 0.5 * (lo + hi)
    return vols


Greeks = namedtuple("Greeks", "price delta gamma vega")


@program(lambda r, n: (r.uniform(80, 120, n), 100.0, 0.5, 0.02, 0.25), 20, 10_000, rtol=1e-9)
def greeks(S, K, T, r, sigma):
    """Sensitivities by SciPy's normal distribution, as a named tuple."""
    d1 = (np.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * np.sqrt(T))
    d2 = d1 - sigma * np.sqrt(T)
    price = S * norm.cdf(d1) - K * np.exp(-r * T) * norm.cdf(d2)
    delta = norm.cdf(d1)
    pdf = np.exp(-(d1**2) / 2) / np.sqrt(2 * np.pi)
    return Greeks(price, delta, pdf / (S * sigma * np.sqrt(T)), S * pdf * np.sqrt(T))


class HestonPaths:
    def __init__(self, kappa=1.5, theta=0.04, xi=0.3, rho=-0.7, v0=0.04, seed=None):
        self.kappa, self.theta, self.xi, self.rho, self.v0 = kappa, theta, xi, rho, v0
        self.rng = np.random.default_rng(seed)

    def simulate(self, s0, r, T, steps, n_paths):
        dt = T / steps
        s = np.full(n_paths, s0, dtype=float)
        v = np.full(n_paths, self.v0)
        for _ in range(steps):
            z1 = self.rng.standard_normal(n_paths)
            z2 = self.rho * z1 + np.sqrt(1 - self.rho**2) * self.rng.standard_normal(n_paths)
            vp = np.maximum(v, 0)
            s *= np.exp((r - 0.5 * vp) * dt + np.sqrt(vp * dt) * z1)
            v += self.kappa * (self.theta - vp) * dt + self.xi * np.sqrt(vp * dt) * z2
        return s, v


@program(lambda r, n: (HestonPaths(seed=5), n, 12), 50, 10_000, rtol=1e-9)
def heston_price(model, n_paths, steps):
    """Monte Carlo with the model's generator; mean and error of the price."""
    s, v = model.simulate(100.0, 0.02, 1.0, steps, n_paths)
    payoff = np.maximum(s - 100.0, 0) * np.exp(-0.02)
    return payoff.mean(), payoff.std(ddof=1) / np.sqrt(n_paths), v.min()


@program(lambda r, n: (100 + r.normal(size=n).cumsum(), 14), 40, 10_000, rtol=1e-10)
def indicators(close, period):
    """Averages and strengths of a price, state by state, with a dictionary of signals."""
    delta = np.diff(close)
    up, down = delta.clip(min=0), -delta.clip(max=0)
    rsi = np.zeros_like(close)
    avg_up, avg_down = up[:period].mean(), down[:period].mean()
    rsi[:period] = 100.0 - 100.0 / (1.0 + avg_up / (avg_down or 1e-12))
    for i in range(period, len(close)):
        avg_up = (avg_up * (period - 1) + up[i - 1]) / period
        avg_down = (avg_down * (period - 1) + down[i - 1]) / period
        rs = avg_up / avg_down if avg_down != 0 else np.inf
        rsi[i] = 100.0 - 100.0 / (1.0 + rs)
    ema = [close[0]]
    alpha = 2 / (period + 1)
    for price in close[1:]:
        ema.append(alpha * price + (1 - alpha) * ema[-1])
    position, trades = 0, []
    for i in range(1, len(close)):
        if position == 0 and rsi[i] < 30:
            position = 1
            trades.append(("buy", i, close[i]))
        elif position == 1 and rsi[i] > 70:
            position = 0
            trades.append(("sell", i, close[i]))
    return rsi, np.array(ema), trades


class LQ:
    def __init__(self, Q, R, A, B, beta=0.95):
        converter = lambda X: np.atleast_2d(np.asarray(X, dtype="float"))
        self.A, self.B, self.Q, self.R = list(map(converter, (A, B, Q, R)))
        self.k, self.n = self.Q.shape[0], self.R.shape[0]
        self.beta = beta
        self.P = np.zeros((self.n, self.n))
        self.F = None
        self.d = 0

    def update_values(self):
        Q, R, A, B, P = self.Q, self.R, self.A, self.B, self.P
        S1 = Q + self.beta * np.dot(B.T, np.dot(P, B))
        S2 = self.beta * np.dot(B.T, np.dot(P, A))
        self.F = np.linalg.solve(S1, S2)
        self.P = R - np.dot(S2.T, self.F) + self.beta * np.dot(A.T, np.dot(P, A))


@program(
    lambda r, n: (
        LQ(1.0, np.eye(n), np.eye(n) * 0.9 + r.normal(size=(n, n)) * 0.05, r.normal(size=(n, 1))),
        1e-8,
    ),
    3,
    20,
    rtol=1e-8,
)
def stationary_values(lq, tol, max_iter=200):
    """Value iteration until it no longer moves; the object keeps the solution."""
    error = tol + 1
    i = 0
    while error > tol:
        if i > max_iter:
            msg = "Convergence failed after {} iterations, error {:.2e}"
            raise RuntimeError(msg.format(i, error))
        Pold = lq.P
        lq.update_values()
        error = np.max(np.abs(lq.P - Pold))
        i += 1
    return lq.P, lq.F, i
