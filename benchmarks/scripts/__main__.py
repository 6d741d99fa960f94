"""`python -m benchmarks.scripts`: unchanged scripts by Python and by `fxc run`.

Output has to be equal byte for byte. The times are the least of some runs, in turn; by the clock
on the wall, and of all processors, on which the load of the machine has less influence.
"""

from __future__ import annotations

import argparse
import statistics
import sys

from .compared import NUMERICAL, SCRIPTS, difference, ran


def main() -> int:
    """Run them, and print a table; the exit status is 1 if some output differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scripts", description=__doc__)
    parser.add_argument("scripts", nargs="*", default=SCRIPTS, help="those alone")
    parser.add_argument("--times", type=int, default=2, help="how often each is run (2)")
    options = parser.parse_args()
    print("script        python s   fxc run s   times   (processors:)          output")
    gains, status = [], 0
    for name in options.scripts:
        pairs = [(ran(name, (), False), ran(name, (), True)) for _ in range(options.times)]
        plain, ours = (min(each.wall for each in runs) for runs in zip(*pairs, strict=True))
        cpus = [min(each.processor for each in runs) for runs in zip(*pairs, strict=True)]
        text = difference(*pairs[0])
        status = status or int(bool(text))
        if name in NUMERICAL:
            gains.append(cpus[0] / cpus[1])
        row = f"{name:12} {plain:9.2f} {ours:11.2f} {plain / ours:7.2f}"
        row += f"   {cpus[0]:5.2f} {cpus[1]:5.2f} {cpus[0] / cpus[1]:6.2f}"
        print(f"{row}   {text or 'equal'}  {pairs[0][1].told}", flush=True)
    if gains:
        print(f"median of the numerical ones: {statistics.median(gains):.2f} times (processors)")
    return status


if __name__ == "__main__":
    sys.exit(main())
