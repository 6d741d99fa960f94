"""Tables by columns, books, features by name, scripts."""

import argparse
import itertools
import logging
from collections import OrderedDict
from dataclasses import asdict, dataclass, field, replace

import numpy as np
from scipy.stats import norm

from .registry import program


@dataclass(frozen=True)
class Option:
    strike: float
    expiry: float
    is_call: bool = True

    def price(self, S, r, vol):
        d1 = (np.log(S / self.strike) + (r + vol**2 / 2) * self.expiry) / (
            vol * np.sqrt(self.expiry)
        )
        d2 = d1 - vol * np.sqrt(self.expiry)
        s = 1 if self.is_call else -1
        return s * (
            S * norm.cdf(s * d1) - self.strike * np.exp(-r * self.expiry) * norm.cdf(s * d2)
        )


@dataclass
class Book:
    positions: list = field(default_factory=list)
    cash: float = 0.0

    def add(self, option, qty):
        self.positions.append((option, qty))
        return self

    def value(self, S, r=0.02, vol=0.25):
        return self.cash + sum(q * o.price(S, r, vol) for o, q in self.positions)


@program(
    lambda r, n: (
        np.linspace(60, 140, n),
        [
            (float(k), float(t), bool(c), int(q))
            for k, t, c, q in zip(
                r.uniform(80, 120, 2),
                r.uniform(0.2, 2, 2),
                r.integers(0, 2, 2),
                r.integers(1, 6, 2),
            )
        ],
    ),
    20,
    5000,
    rtol=1e-4,
)
def book_risk(spots, deals):
    """Frozen dataclasses, scipy.stats.norm, finite differences; replaced fields."""
    book = Book(cash=10.0)
    for k, t, c, q in deals:
        book.add(Option(k, t, is_call=c), q)
    v = book.value(spots)
    h = 1e-4
    delta = (book.value(spots * (1 + h)) - book.value(spots * (1 - h))) / (2 * h * spots)
    older = Book([(replace(o, expiry=o.expiry * 0.9), q) for o, q in book.positions], book.cash)
    theta = older.value(spots) - v
    return v, delta, theta, asdict(book)["cash"]


class Frame:
    """Columns by name, in the way of data frames."""

    def __init__(self, data):
        lengths = {len(v) for v in data.values()}
        if len(lengths) > 1:
            raise ValueError("columns differ in length: %s" % sorted(lengths))
        self._data = OrderedDict((k, np.asarray(v)) for k, v in data.items())

    def __getitem__(self, key):
        if isinstance(key, str):
            return self._data[key]
        if isinstance(key, np.ndarray):
            return Frame({k: v[key] for k, v in self._data.items()})
        return Frame({k: self._data[k] for k in key})

    def __setitem__(self, key, value):
        self._data[key] = np.broadcast_to(value, (len(self),)).copy()

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._data[name]
        except KeyError:
            raise AttributeError(name) from None

    def __len__(self):
        return len(next(iter(self._data.values())))

    def __contains__(self, key):
        return key in self._data

    @property
    def columns(self):
        return list(self._data)

    def groupby(self, by, **aggs):
        keys, inv = np.unique(self._data[by], return_inverse=True)
        out = {by: keys}
        for name, (col, how) in aggs.items():
            v = self._data[col]
            if how == "sum":
                out[name] = np.bincount(inv, weights=v, minlength=len(keys))
            elif how == "count":
                out[name] = np.bincount(inv, minlength=len(keys))
            elif how == "mean":
                out[name] = np.bincount(inv, weights=v) / np.bincount(inv)
            else:
                out[name] = np.array([getattr(np, how)(v[inv == k]) for k in range(len(keys))])
        return Frame(out)

    def sort_values(self, *by, ascending=True):
        order = np.lexsort([self._data[b] for b in reversed(by)])
        return self[order if ascending else order[::-1]]


def _sales(r, n):
    return Frame(
        {
            "shop": r.integers(0, 5, n),
            "price": r.uniform(1, 20, n),
            "qty": r.integers(1, 9, n),
            "day": r.integers(0, 30, n),
        }
    )


@program(lambda r, n: (_sales(r, n),), 30, 5000)
def sales_report(df):
    """New columns, filters, groups, sorting, running totals of a class with items and attributes."""
    df["revenue"] = df.price * df.qty
    big = df[df["revenue"] > df["revenue"].mean()]
    by_shop = big.groupby(
        "shop", total=("revenue", "sum"), n=("qty", "count"), worst=("price", "min")
    )
    top = by_shop.sort_values("total", ascending=False)
    daily = df.groupby("day", rev=("revenue", "mean"))
    roll = np.convolve(daily.rev, np.ones(3) / 3, mode="same")
    return {c: top[c] for c in top.columns}, roll, "revenue" in df, len(big)


def _parser():
    parser = argparse.ArgumentParser(prog="sim")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--dt", type=float, default=0.1)
    parser.add_argument("--mode", choices=["a", "b"], default="a")
    parser.add_argument("-v", "--verbose", action="store_true")
    return parser


@program(
    lambda r, n: (
        ["--steps", str(n), "-v"] if r.random() < 0.5 else ["--mode", "b"],
        r.normal(size=n),
    ),
    8,
    4000,
    rtol=1e-5,
)
def script_main(argv, x):
    """A script: options, a logger, a loop, a summary that is printed."""
    args = _parser().parse_args(argv)
    log = logging.getLogger("sim")
    log.info("start with %s", vars(args))
    v = np.zeros_like(x)
    for k in range(args.steps if args.steps < 50 else 50):
        a = -x if args.mode == "a" else -np.sin(x)
        v = v + args.dt * a
        x = x + args.dt * v
        if args.verbose and k % 4 == 0:
            print(f"step {k:4d}  E = {0.5 * float(v @ v + x @ x):.6e}")
    log.info("done")
    return x, v


def _runs(x):
    if len(x) == 0:
        return [0]
    res = [len(list(group)) for value, group in itertools.groupby(x) if value == 1]
    return res if len(res) > 0 else [0]


CALCULATORS = {}


def calculator(**props):
    def deco(fn):
        for k, v in props.items():
            setattr(fn, k, v)
        CALCULATORS[fn.__name__] = fn
        return fn

    return deco


@calculator(kind="simple")
def longest_strike(x):
    return np.max(_runs(x > np.mean(x))) if x.size > 0 else 0


@calculator(kind="simple")
def mean_second_derivative(x):
    d = (np.roll(x, 1) - 2 * x + np.roll(x, -1))[1:-1]
    return d.mean()


@calculator(kind="simple")
def reoccurring(x):
    u, c = np.unique(np.round(x, 1), return_counts=True)
    return np.sum(c > 1) / float(c.shape[0])


@calculator(kind="simple")
def c3(x, lag=2):
    n = x.size
    if 2 * lag >= n:
        return 0
    return np.mean((np.roll(x, 2 * -lag) * np.roll(x, -lag) * x)[0 : (n - 2 * lag)])


@calculator(kind="simple")
def number_peaks(x, n=2):
    core = x[n:-n]
    res = None
    for i in range(1, n + 1):
        first = core > np.roll(x, i)[n:-n]
        res = first if res is None else res & first
        res &= core > np.roll(x, -i)[n:-n]
    return np.sum(res)


@calculator(kind="simple")
def cid_ce(x, normalize=True):
    if normalize:
        s = np.std(x)
        if s != 0:
            x = (x - np.mean(x)) / s
        else:
            return 0.0
    d = np.diff(x)
    return np.sqrt(np.dot(d, d))


@program(lambda r, n: (r.normal(size=n),), 30, 10_000, rtol=1e-4)
def feature_table(x):
    """A registry of decorated functions, all called; groupby of a mask."""
    return {f"value__{name}": fn(x) for name, fn in CALCULATORS.items() if fn.kind == "simple"}
