"""ev.ragged against NumPy, on the battery of lengths."""

from __future__ import annotations

import inspect
import itertools
import math
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.algorithms.ragged.segment_reduce import logs_of_exponentials
from evenly.algorithms.ragged.segment_softmax import softmax
from evenly.kit.planned import Planned
from tests.algorithms.ragged.work import WORK, arrays, check, data_for, widths
from tests.batteries import array, layout_batteries, readable
from tests.emitting import emitted
from tests.kernels import SCHEDULES

R = ev.ragged
SMALL = "no tiles", "one empty tile", "no atoms", "empty in the middle", "one tile has everything"
X, OFFSETS = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 3, 3, 4])


@pytest.mark.parametrize("name", WORK)
def test_nasty_lengths(name: str) -> None:
    for offsets in layout_batteries().values():
        for width in widths(WORK[name]):
            data = data_for(name, offsets, width=width)
            check(name, WORK[name].run(data, offsets), data, offsets)


@pytest.mark.parametrize("name", WORK)
def test_the_reference(name: str) -> None:
    for lengths in SMALL:
        offsets = layout_batteries()[lengths].astype(np.int32)
        for width in widths(WORK[name]):
            data = data_for(name, offsets, np.float64, width)
            check(name, WORK[name].run(data, offsets, target="python"), data, offsets)


@pytest.mark.simt
@pytest.mark.parametrize("name", WORK)
def test_it_runs_on_simt(name: str) -> None:
    for lengths in ("empty in the middle", "power law"):
        offsets = layout_batteries()[lengths][:90]
        for width in widths(WORK[name]):
            data = data_for(name, offsets, width=width)
            check(name, WORK[name].run(data, offsets, target="simt"), data, offsets)


@pytest.mark.simt
@pytest.mark.parametrize("schedule", ["group 8", "block", "lrb", "merge"])
def test_the_softmax_of_gpus(schedule: str) -> None:
    """Its sums are joined by `kit.exponentials`, and short lists stay in registers."""
    from evenly.algorithms.ragged.segment_softmax import softmax

    for lengths in ("empty in the middle", "one tile has everything", "a tile longer than a block"):
        offsets = layout_batteries()[lengths]
        data = data_for("softmax", offsets)
        out = np.empty_like(data)
        softmax[SCHEDULES[schedule]].on("simt")(ev.ragged(offsets), data, np.float32(1), out)
        check("softmax", out, data, offsets)
    again = np.empty_like(out)
    softmax[SCHEDULES[schedule]].on("simt", seed=1)(ev.ragged(offsets), data, np.float32(1), again)
    assert again.tobytes() == out.tobytes()


@pytest.mark.simt
@pytest.mark.slow
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", WORK)
def test_schedules(name: str, schedule: str) -> None:
    if name in ("top 3", "least 2") and not SCHEDULES[schedule].owns_tiles:
        pytest.skip("it needs whole lists")
    for lengths in ("empty at the start", "one tile has everything", "a tile longer than a block"):
        offsets = layout_batteries()[lengths]
        for width in widths(WORK[name]):
            data = data_for(name, offsets, width=width)
            how = {"schedule": SCHEDULES[schedule], "target": "simt"}
            check(name, WORK[name].run(data, offsets, **how), data, offsets)


PLANNED = {
    "sums": lambda: R.segment_reduce.plan(X, "sum", OFFSETS),
    "means of rows": lambda: R.segment_reduce.plan(X[:, None], "mean", OFFSETS),
    "logsumexp": lambda: R.segment_reduce.plan(X, "logsumexp", OFFSETS),
    "softmax": lambda: R.segment_softmax.plan(X, OFFSETS),
    "softmax of rows": lambda: R.segment_softmax.plan(X[:, None], OFFSETS),
    "argmax": lambda: R.segment_argmax.plan(X, OFFSETS),
    "scan": lambda: R.segment_scan.plan(X, OFFSETS),
    "top": lambda: R.top_k.plan(X, 2, OFFSETS),
    "padded": lambda: R.jagged_to_padded.plan(X, OFFSETS),
    "packed": lambda: R.padded_to_jagged.plan(X.reshape(2, 2), np.array([0, 1, 3])),
}


@pytest.mark.parametrize("name", PLANNED)
def test_nvrtc_compiles_it(name: str) -> None:
    pytest.importorskip("cuda.core")
    from evenly.targets.cuda import compile as compiling

    planned = PLANNED[name]()
    for schedule in ev.GroupMapped(8), ev.MergePath():
        if name == "top" and not schedule.owns_tiles:
            continue
        for code in emitted(planned.plan.kernel, planned.arguments, schedule):
            assert compiling.cubin(code.source, code.name, "sm_90")


# ---- what it is ------------------------------------------------------------------------------------
def test_the_layout_is_made_as_before() -> None:
    made = ev.ragged(np.array([0, 2, 5]))
    assert (made.num_tiles, made.num_atoms) == (2, 5)
    assert ev.ragged(made, validate=True) is made
    from evenly.layouts import ragged

    assert ev.ragged is ragged
    assert pickle.loads(pickle.dumps(ev.ragged)) is ev.ragged


@pytest.mark.parametrize("name", [name for name in dir(R) if not name.startswith("_")])
def test_functions_are_explained_and_pickled_by_name(name: str) -> None:
    function = getattr(R, name)
    assert inspect.isfunction(function)
    assert ">>> " in str(inspect.getdoc(function))
    assert pickle.loads(pickle.dumps(function)) is function


# ---- types and values ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("dtype", "sum_", "mean", "least"),
    [
        ("bool", "int64", "float64", None),
        ("int8", "int64", "float64", "int8"),
        ("uint8", "uint64", "float64", "uint8"),
        ("int64", "int64", "float64", "int64"),
        ("float16", "float16", "float16", "float16"),
        ("bfloat16", "bfloat16", "bfloat16", "bfloat16"),
        ("float64", "float64", "float64", "float64"),
        ("complex64", "complex64", "complex64", None),
    ],
)
def test_types_are_numpys(dtype: str, sum_: str, mean: str, least: str | None) -> None:
    x = array(dtype, [1, 0, 1, 1])
    for name, wanted, values in (("sum", sum_, [2, 0, 1]), ("mean", mean, [2 / 3, None, 1])):
        found = R.segment_reduce(x, name, OFFSETS, target="python")
        assert found.dtype == array(wanted, [0]).dtype
        for mine, theirs in zip(readable(found).tolist(), values, strict=True):
            assert theirs is None or abs(mine - theirs) < 1e-2
    if least is None:
        with pytest.raises(ev.InputError, match="data: expected (numbers|real numbers)"):
            R.segment_reduce(x, "min", OFFSETS)
    else:
        found = R.segment_reduce(x, "min", OFFSETS, target="python")
        assert found.dtype == array(least, [0]).dtype
        assert readable(found)[::2].tolist() == [0, 1]


def test_lists_without_elements() -> None:
    x, offsets = np.zeros(0), np.array([0, 0])
    values = {"sum": 0, "prod": 1, "min": math.inf, "max": -math.inf, "logsumexp": -math.inf}
    values |= {"any": False, "all": True}
    for name, value in values.items():
        assert R.segment_reduce(x, name, offsets, target="python").tolist() == [value]
    assert np.isnan(R.segment_reduce(x, "mean", offsets, target="python"))
    assert R.segment_reduce(x, "mean", offsets, initial=5, target="python").tolist() == [5]
    small = np.zeros(0, np.int8)
    assert R.segment_reduce(small, "min", offsets, target="python").tolist() == [127]
    assert R.segment_reduce(small, "max", offsets, target="python").tolist() == [-128]


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_infinities_and_nan(target: str) -> None:
    inf, nan = math.inf, math.nan
    lists = [[-inf, 1.0, 1.0], [-inf, -inf], [inf, 1.0], [nan, 2.0], [2.0, nan], [1e4, -1e4]]
    x, offsets = np.concatenate(lists), np.cumsum([0, *map(len, lists)])
    found = R.segment_softmax(x, offsets, target=target)
    np.testing.assert_array_equal(found, [0, 0.5, 0.5, *[nan] * 8, 1, 0])
    found = R.segment_reduce(x, "logsumexp", offsets, target=target)
    np.testing.assert_array_equal(found, [1 + np.log(2), -inf, inf, nan, nan, 1e4])
    found = R.segment_reduce(x, "max", offsets, target=target)
    np.testing.assert_array_equal(found, [1, -inf, inf, nan, nan, 1e4])
    assert R.segment_argmax(x, offsets, target=target).tolist() == [1, 3, 5, 7, 10, 11]
    values, at = R.top_k(x, 2, offsets, target=target)
    np.testing.assert_array_equal(values[3:5], [[2, nan], [2, nan]])
    assert at[3:5].tolist() == [[8, 7], [9, 10]]
    keys, order = R.segment_sort(x, offsets, descending=True, target=target)
    np.testing.assert_array_equal(keys[7:11], [2, nan, 2, nan])
    assert order[7:11].tolist() == [8, 7, 9, 10]


@pytest.mark.simt
@pytest.mark.parametrize("schedule", ["group 8", "warp", "merge", "nonzero runs"])
def test_what_gpus_compute_of_infinities_and_nan(schedule: str) -> None:
    """The same by the kernels for GPUs."""
    inf, nan = math.inf, math.nan
    lists = [[-inf, 1.0, 1.0], [], [-inf, -inf], [inf, 1.0], [nan, 2.0], [2.0, nan], [1e4, -1e4]]
    x, offsets = np.concatenate(lists), np.cumsum([0, *map(len, lists)])
    logs, shares, chosen = np.empty(7), np.empty(13), SCHEDULES[schedule]
    given = ev.ragged(offsets), x, np.float64(1)
    logs_of_exponentials[chosen].on("simt")(*given, np.float64(1), logs)
    np.testing.assert_array_equal(logs, [1 + np.log(2), -inf, -inf, inf, nan, nan, 1e4])
    softmax[chosen].on("simt")(*given, shares)
    np.testing.assert_array_equal(shares, [0, 0.5, 0.5, *[nan] * 8, 1, 0])


@pytest.mark.parametrize("length", [10, 33, 65, 200, 1200])
def test_sorting_moves_values_and_is_stable(length: int) -> None:
    rng = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, length, 30))])
    keys = rng.integers(0, 4, offsets[-1]).astype(np.int16)
    values = np.arange(len(keys)), keys.astype(np.complex128)
    for down in False, True:
        found, (at, same) = R.segment_sort(keys, offsets, values, descending=down)
        lists = [np.arange(a, b) for a, b in itertools.pairwise(offsets)]
        order = np.concatenate(
            [i[np.argsort(-keys[i] if down else keys[i], kind="stable")] for i in lists]
        )
        assert (found.dtype, found.tolist()) == (keys.dtype, keys[order].tolist())
        assert at.tolist() == order.tolist()
        assert same.tolist() == found.tolist()


def test_sorting_moves_no_values_if_given_none() -> None:
    found, moved = R.segment_sort(X, OFFSETS, ())
    assert (found.tolist(), moved) == (R.segment_sort(X, OFFSETS)[0].tolist(), ())


def test_lengths_instead_of_offsets() -> None:
    found = R.segment_reduce(X, "sum", lengths=np.array([3, 0, 1]), target="python")
    assert found.tolist() == [6, 0, 4]


@pytest.mark.parametrize("name", PLANNED)
def test_a_plan_reads_values_again(name: str) -> None:
    planned = PLANNED[name]()
    assert isinstance(planned, Planned)
    first = [x.copy() for x in arrays(planned())]
    assert planned() is planned.out
    for array_ in arrays(planned.out):
        array_[...] = 9
    planned()
    for mine, theirs in zip(arrays(planned.out), first, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    with planned.plan.bind(*planned.arguments) as call:
        call()


def test_padding_to_the_same_length_again_has_the_same_layout() -> None:
    """So its schedule is chosen once, and repeated calls are found by it."""
    one, same, other = (R.jagged_to_padded.plan(X, OFFSETS, n).arguments[0] for n in (2, 2, 3))
    assert one is same
    assert (other.num_tiles, other.size) == (3, 3)


def test_rows_without_places_and_places_without_rows() -> None:
    padded = R.jagged_to_padded(np.zeros((0, 3)), np.array([0, 0]), 2, padding_value=5)
    assert padded.tolist() == [[[5] * 3] * 2]
    packed = R.padded_to_jagged(np.ones((2, 0, 3)), np.array([0, 1, 2]))
    assert packed.tolist() == [[0] * 3] * 2
    assert R.padded_to_jagged(np.ones((2, 1)), np.array([0, 2, 3])).tolist() == [1, 0, 1]
    assert R.padded_to_jagged(np.ones((2, 1, 1)), np.array([0, 2, 3])).tolist() == [[1], [0], [1]]


def test_kernels_of_a_function_are_made_once() -> None:
    from evenly.algorithms.ragged.segment_reduce import _made

    add = ev.func(lambda_)
    for identity in (math.nan, float("nan"), np.array(0.0), np.array(0.0)):
        R.segment_reduce(X, add, OFFSETS, initial=identity)
    assert sum(key[0] is add for key in _made) == 2


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "uint64"])
def test_lengths_of_any_integers(dtype: str) -> None:
    lengths = np.array([100, 0, 120, 90], dtype)
    found = R.segment_reduce(np.ones(310), "sum", lengths=lengths)
    assert found.tolist() == lengths.tolist()


def test_results_into_arrays() -> None:
    out = np.zeros(3)
    assert R.segment_reduce(X.astype(np.float32), "sum", ev.ragged(OFFSETS), out=out) is out
    assert out.tolist() == [6, 0, 4]
    values, at = np.zeros((3, 1)), np.zeros((3, 1), np.int64)
    assert R.top_k(X, 1, OFFSETS, out=(values, at))[0] is values
    assert at.tolist() == [[2], [-1], [3]]


# ---- mistakes --------------------------------------------------------------------------------------
LISTS = ev.ragged(OFFSETS)
OUT = np.zeros((1, 1), np.int64)
MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "too few elements": (lambda: R.segment_reduce(X, "sum", np.array([0, 3])), "offsets: expected offsets[1]=4, got offsets[1]=3"),
    "offsets that fall": (lambda: R.segment_softmax(X, np.array([0, 3, 2, 4])), "offsets: expected non-decreasing offsets, got offsets[2]=2 after 3"),
    "a layout of fewer": (lambda: R.segment_scan(X[:3], LISTS), "offsets: expected lists with 3 elements, as many as data has, got 4"),
    "another layout": (lambda: R.segment_scan(X, ev.uniform(2, LISTS)), "offsets: expected an array of offsets, or a layout of ev.ragged, got Uniform"),
    "offsets of floats": (lambda: R.segment_argmax(X, OFFSETS * 1.0), "offsets: expected int32 or int64 indices, got dtype float64; hint: .astype(numpy.int32) or numpy.int64"),
    "an unknown name": (lambda: R.segment_reduce(X, "median", OFFSETS), "reduce: expected one of sum, mean, prod, min, max, logsumexp, any, all, or an @ev.func, got 'median'"),
    "no name": (lambda: R.segment_reduce(X, np.add, OFFSETS), "reduce: expected one of sum, mean, prod, min, max, logsumexp, any, all, or an @ev.func, got ufunc"),
    "no identity": (lambda: R.segment_reduce(X, ev.func(lambda_), OFFSETS), "initial: expected the identity of the function, got none"),
    "several identities": (lambda: R.segment_reduce(X, ev.func(lambda_), OFFSETS, initial=[0, 0]), "initial: expected a number, got [0, 0]"),
    "no offsets": (lambda: R.segment_reduce(X), "offsets: expected offsets, or lengths, got neither"),
    "both": (lambda: R.segment_reduce(X, "sum", OFFSETS, lengths=OFFSETS), "offsets: expected offsets, or lengths, got both"),
    "initial of all": (lambda: R.segment_reduce(X, "all", OFFSETS, initial=1), "initial: expected none for 'all', got 1"),
    "no number": (lambda: R.segment_reduce(X, "sum", OFFSETS, initial="1j"), "initial: expected a number of float64, got '1j'"),
    "text that reads as a number": (lambda: R.top_k(X, 1, OFFSETS, padding_value="1"), "padding_value: expected a number of float64, got '1'"),
    "nothing as padding": (lambda: R.jagged_to_padded(X, OFFSETS, padding_value=None), "padding_value: expected a number of float64, got None"),
    "several numbers": (lambda: R.segment_reduce(X, "sum", OFFSETS, initial=[1.0, 2.0]), "initial: expected a number of float64, got [1.0, 2.0]"),
    "lengths of floats": (lambda: R.segment_reduce(X, "sum", lengths=np.array([3.0, 0.0, 1.0])), "lengths: expected integers, got dtype float64"),
    "lengths of fewer": (lambda: R.segment_reduce(X, "sum", lengths=np.array([3, 0])), "lengths: expected lengths that add up to 4, as many elements as data has, got a sum of 3"),
    "a length below 0": (lambda: R.segment_reduce(X, "sum", lengths=np.array([3, -1, 2])), "lengths: expected lengths in 0..4, got lengths[1]=-1"),
    "means into integers": (lambda: R.segment_reduce(OFFSETS, "mean", OFFSETS, out=np.zeros(3, int)), "out: expected an array for results of float64, got int64"),
    "logarithms into integers": (lambda: R.segment_reduce(OFFSETS, "logsumexp", OFFSETS, out=np.zeros(3, int)), "out: expected an array for results of float64, got int64"),
    "places that do not fit": (lambda: R.segment_argmax(np.ones(200), np.array([0, 200]), out=np.zeros(1, np.int8)), "out: expected a type that holds positions up to 199, got int8"),
    "half an integer": (lambda: R.segment_reduce(OFFSETS, "max", np.array([0, 4]), initial=0.5), "initial: expected a number of int64, got 0.5"),
    "three axes": (lambda: R.segment_reduce(X.reshape(2, 2, 1), "sum", OFFSETS), "data: expected an array of 1 to 2 axes, got shape (2, 2, 1)"),
    "a sum that does not fit": (lambda: R.segment_reduce(X, "sum", OFFSETS, out=np.zeros(3, np.int32)), "out: expected a type that holds sums of float64, got int32"),
    "a short result": (lambda: R.segment_reduce(X, "sum", OFFSETS, out=np.zeros(2)), "out: expected a vector of 3, a value for each list, got shape (2,)"),
    "truth into numbers": (lambda: R.segment_reduce(X, "any", OFFSETS, out=np.zeros(3)), "out: expected bool, got dtype float64"),
    "complex numbers": (lambda: R.segment_softmax(X + 0j, OFFSETS), "data: expected real numbers, got dtype complex128; hint: take its abs, or its real and imaginary parts"),
    "shares into integers": (lambda: R.segment_softmax(X, OFFSETS, out=np.zeros(4, int)), "out: expected floats, got dtype int64"),
    "onto itself": (lambda: R.segment_softmax(X, OFFSETS, out=X), "out: expected an output that shares no memory with data, got overlapping arrays; hint: copy data first"),
    "places in floats": (lambda: R.segment_argmax(X, OFFSETS, out=np.zeros(3)), "out: expected signed integers, got dtype float64"),
    "less than none": (lambda: R.top_k(X, -1, OFFSETS), "k: expected"),
    "one array for two": (lambda: R.top_k(X, 2, OFFSETS, out=X), "out: expected a tuple: an array for values, and one for positions, got ndarray"),
    "a schedule that splits": (lambda: R.top_k(X, 2, OFFSETS, schedule="merge_path"), "schedule: expected 'auto', or one that gives whole lists to threads or groups, such as ev.GroupMapped(8), got MergePath("),
    "rows of one axis": (lambda: R.padded_to_jagged(X, OFFSETS), "padded: expected an array (lists, length) or (lists, length, d), got shape (4,)"),
    "other lists": (lambda: R.padded_to_jagged(X.reshape(2, 2), OFFSETS), "offsets: expected offsets of 2 lists, the rows of padded, got those of 3"),
    "another type": (lambda: R.jagged_to_padded(X, OFFSETS, 2, out=np.zeros((3, 2), np.float32)), "out: expected an array of float64, got one of float32"),
    "a plan of a strided array": (lambda: R.segment_reduce.plan(X[::2], "sum", np.array([0, 2])), "data: expected a contiguous array, which a plan reads at each call, got a strided one; hint: make a contiguous copy"),
    "two results in one": (lambda: R.top_k(OFFSETS, 1, np.array([0, 4]), out=(OUT, OUT)), "out: expected an output that shares no memory with"),
    "a strided result": (lambda: R.jagged_to_padded(X, OFFSETS, 2, out=np.zeros((3, 4))[:, ::2]), "out: expected a contiguous array, got a strided one"),
    "few values": (lambda: R.segment_sort(X, OFFSETS, X[:2]), "values: expected a vector of 4, as many as keys has, got shape (2,)"),
}  # fmt: skip


def lambda_(a: Any, b: Any) -> Any:
    return a + b


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_errors_of_one_line(name: str) -> None:
    call, said = MISTAKES[name]
    with pytest.raises(ev.EvenlyError, match=re.escape(said)) as caught:
        call()
    assert "\n" not in str(caught.value)
