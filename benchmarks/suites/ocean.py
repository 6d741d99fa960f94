"""Mixing along surfaces of equal density in a model of the ocean.

Written as such models are: shifted slices of arrays with a halo, coefficients added up in place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Arguments


def mixing(
    density: Any, tracer: Any, mask: Any, kx: Any, kz: Any, flux_x: Any, flux_y: Any, flux_z: Any
) -> None:
    """One step: slopes by four neighbours, tapered, coefficients, fluxes, and the new tracer."""
    tiny, steep, width = 1e-12, 4e-3, 1e-3
    inner = slice(1, -1)
    rho_x = (density[1:, :, :] - density[:-1, :, :]) * mask[1:, :, :] * mask[:-1, :, :]
    rho_y = (density[:, 1:, :] - density[:, :-1, :]) * mask[:, 1:, :] * mask[:, :-1, :]
    rho_z = np.minimum(density[:, :, 1:] - density[:, :, :-1], -tiny)
    kx[...] = 0.0
    kz[...] = 0.0
    flux_x[...] = 0.0
    flux_y[...] = 0.0
    flux_z[...] = 0.0
    tracer_z = tracer[:, :, 1:] - tracer[:, :, :-1]
    for east in (0, 1):
        # Slopes at the western and eastern faces of a cell, above and below its middle.
        slope = -rho_x[east : rho_x.shape[0] - 1 + east, inner, :-1] / rho_z[inner, inner, :]
        taper = 0.5 * (1.0 + np.tanh((steep - np.abs(slope)) / width))
        kx[inner, inner, :-1] += 0.25 * taper
        kz[inner, inner, :-1] += 0.25 * taper * slope * slope
        flux_x[inner, inner, :-1] -= 0.5 * taper * slope * tracer_z[inner, inner, :]
        slope = -rho_y[inner, east : rho_y.shape[1] - 1 + east, :-1] / rho_z[inner, inner, :]
        taper = 0.5 * (1.0 + np.tanh((steep - np.abs(slope)) / width))
        kx[inner, inner, 1:] += 0.25 * taper
        kz[inner, inner, :-1] += 0.25 * taper * slope * slope
        flux_y[inner, inner, :-1] -= 0.5 * taper * slope * tracer_z[inner, inner, :]
    flux_x[:-1, :, :] += kx[:-1, :, :] * (tracer[1:, :, :] - tracer[:-1, :, :])
    flux_y[:, :-1, :] += kx[:, :-1, :] * (tracer[:, 1:, :] - tracer[:, :-1, :])
    flux_z[:, :, :-1] += kz[:, :, :-1] * tracer_z
    flux_x *= mask
    flux_y *= mask
    tracer[inner, inner, inner] += (
        0.05
        * mask[inner, inner, inner]
        * (
            flux_x[inner, inner, inner]
            - flux_x[:-2, inner, inner]
            + flux_y[inner, inner, inner]
            - flux_y[inner, :-2, inner]
            + flux_z[inner, inner, inner]
            - flux_z[inner, inner, :-2]
        )
    )


def mixing_of_jax(
    density: Any, tracer: Any, mask: Any, kx: Any, kz: Any, flux_x: Any, flux_y: Any, flux_z: Any
) -> Any:
    """The same without writes."""
    tiny, steep, width = 1e-12, 4e-3, 1e-3
    inner = slice(1, -1)
    core, above, below = (inner, inner), np.s_[1:-1, 1:-1, :-1], np.s_[1:-1, 1:-1, 1:]
    rho_x = (density[1:, :, :] - density[:-1, :, :]) * mask[1:, :, :] * mask[:-1, :, :]
    rho_y = (density[:, 1:, :] - density[:, :-1, :]) * mask[:, 1:, :] * mask[:, :-1, :]
    rho_z = np.minimum(density[:, :, 1:] - density[:, :, :-1], -tiny)
    kx, kz, flux_x, flux_y, flux_z = (np.zeros_like(density) for _ in range(5))
    tracer_z = tracer[:, :, 1:] - tracer[:, :, :-1]
    for east in (0, 1):
        slope = -rho_x[east : rho_x.shape[0] - 1 + east, inner, :-1] / rho_z[core]
        taper = 0.5 * (1.0 + np.tanh((steep - np.abs(slope)) / width))
        kx = kx.at[above].add(0.25 * taper)
        kz = kz.at[above].add(0.25 * taper * slope * slope)
        flux_x = flux_x.at[above].add(-0.5 * taper * slope * tracer_z[core])
        slope = -rho_y[inner, east : rho_y.shape[1] - 1 + east, :-1] / rho_z[core]
        taper = 0.5 * (1.0 + np.tanh((steep - np.abs(slope)) / width))
        kx = kx.at[below].add(0.25 * taper)
        kz = kz.at[above].add(0.25 * taper * slope * slope)
        flux_y = flux_y.at[above].add(-0.5 * taper * slope * tracer_z[core])
    flux_x = flux_x.at[:-1].add(kx[:-1] * (tracer[1:] - tracer[:-1]))
    flux_y = flux_y.at[:, :-1].add(kx[:, :-1] * (tracer[:, 1:] - tracer[:, :-1]))
    flux_z = flux_z.at[:, :, :-1].add(kz[:, :, :-1] * tracer_z)
    flux_x, flux_y = flux_x * mask, flux_y * mask
    middle = (inner, inner, inner)
    divergence = flux_x[middle] - flux_x[:-2, inner, inner] + flux_y[middle]
    divergence = divergence - flux_y[inner, :-2, inner] + flux_z[middle] - flux_z[inner, inner, :-2]
    tracer = tracer.at[middle].add(0.05 * mask[middle] * divergence)
    return tracer, kx, kz, flux_x, flux_y, flux_z


def basin(rows: int, levels: int) -> Any:
    """Arguments of ``mixing`` on rows x rows columns of so many levels."""

    def make(r: np.random.Generator) -> Arguments:
        shape = (rows, rows, levels)
        density = 1027 - 0.1 * np.arange(levels) + 1e-3 * r.random(shape)
        mask = (r.random(shape) > 0.1).astype(np.float64)
        return density, r.random(shape), mask, *(np.zeros(shape) for _ in range(5))

    return make
