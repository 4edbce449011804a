"""Adaptive quadrature: the integral of a function, with more points where it changes quickly.

A task is an interval. Where Simpson's rule on its halves differs from that on the whole by too much, the halves become
tasks. Otherwise it appends its integral, with its beginning as the key: sums of floats depend on their order, and tasks
come in any. Sorted by the key, the sum has the same bits in every run. Source: Lyness, "Notes on the Adaptive Simpson
Quadrature Routine" (Journal of the ACM, 1969).

Run it: python examples/quadrature.py
"""

from __future__ import annotations

import math

import numpy as np
import scipy.integrate
from place import best, get, put

import evenly as ev


@ev.func
def f(x):
    return math.sin(1.0 / (x + 0.01)) + math.sqrt(x)


@ev.func
def simpson(a, b):
    return (b - a) / 6.0 * (f(a) + 4.0 * f((a + b) / 2.0) + f(b))


@ev.kernel
def integrate(T, pieces):
    for t in T.tiles():
        a, b = T.a(t), T.b(t)
        middle = (a + b) / 2.0
        halves = simpson(a, middle) + simpson(middle, b)
        error = halves - simpson(a, b)
        if abs(error) > 15.0 * T.tolerance(t) and b - a > 1e-9:
            T.push(a, middle, T.tolerance(t) / 2.0)
            T.push(middle, b, T.tolerance(t) / 2.0)
        else:
            pieces.append(a, halves + error / 15.0)


def main(schedule="auto", target=None, tolerance=1e-8):
    target = target or best()
    interval = ev.tasks(
        a=np.float64, b=np.float64, tolerance=np.float64, first=[(0, 1, tolerance)], capacity=5_000
    )
    T, pieces = put(target, interval, ev.output((np.float64, np.float64), capacity=5_000))
    integrate[schedule].on(target)(T, pieces)
    begins, values = (get(column) for column in pieces.columns)
    total = values[np.argsort(begins)].sum()
    expected, _ = scipy.integrate.quad(lambda x: math.sin(1 / (x + 0.01)) + math.sqrt(x), 0, 1, limit=500)  # fmt: skip
    assert abs(total - expected) < 1e-6
    return total


if __name__ == "__main__":
    print(f"the integral on {best()}: {main():.9f}, as by SciPy")
