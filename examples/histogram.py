"""A histogram of the degrees of a graph's vertices, with an atomic addition.

Run it: python examples/histogram.py
"""

from __future__ import annotations

import numpy as np
from place import best, get, put

import evenly as ev
from evenly.interop.generators import rmat


@ev.kernel
def out_degrees(G, histogram):
    """Count the vertices of each degree, which is a number of atoms. The last bin also has all larger degrees."""
    for vertex in G.tiles():
        degree = sum(1 for edge in G.atoms(vertex))
        ev.atomic_add(histogram, min(degree, len(histogram) - 1), 1)


@ev.kernel
def in_degrees(G, degrees):
    """Count the edges that lead to each vertex. Only atoms matter, so `ev.uniform` gives equal shares."""
    for vertex in G.tiles():
        for edge in G.atoms(vertex):
            ev.atomic_add(degrees, G.column(edge), 1)


def main(schedule="auto", target=None, bins=32):
    target = target or best()
    matrix = rmat(6)
    columns = matrix.shape[1]
    histogram, degrees = np.zeros(bins, np.int32), np.zeros(columns, np.int32)
    G, histogram, degrees = put(target, ev.csr(matrix), histogram, degrees)
    out_degrees[schedule].on(target)(G, histogram)
    expected = np.minimum(np.diff(matrix.indptr), bins - 1)
    np.testing.assert_array_equal(get(histogram), np.bincount(expected, minlength=bins))

    in_degrees[schedule].on(target)(ev.uniform(64, G), degrees)
    expected = np.bincount(matrix.indices, minlength=columns)
    np.testing.assert_array_equal(get(degrees), expected)


if __name__ == "__main__":
    main()
    print(f"degrees on {best()}: equal to NumPy's results")
