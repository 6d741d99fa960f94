"""Filters that follow a state: Kalman's and its kin, particles, adaptive filters."""

import math
import warnings
from copy import deepcopy

import numpy as np
from numpy import dot, eye, zeros
from numpy.linalg import inv

from .registry import program


class KalmanFilter:
    """A linear filter with state in attributes, in the style of textbooks."""

    def __init__(self, dim_x, dim_z, dim_u=0):
        if dim_x < 1:
            raise ValueError("dim_x must be 1 or greater")
        if dim_z < 1:
            raise ValueError("dim_z must be 1 or greater")
        self.dim_x, self.dim_z, self.dim_u = dim_x, dim_z, dim_u
        self.x = zeros((dim_x, 1))
        self.P = eye(dim_x)
        self.Q = eye(dim_x) * 0.01
        self.F = eye(dim_x)
        self.H = zeros((dim_z, dim_x))
        self.R = eye(dim_z)
        self.B = None
        self._alpha_sq = 1.0
        self._I = eye(dim_x)
        self.K = zeros((dim_x, dim_z))
        self.y = zeros((dim_z, 1))
        self.z = np.array([[0.0] * dim_z]).T
        self.x_prior = self.x.copy()
        self.P_prior = self.P.copy()
        self._log_likelihood = None

    def predict(self, u=None, B=None, F=None, Q=None):
        if B is None:
            B = self.B
        if F is None:
            F = self.F
        if Q is None:
            Q = self.Q
        elif np.isscalar(Q):
            Q = eye(self.dim_x) * Q
        if B is not None and u is not None:
            self.x = dot(F, self.x) + dot(B, u)
        else:
            self.x = dot(F, self.x)
        self.P = self._alpha_sq * dot(dot(F, self.P), F.T) + Q
        self.x_prior = self.x.copy()
        self.P_prior = self.P.copy()

    def update(self, z, R=None):
        self._log_likelihood = None
        if z is None:
            self.y = zeros((self.dim_z, 1))
            return
        if R is None:
            R = self.R
        elif np.isscalar(R):
            R = eye(self.dim_z) * R
        z = np.atleast_2d(z)
        if z.shape[1] == self.dim_z:
            z = z.T
        self.y = z - dot(self.H, self.x)
        PHT = dot(self.P, self.H.T)
        S = dot(self.H, PHT) + R
        self.K = dot(PHT, inv(S))
        self.x = self.x + dot(self.K, self.y)
        I_KH = self._I - dot(self.K, self.H)
        self.P = dot(dot(I_KH, self.P), I_KH.T) + dot(dot(self.K, R), self.K.T)
        self.z = deepcopy(z)


def make_batch(rng, size):
    kf = KalmanFilter(4, 2)
    kf.F[0, 1] = kf.F[2, 3] = 0.1
    kf.H[0, 0] = kf.H[1, 2] = 1.0
    return kf, rng.normal(size=(size, 2))


@program(make_batch, 6, 200)
def kalman_batch(kf, zs):
    """Run the filter over all measurements and keep the means and covariances."""
    n = np.size(zs, 0)
    means = zeros((n, kf.dim_x, 1))
    covariances = zeros((n, kf.dim_x, kf.dim_x))
    for i, z in enumerate(zs):
        kf.predict()
        kf.update(z)
        means[i, :] = kf.x
        covariances[i, :, :] = kf.P
    return means, covariances


@program(lambda r, n: (make_batch(r, n)[0], r.normal(size=2), 0.3), 4, 4)
def kalman_scalar_noise(kf, z, r):
    """One step, with the noise as a number."""
    kf.predict(Q=0.02)
    kf.update(z, R=r)
    return kf.x.copy(), kf.P


def make_ekf(rng, size):
    landmarks = rng.uniform(-10, 10, (5, 2))
    return np.array([0.0, 0.0, 0.1]), np.eye(3) * 0.1, landmarks, rng.normal(size=(size, 5, 2)), 0.1


def wrap_angle(a):
    return (a + math.pi) % (2 * math.pi) - math.pi


def _jacobian(x, lm):
    dx, dy = lm[0] - x[0], lm[1] - x[1]
    q = dx**2 + dy**2
    r = math.sqrt(q)
    return np.array([[-dx / r, -dy / r, 0.0], [dy / q, -dx / q, -1.0]])


@program(make_ekf, 3, 40, rtol=1e-9)
def ekf_landmarks(x, P, landmarks, noise, dt):
    """An extended Kalman filter of a robot that sees landmarks."""
    assert x.shape == (3,), "state must be (x, y, heading)"
    Q = np.diag([0.01, 0.01, math.radians(1.0)]) ** 2
    R = np.diag([0.1, math.radians(5.0)]) ** 2
    track = []
    for step in noise:
        v, w = 1.0, 0.1
        G = np.array(
            [[1.0, 0.0, -v * dt * math.sin(x[2])], [0.0, 1.0, v * dt * math.cos(x[2])], [0, 0, 1]]
        )
        x = x + dt * np.array([v * math.cos(x[2]), v * math.sin(x[2]), w])
        P = G @ P @ G.T + Q
        for lm, e in zip(landmarks, step):
            dx, dy = lm - x[:2]
            z_hat = np.array([math.hypot(dx, dy), wrap_angle(math.atan2(dy, dx) - x[2])])
            z = z_hat + e * np.sqrt(np.diag(R))
            y = z - z_hat
            y[1] = wrap_angle(y[1])
            H = _jacobian(x, lm)
            S = H @ P @ H.T + R
            K = P @ H.T @ np.linalg.inv(S)
            x = x + K @ y
            P = (np.eye(len(x)) - K @ H) @ P
        track.append(x.copy())
    return np.array(track), P


class UnscentedFilter(object):
    def __init__(self, dim_x, dim_z, dt, hx, fx, kappa=0.0):
        self.x = zeros(dim_x)
        self.P = eye(dim_x)
        self.Q = eye(dim_x) * 1e-3
        self.R = eye(dim_z) * 1e-2
        self._dim_x, self._dim_z, self._dt = dim_x, dim_z, dt
        self.kappa = kappa
        self.hx, self.fx = hx, fx
        self.W = self.weights(dim_x, kappa)
        self.sigmas_f = zeros((2 * dim_x + 1, dim_x))

    @staticmethod
    def weights(n, kappa):
        W = np.full(2 * n + 1, 0.5 / (n + kappa))
        W[0] = kappa / (n + kappa)
        return W

    @staticmethod
    def sigma_points(x, P, kappa):
        if np.isscalar(x):
            x = np.asarray([x])
        n = np.size(x)
        if np.isscalar(P):
            P = eye(n) * P
        sigmas = zeros((2 * n + 1, n))
        U = np.linalg.cholesky((n + kappa) * P).T
        sigmas[0] = x
        sigmas[1 : n + 1] = x + U
        sigmas[n + 1 : 2 * n + 2] = x - U
        return sigmas

    def step(self, z):
        sigmas = self.sigma_points(self.x, self.P, self.kappa)
        for i in range(len(sigmas)):
            self.sigmas_f[i] = self.fx(sigmas[i], self._dt)
        xp, Pp = unscented_transform(self.sigmas_f, self.W, self.W, self.Q)
        sigmas_h = np.array([self.hx(s) for s in self.sigmas_f])
        zp, Pz = unscented_transform(sigmas_h, self.W, self.W, self.R)
        Pxz = 0
        for i in range(len(sigmas)):
            Pxz += self.W[i] * np.outer(self.sigmas_f[i] - xp, sigmas_h[i] - zp)
        K = dot(Pxz, inv(Pz))
        self.x = xp + dot(K, z - zp)
        self.P = Pp - dot(K, Pz).dot(K.T)


def unscented_transform(Sigmas, Wm, Wc, noise_cov):
    x = dot(Wm, Sigmas)
    y = Sigmas - x[np.newaxis, :]
    P = y.T.dot(np.diag(Wc)).dot(y)
    if noise_cov is not None:
        P += noise_cov
    return (x, P)


def _fx(x, dt):
    F = np.array([[1, dt, 0], [0, 1, dt], [0, 0, 1.0]])
    return dot(F, x)


def _hx(x):
    return np.array([np.sqrt(x[0] ** 2 + 4.0), x[1]])


def make_ukf(rng, size):
    return UnscentedFilter(3, 2, 0.1, _hx, _fx, kappa=0.5), rng.normal(2.0, 0.1, size=(size, 2))


@program(make_ukf, 4, 60, rtol=1e-9)
def unscented(ukf, zs):
    """An unscented filter with functions in attributes, over a batch."""
    try:
        z = zs[0]
    except Exception:
        assert not np.isscalar(zs), "zs must be list-like"
        raise
    assert len(z) == ukf._dim_z, "each element in zs must be a 1D array of length {}".format(
        ukf._dim_z
    )
    n = np.size(zs, 0)
    Rs = [None] * n
    means = zeros((n, ukf._dim_x))
    for i, (z, r) in enumerate(zip(zs, Rs)):
        if r is not None:
            ukf.R = r
        ukf.step(z)
        means[i, :] = ukf.x
    return means


class ParticleFilter:
    def __init__(self, n, rng, bounds=(-1.0, 1.0)):
        self.n = n
        self.rng = rng
        self.particles = rng.uniform(bounds[0], bounds[1], size=(n, 2))
        self.weights = np.ones(n) / n
        self.resampled = 0

    def predict(self, u, std=0.05):
        self.particles += u
        self.particles += self.rng.normal(scale=std, size=(self.n, 2))

    def update(self, z, beacons, sigma=0.3):
        for i, beacon in enumerate(beacons):
            d = np.linalg.norm(self.particles - beacon, axis=1)
            self.weights *= np.exp(-0.5 * ((d - z[i]) / sigma) ** 2)
        self.weights += 1.0e-300
        self.weights /= sum_of(self.weights)

    def neff(self):
        return 1.0 / np.sum(np.square(self.weights))

    def resample(self):
        positions = (np.arange(self.n) + self.rng.random()) / self.n
        cumulative = np.cumsum(self.weights)
        cumulative[-1] = 1.0
        index = np.searchsorted(cumulative, positions)
        self.particles[:] = self.particles[index]
        self.weights.fill(1.0 / self.n)
        self.resampled += 1


def sum_of(w):
    return w.sum()


def make_particles(rng, size):
    filter_ = ParticleFilter(size, np.random.default_rng(7))
    beacons = rng.uniform(-2, 2, (3, 2))
    return filter_, beacons, rng.uniform(1, 2, (3, 3)), np.array([0.01, -0.02])


@program(make_particles, 40, 10_000, rtol=1e-9)
def particle_filter(pf, beacons, zs, u):
    """Localisation by particles, with draws of the filter's own generator and resampling."""
    estimates = []
    for z in zs:
        pf.predict(u)
        pf.update(z, beacons)
        if pf.neff() < pf.n / 2:
            pf.resample()
        mean = np.average(pf.particles, weights=pf.weights, axis=0)
        var = np.average((pf.particles - mean) ** 2, weights=pf.weights, axis=0)
        estimates.append((mean, var))
    return estimates


@program(lambda r, n: (r.normal(size=n), r.normal(size=n), 8, 0.05), 60, 2_000)
def lms(x, d, order, mu):
    """A least-mean-squares filter, one sample after the other."""
    if not 0 < mu < 1:
        raise ValueError("mu is out of range: %g" % mu)
    w = np.zeros(order)
    y = np.zeros_like(d)
    e = np.empty(len(d))
    for n in range(order, len(x)):
        window = x[n - order : n][::-1]
        y[n] = np.dot(w, window)
        e[n] = d[n] - y[n]
        w = w + mu * e[n] * window
    e[:order] = 0.0
    return y, e, w


@program(lambda r, n: (r.normal(size=n).cumsum(), 0.85, 0.05, None), 30, 10_000)
def alpha_beta(zs, alpha, beta, dt):
    """A filter of position and velocity; the step may be left out."""
    if dt is None:
        dt = 1.0
        warnings.warn("dt is not given, 1.0 is taken", UserWarning)
    xs = np.zeros(len(zs))
    x, v = float(zs[0]), 0.0
    for i in range(len(zs)):
        x_p = x + dt * v
        r = zs[i] - x_p
        x = x_p + alpha * r
        v = v + (beta / dt) * r
        xs[i] = x
    residual = zs - xs
    return {"x": xs, "v": v, "rmse": np.sqrt(np.mean(residual**2))}


def make_rts(rng, size):
    n = 3
    F = np.eye(n) + np.eye(n, k=1) * 0.1
    Xs = rng.normal(size=(size, n))
    A = rng.normal(size=(size, n, n)) * 0.1
    Ps = A @ A.transpose(0, 2, 1) + np.eye(n)
    return Xs, Ps, F, np.eye(n) * 0.01


@program(make_rts, 5, 200)
def rts_smoother(Xs, Ps, F, Q):
    """The backward pass of Rauch, Tung and Striebel; lists repeat what does not change."""
    if len(Xs) != len(Ps):
        raise ValueError("length of Xs and Ps must be the same")
    n = Xs.shape[0]
    dim_x = Xs.shape[1]
    Fs = [F] * n
    Qs = [Q] * n
    K = zeros((n, dim_x, dim_x))
    x, P, Pp = Xs.copy(), Ps.copy(), Ps.copy()
    for k in range(n - 2, -1, -1):
        Pp[k] = dot(dot(Fs[k + 1], P[k]), Fs[k + 1].T) + Qs[k + 1]
        K[k] = dot(dot(P[k], Fs[k + 1].T), inv(Pp[k]))
        x[k] += dot(K[k], x[k + 1] - dot(Fs[k + 1], x[k]))
        P[k] += dot(dot(K[k], P[k + 1] - Pp[k]), K[k].T)
    return (x, P, K, Pp)
