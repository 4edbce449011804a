"""Solve many small linear systems in one launch, by conjugate gradients. Each stops when it has converged.

The systems have different sizes and patterns. An item of the batch is one of them: a block of threads runs its whole
iteration, and does not wait for the others. Source: Hestenes, Stiefel, "Methods of Conjugate Gradients for Solving
Linear Systems" (1952); the batched solvers of Ginkgo, for batches of one pattern.

Run it: python examples/batched_cg.py
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from place import best, get, put

import evenly as ev


@ev.kernel
def conjugate_gradients(B, b, x, r, p, q, tolerance, most, rounds):
    for item in B.items():
        squares = 0.0
        for row in B.tiles(item):
            x[row] = 0.0
            r[row] = b[row]
            p[row] = b[row]
            squares += b[row] * b[row]
        limit = tolerance * tolerance * squares
        n = 0
        while squares > limit and n < most:
            curvature = 0.0
            for row in B.tiles(item):
                product = sum(B.value(k) * p[B.column(k)] for k in B.atoms(row))
                q[row] = product
                curvature += p[row] * product
            step = squares / curvature
            left = 0.0
            for row in B.tiles(item):
                residual = r[row] - step * q[row]
                x[row] += step * p[row]
                r[row] = residual
                left += residual * residual
            for row in B.tiles(item):
                p[row] = r[row] + left / squares * p[row]
            squares = left
            n += 1
        rounds[item] = n


def poisson(side: int) -> scipy.sparse.csr_array:
    """Return the five-point Laplacian of a grid: symmetric, positive definite."""
    line = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(side, side))
    return scipy.sparse.kronsum(line, line, format="csr")


def main(schedule="auto", target=None, sides=(1, 2, 9, 5, 3, 12, 4)):
    target = target or best()
    systems = [poisson(side) for side in sides]
    B = ev.batch(systems)
    rows = B.num_tiles
    b = np.random.default_rng(0).random(rows)
    given, x, r, p, q = put(target, b, *(np.zeros(rows) for _ in range(4)))
    rounds = put(target, np.zeros(len(systems), np.int32))
    solve = conjugate_gradients[schedule].on(target)
    solve(put(target, B), given, x, r, p, q, 1e-10, 1000, rounds)
    for matrix, right, found in zip(systems, B.split(b), B.split(get(x)), strict=True):
        np.testing.assert_allclose(matrix @ found, right, rtol=1e-7, atol=1e-9)
    assert len(set(get(rounds).tolist())) > 1  # each has its own number


if __name__ == "__main__":
    main()
    print(f"systems solved on {best()}: their residuals are small")
