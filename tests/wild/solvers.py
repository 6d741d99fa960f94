"""Solvers of equations and minimisers."""

import numpy as np

from .registry import program


class Multigrid2D:
    def __init__(self, n, nu1=2, nu2=2, omega=2.0 / 3):
        self.n = n
        self.nu1 = nu1
        self.nu2 = nu2
        self.omega = omega
        self.history = []

    @staticmethod
    def _laplace(u, h):
        r = np.zeros_like(u)
        r[1:-1, 1:-1] = (
            4 * u[1:-1, 1:-1] - u[:-2, 1:-1] - u[2:, 1:-1] - u[1:-1, :-2] - u[1:-1, 2:]
        ) / h**2
        return r

    def smooth(self, u, f, h, n):
        for _ in range(n):
            u[1:-1, 1:-1] += self.omega * 0.25 * h**2 * (f - self._laplace(u, h))[1:-1, 1:-1]
        return u

    def restrict(self, r):
        c = r[::2, ::2].copy()
        c[1:-1, 1:-1] = (
            4 * r[2:-2:2, 2:-2:2]
            + 2 * (r[1:-3:2, 2:-2:2] + r[3:-1:2, 2:-2:2] + r[2:-2:2, 1:-3:2] + r[2:-2:2, 3:-1:2])
            + r[1:-3:2, 1:-3:2]
            + r[3:-1:2, 1:-3:2]
            + r[1:-3:2, 3:-1:2]
            + r[3:-1:2, 3:-1:2]
        ) / 16
        return c

    def prolong(self, e):
        n = 2 * (e.shape[0] - 1) + 1
        f = np.zeros((n, n))
        f[::2, ::2] = e
        f[1::2, ::2] = 0.5 * (e[:-1] + e[1:])
        f[:, 1::2] = 0.5 * (f[:, :-2:2] + f[:, 2::2])
        return f

    def vcycle(self, u, f, h):
        if u.shape[0] <= 3:
            u[1, 1] = f[1, 1] * h**2 / 4
            return u
        self.smooth(u, f, h, self.nu1)
        r = f - self._laplace(u, h)
        e = self.vcycle(np.zeros_like(self.restrict(r)), self.restrict(r), 2 * h)
        u += self.prolong(e)
        return self.smooth(u, f, h, self.nu2)

    def solve(self, f, tol=1e-08, maxcycles=12):
        h = 1.0 / (self.n - 1)
        u = np.zeros_like(f)
        r0 = np.linalg.norm(f)
        for k in range(maxcycles):
            u = self.vcycle(u, f, h)
            res = np.linalg.norm(f - self._laplace(u, h)) / r0
            self.history.append(res)
            if res < tol:
                break
        return u


@program(
    lambda r, n: (
        Multigrid2D(2 ** max(2, n.bit_length()) + 1),
        r.normal(size=(2 ** max(2, n.bit_length()) + 1,) * 2),
    ),
    8,
    64,
    rtol=1e-09,
)
def multigrid(mg, f):
    """Cycles over grids that halve, with a history that the caller reads afterwards."""
    f[[0, -1]] = 0
    f[:, [0, -1]] = 0
    u = mg.solve(f)
    return (u, mg.history, f"{len(mg.history)} cycles, residual {mg.history[-1]:.3e}")


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosen_grad(x):
    g = np.zeros_like(x)
    g[1:-1] = (
        200 * (x[1:-1] - x[:-2] ** 2) - 400 * (x[2:] - x[1:-1] ** 2) * x[1:-1] - 2 * (1 - x[1:-1])
    )
    g[0] = -400 * x[0] * (x[1] - x[0] ** 2) - 2 * (1 - x[0])
    g[-1] = 200 * (x[-1] - x[-2] ** 2)
    return g


class LineSearchError(RuntimeError):
    pass


def armijo(f, x, p, g, fx, alpha=1.0, rho=0.5, c=0.0001, maxls=30):
    slope = g @ p
    for i in range(maxls):
        fnew = f(x + alpha * p)
        if fnew <= fx + c * alpha * slope:
            return (alpha, fnew, i + 1)
        alpha *= rho
    raise LineSearchError(f"no decrease along a slope of {slope:.2e}")


@program(lambda r, n: (r.normal(size=n), 15), 4, 30, rtol=0.0001)
def bfgs(x0, maxiter, gtol=1e-05, disp=True):
    """A quasi-Newton method; a line search that may raise, and a message."""
    x = np.asarray(x0, dtype=float).copy()
    n = x.size
    I = np.eye(n)
    H = I.copy()
    fx, g = (rosenbrock(x), rosen_grad(x))
    hist = [(0, fx, np.linalg.norm(g, np.inf))]
    nfev = 1
    msg = "maximum number of iterations"
    for k in range(1, maxiter + 1):
        p = -H @ g
        try:
            alpha, fx, used = armijo(rosenbrock, x, p, g, fx)
        except LineSearchError as err:
            H = I.copy()
            msg = str(err)
            break
        nfev += used
        s = alpha * p
        x_new = x + s
        g_new = rosen_grad(x_new)
        y = g_new - g
        sy = s @ y
        if sy > 1e-10:
            rho = 1.0 / sy
            V = I - rho * np.outer(s, y)
            H = V @ H @ V.T + rho * np.outer(s, s)
        x, g = (x_new, g_new)
        gn = np.linalg.norm(g, ord=np.inf)
        hist.append((k, fx, gn))
        if gn < gtol:
            msg = "converged"
            break
    if disp:
        print("%s after %d evaluations" % (msg, nfev))
    return (x, fx, H, hist)


@program(
    lambda r, n: (
        [(0, 1, 0.02 + 0.06j), (0, 2, 0.08 + 0.24j), (1, 2, 0.06 + 0.18j)],
        np.array([0, -0.5 - 0.2j, -0.4 - 0.1j]),
        1e-06,
        n,
    ),
    12,
    60,
    rtol=1e-09,
)
def gauss_seidel(lines, S, tol, maxit):
    """Voltages of a network, one after the other, until they settle."""
    n = len(S)
    Y = np.zeros((n, n), complex)
    for i, j, z in lines:
        y = 1 / z
        Y[i, i] += y
        Y[j, j] += y
        Y[i, j] -= y
        Y[j, i] -= y
    V = np.ones(n, complex)
    V[0] = 1.05
    it = 0
    while True:
        old = V.copy()
        for i in range(1, n):
            sigma = sum((Y[i, k] * V[k] for k in range(n) if k != i))
            V[i] = (np.conj(S[i] / V[i]) - sigma) / Y[i, i]
        it += 1
        if np.abs(V - old).max() < tol or it >= maxit:
            break
    loss = sum((abs(V[i] - V[j]) ** 2 * (1 / z).real for i, j, z in lines))
    return (V, np.abs(V), np.degrees(np.angle(V)), it, loss, (V[0] * np.conj(Y[0] @ V)).real)
