"""Places on the earth, and its quakes."""

import math
from collections import namedtuple

import numpy as np

from .registry import program

WGS84 = {"a": 6378137.0, "f": 1 / 298.257223563}


Ellipsoid = namedtuple("Ellipsoid", "a f")


def _ll(r, n):
    return (r.uniform(-80, 80, n), r.uniform(-179, 179, n))


@program(lambda r, n: (*_ll(r, n), r.uniform(0, 5e3, n)), 7, 10000, rtol=1e-2)
def geodetic_ecef_roundtrip(lat, lon, h=0.0, ell=None, deg=True, max_iter=6, tol=1e-12):
    """To Cartesian coordinates and back by fixed-point iteration."""
    if ell is None:
        ell = Ellipsoid(**WGS84)
    elif not isinstance(ell, Ellipsoid):
        raise TypeError("ell must be an Ellipsoid, not %s" % type(ell).__name__)
    lat, lon, h = np.broadcast_arrays(np.atleast_1d(lat), np.atleast_1d(lon), np.atleast_1d(h))
    if np.any(np.abs(lat) > (90 if deg else np.pi / 2)):
        raise ValueError("latitude out of range")
    if deg:
        lat, lon = np.deg2rad(lat), np.deg2rad(lon)
    e2 = ell.f * (2 - ell.f)
    s = np.sin(lat)
    N = ell.a / np.sqrt(1 - e2 * s**2)
    xyz = np.stack(
        [
            (N + h) * np.cos(lat) * np.cos(lon),
            (N + h) * np.cos(lat) * np.sin(lon),
            (N * (1 - e2) + h) * s,
        ],
        axis=-1,
    )
    x, y, z = xyz.T
    p = np.hypot(x, y)
    phi = np.arctan2(z, p * (1 - e2))
    for k in range(max_iter):
        n = ell.a / np.sqrt(1 - e2 * np.sin(phi) ** 2)
        new = np.arctan2(z + e2 * n * np.sin(phi), p)
        done = np.max(np.abs(new - phi)) < tol
        phi = new
        if done:
            break
    alt = p / np.cos(phi) - n
    return xyz, np.rad2deg(phi) if deg else phi, alt, k


@program(
    lambda r, n: (
        tuple(map(float, r.uniform(-60, 60, 2))),
        tuple(map(float, r.uniform(-60, 60, 2))),
    ),
    3,
    3,
    rtol=1e-9,
)
def vincenty(p1, p2, miles=False):
    """The inverse problem on the ellipsoid, by iteration on Python floats."""
    if p1[0] == p2[0] and p1[1] == p2[1]:
        return 0.0
    a, f = WGS84["a"], WGS84["f"]
    b = (1 - f) * a
    U1, U2 = (
        math.atan((1 - f) * math.tan(math.radians(p1[0]))),
        math.atan((1 - f) * math.tan(math.radians(p2[0]))),
    )
    L = math.radians(p2[1] - p1[1])
    lam = L
    su1, cu1, su2, cu2 = math.sin(U1), math.cos(U1), math.sin(U2), math.cos(U2)
    for _ in range(200):
        sl, cl = math.sin(lam), math.cos(lam)
        sin_s = math.sqrt((cu2 * sl) ** 2 + (cu1 * su2 - su1 * cu2 * cl) ** 2)
        if sin_s == 0:
            return 0.0
        cos_s = su1 * su2 + cu1 * cu2 * cl
        sigma = math.atan2(sin_s, cos_s)
        sin_a = cu1 * cu2 * sl / sin_s
        cos2a = 1 - sin_a**2
        try:
            cos2m = cos_s - 2 * su1 * su2 / cos2a
        except ZeroDivisionError:
            cos2m = 0
        C = f / 16 * cos2a * (4 + f * (4 - 3 * cos2a))
        prev = lam
        lam = L + (1 - C) * f * sin_a * (
            sigma + C * sin_s * (cos2m + C * cos_s * (-1 + 2 * cos2m**2))
        )
        if abs(lam - prev) < 1e-12:
            break
    else:
        return None
    u2 = cos2a * (a**2 - b**2) / b**2
    A = 1 + u2 / 16384 * (4096 + u2 * (-768 + u2 * (320 - 175 * u2)))
    B = u2 / 1024 * (256 + u2 * (-128 + u2 * (74 - 47 * u2)))
    ds = (
        B
        * sin_s
        * (
            cos2m
            + B
            / 4
            * (
                cos_s * (-1 + 2 * cos2m**2)
                - B / 6 * cos2m * (-3 + 4 * sin_s**2) * (-3 + 4 * cos2m**2)
            )
        )
    )
    s = b * A * (sigma - ds) / 1000
    if miles:
        s *= 0.621371
    return round(s, 6)


def _trace(r, n):
    t = np.arange(n)
    x = r.normal(size=n) * (1 + 6 * (t > n // 2))
    return (x, 100.0)


@program(_trace, 200, 10000)
def pick_p_wave(data, fs, *, sta=0.05, lta=0.4, kind="classic", on=2.5, off=1.2, verbose=True):
    """Triggers on/off of a short- and long-time average; picks as a list of dicts; text."""
    if kind not in {"classic", "recursive"}:
        raise ValueError(f"unknown kind {kind!r}")
    ns, nl = int(sta * fs), int(lta * fs)
    if ns >= nl:
        raise ValueError("sta must be shorter than lta")
    data = np.asarray(data, dtype=float) - np.mean(data)
    sq = np.cumsum(data**2)
    s, l = sq.copy(), sq.copy()
    s[ns:] -= s[:-ns]
    s /= ns
    l[nl:] -= l[:-nl]
    l /= nl
    s[: nl - 1] = 0
    tiny = np.finfo(0.0).tiny
    l[l < tiny] = tiny
    cft = s / l
    above = np.where(cft > on)[0]
    picks = []
    last = -1
    for i in above:
        if i <= last:
            continue
        end = i
        while end < len(cft) and cft[end] > off:
            end += 1
        picks.append({"on": int(i), "off": int(end), "peak": float(cft[i:end].max())})
        last = end
    if verbose:
        print(f"{len(picks)} picks" + (f", first at {picks[0]['on'] / fs:.2f} s" if picks else ""))
    return cft, picks
