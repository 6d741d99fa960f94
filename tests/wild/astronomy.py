"""Orbits, light curves, stars, samplers."""

import math
import sys

import numpy as np

from .registry import program


def solve_kepler(M, ecc, tol=1e-12, max_iter=50):
    E = M + ecc * np.sin(M) if ecc < 0.8 else np.pi * np.ones_like(M)
    for _ in range(max_iter):
        dE = (E - ecc * np.sin(E) - M) / (1 - ecc * np.cos(E))
        E = E - dE
        if np.all(np.abs(dE) < tol):
            return E
    raise RuntimeError("Kepler's equation did not converge for e = {0}".format(ecc))


@program(
    lambda r, n: (np.sort(r.uniform(0, 100, n)), 12.3, 0.3, 1.1, 55.0, 2.0), 20, 10_000, rtol=1e-9
)
def radial_velocity(t, P, ecc, omega, K, t0):
    """A star with a planet; the eccentricity decides the way to start."""
    if not 0 <= ecc < 1:
        raise ValueError("eccentricity must be in [0, 1)")
    M = 2 * np.pi * ((t - t0) / P % 1)
    E = solve_kepler(M, ecc)
    nu = 2 * np.arctan2(np.sqrt(1 + ecc) * np.sin(E / 2), np.sqrt(1 - ecc) * np.cos(E / 2))
    return K * (np.cos(nu + omega) + ecc * np.cos(omega))


def mag(x):
    return math.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])


def cross(a, b, out):
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


def angle(a, b):
    undefined = 999999.1
    m = mag(a) * mag(b)
    if m > 1e-16:
        temp = (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / m
        if math.fabs(temp) > 1.0:
            temp = math.copysign(1.0, temp)
        return math.acos(temp)
    else:
        return undefined


@program(
    lambda r, n: (r.normal(size=3) * 7000, r.normal(size=3) * 7, 398600.4418),
    3,
    3,
    rtol=1e-7,
)
def orbital_elements(r, v, mu):
    """Elements of an orbit out of lists of None that are filled, a type that is text, names that
    only some branches give a value."""
    hbar = [None, None, None]
    nbar = [None, None, None]
    ebar = [None, None, None]
    small, undefined, infinite = 1e-8, 999999.1, 999999.9
    magr, magv = mag(r), mag(v)
    cross(r, v, hbar)
    magh = mag(hbar)
    if magh > small:
        nbar[0], nbar[1], nbar[2] = -hbar[1], hbar[0], 0.0
        magn = mag(nbar)
        c1 = magv * magv - mu / magr
        rdotv = r[0] * v[0] + r[1] * v[1] + r[2] * v[2]
        for i in range(0, 3):
            ebar[i] = (c1 * r[i] - rdotv * v[i]) / mu
        ecc = mag(ebar)
        sme = magv * magv * 0.5 - mu / magr
        if math.fabs(sme) > small:
            a = -mu / (2.0 * sme)
        else:
            a = infinite
        incl = math.acos(hbar[2] / magh)
        typeorbit = "ei"
        if ecc < small:
            if incl < small or math.fabs(incl - math.pi) < small:
                typeorbit = "ce"
            else:
                typeorbit = "ci"
        elif incl < small or math.fabs(incl - math.pi) < small:
            typeorbit = "ee"
        if magn > small:
            temp = nbar[0] / magn
            if math.fabs(temp) > 1.0:
                temp = math.copysign(1.0, temp)
            omega = math.acos(temp)
            if nbar[1] < 0.0:
                omega = 2 * math.pi - omega
        else:
            omega = undefined
        if typeorbit == "ei":
            argp = angle(nbar, ebar)
            if ebar[2] < 0.0:
                argp = 2 * math.pi - argp
        else:
            argp = undefined
        if typeorbit[0] == "e":
            nu = angle(ebar, r)
            if rdotv < 0.0:
                nu = 2 * math.pi - nu
        else:
            nu = undefined
    else:
        a = ecc = incl = omega = argp = nu = undefined
    return a, ecc, incl, omega, argp, nu


def get_acc(pos, mass, G, softening):
    x = pos[:, 0:1]
    y = pos[:, 1:2]
    z = pos[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inv_r3 = dx**2 + dy**2 + dz**2 + softening**2
    inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)
    ax = G * (dx * inv_r3) @ mass
    ay = G * (dy * inv_r3) @ mass
    az = G * (dz * inv_r3) @ mass
    return np.hstack((ax, ay, az))


@program(lambda r, n: (n, 6, 0.01), 8, 100, rtol=1e-9)
def n_body(N, Nt, dt):
    """Stars with positions of the global stream, energies saved at each step, and a progress bar."""
    np.random.seed(17)
    mass = 20.0 * np.ones((N, 1)) / N
    pos = np.random.randn(N, 3)
    vel = np.random.randn(N, 3)
    vel -= np.mean(mass * vel, 0) / np.mean(mass)
    acc = get_acc(pos, mass, 1.0, 0.1)
    pos_save = np.zeros((N, 3, Nt + 1))
    pos_save[:, :, 0] = pos
    KE_save = np.zeros(Nt + 1)
    t = 0
    for i in range(Nt):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = get_acc(pos, mass, 1.0, 0.1)
        vel += acc * dt / 2.0
        t += dt
        KE_save[i + 1] = 0.5 * np.sum(np.sum(mass * vel**2))
        pos_save[:, :, i + 1] = pos
        sys.stdout.write("\r{:3.0f} %".format(100 * (i + 1) / Nt))
    return pos_save, KE_save, t


@program(
    lambda r, n: (np.sort(r.uniform(0, 30, n)), r.normal(size=n), None, np.linspace(0.05, 2, 20)),
    30,
    10_000,
    rtol=1e-8,
)
def lomb_scargle(t, y, dy, frequency, normalization="standard"):
    """A periodogram with weights that may be left out and a choice of normalisation."""
    if dy is None:
        dy = 1
    t, y, dy = np.broadcast_arrays(t, y, dy)
    frequency = np.asarray(frequency)
    if t.ndim != 1:
        raise ValueError("t, y, dy should be one dimensional")
    w = dy**-2.0
    w /= w.sum()
    y = y - np.dot(w, y)
    power = np.zeros(len(frequency))
    for k, f in enumerate(frequency):
        omega = 2 * np.pi * f
        tau = np.arctan2(np.dot(w, np.sin(2 * omega * t)), np.dot(w, np.cos(2 * omega * t))) / (
            2 * omega
        )
        c, s = np.cos(omega * (t - tau)), np.sin(omega * (t - tau))
        power[k] = np.dot(w * y, c) ** 2 / np.dot(w, c * c) + np.dot(w * y, s) ** 2 / np.dot(
            w, s * s
        )
    if normalization == "standard":
        power /= np.dot(w, y**2)
    elif normalization == "log":
        power = -np.log(1 - power / np.dot(w, y**2))
    else:
        raise ValueError("normalization='{0}' not recognized".format(normalization))
    return power, frequency[np.argmax(power)]


class Ensemble:
    """Walkers with their own random state, and what was accepted."""

    def __init__(self, p0, log_prob_fn, a=2.0, seed=11):
        self.coords = np.atleast_2d(p0)
        self.nwalkers, self.ndim = self.coords.shape
        self.log_prob_fn = log_prob_fn
        self.a = a
        self._random = np.random.RandomState(seed)
        self.log_prob = np.array([log_prob_fn(c) for c in self.coords])
        self.naccepted = np.zeros(self.nwalkers)

    @property
    def acceptance_fraction(self):
        return self.naccepted / max(1, self.iteration)

    iteration = 0


def log_normal(x):
    if np.any(np.isinf(x)):
        raise ValueError("At least one parameter value was infinite")
    return -0.5 * np.sum(x**2)


@program(lambda r, n: (Ensemble(r.normal(size=(n, 3)), log_normal), 3), 8, 60, rtol=1e-10)
def stretch_moves(ens, n_steps):
    """An affine-invariant sampler: halves of an ensemble, shuffled; one proposal after the other."""
    if ens.nwalkers < 2 * ens.ndim:
        raise RuntimeError(
            "It is unadvisable to use fewer walkers than twice the number of dimensions."
        )
    chain = np.empty((n_steps, ens.nwalkers, ens.ndim))
    for step in range(n_steps):
        inds = np.arange(ens.nwalkers) % 2
        ens._random.shuffle(inds)
        for split in range(2):
            S1 = inds == split
            s, c = ens.coords[S1], ens.coords[~S1]
            zz = ((ens.a - 1.0) * ens._random.rand(len(s)) + 1) ** 2.0 / ens.a
            factors = (ens.ndim - 1.0) * np.log(zz)
            rint = ens._random.randint(len(c), size=(len(s),))
            q = c[rint] - (c[rint] - s) * zz[:, None]
            for i, (j, f) in enumerate(zip(np.arange(ens.nwalkers)[S1], factors)):
                new = ens.log_prob_fn(q[i])
                if f + new - ens.log_prob[j] > np.log(ens._random.rand()):
                    ens.coords[j] = q[i]
                    ens.log_prob[j] = new
                    ens.naccepted[j] += 1
        ens.iteration += 1
        chain[step] = ens.coords
    return chain, ens.acceptance_fraction


@program(lambda r, n: (r.poisson(30, (n, n)).astype(float), 5.0), 16, 100)
def find_stars(image, nsigma):
    """Peaks of an image over its background: a median, comprehensions, a table of dictionaries."""
    bkg = np.median(image)
    sigma = 1.4826 * np.median(np.abs(image - bkg))
    data = image - bkg
    data[4:7, 5:8] += 30 * sigma * np.array([[0.2, 0.5, 0.2], [0.5, 1.0, 0.5], [0.2, 0.5, 0.2]])
    peaks = [
        (y, x)
        for y in range(1, data.shape[0] - 1)
        for x in range(1, data.shape[1] - 1)
        if data[y, x] > nsigma * sigma and data[y, x] == data[y - 1 : y + 2, x - 1 : x + 2].max()
    ]
    table = []
    for y, x in peaks:
        cut = data[y - 1 : y + 2, x - 1 : x + 2]
        flux = cut.sum()
        yy, xx = np.mgrid[y - 1 : y + 2, x - 1 : x + 2]
        table.append({"x": (xx * cut).sum() / flux, "y": (yy * cut).sum() / flux, "flux": flux})
    return sorted(table, key=lambda row: -row["flux"])
