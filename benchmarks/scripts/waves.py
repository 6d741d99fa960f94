"""Waves on a string: a class with methods, a property and a history."""

import sys

import numpy as np


class String:
    """A string of points, held at both ends."""

    def __init__(self, points, speed):
        self.x = np.linspace(0, 1, points)
        self.now = np.exp(-200 * (self.x - 0.3) ** 2)
        self.before = self.now.copy()
        self.speed = speed
        self.time = 0.0
        self.history = []

    def step(self, dt):
        """Go on by ``dt``."""
        c = (self.speed * dt * (len(self.x) - 1)) ** 2
        new = np.empty_like(self.now)
        new[0] = new[-1] = 0.0
        bend = self.now[2:] - 2 * self.now[1:-1] + self.now[:-2]
        new[1:-1] = 2 * self.now[1:-1] - self.before[1:-1] + c * bend
        self.before, self.now = self.now, new
        self.time += dt

    @property
    def energy(self):
        """Of its motion and its bend."""
        return ((self.now - self.before) ** 2).sum() + (np.diff(self.now) ** 2).sum()


def main(steps=500_000):
    string = String(2001, 1.0)
    for number in range(steps):
        string.step(2e-4)
        if number % 50_000 == 0:
            string.history.append(string.energy)
    print("energies", [repr(e) for e in string.history])
    print("at", string.time, "highest", string.now.max(), vars(string).keys())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
