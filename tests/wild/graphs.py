"""Networks, paths, ranks, games."""

import heapq
from collections import Counter, defaultdict, deque

import numpy as np
from scipy import sparse

from .registry import program


def make_links(rng, size):
    A = (rng.random((size, size)) < 0.1).astype(float)
    A[:, 0] = 1
    return A, 0.85, 1e-8


@program(make_links, 8, 100, rtol=1e-9)
def pagerank(A, damping, tol, max_iter=60, verbose=True):
    """Power iteration with dangling nodes and a line of text at the end."""
    n = A.shape[0]
    out = A.sum(axis=1)
    dangling = np.where(out == 0)[0]
    P = np.divide(A, out[:, None], out=np.zeros_like(A), where=out[:, None] != 0)
    r = np.ones(n) / n
    for k in range(max_iter):
        new = damping * (P.T @ r + r[dangling].sum() / n) + (1 - damping) / n
        delta = np.abs(new - r).sum()
        r = new
        if delta < tol:
            break
    if verbose:
        print("converged after", k, "iterations")
    return r, np.argsort(-r)[:3]


@program(
    lambda r, n: (
        sparse.random(n, n, min(0.05, 10 / n), format="csr", random_state=r)
        + sparse.eye(n, format="csr"),
        r.normal(size=n),
        5,
    ),
    20,
    10_000,
    rtol=1e-10,
)
def sparse_power(A, x, steps):
    """Products of a sparse matrix and a vector."""
    for _ in range(steps):
        y = A.dot(x)
        lam = np.dot(x, y)
        x = y / np.linalg.norm(y)
    return lam, x


def make_graph(rng, size):
    graph = {i: {} for i in range(size)}
    for i in range(size):
        for j in rng.integers(0, size, 3):
            graph[i][int(j)] = float(rng.random())
    return graph, 0


@program(make_graph, 8, 100)
def dijkstra(graph, start):
    """Shortest paths of a dictionary of dictionaries with a heap."""
    dist = {node: float("inf") for node in graph}
    dist[start] = 0.0
    heap = [(0.0, start)]
    prev = {}
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]:
            continue
        for v, w in graph[u].items():
            if d + w < dist[v]:
                dist[v] = d + w
                prev[v] = u
                heapq.heappush(heap, (d + w, v))
    return np.array([dist[k] for k in sorted(dist)]), prev


@program(lambda r, n: (np.where(r.random((n, n)) < 0.3, r.random((n, n)), np.inf),), 6, 100)
def floyd_warshall(dist):
    """All shortest paths, and the way of each."""
    n = dist.shape[0]
    dist = dist.copy()
    np.fill_diagonal(dist, 0)
    nxt = np.where(np.isfinite(dist), np.arange(n)[None, :], -1)
    for k in range(n):
        through = dist[:, k, None] + dist[None, k, :]
        better = through < dist
        dist[better] = through[better]
        nxt = np.where(better, nxt[:, k, None], nxt)
    path, u = [0], 0
    while u != n - 1 and nxt[u, n - 1] >= 0:
        u = int(nxt[u, n - 1])
        path.append(u)
    return dist, path


@program(lambda r, n: ((r.random((n, n)) < 0.15) | np.eye(n, k=1, dtype=bool), 0), 8, 100)
def breadth_first(adj, start):
    """Levels of a graph with a deque and a set; how many nodes each level has."""
    level = {start: 0}
    queue = deque([start])
    while queue:
        u = queue.popleft()
        for v in np.flatnonzero(adj[u]):
            v = int(v)
            if v not in level:
                level[v] = level[u] + 1
                queue.append(v)
    counts = Counter(level.values())
    groups = defaultdict(list)
    for node, k in level.items():
        groups[k].append(node)
    return counts.most_common(2), max(groups), len(level)


@program(lambda r, n: (r.integers(0, 3, (n, n)), 0.4, 3), 8, 60)
def schelling(grid, wanted, steps):
    """Agents move to empty places, drawn from the global stream, until all are content."""
    moved = 0
    for _ in range(steps):
        empty = list(zip(*np.where(grid == 0)))
        for i in range(grid.shape[0]):
            for j in range(grid.shape[1]):
                kind = grid[i, j]
                if kind == 0:
                    continue
                near = grid[max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2]
                same = np.sum(near == kind) - 1
                others = np.sum(near != 0) - 1
                if others > 0 and same / others < wanted and empty:
                    k = np.random.randint(len(empty))
                    di, dj = empty[k]
                    grid[di, dj], grid[i, j] = kind, 0
                    empty[k] = (i, j)
                    moved += 1
    return moved
