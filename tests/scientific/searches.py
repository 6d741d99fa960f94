"""Dynamic programming, graphs, sorting and searching."""

from __future__ import annotations

import numpy as np

from .registry import program


@program(
    lambda r: (r.integers(0, 4, 6), r.integers(0, 4, 8), 1, -1, -2),
    lambda r: (r.integers(0, 4, 11), r.integers(0, 4, 9), 2, -2, -1),
)
def needleman_wunsch(a, b, match, mismatch, gap):
    n, m = len(a), len(b)
    F = np.zeros((n + 1, m + 1), dtype=int)
    F[:, 0] = gap * np.arange(n + 1)
    F[0, :] = gap * np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            s = match if a[i - 1] == b[j - 1] else mismatch
            F[i, j] = max(F[i - 1, j - 1] + s, F[i - 1, j] + gap, F[i, j - 1] + gap)
    i, j = n, m
    matches = 0
    while i > 0 and j > 0:
        s = match if a[i - 1] == b[j - 1] else mismatch
        if F[i, j] == F[i - 1, j - 1] + s:
            matches += a[i - 1] == b[j - 1]
            i -= 1
            j -= 1
        elif F[i, j] == F[i - 1, j] + gap:
            i -= 1
        else:
            j -= 1
    return F, matches


@program(
    lambda r: (r.integers(65, 69, 7).astype(np.uint8), r.integers(65, 69, 9).astype(np.uint8)),
    lambda r: (r.integers(65, 69, 12).astype(np.uint8), r.integers(65, 69, 5).astype(np.uint8)),
)
def smith_waterman(a, b):
    H = np.zeros((a.size + 1, b.size + 1), np.float32)
    best = 0.0
    where = (0, 0)
    for i in range(1, H.shape[0]):
        for j in range(1, H.shape[1]):
            diag = H[i - 1, j - 1] + (3.0 if a[i - 1] == b[j - 1] else -3.0)
            H[i, j] = max(0.0, diag, H[i - 1, j] - 2.0, H[i, j - 1] - 2.0)
            if H[i, j] > best:
                best = H[i, j]
                where = (i, j)
    return best, where, H


@program(
    lambda r: (r.integers(0, 8, (7, 2)), 8),
    lambda r: (r.integers(0, 12, (9, 2)), 12),
)
def union_find(edges, n):
    parent = np.arange(n)
    size = np.ones(n, dtype=np.int64)

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    components = n
    for k in range(len(edges)):
        a = find(edges[k, 0])
        b = find(edges[k, 1])
        if a == b:
            continue
        if size[a] < size[b]:
            a, b = b, a
        parent[b] = a
        size[a] += size[b]
        components -= 1
    return parent, components


@program(
    lambda r: ((r.random((6, 7)) < 0.6).astype(np.int32),),
    lambda r: ((r.random((9, 8)) < 0.5).astype(np.int32),),
)
def connected_components(img):
    h, w = img.shape
    labels = np.zeros((h, w), dtype=np.int32)
    stack = np.zeros((h * w, 2), dtype=np.int32)
    current = 0
    for i in range(h):
        for j in range(w):
            if img[i, j] == 1 and labels[i, j] == 0:
                current += 1
                labels[i, j] = current
                stack[0] = i, j
                top = 1
                while top > 0:
                    top -= 1
                    y, x = stack[top]
                    for dy, dx in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                        ny, nx = y + dy, x + dx
                        if not (0 <= ny < h and 0 <= nx < w):
                            continue
                        if img[ny, nx] == 1 and labels[ny, nx] == 0:
                            labels[ny, nx] = current
                            stack[top] = ny, nx
                            top += 1
    return labels, current


@program(lambda r: (r.random(9),), lambda r: (r.integers(0, 5, 14),))
def bubble_sort(x):
    n = len(x)
    while True:
        swapped = False
        for i in range(n - 1):
            if x[i] > x[i + 1]:
                x[i], x[i + 1] = x[i + 1], x[i]
                swapped = True
        n -= 1
        if not swapped:
            return x


@program(lambda r: (r.random(9),), lambda r: (r.integers(0, 5, 14),))
def quicksort(a):
    stack = np.zeros((64, 2), dtype=np.int64)
    stack[0, 0] = 0
    stack[0, 1] = len(a) - 1
    top = 0
    while top >= 0:
        lo, hi = stack[top, 0], stack[top, 1]
        top -= 1
        if lo >= hi:
            continue
        pivot = a[(lo + hi) // 2]
        i, j = lo, hi
        while i <= j:
            while a[i] < pivot:
                i += 1
            while a[j] > pivot:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        top += 1
        stack[top] = lo, j
        top += 1
        stack[top] = i, hi
    return a


@program(lambda r: (r.integers(5, 50, 6),), lambda r: (r.integers(5, 50, 9),))
def matrix_chain(p):
    n = len(p) - 1
    m = np.zeros((n, n), dtype=np.int64)
    s = np.zeros((n, n), dtype=np.int64)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            m[i, j] = np.iinfo(np.int64).max
            for k in range(i, j):
                q = m[i, k] + m[k + 1, j] + p[i] * p[k + 1] * p[j + 1]
                if q < m[i, j]:
                    m[i, j] = q
                    s[i, j] = k
    return m[0, n - 1], s


@program(
    lambda r: (r.integers(1, 9, 17), r.integers(1, 30, 17), 23),
    lambda r: (r.integers(1, 9, 6), r.integers(1, 30, 6), 31),
)
def knapsack_in_one_row(weights, values, room):
    best = np.zeros(room + 1, values.dtype)
    for i in range(len(weights)):
        for c in range(room, weights[i] - 1, -1):
            best[c] = max(best[c], best[c - weights[i]] + values[i])
    return best[room]


@program(lambda r: (r.random(17), 5.0), lambda r: (r.random(12), 3.0))
def sharpened_while_flat(x, most):
    rounds = 0
    while x.max() / x.mean() < most and rounds < 40:
        x = x * x / (x * x).sum()
        rounds += 1
    return x, rounds
