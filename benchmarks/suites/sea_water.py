"""The state of sea water by the formulas of UNESCO 1983: some 340 operations an element."""

from __future__ import annotations

from typing import Any

import numpy as np


def sea_water(s: Any, t: Any, p: Any) -> Any:
    """Density, potential density and speed of sound by salinity, temperature in °C and dbar."""
    theta = potential_temperature(s, t, p)
    return density(s, t, p), surface_density(s, theta), speed_of_sound(s, t, p)


def surface_density(s: Any, t: Any) -> Any:
    pure = 999.842594 + t * (
        6.793952e-2 + t * (-9.095290e-3 + t * (1.001685e-4 + t * (-1.120083e-6 + t * 6.536332e-9)))
    )
    first = 0.824493 + t * (-4.0899e-3 + t * (7.6438e-5 + t * (-8.2467e-7 + t * 5.3875e-9)))
    second = -5.72466e-3 + t * (1.0227e-4 - t * 1.6546e-6)
    return pure + s * (first + np.sqrt(s) * second + s * 4.8314e-4)


def density(s: Any, t: Any, p: Any) -> Any:
    root = np.sqrt(s)
    bar = 0.1 * p
    modulus = 19652.21 + t * (148.4206 + t * (-2.327105 + t * (1.360477e-2 - t * 5.155288e-5)))
    modulus = modulus + s * (
        54.6746
        + t * (-0.603459 + t * (1.09987e-2 - t * 6.1670e-5))
        + root * (7.944e-2 + t * (1.6483e-2 - t * 5.3009e-4))
    )
    linear = 3.239908 + t * (1.43713e-3 + t * (1.16092e-4 - t * 5.77905e-7))
    linear = linear + s * (2.2838e-3 + t * (-1.0981e-5 - t * 1.6078e-6) + root * 1.91075e-4)
    square = 8.50935e-5 + t * (-6.12293e-6 + t * 5.2787e-8)
    square = square + s * (-9.9348e-7 + t * (2.0816e-8 + t * 9.1697e-10))
    return surface_density(s, t) / (1.0 - bar / (modulus + bar * (linear + bar * square)))


def lapse_rate(s: Any, t: Any, p: Any) -> Any:
    """Adiabatic, in °C a dbar."""
    d = s - 35.0
    by_square = -4.6206e-13 + t * (1.8676e-14 - t * 2.1687e-16)
    by_one = d * (-1.1351e-10 + t * 2.7759e-12) + (
        1.8741e-8 + t * (-6.7795e-10 + t * (8.733e-12 - t * 5.4481e-14))
    )
    by_none = d * (1.8932e-6 - t * 4.2393e-8) + (
        3.5803e-5 + t * (8.5258e-6 + t * (-6.836e-8 + t * 6.6228e-10))
    )
    return by_none + p * (by_one + p * by_square)


def potential_temperature(s: Any, t: Any, p: Any) -> Any:
    """By a step of Runge, Kutta and Gill of the fourth order to the surface."""
    h = -p
    k = h * lapse_rate(s, t, p)
    t = t + 0.5 * k
    q = k
    p = p + 0.5 * h
    k = h * lapse_rate(s, t, p)
    t = t + 0.29289322 * (k - q)
    q = 0.58578644 * k + 0.121320344 * q
    k = h * lapse_rate(s, t, p)
    t = t + 1.707106781 * (k - q)
    q = 3.414213562 * k - 4.121320344 * q
    p = p + 0.5 * h
    k = h * lapse_rate(s, t, p)
    return t + (k - 2.0 * q) / 6.0


def speed_of_sound(s: Any, t: Any, p: Any) -> Any:
    p = 0.1 * p
    c0 = 1402.388 + t * (
        5.03711 + t * (-5.80852e-2 + t * (3.3420e-4 + t * (-1.47800e-6 + t * 3.1464e-9)))
    )
    c1 = 0.153563 + t * (6.8982e-4 + t * (-8.1788e-6 + t * (1.3621e-7 - t * 6.1185e-10)))
    c2 = 3.1260e-5 + t * (-1.7107e-6 + t * (2.5974e-8 + t * (-2.5335e-10 + t * 1.0405e-12)))
    c3 = -9.7729e-9 + t * (3.8504e-10 - t * 2.3643e-12)
    a0 = 1.389 + t * (-1.262e-2 + t * (7.164e-5 + t * (2.006e-6 - t * 3.21e-8)))
    a1 = 9.4742e-5 + t * (-1.2580e-5 + t * (-6.4885e-8 + t * (1.0507e-8 - t * 2.0122e-10)))
    a2 = -3.9064e-7 + t * (9.1041e-9 + t * (-1.6002e-10 + t * 7.988e-12))
    a3 = 1.100e-10 + t * (6.649e-12 - t * 3.389e-13)
    b = -1.922e-2 - 4.42e-5 * t + p * (7.3637e-5 + 1.7945e-7 * t)
    c = c0 + p * (c1 + p * (c2 + p * c3))
    a = a0 + p * (a1 + p * (a2 + p * a3))
    return c + s * (a + b * np.sqrt(s) + s * (1.727e-3 - 7.9836e-6 * p))
