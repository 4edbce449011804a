"""ev.ragged on a GPU, with arrays of CuPy and PyTorch, against NumPy; the same bits on every run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.algorithms.ragged.segment_sort.bins import TEAMS
from evenly.interop.transfer import to_numpy
from tests.algorithms.ragged.rows import DTYPES, moved, operands, wanted
from tests.algorithms.ragged.test_segment_sort import OTHERS, lists_of, nasty
from tests.algorithms.ragged.test_segment_sort import check as check_sort
from tests.algorithms.ragged.test_top_k import check as check_top
from tests.algorithms.ragged.work import WORK, arrays, check, data_for, widths
from tests.batteries import array, layout_batteries, readable
from tests.gpu.test_arrays import KINDS
from tests.kernels import SCHEDULES

pytestmark = pytest.mark.gpu
FEW = ("one tile has everything", "power law", "many empty between")


def back(found: Any) -> Any:
    made = tuple(to_numpy(x) for x in arrays(found))
    return made if isinstance(found, tuple) else made[0]


@pytest.mark.parametrize("lengths", layout_batteries())
@pytest.mark.parametrize("name", WORK)
def test_nasty_lengths(name: str, lengths: str) -> None:
    offsets = layout_batteries()[lengths]
    for width in widths(WORK[name]):
        data = data_for(name, offsets, width=width)
        there = [KINDS["cupy"](x) for x in (data, offsets)]
        found = back(WORK[name].run(*there))
        check(name, found, data, offsets)
        again = back(WORK[name].run(*there))
        for mine, theirs in zip(arrays(found), arrays(again), strict=True):
            assert mine.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("kind", ["torch", "device"])
@pytest.mark.parametrize("name", WORK)
def test_arrays_of_other_libraries(name: str, kind: str) -> None:
    offsets = layout_batteries()["power law"][:200]
    for width in widths(WORK[name]):
        data = data_for(name, offsets, width=width)
        found = WORK[name].run(KINDS[kind](data), KINDS[kind](offsets))
        for x in arrays(found):
            assert type(x) is type(KINDS[kind](data))
        check(name, back(found), data, offsets)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", ["sum", "mean", "logsumexp", "softmax", "argmax", "padded"])
def test_schedules(name: str, schedule: str) -> None:
    for lengths in FEW:
        offsets = layout_batteries()[lengths]
        for width in widths(WORK[name]):
            data = data_for(name, offsets, width=width)
            there = [KINDS["cupy"](x) for x in (data, offsets)]
            found = WORK[name].run(*there, schedule=SCHEDULES[schedule])
            check(name, back(found), data, offsets)


@pytest.mark.parametrize("width", [1, 8, 33, 64, 512])
@pytest.mark.parametrize("name", ["sum", "mean", "max", "softmax", "there and back"])
def test_widths(name: str, width: int) -> None:
    offsets = layout_batteries()["power law"][:200]
    data = data_for(name, offsets, width=width)
    found = WORK[name].run(*(KINDS["cupy"](x) for x in (data, offsets)))
    check(name, back(found), data, offsets)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int32"])
@pytest.mark.parametrize("name", ["sum", "max", "argmax", "scan"])
def test_types(name: str, dtype: str) -> None:
    offsets = np.array([0, 3, 3, 40, 104])
    data = array(dtype, data_for(name, offsets))
    kind = "device" if dtype == "bfloat16" else "cupy"
    found = WORK[name].run(KINDS[kind](data), KINDS["cupy"](offsets))
    check(name, readable(back(found)), np.asarray(readable(data), np.float64), offsets)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["pack", "pad"])
def test_rows_that_are_moved(name: str, dtype: str) -> None:
    """In words or not, at shares of blocks or by groups of whole lists."""
    put = KINDS["device" if dtype == "bfloat16" else "cupy"]
    for width in (1, 6, 16, 33, 128, 512, 1000):
        x, padded = operands(width, np.int8)
        expected = wanted(name, x, padded) != 0 if dtype == "bool" else wanted(name, x, padded)
        for schedule in "auto", ev.NonzeroSplit(128, 1, lanes=32, vector=16), ev.GroupMapped(8, lanes=4, vector=8):  # fmt: skip
            given = (put(array(dtype, a)) for a in (x, padded, np.zeros_like(x)))
            kernel, args, out = moved(name, *given, there=KINDS["cupy"])
            kernel[schedule](*args)
            np.testing.assert_array_equal(np.asarray(readable(to_numpy(out))), expected)


def test_real_numbers_have_the_same_bits_on_every_run() -> None:
    rng = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(np.minimum(rng.pareto(1.0, 20_000) * 3, 90_000))])
    offsets = offsets.astype(np.int64)
    data = rng.normal(size=offsets[-1]).astype(np.float32)
    x, lists = KINDS["cupy"](data), ev.ragged(KINDS["cupy"](offsets))
    for run in (
        lambda: ev.ragged.segment_reduce(x, "sum", lists),
        lambda: ev.ragged.segment_reduce(x, "logsumexp", lists),
        lambda: ev.ragged.segment_softmax(x, lists),
        lambda: ev.ragged.segment_scan(x, lists),
    ):
        first = back(run())
        for _ in range(20):
            assert back(run()).tobytes() == first.tobytes()
    shares = back(ev.ragged.segment_softmax(x, lists)).astype(np.float64)
    filled = np.diff(offsets) > 0
    sums = np.add.reduceat(shares, offsets[:-1][filled])
    np.testing.assert_allclose(sums, 1, rtol=1e-4)
    planned = ev.ragged.segment_softmax.plan(x, lists)
    np.testing.assert_allclose(back(planned()), shares, rtol=1e-4)


def test_a_plan_is_captured_into_a_graph() -> None:
    import cupy as cp

    offsets = layout_batteries()["power law"]
    data = data_for("sum", offsets)
    stream = cp.cuda.Stream(non_blocking=True)
    cp.cuda.Device().synchronize()
    with stream:
        x = cp.asarray(data)
        planned = ev.ragged.segment_reduce.plan(x, "sum", ev.ragged(cp.asarray(offsets)))
        planned()
        stream.begin_capture()
        planned()
        graph = stream.end_capture()
        planned.out.fill(0)
        graph.launch(stream)
        check("sum", planned.out.get(stream), data, offsets)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("reduce", ["min", "max"])
def test_extremes_of_zeros_of_both_signs_and_of_nan(reduce: str, dtype: type) -> None:
    """-0.0 is less than 0.0, and NaN spreads, in every order."""
    pairs = [(-0.0, 0.0), (np.nan, 1.0), (-np.inf, np.nan), (1e-45, -0.0), (-np.inf, np.inf)]
    x = np.array([pair[::step] for pair in pairs for step in (1, -1)], dtype).reshape(-1)
    offsets = np.arange(0, len(x) + 1, 2)
    expected = ev.ragged.segment_reduce(x, reduce, offsets, target="python")
    found = back(ev.ragged.segment_reduce(KINDS["cupy"](x), reduce, KINDS["cupy"](offsets)))
    np.testing.assert_array_equal(found, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(expected)[numbers])


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", ["float32", *OTHERS])
def test_sorts_of_every_bin(dtype: str, descending: bool) -> None:
    """Lists that just fit each team, and one more; parts that are merged in one to six passes."""
    limits = [size * each for size, each in TEAMS[8 if dtype.endswith("64") else 4]]
    lengths = [0, 1, 31, 32, 33, *[n + i for n in limits for i in (-1, 0, 1)]]
    lengths += [k * limits[-1] + i for k in (2, 3, 5) for i in (0, 1)] + [60 * limits[-1], 0]
    offsets = lists_of(np.random.default_rng(0).permutation(lengths))
    x = nasty(dtype, int(offsets[-1]))
    there = KINDS["device" if dtype == "bfloat16" else "cupy"](x), KINDS["cupy"](offsets)
    found = back(ev.ragged.segment_sort(*there, descending=descending))
    check_sort(found, x, offsets, descending)
    again = back(ev.ragged.segment_sort(*there, descending=descending))
    assert [a.tobytes() for a in again] == [a.tobytes() for a in found]


@pytest.mark.parametrize("length", [5, 40, 100, 200, 400, 1000, 2500, 10_000])
def test_sorts_of_lists_of_one_length(length: int) -> None:
    offsets = lists_of([length] * 50)
    x = nasty("float32", 50 * length)
    check_sort(back(ev.ragged.segment_sort(*map(KINDS["cupy"], (x, offsets)))), x, offsets)


@pytest.mark.parametrize("whose", ["cupy", "torch", "device"])
def test_sorts_of_lists_that_are_other_than_at_an_earlier_call(whose: str) -> None:
    for lengths in [[9000, 700, 40, 5, 0], [5, 40, 700, 9000, 0], [1949] * 5, [0, 0, 9745, 0, 0]]:
        offsets = lists_of(lengths)
        x = nasty("float32", int(offsets[-1]))
        check_sort(back(ev.ragged.segment_sort(*map(KINDS[whose], (x, offsets)))), x, offsets)


def test_sorts_of_lists_that_are_changed_in_place() -> None:
    offsets = lists_of([9000, 700, 40, 5])
    x = nasty("float32", int(offsets[-1]))
    there = KINDS["cupy"](offsets)
    lists = ev.ragged(there)
    for lengths in [[9000, 700, 40, 5], [5, 40, 700, 9000], [2437, 2436, 2436, 2436]]:
        offsets = lists_of(lengths)
        there[...] = KINDS["cupy"](offsets)
        check_sort(back(ev.ragged.segment_sort(KINDS["cupy"](x), lists)), x, offsets)


def test_sorts_by_threads_on_streams_of_their_own() -> None:
    cupy = pytest.importorskip("cupy")
    lengths = [[9000, 700, 40, 5], [5, 40, 700, 9000], [2437, 2436, 2436, 2436]]

    def sort(which: int) -> None:
        with cupy.cuda.Stream(non_blocking=True):
            for turn in range(6):
                offsets = lists_of(lengths[(which + turn) % 3])
                x = np.roll(nasty("float32", int(offsets[-1])), which)
                found = ev.ragged.segment_sort(cupy.asarray(x), cupy.asarray(offsets))
                check_sort(back(found), x, offsets)

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(sort, which) for which in range(4)]:
            done.result()


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_sorts_of_many_lists(dtype: str) -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 41, 30_000) * (rng.random(30_000) < 0.2)
    lengths[::3000] = 5000
    offsets = lists_of(lengths)
    x = nasty(dtype, int(offsets[-1]))
    check_sort(back(ev.ragged.segment_sort(*map(KINDS["cupy"], (x, offsets)))), x, offsets)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_the_greatest_of_lists_in_parts(dtype: str) -> None:
    offsets = lists_of([4096, 0, 4097, 200_000, 1, 9000, *[3] * 2000])
    x = nasty(dtype, int(offsets[-1]))
    found = back(ev.ragged.top_k(KINDS["cupy"](x), 3, KINDS["cupy"](offsets), padding_value=7))
    check_top(found, x, offsets, True)


def test_a_sort_of_more_than_two_billion_elements() -> None:
    """A list in parts that begin beyond 32 bits, behind a short one."""
    cupy = pytest.importorskip("cupy")
    if cupy.cuda.Device().mem_info[0] < 60 * 2**30:
        pytest.skip("needs 60 GiB of free GPU memory")
    n, few = 2**31 + 10**8, 5
    keys = cupy.arange(n, dtype=np.uint32)
    keys = (keys * np.uint32(2654435761) >> np.uint32(24)).astype(np.uint8)
    found, order = ev.ragged.segment_sort(keys, cupy.array([0, few, n]))
    assert order.dtype == np.int64
    each = 1 << 26
    for i in [0, *range(few, n - 1, each)]:
        stop = few if i < few else min(i + each + 1, n)
        x, at = found[i:stop], order[i:stop]
        assert (keys[at] == x).all()
        assert ((x[1:] > x[:-1]) | ((x[1:] == x[:-1]) & (at[1:] > at[:-1]))).all()
