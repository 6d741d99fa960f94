"""Signals, images and transforms."""

from __future__ import annotations

import numpy as np

from .registry import program


@program(lambda r: (r.random(16),), lambda r: (r.random(64),))
def walsh_hadamard_with_reshapes(a):
    n = a.size
    h = 1
    while h < n:
        y = a.reshape(-1, 2, h)
        s = y[:, 0, :] + y[:, 1, :]
        d = y[:, 0, :] - y[:, 1, :]
        a = np.stack([s, d], axis=1).reshape(n)
        h *= 2
    return a


@program(lambda r: (10, 8), lambda r: (7, 13), ulps=0)
def sphere_marching(h, w):
    image = np.zeros((h, w))
    light = np.array([1.0, 1.0, -1.0]) / np.sqrt(3.0)
    center = np.array([0.0, 0.0, 3.0])
    for i in range(h):
        for j in range(w):
            d = np.array([(j - w / 2) / w, (i - h / 2) / h, 1.0])
            d = d / np.sqrt(d[0] ** 2 + d[1] ** 2 + d[2] ** 2)
            t = 0.0
            hit = False
            for _step in range(50):
                p = t * d
                q = p - center
                dist = np.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]) - 1.0
                if dist < 1e-3:
                    hit = True
                    break
                t += dist
                if t > 20.0:
                    break
            if hit:
                normal = q / np.sqrt((q * q).sum())
                image[i, j] = max(0.0, -(normal @ light))
    return image


@program(
    lambda r: (np.linspace(-2, 1, 30).reshape(5, 6) + 0.3j, 20),
    lambda r: (np.linspace(-2, 1, 7) + np.linspace(-1, 1, 9)[:, None] * 1j, 12),
)
def mandelbrot_with_masks(c, maxit):
    z = c.copy()
    steps = np.full(c.shape, maxit)
    for i in range(maxit):
        z = z * z + c
        away = z.real * z.real + z.imag * z.imag > 4.0
        steps[away & (steps == maxit)] = i
        z[away] = 2.0
    return steps


@program(lambda r: (r.random(16), 0.1), lambda r: (r.random(20), 0.2))
def heat_by_fourier_transforms(u, dt):
    k = 2 * np.pi * np.fft.fftfreq(len(u), 1 / len(u))
    for _ in range(6):
        transformed = np.fft.fft(u)
        transformed /= 1 + dt * k**2
        u = np.fft.ifft(transformed).real
    return u


@program(lambda r: (r.random((9, 11)), 2), lambda r: (r.random((7, 6)), 2))
def box_filter_with_cut_windows(image, r):
    h, w = image.shape
    out = np.empty_like(image)
    for i in range(h):
        for j in range(w):
            window = image[max(0, i - r) : min(h, i + r + 1), max(0, j - r) : min(w, j + r + 1)]
            out[i, j] = window.mean()
    return out
