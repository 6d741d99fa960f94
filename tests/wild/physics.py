"""Fluids, fields, spins, rays, beams."""

import math
from functools import reduce

import numpy as np
from scipy.linalg import solve_banded

from .registry import program


@program(
    lambda r, n: (np.ones((n // 2, n, 9)) + 0.01 * r.normal(size=(n // 2, n, 9)), 0.6, 4),
    12,
    60,
    rtol=1e-10,
)
def lattice_boltzmann(F, tau, Nt):
    """Flow past a cylinder: rolls, index lists, a mask; prints the step."""
    Ny, Nx, NL = F.shape
    idxs = np.arange(NL)
    cxs = np.array([0, 0, 1, 1, 1, 0, -1, -1, -1])
    cys = np.array([0, 1, 1, 0, -1, -1, -1, 0, 1])
    weights = np.array([4 / 9, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36])
    X, Y = np.meshgrid(range(Nx), range(Ny))
    cylinder = (X - Nx / 4) ** 2 + (Y - Ny / 2) ** 2 < (Ny / 4) ** 2
    for it in range(Nt):
        if it % 2 == 0:
            print(it)
        for i, cx, cy in zip(idxs, cxs, cys):
            F[:, :, i] = np.roll(F[:, :, i], cx, axis=1)
            F[:, :, i] = np.roll(F[:, :, i], cy, axis=0)
        bndryF = F[cylinder, :]
        bndryF = bndryF[:, [0, 5, 6, 7, 8, 1, 2, 3, 4]]
        rho = np.sum(F, 2)
        ux = np.sum(F * cxs, 2) / rho
        uy = np.sum(F * cys, 2) / rho
        Feq = np.zeros(F.shape)
        for i, cx, cy, w in zip(idxs, cxs, cys, weights):
            u = cx * ux + cy * uy
            Feq[:, :, i] = rho * w * (1 + 3 * u + 9 * u**2 / 2 - 3 * (ux**2 + uy**2) / 2)
        F += -(1.0 / tau) * (F - Feq)
        F[cylinder, :] = bndryF
    return ux, uy


def gradient(f, dx):
    R, L = -1, 1
    return (np.roll(f, R, axis=0) - np.roll(f, L, axis=0)) / (2 * dx), (
        np.roll(f, R, axis=1) - np.roll(f, L, axis=1)
    ) / (2 * dx)


def flux(rho_L, rho_R, v_L, v_R, P_L, P_R, gamma):
    en_L = P_L / (gamma - 1) + 0.5 * rho_L * v_L**2
    en_R = P_R / (gamma - 1) + 0.5 * rho_R * v_R**2
    rho_star = 0.5 * (rho_L + rho_R)
    mom_star = 0.5 * (rho_L * v_L + rho_R * v_R)
    C = np.maximum(
        np.sqrt(gamma * P_L / rho_L) + np.abs(v_L), np.sqrt(gamma * P_R / rho_R) + np.abs(v_R)
    )
    return (
        mom_star + C * 0.5 * (rho_L - rho_R),
        mom_star**2 / rho_star + C * 0.5 * (rho_L * v_L - rho_R * v_R),
        0.5 * (en_L + en_R),
    )


@program(
    lambda r, n: (1.0 + 0.1 * r.random((n, n)), 0.01 * r.normal(size=(n, n)), 0.05),
    10,
    100,
    rtol=1e-9,
)
def finite_volume(rho, vx, t_end, gamma=5 / 3):
    """Time steps whose length depends on the data, until the end of time; output now and then."""
    dx = 1.0 / rho.shape[0]
    P = 2.5 * np.ones(rho.shape)
    t, t_out, outputs = 0, 0.02, []
    while t < t_end:
        dt = 0.4 * np.min(dx / (np.sqrt(gamma * P / rho) + np.abs(vx)))
        plot_this_turn = False
        if t + dt > (len(outputs) + 1) * t_out:
            dt = (len(outputs) + 1) * t_out - t
            plot_this_turn = True
        drho, _ = gradient(rho, dx)
        left, right = np.roll(rho + drho * dx / 2, 1, axis=0), rho - drho * dx / 2
        mass, mom, _ = flux(left, right, np.roll(vx, 1, axis=0), vx, P, P, gamma)
        rho = rho - dt / dx * (np.roll(mass, -1, axis=0) - mass)
        vx = vx - dt / dx * (np.roll(mom, -1, axis=0) - mom) / rho
        t += dt
        if plot_this_turn:
            outputs.append(rho.mean())
    return rho, vx, outputs


class IsingModel:
    def __init__(self, n, beta, seed=0):
        self.rng = np.random.default_rng(seed)
        self.spins = self.rng.choice([-1, 1], size=(n, n))
        self.beta = beta

    def energy(self):
        s = self.spins
        return -np.sum(s * (np.roll(s, 1, 0) + np.roll(s, 1, 1)))

    def sweep(self):
        n = self.spins.shape[0]
        for _ in range(n * n):
            i, j = self.rng.integers(n, size=2)
            s = self.spins
            dE = 2 * s[i, j] * (s[(i + 1) % n, j] + s[i - 1, j] + s[i, (j + 1) % n] + s[i, j - 1])
            if dE <= 0 or self.rng.random() < math.exp(-self.beta * dE):
                s[i, j] *= -1


@program(lambda r, n: (IsingModel(n, 0.4), 2), 5, 30)
def ising(model, sweeps):
    """Spins that flip one by one, two draws of a generator for each."""
    magnet = []
    for _ in range(sweeps):
        model.sweep()
        magnet.append(abs(model.spins.mean()))
    return magnet, model.energy()


class vec3:
    """A vector with operators, of arrays or of numbers."""

    def __init__(self, x, y, z):
        (self.x, self.y, self.z) = (x, y, z)

    def __mul__(self, other):
        return vec3(self.x * other, self.y * other, self.z * other)

    def __add__(self, other):
        return vec3(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other):
        return vec3(self.x - other.x, self.y - other.y, self.z - other.z)

    def dot(self, other):
        return (self.x * other.x) + (self.y * other.y) + (self.z * other.z)

    def __abs__(self):
        return self.dot(self)

    def norm(self):
        mag = np.sqrt(abs(self))
        return self * (1.0 / np.where(mag == 0, 1, mag))

    def extract(self, cond):
        return vec3(extract(cond, self.x), extract(cond, self.y), extract(cond, self.z))

    def place(self, cond):
        r = vec3(np.zeros(cond.shape), np.zeros(cond.shape), np.zeros(cond.shape))
        np.place(r.x, cond, self.x)
        np.place(r.y, cond, self.y)
        np.place(r.z, cond, self.z)
        return r


def extract(cond, x):
    if isinstance(x, (int, float)):
        return x
    return np.extract(cond, x)


FARAWAY = 1.0e39


class Sphere:
    def __init__(self, center, r, diffuse):
        self.c, self.r, self.diffuse = center, r, diffuse

    def intersect(self, O, D):
        b = 2 * D.dot(O - self.c)
        c = abs(self.c) + abs(O) - 2 * self.c.dot(O) - (self.r * self.r)
        disc = (b**2) - (4 * c)
        sq = np.sqrt(np.maximum(0, disc))
        h0 = (-b - sq) / 2
        h1 = (-b + sq) / 2
        h = np.where((h0 > 0) & (h0 < h1), h0, h1)
        return np.where((disc > 0) & (h > 0), h, FARAWAY)

    def light(self, O, D, d, L):
        M = O + D * d
        N = (M - self.c) * (1.0 / self.r)
        lv = np.maximum(N.dot((L - M).norm()), 0)
        return vec3(0.05, 0.05, 0.05) + self.diffuse * lv


def make_scene(rng, size):
    scene = [
        Sphere(vec3(0.75, 0.1, 1.0), 0.6, vec3(0, 0, 1)),
        Sphere(vec3(-0.75, 0.1, 2.25), 0.6, vec3(0.5, 0.2, 0.5)),
    ]
    return scene, size, size, vec3(5, 5.0, -10)


@program(make_scene, 8, 100, rtol=1e-9)
def raytrace(scene, w, h, light):
    """Rays as vectors of arrays: operators of a class, lists of objects, extract and place."""
    E = vec3(0.0, 0.35, -1.0)
    x = np.tile(np.linspace(-1, 1, w), h)
    y = np.repeat(np.linspace(1.25, -0.75, h), w)
    D = (vec3(x, y, 0) - E).norm()
    distances = [s.intersect(E, D) for s in scene]
    nearest = reduce(np.minimum, distances)
    color = vec3(0, 0, 0)
    for s, d in zip(scene, distances):
        hit = (nearest != FARAWAY) & (d == nearest)
        if np.any(hit):
            cc = s.light(E.extract(hit), D.extract(hit), extract(hit, d), light)
            color = color + cc.place(hit)
    return [
        (255 * np.clip(c, 0, 1).reshape((h, w))).astype(np.uint8)
        for c in (color.x, color.y, color.z)
    ]


class Yee:
    """Fields on a staggered line, with a source that is a function."""

    def __init__(self, n, source, loss=0.01):
        self.ez, self.hy = np.zeros(n), np.zeros(n - 1)
        self.ceze = np.full(n, (1 - loss) / (1 + loss))
        self.cezh = np.full(n, 0.5 / (1 + loss))
        self.source, self.t = source, 0
        self._frozen = False

    def freeze(self):
        self.ceze.flags.writeable = False
        self.cezh.flags.writeable = False
        self._frozen = True


def ricker(t):
    arg = (math.pi * (t * 0.05 - 1.0)) ** 2
    return (1.0 - 2.0 * arg) * math.exp(-arg)


@program(lambda r, n: (Yee(n, ricker), 20), 30, 10_000, rtol=1e-12)
def fdtd(grid, steps):
    """Maxwell in one dimension; the coefficients are made read-only first."""
    if not grid._frozen:
        grid.freeze()
    probe = np.empty(steps)
    for n in range(steps):
        grid.hy += 0.5 * np.diff(grid.ez)
        grid.ez[1:-1] = grid.ceze[1:-1] * grid.ez[1:-1] + grid.cezh[1:-1] * (
            grid.hy[1:] - grid.hy[:-1]
        )
        grid.ez[10] += grid.source(grid.t)
        probe[n] = grid.ez[5].item()
        grid.t += 1
    return probe


@program(lambda r, n: (np.sin(np.linspace(0, np.pi, n)), 0.1, 5), 20, 10_000, rtol=1e-10)
def heat_implicit(u, r, steps):
    """Crank-Nicolson by SciPy's banded solver."""
    n = len(u)
    ab = np.zeros((3, n))
    ab[0, 1:] = -r / 2
    ab[1] = 1 + r
    ab[2, :-1] = -r / 2
    ab[1, 0] = ab[1, -1] = 1
    ab[0, 1] = ab[2, -2] = 0
    for _ in range(steps):
        b = u.copy()
        b[1:-1] = r / 2 * u[:-2] + (1 - r) * u[1:-1] + r / 2 * u[2:]
        b[0] = b[-1] = 0
        u = solve_banded((1, 1), ab, b)
    return u


@program(
    lambda r, n: (n, 2.0e11, 1e-6, 5.0, [(0, 0.0), (1, 0.0)], -1000.0),
    4,
    60,
    rtol=1e-6,
)
def beam_fem(n_el, E, I, L, fixed, load):
    """Finite elements of a beam: assembly by np.ix_, supports by index sets."""
    n_dof = 2 * (n_el + 1)
    K = np.zeros((n_dof, n_dof))
    h = L / n_el
    ke = (
        E
        * I
        / h**3
        * np.array(
            [
                [12, 6 * h, -12, 6 * h],
                [6 * h, 4 * h**2, -6 * h, 2 * h**2],
                [-12, -6 * h, 12, -6 * h],
                [6 * h, 2 * h**2, -6 * h, 4 * h**2],
            ]
        )
    )
    for e in range(n_el):
        dofs = [2 * e, 2 * e + 1, 2 * e + 2, 2 * e + 3]
        K[np.ix_(dofs, dofs)] += ke
    F = np.zeros(n_dof)
    F[-2] = load
    fixed_dofs = [d for d, _ in fixed]
    free = np.setdiff1d(np.arange(n_dof), fixed_dofs)
    u = np.zeros(n_dof)
    for d, value in fixed:
        u[d] = value
    u[free] = np.linalg.solve(
        K[np.ix_(free, free)], F[free] - K[np.ix_(free, fixed_dofs)] @ u[fixed_dofs]
    )
    reactions = K @ u - F
    return u[::2], reactions[fixed_dofs]


def triangle_cross(triangles):
    vectors = triangles[:, 1:, :] - triangles[:, :2, :]
    if triangles.shape[2] == 3:
        return np.cross(vectors[:, 0], vectors[:, 1])
    raise ValueError(triangles.shape)


@program(lambda r, n: (r.normal(size=(n, 3, 3)), None), 6, 3_000, rtol=1e-8)
def mass_properties(triangles, density):
    """A mesh: degenerate faces by masks, an object with properties as the result."""
    triangles = np.asanyarray(triangles, dtype=np.float64)
    if triangles.ndim != 3 or triangles.shape[1:] != (3, 3):
        raise ValueError("Triangles must be (n, 3, 3)!")
    crosses = triangle_cross(triangles)
    if density is None:
        density = 1.0
    areas = np.sqrt((crosses**2).sum(axis=1)) / 2.0
    length = ((triangles[:, 1] - triangles[:, 0]) ** 2).sum(axis=1) ** 0.5
    ok = length > 1e-8
    box = np.zeros((len(triangles), 2), dtype=np.float64)
    box[:, 0][ok] = (areas[ok] * 2) / length[ok]
    f1 = triangles.sum(axis=1)
    f2 = (
        triangles[:, 0, :] ** 2
        + triangles[:, 1, :] ** 2
        + triangles[:, 0, :] * triangles[:, 1, :]
        + triangles[:, 2, :] * f1
    )
    integral = np.zeros((4, len(f1)))
    integral[0] = crosses[:, 0] * f1[:, 0]
    integral[1:4] = (crosses * f2).T
    integrated = integral.sum(axis=1) / np.array([6, 24, 24, 24], dtype=np.float64)
    volume = integrated[0]
    if np.abs(volume) < 1e-12:
        center = np.zeros(3, dtype=np.float64)
    else:
        center = integrated[1:4] / volume
    return {
        "density": density,
        "mass": density * volume,
        "volume": volume,
        "center_mass": center,
        "box": box,
    }
