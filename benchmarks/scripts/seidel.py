"""Gauss and Seidel: loops over the elements of arrays."""

import sys

import numpy as np


def sweep(u, f, h):
    """One sweep, row by row, element by element."""
    n, m = u.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - h * f[i, j])


def main(sweeps=700, n=120):
    u, f = np.zeros((n, n)), np.ones((n, n))
    for number in range(sweeps):
        sweep(u, f, 1e-2)
        if number % 100 == 0:
            print(number, float(u[n // 2, n // 2]).hex())
    print(u[1])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
