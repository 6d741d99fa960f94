"""Oceans, rivers, climate, the sun on a roof."""

import logging
import warnings
from collections import OrderedDict

import numpy as np

from .registry import program

pvl_logger = logging.getLogger("wild.pv")


def make_tides(rng, size):
    return (
        np.arange(size) * (1 / 24.0),
        3.2,
        np.array([0.0805, 0.0833, 0.0418, 0.0387]),
        45.0,
        [1, 0, 0, 1],
    )


@program(make_tides, 30, 2_500, rtol=1e-9)
def tidal_basis(t, tref, frq, lat, ngflgs):
    """Complex basis functions of constituents, with flags that choose the corrections."""
    t = np.atleast_1d(t)
    frq = np.atleast_1d(frq)
    nt = len(t)
    nc = len(frq)
    if ngflgs[1] and ngflgs[3]:
        F = np.ones((nt, nc))
        U = np.zeros((nt, nc))
        V = np.dot(24 * (t - tref)[:, None], frq[:, None].T)
    else:
        if abs(lat) < 5:
            lat = np.sign(lat) * 5
        slat = np.sin(np.deg2rad(lat))
        rr = np.array([0.1, 0.02, 0.3, 0.05])
        rr[[0, 2]] *= 0.36309 * (1.0 - 5.0 * slat**2) / slat
        uu = np.outer(frq, np.arange(3.0)) + 0.2
        np.fmod(uu, 1, out=uu)
        mat = rr[:, None] * np.exp(1j * 2 * np.pi * uu)
        F = np.ones((nc, 1), dtype=complex)
        for ii in range(nc):
            F[ii, :] = 1 + np.sum(mat[ii], axis=0)
        U = (np.angle(F) / (2 * np.pi)).T
        F = np.abs(F).T
        V = 24 * (t[:, np.newaxis] - tref) * frq
    E = F * np.exp(1j * (U + V) * 2 * np.pi)
    return E


class LinearReservoir:
    """A bucket with soil moisture, snow and two outlets; parameters by keyword."""

    _param_list = ["tt", "c_melt", "fc", "beta", "k0", "k1", "threshold"]
    _default_bounds = {"tt": (-1, 1), "c_melt": (0.5, 4), "fc": (50, 300), "beta": (1, 5)}

    def __init__(self, params=None):
        self._params = {
            "tt": 0.0,
            "c_melt": 2.0,
            "fc": 150.0,
            "beta": 2.0,
            "k0": 0.2,
            "k1": 0.05,
            "threshold": 10.0,
        }
        if params is not None:
            self.set_params(params)

    def set_params(self, params):
        for key in params:
            if key not in self._param_list:
                raise AttributeError("The model has no parameter called '{}'".format(key))
        self._params.update(params)

    def simulate(self, temp, prec, etp, snow_init=0.0, soil_init=0.0, return_storage=False):
        temp = validate_array_input(temp, np.float64, "temp")
        prec = validate_array_input(prec, np.float64, "prec")
        etp = validate_array_input(etp, np.float64, "etp")
        if not len(temp) == len(prec) == len(etp):
            raise ValueError("all inputs must have the same length")
        if snow_init < 0:
            raise ValueError("snow_init must be non-negative")
        p = self._params
        n = len(prec)
        snow, soil, s1 = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)
        snow[0], soil[0] = snow_init, soil_init
        qsim = np.zeros(n)
        for t in range(1, n + 1):
            if temp[t - 1] < p["tt"]:
                snow[t] = snow[t - 1] + prec[t - 1]
                liquid = 0.0
            else:
                melt = min(snow[t - 1], p["c_melt"] * (temp[t - 1] - p["tt"]))
                snow[t] = snow[t - 1] - melt
                liquid = prec[t - 1] + melt
            recharge = liquid * (soil[t - 1] / p["fc"]) ** p["beta"]
            soil[t] = max(
                0.0, soil[t - 1] + liquid - recharge - etp[t - 1] * min(1.0, soil[t - 1] / p["fc"])
            )
            q0 = max(0.0, s1[t - 1] - p["threshold"]) * p["k0"]
            q1 = s1[t - 1] * p["k1"]
            s1[t] = s1[t - 1] + recharge - q0 - q1
            qsim[t - 1] = q0 + q1
        if return_storage:
            return qsim, snow[1:], soil[1:]
        return qsim


def validate_array_input(arr, dtype, name):
    if not isinstance(arr, (list, np.ndarray)):
        raise TypeError("The input array '{}' must be a list or numpy array".format(name))
    arr = np.asarray(arr, dtype=dtype)
    if arr.ndim > 1:
        raise ValueError("The array '{}' must be 1d".format(name))
    if np.isnan(arr).any():
        raise ValueError("The array '{}' has missing values".format(name))
    return arr


def make_catchment(rng, size):
    return (
        LinearReservoir({"beta": 1.5}),
        rng.normal(2, 5, size),
        rng.gamma(0.5, 6, size),
        rng.random(size) * 3,
    )


@program(make_catchment, 40, 10_000, rtol=1e-9)
def rainfall_runoff(model, temp, prec, etp):
    """A hydrological model with validated inputs and storages."""
    qsim, snow, soil = model.simulate(temp, prec, etp, soil_init=30.0, return_storage=True)
    return {"qsim": qsim, "swe": snow.max(), "soil": soil[-1]}


class ShallowWater:
    def __init__(self, n, g=9.81, depth=100.0, dx=1e4, dt=200.0):
        self.g, self.H, self.dx, self.dt = g, depth, dx, dt
        self.u = np.zeros((n, n + 1))
        self.v = np.zeros((n + 1, n))
        self.eta = np.zeros((n, n))
        self.time = 0.0
        self.log = []

    @property
    def cfl(self):
        return np.sqrt(self.g * self.H) * self.dt / self.dx

    def energy(self):
        return 0.5 * self.g * np.sum(self.eta**2) + 0.5 * self.H * (
            np.sum(self.u**2) + np.sum(self.v**2)
        )

    def step(self):
        self.u[:, 1:-1] -= self.dt * self.g / self.dx * (self.eta[:, 1:] - self.eta[:, :-1])
        self.v[1:-1, :] -= self.dt * self.g / self.dx * (self.eta[1:, :] - self.eta[:-1, :])
        div = (self.u[:, 1:] - self.u[:, :-1]) + (self.v[1:, :] - self.v[:-1, :])
        self.eta -= self.dt * self.H / self.dx * div
        self.time += self.dt


def make_pool(rng, size):
    model = ShallowWater(size)
    model.eta[:] = np.exp(-(((np.arange(size) - size / 2) / 3.0) ** 2))[:, None]
    return model, 6


@program(make_pool, 10, 100)
def shallow_water(model, n_steps):
    """Steps of a model object, its energy in a list, and a check of stability."""
    if model.cfl > 1:
        raise RuntimeError("unstable: CFL number is %.2f" % model.cfl)
    for k in range(n_steps):
        model.step()
        if k % 2 == 0:
            model.log.append((model.time, model.energy()))
    return model.eta.max()


def cosd(angle):
    return np.cos(np.radians(angle))


def sind(angle):
    return np.sin(np.radians(angle))


def aoi_projection(surface_tilt, surface_azimuth, solar_zenith, solar_azimuth):
    projection = cosd(surface_tilt) * cosd(solar_zenith) + sind(surface_tilt) * sind(
        solar_zenith
    ) * cosd(solar_azimuth - surface_azimuth)
    return np.clip(projection, -1, 1)


def make_sky(rng, size):
    zenith = rng.uniform(5, 80, size)
    return (
        30.0,
        180.0,
        rng.uniform(20, 400, size),
        rng.uniform(0, 900, size),
        1367.0,
        zenith,
        rng.uniform(90, 270, size),
    )


@program(make_sky, 50, 10_000, rtol=1e-9)
def perez_sky(tilt, azimuth, dhi, dni, dni_extra, zenith, solar_azimuth, return_components=True):
    """Diffuse light on a tilted roof: bins, tables of coefficients, an ordered dictionary."""
    pvl_logger.debug("diffuse sky of %d points", len(zenith))
    kappa = 1.041
    z = np.radians(zenith)
    airmass = 1.0 / (cosd(zenith) + 0.50572 * (96.07995 - zenith) ** -1.6364)
    delta = dhi * airmass / dni_extra
    eps = ((dhi + dni) / dhi + kappa * (z**3)) / (1 + kappa * (z**3))
    ebin = np.zeros_like(eps, dtype=np.int8)
    ebin[eps < 1.065] = 1
    ebin[(eps >= 1.065) & (eps < 1.5)] = 2
    ebin[(eps >= 1.5) & (eps < 2.8)] = 3
    ebin[eps >= 2.8] = 4
    ebin -= 1
    F1c = [
        [-0.008, 0.588, -0.062],
        [0.13, 0.683, -0.151],
        [0.33, 0.487, -0.221],
        [0.568, 0.187, -0.295],
    ]
    F2c = [
        [-0.06, 0.072, -0.022],
        [-0.019, 0.066, -0.029],
        [0.055, -0.064, -0.026],
        [0.109, -0.152, -0.014],
    ]
    nans = np.array([np.nan, np.nan, np.nan])
    F1c = np.vstack((F1c, nans))
    F2c = np.vstack((F2c, nans))
    F1 = np.maximum(F1c[ebin, 0] + F1c[ebin, 1] * delta + F1c[ebin, 2] * z, 0)
    F2 = F2c[ebin, 0] + F2c[ebin, 1] * delta + F2c[ebin, 2] * z
    A = np.maximum(aoi_projection(tilt, azimuth, zenith, solar_azimuth), 0)
    B = np.maximum(cosd(zenith), cosd(85))
    term1 = 0.5 * (1 - F1) * (1 + cosd(tilt))
    term2 = F1 * A / B
    term3 = F2 * sind(tilt)
    sky_diffuse = np.maximum(dhi * (term1 + term2 + term3), 0)
    sky_diffuse = np.where(np.isnan(airmass), 0, sky_diffuse)
    if return_components:
        parts = OrderedDict()
        parts["isotropic"] = dhi * term1
        parts["circumsolar"] = dhi * term2
        parts["horizon"] = dhi * term3
        mask = sky_diffuse == 0
        parts = {k: np.where(mask, 0, v) for k, v in parts.items()}
        return sky_diffuse, parts
    else:
        return sky_diffuse


def albedo(T):
    if T > 280.0:
        return 0.3
    if T < 250.0:
        return 0.7
    return 0.3 + 0.4 * ((280.0 - T) / 30.0)


@program(lambda r, n: (r.uniform(240, 300, n), 342.0, 0.3, 30), 18, 90, rtol=1e-10)
def energy_balance(T, S0, D, nt):
    """A climate by latitude: a matrix solve each step, albedo by a function over a list."""
    n = len(T)
    lat = np.linspace(-90, 90, n)
    s = 1 - 0.48 * 0.5 * (3 * np.sin(np.deg2rad(lat)) ** 2 - 1)
    A = np.eye(n) * (1 + 2 * D) - D * (np.eye(n, k=1) + np.eye(n, k=-1))
    A[0, 0] = A[-1, -1] = 1 + D
    history = np.empty((nt, n))
    for it in range(nt):
        alpha = np.array([albedo(t) for t in T])
        forcing = (1 - alpha) * S0 * s - (210.0 + 2.0 * (T - 273.15))
        T = np.linalg.solve(A, T + 0.05 * forcing)
        history[it, :] = T
    return history


@program(
    lambda r, n: (r.normal(35, 0.1, n), np.sort(r.uniform(0, 2000, n)), 3.0), 60, 10_000, rtol=1e-10
)
def despike_profile(x, z, nsigma, window=11):
    """Spikes of a measured profile become nan, with a warning, and are filled in."""
    half = window // 2
    pad = np.pad(x, half, mode="edge")
    med = np.median(np.lib.stride_tricks.sliding_window_view(pad, window), axis=1)
    r = x - med
    mad = np.median(np.abs(r))
    bad = np.abs(r) > nsigma * 1.4826 * mad
    if bad.any():
        warnings.warn("%d spikes removed" % bad.sum(), stacklevel=2)
    y = x.copy()
    y[bad] = np.nan
    good = ~np.isnan(y)
    y = np.interp(z, z[good], y[good])
    return y, bad, np.nanmean(y)


@program(
    lambda r, n: (r.normal(size=(4, n // 4)), np.linspace(1, 3, n // 4), 1.0),
    80,
    40_000,
    rtol=1e-10,
)
def mixed_layer(T, z, threshold):
    """The depth where each profile has cooled: an early end of a loop for each, nan otherwise."""
    T = np.sort(T, axis=1)[:, ::-1] + 10
    out = np.full(T.shape[0], np.nan)
    for k, profile in enumerate(T):
        for i in range(len(z)):
            if profile[0] - profile[i] > threshold:
                out[k] = z[i]
                break
    return out, np.nanmean(out) if not np.isnan(out).all() else None
