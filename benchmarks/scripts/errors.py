"""Exceptions and warnings from hot functions, a file written at the end, a status of its own."""

import atexit
import sys
import traceback
import warnings

import numpy as np


class TooLarge(ValueError):
    """What it says."""


def grow(values, rate, limit):
    """A step of growth. Raises ``TooLarge`` beyond the limit."""
    values *= 1 + rate * (1 - values / 10.0)
    values += 1e-3 * np.sin(values)
    if values.max() > limit:
        raise TooLarge(f"{values.max()!r} is more than {limit}")
    return values.mean()


def ratio(a, b):
    """A division, by zero at times."""
    return (a / b + np.sqrt(a)).sum()


def main(rounds=250):
    atexit.register(print, "the end")
    rng = np.random.default_rng(0)
    for number in range(rounds):
        values = rng.uniform(0.1, 1.0, 20_000)
        try:
            for _ in range(100):
                grow(values, 0.08, 9.0)
        except TooLarge as error:
            if number % 50 == 0:
                traceback.print_exc()
                print(number, error)
        a, b = rng.normal(size=(2, 50))
        b[number % 50] = 0.0
        ratio(a, b)
    warnings.warn("it is over", stacklevel=2)
    try:
        grow(np.full(3, 9.5), 0.1, 9.0)
    except TooLarge:
        grow(np.full(3, "x"), 0.1, 9.0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
