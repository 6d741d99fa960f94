"""Heat in a plate: a stencil, argparse, a table on the screen."""

import argparse

import numpy as np


def relax(u, f):
    """One step of Jacobi's method; the largest change."""
    new = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) - f
    change = np.abs(new - u[1:-1, 1:-1]).max()
    u[1:-1, 1:-1] = new
    return change


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=120)
    parser.add_argument("--steps", type=int, default=120_000)
    parser.add_argument("--every", type=int, default=20_000)
    options = parser.parse_args()
    u = np.zeros((options.size, options.size))
    u[0] = 1.0
    f = np.full((options.size - 2, options.size - 2), 1e-6)
    for step in range(1, options.steps + 1):
        change = relax(u, f)
        if step % options.every == 0:
            print(f"{step:6d}  {change:.17e}  {u.mean()!r}")


if __name__ == "__main__":
    main()
