"""What several passes read at their atoms is loaded once, where a thread has few atoms (emit/kept.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.emitting import emitted

import evenly as ev

pytestmark = pytest.mark.simt


@ev.kernel
def centred(R, x, w, out, most):
    """Three passes over x, the second of which reads it under a condition, and two over w."""
    for t in R.tiles():
        top = max((x[k] for k in R.atoms(t)), default=0.0)
        total = sum(w[k] + (x[k] if w[k] > 0 else top) for k in R.atoms(t))
        for k in R.atoms(t):
            out[k] = x[k] * w[k] - total
        most[t] = top


@ev.kernel
def in_place(R, x, out):
    for t in R.tiles():
        top = max((out[k] for k in R.atoms(t)), default=0.0)
        for k in R.atoms(t):
            out[k] = x[k] - top


@ev.kernel
def running(R, x, out):
    """Two passes that keep x, and one that scans it: threads that share a tile exchange values there, atom by atom."""
    for t in R.tiles():
        top = max((x[k] for k in R.atoms(t)), default=0.0)
        total = sum(x[k] - top for k in R.atoms(t))
        for k in R.atoms(t):
            out[k] = ev.scan(x[k]) + total


SCHEDULES = {
    "thread": (ev.ThreadMapped(64, items=3), 3),
    "group 8": (ev.GroupMapped(8, 64, items=2), 16),
    "group 32": (ev.GroupMapped(32, 64), 128),
    "group 48": (ev.GroupMapped(48, 96, items=2), 96),
    "block": (ev.BlockMapped(64, items=2), 128),
    "dynamic": (ev.DynamicChunks(3, size=8, block=64, items=2), 16),
    "bins": (ev.Lrb(64, lanes=8, thread=4, group=16, warp=64, items=2), 16),
    "runs": (ev.GroupMapped(8, 64, items=4, run=4), 32),
    "runs of 2": (ev.GroupMapped(4, 32, items=8, run=2), 32),
    "runs of 48": (ev.GroupMapped(48, 96, items=4, run=4), 192),
}


def run(schedule: Any, lengths: list[int], target: str, shifted: int = 0) -> list[np.ndarray]:
    """shifted: how many elements the arrays begin after a multiple of 16 bytes."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    rng = np.random.default_rng(0)
    x, w, out = (np.empty(shifted + offsets[-1], np.float32)[shifted:] for _ in range(3))
    x[:], w[:] = (rng.integers(-9, 10, len(x)) for _ in range(2))
    most = np.empty(len(lengths), np.float32)
    centred[schedule].on(target)(ev.ragged(offsets), x, w, out, most)
    return [out, most]


@pytest.mark.parametrize("name", SCHEDULES)
def test_tiles_that_fit_and_tiles_that_do_not(name: str) -> None:
    schedule, fits = SCHEDULES[name]
    near = [max(fits + d, 0) for d in (-1, 0, 1, -7, 8)]
    for lengths in ([0, 1, 2, 3, *near, 0], [300, *near], [4 * fits] * 5, near * 3):
        for mine, theirs in zip(
            run(schedule, lengths, "simt"), run(schedule, lengths, "python"), strict=True
        ):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", ["runs", "runs of 2", "runs of 48"])
def test_runs_in_arrays_that_are_not_aligned(name: str) -> None:
    schedule, fits = SCHEDULES[name]
    given = schedule, [3, 0, fits - 4, fits, 1]
    for mine, theirs in zip(run(*given, "simt", 1), run(*given, "python"), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_pass_that_scans_what_others_keep(name: str) -> None:
    schedule, fits = SCHEDULES[name]
    offsets = np.cumsum([0, 0, 1, 3, max(fits - 1, 0), fits, fits + 1, 300, 0])
    x = np.random.default_rng(0).integers(-9, 10, offsets[-1]).astype(np.float32)
    mine, theirs = np.empty_like(x), np.empty_like(x)
    running[schedule].on("simt")(ev.ragged(offsets), x, mine)
    running[schedule].on("python")(ev.ragged(offsets), x, theirs)
    np.testing.assert_array_equal(mine, theirs)


def requests(items: int, length: int, run: int = 1, what: str = "load") -> int:
    offsets = np.array([0, length])
    x = np.ones(length, np.float32)
    given = ev.ragged(offsets), x, x.copy(), np.empty_like(x), np.empty(1, np.float32)
    plan = centred[ev.GroupMapped(32, 32, items=items, run=run)].on("simt").plan(*given)
    (counters,) = plan.counters()
    return int(counters.totals[f"global_{what}_requests"])


def test_each_element_is_loaded_once() -> None:
    """x and w: two arrays of four words of a warp, once or, where a thread has more atoms, five times in all."""
    rest = requests(4, 128) - 2 * 4
    assert requests(2, 128) - rest == 5 * 4
    assert 0 < rest < 8


def test_a_run_is_loaded_and_stored_by_one_instruction() -> None:
    """A warp with 128 elements, which are four words of it, or one of its words of 16 bytes."""
    for what, arrays in (("load", 2), ("store", 1)):
        fewer = requests(4, 128, what=what) - requests(4, 128, 4, what)
        assert fewer == 3 * arrays


def test_what_a_kernel_stores_is_read_again() -> None:
    x, out = np.ones(4, np.float32), np.ones(4, np.float32)
    given = ev.ragged(np.array([0, 4])), x, out
    (code,) = emitted(in_place, given, ev.GroupMapped(8))
    assert "kept" not in code.source
    (code,) = emitted(centred, (*given[:2], x, out, out[:1]), ev.GroupMapped(8))
    assert code.source.count("kept_a_x[item") == 4
    assert code.source.count("kept_a_w[item") == 4


@pytest.mark.parametrize("name", SCHEDULES)
def test_nvrtc_compiles_it(name: str) -> None:
    pytest.importorskip("cuda.core")
    from evenly.targets.cuda import compile as compiling

    x = np.ones(4, np.float32)
    given = ev.ragged(np.array([0, 4])), x, x, x.copy(), x[:1].copy()
    for code in emitted(centred, given, SCHEDULES[name][0]):
        assert compiling.cubin(code.source, code.name, "sm_90")
