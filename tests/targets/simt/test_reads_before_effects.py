"""Where blocks split tiles, a thread reads for all of its atoms before their first effect (emit/phase_struct.py)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.batteries import layout_batteries
from tests.emitting import emitted

import evenly as ev


@ev.kernel
def shares(R, x, top, out):
    for t in R.tiles():
        for k in R.atoms(t):
            out[k] = math.exp(x[k] - top[t]) * top[t]


@ev.kernel
def moved(R, x, place, out):
    for t in R.tiles():
        for k in R.atoms(t):
            out[place[k]] = x[place[k]] + 1


@ev.kernel
def cut(R, x, n, out):
    for t in R.tiles():
        for k in R.atoms(t):
            out[k] = x[k] if k < n else 0.0


@ev.kernel
def doubled(R, out):
    for t in R.tiles():
        for k in R.atoms(t):
            out[k] = 2 * out[k]
            out[k] = out[k] + 1


def arguments(offsets: np.ndarray) -> dict[Any, tuple[Any, ...]]:
    rng = np.random.default_rng(0)
    R, n = ev.ragged(offsets), int(offsets[-1])
    x, top = rng.random(n, np.float32), rng.random(len(offsets) - 1, np.float32)
    place = rng.permutation(n).astype(np.int32)
    return {
        shares: (R, x, top, np.empty_like(x)),
        moved: (R, x, place, np.empty_like(x)),
        cut: (R, x[: n // 2], n // 2, np.empty_like(x)),
        doubled: (R, x.copy()),
    }


KERNELS = (shares, moved, cut, doubled)
SCHEDULES = {
    "nonzero": ev.NonzeroSplit(64, items=4),
    "merge": ev.MergePath(32, 5),
    "one": ev.NonzeroSplit(32, items=1),
}


@pytest.mark.simt
@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_results_are_the_references(kernel: Any, name: str) -> None:
    for lengths in ("empty in the middle", "a tile longer than a block", "power law"):
        mine, theirs = (arguments(layout_batteries()[lengths][:200])[kernel] for _ in range(2))
        kernel[SCHEDULES[name]].on("simt", seed=1)(*mine)
        kernel[SCHEDULES[name]].on("python")(*theirs)
        np.testing.assert_allclose(mine[-1], theirs[-1], rtol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "read"),
    [
        (shares, "float v_given = a_x.once(v_k);"),
        (moved, "int v_given_1 = a_place.once(v_k);"),
        (cut, "float v_given = (long long)v_k < a_n ? a_x.once(v_k) : 0.0f;"),
        (doubled, "float v_given = a_out[v_k];"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_what_a_store_needs_is_read_before_it(kernel: Any, read: str) -> None:
    """What stands under a condition is read under it."""
    given = arguments(np.array([0, 2, 5], np.int32))[kernel]
    code = emitted(kernel, given, SCHEDULES["nonzero"])[0].source
    assert read in code[code.index("Read read(") : code.index("void take(")]
