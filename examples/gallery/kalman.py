"""A Kalman filter: the path of something that moves, from noisy measurements of its place."""

import numpy as np


def track(places, model, seen, noise, error):
    """The states (place and speed) that the filter believes in, one for each measurement."""
    state, cov = np.zeros(4), 10.0 * np.eye(4)
    found = np.empty((len(places), 4))
    for k in range(len(places)):
        state = model @ state
        cov = model @ cov @ model.T + noise
        gain = cov @ seen.T @ np.linalg.inv(seen @ cov @ seen.T + error)
        state = state + gain @ (places[k] - seen @ state)
        cov = (np.eye(4) - gain @ seen) @ cov
        found[k] = state
    return found


PROGRAM, TOLERANCE = track, 0.0
SIZE, QUICK_SIZE = 400, 20


def make_inputs(size):
    """A curve with loops, measured with noise; a model of constant speed."""
    t = np.linspace(0, 4 * np.pi, size)
    path = np.stack([t + 2 * np.sin(t), 3 * np.cos(t)], 1)
    places = path + np.random.default_rng(2).normal(0, 0.35, path.shape)
    model, seen = np.eye(4), np.eye(2, 4)
    model[0, 2] = model[1, 3] = t[1]
    return places, model, seen, 0.02 * np.eye(4), 0.35**2 * np.eye(2)


def picture(program, size):
    """Measurements as dots, the path that was found as a line, on a raster."""
    places = make_inputs(size)[0]
    found = program(*make_inputs(size))
    raster = np.zeros((120, 240))
    for points, value in ((places, 0.4), (found[4:, :2], 1.0)):
        x = ((points[:, 0] + 3) / 19 * 239).astype(int).clip(0, 239)
        y = ((points[:, 1] + 4.5) / 9 * 119).astype(int).clip(0, 119)
        raster[y, x] = value
    return raster
