"""Texts, codes, molecules, numbers: strings beside arrays."""

import re
from collections import Counter

import numpy as np

from .registry import program

MASS = {"H": 1.008, "C": 12.011, "O": 15.999, "N": 14.007}


@program(
    lambda r, n: ("".join(r.choice(list("ACGT"), n)), "".join(r.choice(list("ACGT"), n))),
    6,
    60,
)
def needleman_wunsch(s, t, match=1, mismatch=-1, gap=-2):
    n, m = len(s), len(t)
    F = np.zeros((n + 1, m + 1), dtype=int)
    F[:, 0] = gap * np.arange(n + 1)
    F[0, :] = gap * np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            diag = F[i - 1, j - 1] + (match if s[i - 1] == t[j - 1] else mismatch)
            F[i, j] = max(diag, F[i - 1, j] + gap, F[i, j - 1] + gap)
    a, b = [], []
    i, j = n, m
    while i > 0 or j > 0:
        if (
            i > 0
            and j > 0
            and F[i, j] == F[i - 1, j - 1] + (match if s[i - 1] == t[j - 1] else mismatch)
        ):
            a.append(s[i - 1])
            b.append(t[j - 1])
            i -= 1
            j -= 1
        elif i > 0 and F[i, j] == F[i - 1, j] + gap:
            a.append(s[i - 1])
            b.append("-")
            i -= 1
        else:
            a.append("-")
            b.append(t[j - 1])
            j -= 1
    return "".join(reversed(a)), "".join(reversed(b)), F[n, m]


@program(
    lambda r, n: ("".join(r.choice(list("ACGT"), n)), "".join(r.choice(list("ACGT"), n))),
    5,
    60,
)
def lev(a, b):
    prev = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        cur = [i]
        for j, cb in enumerate(b, 1):
            cur.append(min(prev[j] + 1, cur[-1] + 1, prev[j - 1] + (ca != cb)))
        prev = cur
    return prev[-1]


@program(lambda r, n: ("".join(r.choice(list("abc "), n)), 2), 20, 10000)
def caesar(s, sh):
    arr = np.frombuffer(s.encode(), dtype=np.uint8).copy()
    m = (arr >= 97) & (arr <= 122)
    arr[m] = (arr[m] - 97 + sh) % 26 + 97
    hist = np.bincount(arr, minlength=128)
    return arr.tobytes().decode(), hist[97:123], chr(int(arr.max()))


@program(
    lambda r, n: (" ".join(r.choice(["the", "cat", "sat", "mat"], n)), 1),
    8,
    1000,
    rtol=1e-9,
)
def tfidf(text, minc):
    words = text.split()
    cnt = Counter(words)
    vocab = sorted(w for w, c in cnt.items() if c >= minc)
    index = {w: i for i, w in enumerate(vocab)}
    v = np.zeros(len(vocab))
    for w in words:
        if w in index:
            v[index[w]] += 1
    v /= max(1, len(words))
    return vocab, v * np.log(1 + 1 / np.where(v > 0, v, 1))


@program(lambda r, n: (np.array([[3, 3], [2, 5]]), r.integers(0, 26, n)), 7, 10000)
def hill(K, msg):
    det = int(round(np.linalg.det(K))) % 26
    try:
        inv = pow(det, -1, 26)
    except ValueError as e:
        return f"no inverse: {e}"
    m = np.concatenate([msg, np.zeros((-len(msg)) % 2, msg.dtype)]).reshape(-1, 2).T
    c = K @ m % 26
    adj = np.array([[K[1, 1], -K[0, 1]], [-K[1, 0], K[0, 0]]])
    d = inv * adj @ c % 26
    return c.T.ravel(), np.array_equal(d, m), "".join(chr(65 + int(v)) for v in c.T.ravel())


@program(lambda r, n: (("H2O", "C6H12O6", "Xx")[n % 3],), 1, 4)
def molmass(f):
    tot = 0.0
    cnt = Counter()
    for el, n in re.findall(r"([A-Z][a-z]?)(\d*)", f):
        if el not in MASS:
            raise KeyError(f"unknown element {el}")
        cnt[el] += int(n or 1)
        tot += MASS[el] * int(n or 1)
    v = np.array([cnt[e] for e in sorted(cnt)], float)
    return tot, dict(cnt), v / v.sum()


@program(lambda r, n: (r.normal(size=(n, 2)), ["a", "bb"]), 3, 100)
def table(X, names):
    print(f"{'row':>5s} " + " ".join(f"{n:>8s}" for n in names))
    for i, row in enumerate(X):
        print(f"{i:5d} " + " ".join(f"{v:8.3f}" for v in row))
    print("mean", X.mean(axis=0), "max=%g" % X.max(), end="\n--\n")
    print(X.round(2).tolist(), X.shape, sep=";")
    return X.sum()


@program(lambda r, n: (r.integers(0, 256, n).astype(np.uint8), 0xDEADBEEF), 16, 1000)
def xorshift(data, seed):
    s = seed & 0xFFFFFFFF
    out = bytearray()
    for b in data:
        s ^= (s << 13) & 0xFFFFFFFF
        s ^= s >> 17
        s ^= (s << 5) & 0xFFFFFFFF
        out.append(int(b) ^ (s & 0xFF))
    return bytes(out), hex(s)


@program(lambda r, n: (2000 + n, 1 + n % 12, 5), 1, 30)
def julian(y, m, d, *, gregorian=True):
    if m <= 2:
        y -= 1
        m += 12
    a = y // 100
    b = 2 - a + a // 4 if gregorian else 0
    jd = int(365.25 * (y + 4716)) + int(30.6001 * (m + 1)) + d + b - 1524.5
    return jd, "%04d-%02d" % (y, m), divmod(jd, 7)


@program(
    lambda r, n: (int(r.integers(2, 10**6)), int(r.integers(1, 10**9)), 10**9 + 7),
    1,
    2,
)
def modpow(b, e, m):
    r = 1
    b %= m
    while e:
        if e & 1:
            r = r * b % m
        b = b * b % m
        e >>= 1
    return r
