"""Softmax within each of many segments of unequal length, in three passes over the atoms of a tile.

Later passes use the maximum and the sum of earlier ones, under every schedule. If the schedule
splits tiles, evenly keeps these values in its workspace, one entry for each tile.

Run it: python examples/softmax.py
"""

from __future__ import annotations

import math

import numpy as np
import scipy.special
from place import best, get, put

import evenly as ev


@ev.kernel
def softmax(S, v, out):
    for segment in S.tiles():
        largest = max((v[k] for k in S.atoms(segment)), default=0.0)
        total = sum(math.exp(v[k] - largest) for k in S.atoms(segment))
        for k in S.atoms(segment):
            out[k] = math.exp(v[k] - largest) / total


def main(schedule="auto", target=None, lengths=None):
    target = target or best()
    rng = np.random.default_rng(0)
    lengths = rng.geometric(0.1, 200) - 1 if lengths is None else lengths  # some are empty
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    v = rng.normal(size=offsets[-1]).astype(np.float32)
    S, v_there, out = put(target, ev.ragged(offsets), v, np.empty_like(v))
    softmax[schedule].on(target)(S, v_there, out)

    segments = np.split(v, offsets[1:-1])
    expected = [scipy.special.softmax(segment) for segment in segments if len(segment)]
    np.testing.assert_allclose(get(out), np.concatenate([v[:0], *expected]), rtol=1e-5)


if __name__ == "__main__":
    main()
    print(f"segmented softmax on {best()}: equal to SciPy's result")
