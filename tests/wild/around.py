"""What Python offers around arrays: handlers, contexts, patterns, records, recursion."""

import math
from dataclasses import asdict, dataclass, replace

import numpy as np

from .registry import program


class Suppress:
    def __init__(s, *ex):
        s.ex = ex
        s.seen = []

    def __enter__(s):
        s.seen.append("in")
        return s

    def __exit__(s, t, v, tb):
        s.seen.append(None if t is None else t.__name__)
        return t is not None and issubclass(t, s.ex)


@program(
    lambda r, n: (r.normal(size=4), n % 4, Suppress(ValueError, ZeroDivisionError)),
    2,
    5,
)
def swallowed(x, k, ctx):
    r = None
    with ctx as c:
        x += 1
        if k == 1:
            raise ValueError("v")
        if k == 2:
            x[9] = 0
        if k == 3:
            r = 1 / 0
        x *= 2
        r = "done"
    return r, c.seen, x


@program(lambda r, n: (r.normal(size=4), n % 5), 2, 6)
def finals(x, k):
    def inner():
        try:
            x[0] = 1
            if k == 1:
                return "try"
            if k == 2:
                raise ValueError("a")
            if k == 3:
                int("x")
        except ValueError as e:
            x[1] = 2
            if k == 3:
                return "exc " + str(e)
            raise
        else:
            x[2] = 3
        finally:
            x[3] += 1
        return "end"

    try:
        return inner(), x
    except ValueError as e:
        try:
            raise KeyError("b") from e
        except KeyError as e2:
            return repr(e2), repr(e2.__cause__), x


@program(lambda r, n: (r.normal(size=n), 2), 4, 5)
def loopctl(x, k):
    out = []
    for i in range(4):
        try:
            if i == k:
                continue
            if x[i] > 0.8:
                break
            out.append(i)
        finally:
            x[i] = 0
    else:
        out.append("else")
    while len(out) < 3:
        out.append(len(out))
        if k == 2 and len(out) == 2:
            break
    else:
        out.append("welse")
    return out


@program(lambda r, n: (r.normal(size=n), np.array([1, 2, 3, -n, 5]), {}), 6, 100)
def staged(x, codes, log_):
    y = x[::2]
    for i, c in enumerate(codes):
        y += c
        log_[i] = float(y[0])
        if c < 0:
            raise RuntimeError("negative code %d at %d" % (c, i))
        x[i] *= 2
    return y


@program(lambda r, n: (r.normal(size=n), n % 3, []), 4, 100)
def guarded(x, mode, trace):
    try:
        trace.append("begin")
        if mode == 1:
            x[10] = 1.0
        elif mode == 2:
            x /= np.zeros(3)
        y = x * 2
    except IndexError as e:
        trace.append(str(e))
        y = x + 1
    except ValueError as e:
        trace.append(type(e).__name__)
        raise RuntimeError("bad shapes") from e
    else:
        trace.append("fine")
        y += 1
    finally:
        trace.append("end")
        x[0] = 99
    return y


@dataclass(frozen=True)
class Params:
    a: float = 1.0
    n: int = 3
    names: tuple = ("x", "y")
    arr: np.ndarray | None = None

    def __post_init__(s):
        if s.n < 0:
            raise ValueError("n must be >= 0")
        object.__setattr__(s, "twice", 2 * s.a)


@program(lambda r, n: (Params(a=2.0, arr=r.normal(size=3)), n - 2), 1, 3)
def frozen_params(p, n):
    q = replace(p, n=n, a=p.a + 1)
    try:
        p.a = 3
    except Exception as e:
        msg = type(e).__name__
    return q, q.twice, asdict(q)["n"], msg, (q.arr is p.arr), p == p


class Lazy:
    def __init__(s, d):
        s.__dict__["_d"] = d
        s.__dict__["miss"] = 0

    def __getattr__(s, n):
        if n.startswith("__"):
            raise AttributeError(n)
        s.__dict__["miss"] += 1
        try:
            return s._d[n]
        except KeyError:
            raise AttributeError(f"no {n}") from None

    def __setattr__(s, n, v):
        s._d[n] = v

    def __contains__(s, n):
        return n in s._d

    def __len__(s):
        return len(s._d)


@program(lambda r, n: (Lazy({"u": r.normal(size=n), "dt": 0.1}), "u"), 3, 10000)
def lazy(o, n):
    o.u = o.u * o.dt
    o.extra = len(o)
    v = getattr(o, n, None)
    try:
        o.nothing
    except AttributeError as e:
        t = str(e)
    return v, t, "extra" in o, hasattr(o, "zz")


@program(
    lambda r, n: (r.integers(0, 5, n), {"op": ("add", "mul", "scale", "x")[n % 4], "by": n}),
    4,
    9,
)
def matcher(v, cmd):
    match cmd:
        case {"op": "add", "by": int(b)} if b > 0:
            r = np.add(v, b)
        case {"op": "mul", "by": b}:
            r = np.multiply(v, b)
        case {"op": ("scale" | "div") as o, **rest}:
            r = (o, sorted(rest))
        case _:
            raise NotImplementedError(cmd["op"])
    match len(v), v:
        case (3, [a, *b]):
            return r, a, b
        case (n, _):
            return r, n


@program(lambda r, n: (r.normal(size=n),), 6, 10000)
def modern(x):
    if (n := len(x)) > 3 and (m := x.max()) > 0:
        y = x / m
    else:
        y = x
        m = None
    a, *b, c = y
    _first, (_second, _third), *_ = x[0], x[1:3], 7
    fs = [lambda t, i=i: t * i for i in range(3)] + [(lambda t: t + n)]
    d = {**{"a": 1}, "b": [*b]}
    s = {*"abc"} | {1}
    t = tuple(f(2.0) for f in fs)
    return n, m, a, c, d, s, t, 0 < n <= 6 < 7, x[-1:None:-2], x[..., None].shape, x[slice(1, -1)]


class Element:
    def matrix(self):
        raise NotImplementedError

    def __matmul__(self, o):
        return self.matrix() @ (o.matrix() if isinstance(o, Element) else o)


class Lens(Element):
    def __init__(s, f):
        s.f = f

    def matrix(s):
        return np.array([[1, 0], [-1 / s.f, 1]])


class Space(Element):
    def __init__(s, d):
        s.d = d

    def matrix(s):
        return np.array([[1, s.d], [0, 1]], dtype=float)


@program(
    lambda r, n: ([Lens(2.0 + n), Space(1.0), Lens(3.0)], complex(0.1, n)),
    1,
    5,
    rtol=1e-9,
)
def abcd(elems, q):
    M = np.eye(2)
    for e in elems:
        M = e @ M
    A, B, C, D = M.ravel()
    q2 = (A * q + B) / (C * q + D)
    return M, q2, abs(q2), np.linalg.det(M)


class Quaternion:
    __slots__ = ("w", "x", "y", "z")

    def __init__(s, w, x, y, z):
        s.w, s.x, s.y, s.z = w, x, y, z

    def __mul__(a, b):
        if isinstance(b, (int, float)):
            return Quaternion(a.w * b, a.x * b, a.y * b, a.z * b)
        return Quaternion(
            a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
            a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        )

    __rmul__ = __mul__

    def conj(s):
        return Quaternion(s.w, -s.x, -s.y, -s.z)

    @property
    def norm(s):
        return math.sqrt(s.w**2 + s.x**2 + s.y**2 + s.z**2)

    def __repr__(s):
        return f"Q({s.w:.4f}, {s.x:.4f}, {s.y:.4f}, {s.z:.4f})"

    def __eq__(s, o):
        return isinstance(o, Quaternion) and (s.w, s.x, s.y, s.z) == (o.w, o.x, o.y, o.z)

    @classmethod
    def from_axis(cls, axis, th):
        a = np.asarray(axis, float)
        n = np.linalg.norm(a)
        if n == 0:
            raise ValueError("zero axis")
        a = a / n * math.sin(th / 2)
        return cls(math.cos(th / 2), *map(float, a))

    @staticmethod
    def identity():
        return Quaternion(1.0, 0.0, 0.0, 0.0)


@program(lambda r, n: (r.normal(size=3), 0.3, r.normal(size=(n, 3))), 4, 1000, rtol=1e-9)
def rotate_pts(axis, th, P):
    q = Quaternion.from_axis(axis, th)
    out = np.empty_like(P)
    for i, p in enumerate(P):
        r = q * Quaternion(0.0, *p) * q.conj()
        out[i] = r.x, r.y, r.z
    print(q, q.norm)
    return out, q == Quaternion.identity(), 2 * q


def minmod(a, b):
    return np.where(a * b > 0, np.where(np.abs(a) < np.abs(b), a, b), 0.0)


def superbee(a, b):
    s = np.sign(a) + np.sign(b)
    return 0.5 * s * np.maximum(np.minimum(2 * abs(a), abs(b)), np.minimum(abs(a), 2 * abs(b)))


def vanleer(a, b):
    d = a + b
    with np.errstate(divide="ignore", invalid="ignore"):
        r = 2 * a * b / d
    return np.where(a * b > 0, r, 0)


LIM = {"minmod": minmod, "superbee": superbee, "vanleer": vanleer}


@program(
    lambda r, n: (r.random(n), 0.5, ("minmod", "superbee", "vanleer", "foo")[n % 4], 2), 10, 10000
)
def muscl(u, c, limiter, n):
    try:
        phi = LIM[limiter]
    except KeyError:
        raise ValueError(f"limiter {limiter!r} not in {sorted(LIM)}") from None
    for _ in range(n):
        du = np.roll(u, -1) - u
        s = phi(du, np.roll(du, 1))
        uL = u + 0.5 * (1 - c) * s
        u = u - c * (uL - np.roll(uL, 1))
    return u


@program(
    lambda r, n: (
        r.integers(0, 3, n),
        r.dirichlet(np.ones(2), 2),
        r.dirichlet(np.ones(3), 2),
        np.array([0.6, 0.4]),
    ),
    6,
    1000,
    rtol=1e-9,
)
def viterbi(obs, A, B, pi):
    T, N = len(obs), len(pi)
    d = np.zeros((T, N))
    psi = np.zeros((T, N), int)
    d[0] = np.log(pi) + np.log(B[:, obs[0]])
    for t in range(1, T):
        for j in range(N):
            s = d[t - 1] + np.log(A[:, j])
            psi[t, j] = np.argmax(s)
            d[t, j] = s[psi[t, j]] + np.log(B[j, obs[t]])
    path = [int(d[-1].argmax())]
    for t in range(T - 1, 0, -1):
        path.insert(0, int(psi[t, path[0]]))
    return path, d.max()


class Node:
    def __init__(s, val=None, feat=None, thr=None, left=None, right=None):
        s.val, s.feat, s.thr, s.left, s.right = val, feat, thr, left, right


def gini(y):
    if len(y) == 0:
        return 0.0
    _, c = np.unique(y, return_counts=True)
    p = c / c.sum()
    return 1 - (p**2).sum()


def grow(X, y, depth=0, maxd=2):
    if depth >= maxd or len(np.unique(y)) == 1:
        v, c = np.unique(y, return_counts=True)
        return Node(val=v[c.argmax()])
    best = (np.inf, None, None)
    for f in range(X.shape[1]):
        for t in np.unique(X[:, f])[:-1]:
            m = X[:, f] <= t
            s = m.mean() * gini(y[m]) + (1 - m.mean()) * gini(y[~m])
            if s < best[0]:
                best = (s, f, t)
    _, f, t = best
    if f is None:
        v, c = np.unique(y, return_counts=True)
        return Node(val=v[c.argmax()])
    m = X[:, f] <= t
    return Node(
        feat=f,
        thr=t,
        left=grow(X[m], y[m], depth + 1, maxd),
        right=grow(X[~m], y[~m], depth + 1, maxd),
    )


@program(lambda r, n: (r.integers(0, 4, (n, 2)).astype(float), r.integers(0, 2, n)), 8, 200)
def tree_fit_predict(X, y):
    root = grow(X, y)
    out = []
    for x in X:
        n = root
        while n.val is None:
            n = n.left if x[n.feat] <= n.thr else n.right
        out.append(n.val)
    out = np.array(out)
    return out, (out == y).mean(), root
