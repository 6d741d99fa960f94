"""Spikes, and signals of the brain."""

import collections.abc
import logging
from abc import ABC, abstractmethod

import numpy as np
from scipy import signal

from .registry import program

log = logging.getLogger(__name__)


class StepFunc:
    """A function that is constant between edges."""

    def __init__(self, x, y):
        self.x = np.array(x)
        self.y = np.array(y)

    def copy(self):
        return StepFunc(self.x, self.y)

    def integral(self, interval=None):
        if interval is None:
            return np.sum((self.x[1:] - self.x[:-1]) * self.y)
        a = np.searchsorted(self.x, interval[0], side="right")
        b = np.searchsorted(self.x, interval[1], side="left") - 1
        assert a > 0, "The interval begins before the function"
        assert b < len(self.x), "The interval ends behind the function"
        if a > b:
            return (interval[1] - interval[0]) * self.y[a - 1]
        total = np.sum((self.x[a + 1 : b + 1] - self.x[a:b]) * self.y[a:b])
        total += (self.x[a] - interval[0]) * self.y[a - 1]
        total += (interval[1] - self.x[b]) * self.y[b]
        return total

    def avrg(self, interval=None):
        if interval is None:
            return self.integral() / (self.x[-1] - self.x[0])
        assert isinstance(interval, collections.abc.Sequence), "None or a sequence"
        if not isinstance(interval[0], collections.abc.Sequence):
            return self.integral(interval) / (interval[1] - interval[0])
        a = length = 0.0
        for iv in interval:
            a += self.integral(iv)
            length += iv[1] - iv[0]
        return a / length

    def __mul__(self, k):
        out = self.copy()
        out.y *= k
        return out

    __rmul__ = __mul__


@program(
    lambda r, n: (
        StepFunc(np.sort(r.uniform(0, 10, n + 1)), r.random(n)),
        [(1.0, 4.0), (5.0, 8.5)],
    ),
    40,
    10000,
)
def step_averages(f, windows):
    """Averages of a step function over all and some windows, by its methods."""
    whole = f.avrg()
    some = f.avrg(windows)
    each = [f.avrg(w) for w in windows]
    return whole, some, each, 2 * f


class Neuron(ABC):
    registry = []

    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        Neuron.registry.append(cls.__name__)

    def __init__(self, n, dt=0.1):
        self.n, self.dt, self.t = n, dt, 0.0
        self.reset()

    @abstractmethod
    def reset(self): ...

    @abstractmethod
    def derivative(self, I): ...

    def run(self, currents):
        spikes = np.zeros((len(currents), self.n), bool)
        for k, I in enumerate(currents):
            spikes[k] = self.step(I)
            self.t += self.dt
        return spikes


class Izhikevich(Neuron):
    a, b, c, d = 0.02, 0.2, -65.0, 8.0

    def reset(self):
        self.v = np.full(self.n, -65.0)
        self.u = self.b * self.v

    def derivative(self, I):
        v = self.v
        return 0.04 * v**2 + 5 * v + 140 - self.u + I, self.a * (self.b * v - self.u)

    def step(self, I):
        fired = self.v >= 30
        self.v[fired] = self.c
        self.u[fired] += self.d
        dv, du = self.derivative(I)
        self.v = self.v + self.dt * dv
        self.u = self.u + self.dt * du
        return fired


@program(lambda r, n: (Izhikevich(n, 0.5), (5 + 10 * r.random((60, n)))), 10, 1000)
def izhikevich(neurons, currents):
    """An abstract base class, its steps, masks, rates."""
    spikes = neurons.run(currents)
    when, who = np.nonzero(spikes)
    log.info("%d spikes until t=%.1f", len(when), neurons.t)
    return spikes.sum(axis=0), when, who, neurons.v


@program(lambda r, n: (r.normal(size=(4, n)), 128.0), 300, 4096, rtol=1e-4)
def band_powers(
    eeg, fs, bands=(("delta", 1, 4), ("theta", 4, 8), ("alpha", 8, 13), ("beta", 13, 30))
):
    """Welch's spectra, Simpson's or trapezoid sums in bands, a dict by name."""
    f, psd = signal.welch(eeg, fs, nperseg=min(256, eeg.shape[-1]), axis=-1)
    total = np.trapezoid(psd, f, axis=-1)
    out = {}
    for name, lo, hi in bands:
        sel = np.logical_and(f >= lo, f < hi)
        out[name] = np.trapezoid(psd[:, sel], f[sel], axis=-1) / total
    p = psd / psd.sum(axis=-1, keepdims=True)
    out["entropy"] = -(p * np.log2(p)).sum(-1)
    return out
