"""Small toolkits: search trees, formulas, textures, routing."""

import collections
import math
import operator
import re
import warnings
from dataclasses import dataclass

import numpy as np

from .registry import program


class KDNode:
    __slots__ = ("idx", "axis", "left", "right", "split")

    def __init__(self, idx=None, axis=None, split=None, left=None, right=None):
        self.idx, self.axis, self.split, self.left, self.right = (idx, axis, split, left, right)


class KDTree:
    def __init__(self, pts, leafsize=4):
        self.pts = np.asarray(pts)
        self.leafsize = leafsize
        self.root = self._build(np.arange(len(pts)), 0)

    def _build(self, idx, depth):
        if len(idx) <= self.leafsize:
            return KDNode(idx=idx)
        ax = depth % self.pts.shape[1]
        order = idx[np.argsort(self.pts[idx, ax], kind="stable")]
        m = len(order) // 2
        return KDNode(
            axis=ax,
            split=self.pts[order[m], ax],
            left=self._build(order[:m], depth + 1),
            right=self._build(order[m:], depth + 1),
        )

    def query(self, q):
        best = (np.inf, -1)
        stack = [self.root]
        while stack:
            nd = stack.pop()
            if nd.idx is not None:
                d = ((self.pts[nd.idx] - q) ** 2).sum(axis=1)
                if len(d):
                    j = d.argmin()
                    if d[j] < best[0]:
                        best = (d[j], nd.idx[j])
                continue
            diff = q[nd.axis] - nd.split
            near, far = (nd.left, nd.right) if diff < 0 else (nd.right, nd.left)
            if diff**2 < best[0]:
                stack.append(far)
            stack.append(near)
        return (np.sqrt(best[0]), best[1])


@program(lambda r, n: (r.random((n, 2)), r.random((4, 2))), 17, 300)
def kd_query(pts, qs):
    """Nearest points by a tree of nodes with slots, and a stack."""
    t = KDTree(pts)
    res = [t.query(q) for q in qs]
    return (np.array([d for d, _ in res]), [int(i) for _, i in res])


TOK = re.compile("\\s*(?:(\\d+\\.?\\d*(?:e[+-]?\\d+)?)|(.))")


def tokens(text):
    for num, op in TOK.findall(text):
        if num:
            yield ("num", float(num))
        elif op.isalpha():
            yield ("name", op)
        elif op.strip():
            yield ("op", op)


class Parser:
    prec = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}

    def __init__(self, text):
        self.toks = list(tokens(text))
        self.pos = 0

    def peek(self):
        return self.toks[self.pos] if self.pos < len(self.toks) else ("end", None)

    def next(self):
        t = self.peek()
        self.pos += 1
        return t

    def expr(self, env, lo=0):
        match self.next():
            case ["num", v]:
                left = v
            case ["name", n]:
                left = env[n]
            case ["op", "-"]:
                left = -self.expr(env, 2)
            case ["op", "("]:
                left = self.expr(env)
                if self.next() != ("op", ")"):
                    raise SyntaxError("expected )")
            case [kind, what]:
                raise SyntaxError(f"unexpected {kind} {what!r} at {self.pos}")
        while self.peek()[0] == "op" and self.prec.get(self.peek()[1], 0) > lo:
            op = self.next()[1]
            right = self.expr(env, self.prec[op] - (op == "^"))
            left = {
                "+": operator.add,
                "-": operator.sub,
                "*": operator.mul,
                "/": operator.truediv,
                "^": operator.pow,
            }[op](left, right)
        return left


@program(lambda r, n: ("a*(b - 2.5)^2/3 + -a*1e-1", r.random(n), r.random(n)), 4, 2000, rtol=1e-12)
def formula(text, a, b):
    """A parser by match, of arrays by name."""
    return Parser(text).expr({"a": a, "b": b})


@program(
    lambda r, n: (r.integers(0, 256, (n, n)).astype(np.uint8), 8, [(0, 1), (1, 0), (1, -1)]), 6, 64
)
def glcm(img, levels, offsets):
    """Textures by pairs of grey levels, counted in place; an ordered dictionary."""
    q = (img // (256 // levels)).astype(np.intp)
    feats = collections.OrderedDict()
    P = np.zeros((levels, levels, len(offsets)), dtype=np.uint32)
    h, w = q.shape
    for k, (dy, dx) in enumerate(offsets):
        a = q[max(0, -dy) : h - max(0, dy), max(0, -dx) : w - max(0, dx)]
        b = q[max(0, dy) : h - max(0, -dy) or None, max(0, dx) : w - max(0, -dx) or None]
        b = q[max(0, dy) : h + min(0, dy), max(0, dx) : w + min(0, dx)]
        np.add.at(P[..., k], (a.ravel(), b.ravel()), 1)
    Pn = P / P.sum(axis=(0, 1), keepdims=True)
    i, j = np.ogrid[:levels, :levels]
    for name, wgt in {
        "contrast": (i - j) ** 2,
        "homogeneity": 1.0 / (1 + (i - j) ** 2),
        "dissimilarity": np.abs(i - j),
    }.items():
        feats[name] = np.tensordot(wgt, Pn, axes=([0, 1], [0, 1]))
    feats["asm"] = (Pn**2).sum((0, 1))
    mask = Pn > 0
    feats["entropy"] = -np.sum(Pn * np.log2(Pn, where=mask, out=np.zeros_like(Pn)), axis=(0, 1))
    return (feats, P)


@dataclass
class Reach:
    name: str
    k: float
    x: float
    down: str | None = None
    inflow: np.ndarray = None
    outflow: np.ndarray = None

    def coefficients(self, dt):
        d = 2 * self.k * (1 - self.x) + dt
        c = (
            (dt - 2 * self.k * self.x) / d,
            (dt + 2 * self.k * self.x) / d,
            (2 * self.k * (1 - self.x) - dt) / d,
        )
        if min(c) < 0:
            warnings.warn(f"reach {self.name}: negative coefficient {min(c):.3f}")
        return c


def _net(r, n):
    reaches = [Reach("c", 2.0, 0.2, None), Reach("a", 1.5, 0.1, "c"), Reach("b", 3.0, 0.3, "c")]
    return (reaches, {q.name: np.abs(r.normal(size=n)).cumsum()[::-1] for q in reaches}, 1.0)


@program(_net, 8, 500, rtol=1e-10)
def route(reaches, lateral, dt):
    """Flow through reaches in the order of a graph; a warning of a bad coefficient."""
    by = {r.name: r for r in reaches}
    deg = collections.Counter((r.down for r in reaches if r.down))
    ready = collections.deque((n for n in by if deg[n] == 0))
    order = []
    while ready:
        n = ready.popleft()
        order.append(n)
        d = by[n].down
        if d:
            deg[d] -= 1
            if deg[d] == 0:
                ready.append(d)
    if len(order) < len(by):
        raise ValueError("the network has a loop")
    total = {n: q.copy() for n, q in lateral.items()}
    for n in order:
        r = by[n]
        c0, c1, c2 = r.coefficients(dt)
        q = np.empty_like(total[n])
        q[0] = total[n][0]
        for t in range(1, len(q)):
            q[t] = c0 * total[n][t] + c1 * total[n][t - 1] + c2 * q[t - 1]
        r.inflow, r.outflow = (total[n], np.maximum(q, 0))
        if r.down:
            total[r.down] += r.outflow
    peak = {n: (int(by[n].outflow.argmax()), float(by[n].outflow.max())) for n in order}
    return (order, peak, by[order[-1]].outflow)


def dh(a, alpha, d, th):
    ca, sa, ct, st = (math.cos(alpha), math.sin(alpha), math.cos(th), math.sin(th))
    return np.array(
        [
            [ct, -st * ca, st * sa, a * ct],
            [st, ct * ca, -ct * sa, a * st],
            [0, sa, ca, d],
            [0, 0, 0, 1],
        ]
    )


@program(
    lambda r, n: ([(0.3, 0, 0.1), (0.2, math.pi / 2, 0), (0.1, 0, 0.05)], r.uniform(-1, 1, (n, 3))),
    4,
    60,
    rtol=1e-09,
)
def arm_path(links, qs):
    """Poses of an arm by products of small matrices."""
    poses, J_all = ([], [])
    for q in qs:
        T, frames = (np.eye(4), [np.eye(4)])
        for (a, al, d), th in zip(links, q):
            T = T @ dh(a, al, d, th)
            frames.append(T)
        p = T[:3, 3]
        J = np.vstack([np.r_[np.cross(F[:3, 2], p - F[:3, 3]), F[:3, 2]] for F in frames[:-1]]).T
        poses.append(p)
        J_all.append(np.sqrt(max(np.linalg.det(J[:3] @ J[:3].T), 0)))
    poses = np.array(poses)
    seg = np.linalg.norm(np.diff(poses, axis=0), axis=1)
    return (poses, J_all, seg.sum(), np.insert(np.cumsum(seg), 0, 0))
