"""Molecules, crystals, reactions."""

import itertools
import logging
import math

import numpy as np

from .registry import program

log = logging.getLogger("wild.md")


class MolecularDynamics:
    """Particles in a periodic box, with forces of Lennard-Jones."""

    def __init__(self, n, box, dt=0.002, rc=2.5):
        side = int(math.ceil(n ** (1 / 3)))
        grid = np.array(list(itertools.product(range(side), repeat=3)))[:n]
        self.x = (grid + 0.5) * box / side
        self.v = np.zeros((n, 3))
        self.f = np.zeros_like(self.x)
        self.box, self.dt, self.rc = box, dt, rc
        self.energies = []

    def forces(self):
        self.f[:] = 0.0
        energy = 0.0
        for i in range(len(self.x) - 1):
            d = self.x[i] - self.x[i + 1 :]
            d -= self.box * np.rint(d / self.box)
            r2 = np.sum(d * d, axis=1)
            near = r2 < self.rc**2
            inv6 = np.where(near, 1.0 / r2, 0.0) ** 3
            energy += np.sum(4 * inv6 * (inv6 - 1.0))
            fij = (24 * inv6 * (2 * inv6 - 1) / r2)[:, None] * d
            self.f[i] += fij.sum(axis=0)
            self.f[i + 1 :] -= fij
        return energy

    def thermostat(self, T):
        t = np.sum(self.v**2) / (3 * len(self.v))
        if t > 0:
            self.v *= np.sqrt(T / t)


@program(
    lambda r, n: (MolecularDynamics(n, 1.7 * n ** (1 / 3)), 3, 1.0, np.random.default_rng(2)),
    8,
    100,
    rtol=1e-9,
)
def verlet(md, n_steps, temperature, rng):
    """Steps of a simulation object, velocities drawn, a log line every other step."""
    md.v = rng.standard_normal(md.x.shape) * np.sqrt(temperature)
    md.v -= md.v.mean(axis=0)
    pot = md.forces()
    for step in range(n_steps):
        md.v += 0.5 * md.dt * md.f
        md.x += md.dt * md.v
        md.x %= md.box
        pot = md.forces()
        md.v += 0.5 * md.dt * md.f
        if step % 2 == 0:
            md.thermostat(temperature)
            kin = 0.5 * np.sum(md.v**2)
            md.energies.append((kin, pot))
            log.info("step %d: E = %.3f", step, kin + pot)
    return md.x.copy(), pot


class SCF(object):
    def __init__(self, n, nocc, rng):
        A = rng.normal(size=(n, n))
        self.S = np.eye(n) + 0.05 * (A + A.T) / 2
        H = rng.normal(size=(n, n))
        self.Core = -(H @ H.T) / n
        eri = rng.normal(size=(n, n, n, n)) * 0.02
        self.TwoE = eri + eri.transpose(1, 0, 2, 3)
        self.nbasis, self.nocc, self.maxiter = n, nocc, 12
        self.nuc_energy = 1.5
        s, U = np.linalg.eigh(self.S)
        self.X = np.dot(U, np.dot(np.diag(1.0 / np.sqrt(s)), U.T))

    def buildFock(self):
        self.J = np.einsum("pqrs,sr->pq", self.TwoE.astype("complex"), self.P)
        self.K = np.einsum("psqr,sr->pq", self.TwoE.astype("complex"), self.P)
        self.G = 2.0 * self.J - self.K
        self.F = self.Core.astype("complex") + self.G

    def computeEnergy(self):
        self.el_energy = np.einsum("pq,qp", self.Core + self.F, self.P)
        self.energy = self.el_energy + self.nuc_energy


@program(lambda r, n: (SCF(n, max(1, n // 3), r), True), 4, 10, rtol=1e-7)
def hartree_fock(self, doPrint):
    """An iteration that sets attributes, prints when it is done, and may not converge."""
    self.is_converged = False
    self.delta_energy = 1e20
    self.P_RMS = 1e20
    self.P_old = np.zeros((self.nbasis, self.nbasis))
    for step in range(self.maxiter):
        if step == 0:
            self.P = self.P_old
            self.buildFock()
            self.computeEnergy()
        else:
            self.P_old = self.P
            energy_old = self.energy
            self.buildFock()
        self.FO = np.dot(self.X.T, np.dot(self.F, self.X))
        E, self.CO = np.linalg.eigh(self.FO)
        C = np.dot(self.X, self.CO)
        self.MO = E
        self.P = np.dot(C[:, : self.nocc], np.conjugate(C[:, : self.nocc]).T)
        self.computeEnergy()
        if step > 0:
            self.delta_energy = self.energy - energy_old
            self.P_RMS = np.linalg.norm(self.P - self.P_old)
        if np.abs(self.P_RMS) < 1e-6 or step == (self.maxiter - 1):
            if step == (self.maxiter - 1):
                print("NOT CONVERGED")
            else:
                self.is_converged = True
                if doPrint:
                    print(
                        "E(SCF)    = ",
                        "{0:.4f}".format(self.energy.real) + " in " + str(step) + " iterations",
                    )
            break
    return self.MO


def pbc_shortest(lattice, f1, f2):
    images = np.array(list(itertools.product([-1, 0, 1], repeat=3)))
    best, vec = np.inf, None
    for image in images:
        d = np.dot(f2 - f1 + image, lattice)
        d2 = np.dot(d, d)
        if d2 < best:
            best, vec = d2, d
    return vec, np.sqrt(best)


@program(
    lambda r, n: (np.diag([4.0, 5.0, 6.0]) + 0.1, r.random((n, 3)), 2.5),
    4,
    20,
    rtol=1e-10,
)
def neighbour_list(lattice, frac, cutoff):
    """Neighbours in a crystal: images, lists in a dictionary by atom, a check of the lattice."""
    lattice = np.array(lattice, dtype=np.float64).reshape((3, 3))
    volume = abs(np.dot(np.cross(lattice[0], lattice[1]), lattice[2]))
    if volume < 1e-8:
        raise ValueError(f"lattice is singular: {volume=}")
    neighbours = {i: [] for i in range(len(frac))}
    for i, j in itertools.combinations(range(len(frac)), 2):
        vec, dist = pbc_shortest(lattice, frac[i], frac[j])
        if dist < cutoff:
            neighbours[i].append((j, dist))
            neighbours[j].append((i, dist))
    counts = np.array([len(v) for v in neighbours.values()])
    return neighbours, counts, volume


def rate_constants(T):
    R = 8.314
    return np.array([1e3 * np.exp(-2e4 / (R * T)), 5e2 * np.exp(-3e4 / (R * T))])


def rhs(c, T):
    k1, k2 = rate_constants(T)
    a, b, _ = c
    r1, r2 = k1 * a, k2 * b
    return (-r1, r1 - r2, r2)


@program(lambda r, n: ([1.0, 0.0, 0.0], 600.0, n, 0.01), 20, 1000, rtol=1e-9)
def reactor(c0, T, n, dt):
    """Runge-Kutta over functions that return tuples; the length of the state is asked for."""
    try:
        Ny = len(c0)
    except TypeError:
        yout = np.zeros((n,), np.float64)
    else:
        yout = np.zeros((n, Ny), np.float64)
    yout[0] = c0
    for i in np.arange(n - 1):
        y0 = yout[i]
        k1 = np.asarray(rhs(y0, T))
        k2 = np.asarray(rhs(y0 + dt / 2.0 * k1, T))
        k3 = np.asarray(rhs(y0 + dt / 2.0 * k2, T))
        k4 = np.asarray(rhs(y0 + dt * k3, T))
        yout[i + 1] = y0 + dt / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
    return yout, abs(yout.sum(axis=1) - 1.0).max() < 1e-6
