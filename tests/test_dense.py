"""Dense axes: threads that lie along `ev.lanes` around passes, on all targets."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.errors import InputError
from evenly.gpus.gpu import Gpu
from evenly.language.diagnostics import LanguageError
from evenly.schedules.contract import Sizes
from evenly.targets.gpu.engines import bins
from tests.batteries import equal_rows, matrices
from tests.dense import ALONG, CASES, WIDTHS, unaligned
from tests.emitting import emitted
from tests.kernels import ROW_LAYOUTS, laid

# Rows of every kind in one matrix, few enough for the reference.
NASTY = ("empty at the start", "one tile has everything", "a tile longer than a block", "no tiles")


def stored(case: str, args: tuple[Any, ...]) -> list[np.ndarray]:
    return [np.array(args[i]) for i in CASES[case].outputs]


def check(case: str, matrix: Any, width: int, dtype: Any, *calls: Any, layout: str = "csr") -> None:
    """Compare calls, each a kernel with its choices made, with target `python`."""
    made = CASES[case].arguments
    matrix = matrix.astype(dtype)
    A = laid(matrix, layout)
    args = made(A, matrix, width, dtype)
    CASES[case].kernel.on("python")(*args)
    wanted = stored(case, args)
    for call in calls:
        args = made(A, matrix, width, dtype)
        call(*args)
        for found, expected in zip(stored(case, args), wanted, strict=True):
            np.testing.assert_array_equal(found, expected, err_msg=f"{call} {width} {matrix.shape}")


def on_simt(case: str, schedule: Any, **options: Any) -> Any:
    return CASES[case].kernel[schedule].on("simt", **options)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("thread", np.float32),
        ("group 8", np.float64),
        ("group 24", np.int32),
        ("block", np.float32),
        ("merge", np.float32),
        ("merge 1", np.float64),
        ("nonzero 16", np.int32),
    ],
)
def test_every_width(name: str, dtype: Any) -> None:
    for width in WIDTHS:
        check("spmm", equal_rows(5, 7, 20), width, dtype, on_simt("spmm", ALONG[name]))


@pytest.mark.parametrize("case", ["spmm", "sddmm"])
def test_widths_of_which_each_thread_has_all_columns_but_the_last(case: str) -> None:
    schedule, matrix = ev.GroupMapped(16, lanes=8, vector=3), equal_rows(5, 7, 20)
    for width in (16, 17, 23, 24, 25, 41):
        check(case, matrix, width, np.float32, on_simt(case, schedule))


@pytest.mark.parametrize(("case", "schedule", "width", "run"), [
    ("spmm", ev.GroupMapped(16, lanes=8, vector=5), 1, 4),
    ("spmm", ev.GroupMapped(16, lanes=8, vector=6), 2, 4),
    ("spmm", ev.GroupMapped(16, lanes=16, vector=6), 1, 2),
    ("spmm", ev.GroupMapped(32, lanes=4, vector=12), 4, 8),
    ("spmm", ev.MergePath(64, 2, lanes=4, vector=9), 1, 8),
    ("sddmm", ev.GroupMapped(8, items=4, lanes=8, vector=4), 1, 4),
    ("sddmm", ev.GroupMapped(8, items=4, lanes=8, vector=6), 2, 4),
    ("sddmm", ev.GroupMapped(16, items=8, lanes=4, vector=9), 1, 8),
])  # fmt: skip
def test_runs_of_words(case: str, schedule: Any, width: int, run: int) -> None:
    """As many as leave room in the banks for the other rows of a warp. At the end of the axis two threads may have one."""
    matrix = equal_rows(5, 7, 20)
    args = CASES[case].arguments(ev.csr(matrix), matrix, 8, np.float32)
    kind = f"ev::filled<{width}, {run}>()"
    assert kind in emitted(CASES[case].kernel, args, schedule)[0].source
    for columns in (29, 33, 34, 44, 65, 66, 95):
        check(case, matrix, columns, np.float32, on_simt(case, schedule))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("name", ALONG)
def test_every_width_of_every_type_over_the_battery(name: str, dtype: Any) -> None:
    for width, matrix in itertools.product(WIDTHS, matrices(dtype).values()):
        if matrix.nnz * width <= 30_000:
            check("spmm", matrix, width, dtype, on_simt("spmm", ALONG[name]))


@pytest.mark.parametrize("name", ALONG)
def test_nasty_rows(name: str) -> None:
    for matrix in (matrices(np.float32)[n] for n in NASTY):
        check("spmm", matrix, 5, np.float32, on_simt("spmm", ALONG[name], seed=1))


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("update", "group 8"), ("centred", "block"), ("part", "group 2"),
        ("overwritten", "group 8"), ("limited", "group 8"), ("limited", "block"), ("modulo", "group 2"), ("picked", "group 8"),
        ("columns", "thread"), ("divided", "group 8"),
        ("sddmm", "group 24"), ("sddmm", "block"), ("nearest", "group 8"), ("outer", "thread"),
        ("carried", "group 8"), ("outer", "block"), ("masked", "group 8"), ("masked", "lrb"), ("masked", "group 24"),
        ("masked", "merge"), ("masked", "nonzero 16"), ("outer", "merge 32"), ("outer", "merge 1"), ("sddmm", "nonzero"),
        ("weighed", "group 24"), ("weighed", "block"), ("weighed", "lrb"), ("weighed", "merge"),
        ("chosen", "group 2"), ("chosen", "thread"), ("chosen", "dynamic"), ("by_lane", "group 8"),
        ("stored_inside", "group 8"), ("stored_inside", "block"), ("stored_inside", "lrb"), ("stored_inside", "merge"),
        ("keyed", "group 8"), ("keyed", "block"), ("keyed", "thread"), ("keyed", "lrb"), ("keyed", "group 24"),
        ("changed", "group 8"), ("changed_sum", "block"),
        ("update", "merge"), ("divided", "merge 1"), ("overwritten", "merge 32"), ("columns", "nonzero 16"),
        ("modulo", "nonzero"), ("part", "merge"),
        ("read_back", "group 8"), ("read_back", "merge"), ("found_where", "block"), ("unlike", "group 8"),
        ("stored_alike", "merge"), ("stored_alike", "group 8"), ("found_later", "group 8"), ("found_later", "lrb"),
        ("weighed_some", "group 8"), ("weighed_some", "block"), ("weighed_some", "merge"),
    ],
)  # fmt: skip
def test_other_kernels(case: str, name: str) -> None:
    matrix = matrices(np.float32)["empty in the middle"]
    for width in (4, 7):
        check(case, matrix, width, np.float32, on_simt(case, ALONG[name]))


@pytest.mark.slow
@pytest.mark.parametrize("case", [c for c in CASES if c != "spmm"])
@pytest.mark.parametrize("name", ALONG)
def test_other_kernels_under_every_schedule(case: str, name: str) -> None:
    for seed, width in enumerate((1, 8, 33)):
        for matrix in (matrices(np.float64)[n] for n in ("power law", *NASTY)):
            if matrix.nnz * width <= 30_000:
                check(case, matrix, width, np.float64, on_simt(case, ALONG[name], seed=seed))


@pytest.mark.parametrize(
    "layout",
    [
        n if n in ("ell", "bcsr") else pytest.param(n, marks=pytest.mark.slow)
        for n in ROW_LAYOUTS
        if n != "csr"
    ],
)
def test_every_layout(layout: str) -> None:
    matrix = matrices(np.float32)["empty in the middle"]
    check("spmm", matrix, 6, np.float32, on_simt("spmm", ALONG["group 8"]), layout=layout)


def test_arrays_that_begin_anywhere() -> None:
    matrix = equal_rows(5, 7, 20)
    for name, width in itertools.product(("thread", "group 8", "merge"), (4, 8)):
        A, X, Y = CASES["spmm"].arguments(ev.csr(matrix), matrix, width, np.float32)
        for x, y in ((unaligned(X), Y), (X, unaligned(Y))):
            on_simt("spmm", ALONG[name])(A, x, y)
            np.testing.assert_array_equal(y, matrix @ X)


def test_atoms_that_begin_anywhere() -> None:
    matrix = matrices(np.float32)["power law"]
    _, X, Y = CASES["spmm"].arguments(None, matrix, 5, np.float32)
    values, indices = (unaligned(a[None])[0] for a in (matrix.data, matrix.indices))
    for given in (values, matrix.indices), (matrix.data, indices), (values, indices):
        A = ev.csr((*given, matrix.indptr), shape=matrix.shape)
        for name in ("merge", "nonzero"):
            on_simt("spmm", ALONG[name])(A, X, Y)
            np.testing.assert_array_equal(Y, matrix @ X)


def test_other_targets_walk_lane_by_lane() -> None:
    matrix = matrices(np.float32)["power law"]
    calls = [
        CASES["spmm"].kernel[ALONG[name]].on(target)
        for name in ("group 8", "lrb", "merge", "nonzero")
        for target in ("python", "cpu")
    ]
    check("spmm", matrix, 3, np.float32, *calls)


@pytest.mark.parametrize("case", [c for c in CASES if c not in ("sddmm", "by_lane")])
def test_a_cpu_takes_several_lanes_at_a_time(case: str) -> None:
    """One, eight, and 32 or 64 of them: every width has some of each."""
    for width in (1, 9, 33, 107):
        matrix = matrices(np.float64)["empty in the middle"]
        check(case, matrix, width, np.float64, CASES[case].kernel.on("cpu"))


def test_auto_gives_whole_tiles_to_workers_for_a_dense_axis() -> None:
    matrix = matrices(np.float32)["power law"]
    for case, width, chosen in (
        ("spmm", 1, ev.MergePath), ("spmm", 8, ev.ThreadMapped),
        ("chosen", 1, ev.MergePath), ("chosen", 8, ev.ThreadMapped), ("sddmm", 8, ev.MergePath),
    ):  # fmt: skip
        args = CASES[case].arguments(ev.csr(matrix), matrix, width, np.float32)
        assert type(CASES[case].kernel.plan(*args).schedule) is chosen


def test_an_axis_that_tiles_compute() -> None:
    @ev.kernel
    def triangle(A, X, Y):
        for row in A.tiles():
            for j in ev.lanes(row):
                Y[row, j] = sum(X[A.column(k), j] for k in A.atoms(row))

    matrix = equal_rows(9, 5, 20)
    X = CASES["spmm"].arguments(None, matrix, 9, np.float32)[1]
    for name in ("group 8", "block"):
        Y = np.zeros((9, 9), np.float32)
        triangle[ALONG[name]].on("simt")(ev.csr(matrix), X, Y)
        ones = matrix.copy()
        ones.data[:] = 1
        np.testing.assert_array_equal(Y, np.tril(ones @ X, -1))


def test_what_an_atom_reads_is_loaded_once_and_columns_in_words() -> None:
    matrix = equal_rows(5, 7, 20)
    args = CASES["spmm"].arguments(ev.csr(matrix), matrix, 8, np.float32)
    (code,) = emitted(CASES["spmm"].kernel, args, ALONG["group 2"])
    for array in ("a_A_values", "a_A_indices"):
        assert len(re.findall(rf"\b{array}\[", code.source)) == 1
    assert code.source.count("ev::load_word(") == code.source.count("ev::store_word(") == 1
    columns = CASES["columns"].arguments(ev.csr(matrix), matrix, 8, np.float32)
    (code,) = emitted(CASES["columns"].kernel, columns, ALONG["group 2"])
    assert "word" not in code.source


def test_words_that_are_stored_are_loaded_as_words_if_they_are_read() -> None:
    matrix = equal_rows(5, 7, 20)
    args = CASES["update"].arguments(ev.csr(matrix), matrix, 8, np.float32)
    (code,) = emitted(CASES["update"].kernel, args, ALONG["group 2"])
    for done in "load", "store":
        assert len(re.findall(rf"ev::{done}_word\(.*\ba_Y\.data", code.source)) == 1
    assert not re.search(r"\ba_Y\[", code.source)


def test_threads_of_an_atom_take_several_atoms_at_once() -> None:
    matrix = equal_rows(5, 7, 20)
    args = CASES["sddmm"].arguments(ev.csr(matrix), matrix, 8, np.float32)
    single = "(width.apart || (width.value == 1 && !EV_KNOWN))"
    few = f"{single} ? 1 : rounds.value > 1 ? 1 : 2"
    for vector, atoms in (4, f"{single} ? 2 : 4"), (16, few), (32, 1):
        (code,) = emitted(CASES["sddmm"].kernel, args, ev.GroupMapped(8, lanes=2, vector=vector))
        assert f"constexpr int most = {atoms};" in code.source
        assert "axis.template in_batches<most>" in code.source


def test_all_blocks_share_a_huge_tile_whose_atoms_have_nothing_in_common(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bins, "HUGE", 64)
    matrix = matrices(np.float32)["one tile has everything"]
    args = CASES["sddmm"].arguments(ev.csr(matrix), matrix, 8, np.float32)
    (main, *_) = (c for c in emitted(CASES["sddmm"].kernel, args, ALONG["lrb"]) if c.name == "sddmm_0")  # fmt: skip
    assert "ev::walk_huge" in main.source
    for name in NASTY:
        kernel = type(CASES["sddmm"].kernel)(CASES["sddmm"].kernel.function)
        for width, seed in ((8, 0), (7, 1)):
            M = matrices(np.float32)[name]
            found, wanted = (CASES["sddmm"].arguments(ev.csr(M), M, width, np.float32) for _ in range(2))  # fmt: skip
            kernel[ALONG["lrb"]].on("simt", seed=seed)(*found)
            CASES["sddmm"].kernel.on("python")(*wanted)
            np.testing.assert_array_equal(found[3], wanted[3])
    nearest = emitted(CASES["nearest"].kernel, CASES["nearest"].arguments(ev.csr(matrix), matrix, 8, np.float32), ALONG["lrb"])  # fmt: skip
    assert not any("ev::walk_huge" in code.source for code in nearest)


def test_there_are_blocks_to_share_one_huge_tile() -> None:
    gpu, engine = Gpu(132), bins.BinsEngine()
    for apart, blocks in (False, 1), (True, gpu.at_once(256)):
        made = engine.sizing(ev.Lrb(), 0, 4, False, apart, Sizes(1, 4_000_000), 0, gpu)
        assert made.grids["tiles"] == (blocks, 1)


@pytest.mark.parametrize("name", ["group 2", "block"])
def test_lanes_inside_of_lanes_around_a_pass_are_walked_once_for_all_of_these(name: str) -> None:
    """Rows of V and Z are each loaded once, in words."""
    matrix = equal_rows(5, 7, 20)
    args = CASES["chosen"].arguments(ev.csr(matrix), matrix, 8, np.float32)
    (code,) = emitted(CASES["chosen"].kernel, args, ALONG[name])
    assert code.source.count("axis.deal_to_all(") == 1
    for array in "V", "Z":
        assert len(re.findall(rf"ev::load_word\(.*\ba_{array}\.data", code.source)) == 1
        assert not re.search(rf"\ba_{array}\[", code.source)
    args = CASES["by_lane"].arguments(ev.csr(matrix), matrix, 8, np.float32)
    (code,) = emitted(CASES["by_lane"].kernel, args, ALONG[name])
    assert not re.findall(r"ev::load_word\(.*\ba_V\.data", code.source)


@pytest.mark.parametrize("case", ["sddmm", "keyed", "stored_inside"])
def test_lanes_tell_each_other_of_many_atoms_through_memory(case: str) -> None:
    """Numbers of the atoms, products and factors. Tiles end anywhere in a batch."""
    matrix = matrices(np.float32)["empty in the middle"]
    for seed, (size, items, lanes) in enumerate([(8, 8, 8), (16, 9, 4)]):
        schedule = ev.GroupMapped(size, 64, items=items, lanes=lanes, vector=4)
        check(case, matrix, 8, np.float32, on_simt(case, schedule, seed=seed))


def test_a_reduction_by_a_key_takes_a_batch_of_atoms_at_once() -> None:
    """Each lane has keys of its own; all lanes find the best one, and tell each other factors. Sums are scaled once."""
    matrix = equal_rows(5, 7, 20)
    args = CASES["keyed"].arguments(ev.csr(matrix), matrix, 32, np.float32)
    (code,) = emitted(CASES["keyed"].kernel, args, ev.GroupMapped(8, items=8, lanes=8, vector=4))
    assert "(width.value == 1 && !EV_KNOWN)) ? 2 : rounds.value > 1 ? 4 : 8" in code.source
    for once in "axis.deal(", "axis.across(", "axis.tell(", "v_less =":
        assert code.source.count(once) == 1
    assert "deal_to_all" not in code.source
    # Rows of V are loaded when products of X and Z are made, and their registers are free.
    Z, V, deal = (
        code.source.index(x) for x in ("own_a_Z[item] +", "own_a_V[item] +", "axis.deal(")
    )
    assert Z < V < deal


def test_rows_that_lanes_around_a_pass_and_inside_read_are_loaded_once() -> None:
    """One lane stores the product of an atom, and reads and tells its weight."""
    schedule, case = ev.GroupMapped(8, items=8, lanes=8, vector=4), CASES["stored_inside"]
    matrix = equal_rows(32, 16, 200).astype(np.float32)
    args = case.arguments(ev.csr(matrix), matrix, 32, np.float32)
    (code,) = emitted(case.kernel, args, schedule)
    assert "own_a_V_1[item][c_1] = own_a_V[item][c_1];" in code.source
    for once in (
        r"axis\.deal\(",
        r"axis\.tell\(",
        r"ev::store_contended\(",
        r"\ba_weights\[",
        r"\ba_at\[",
    ):
        assert len(re.findall(once, code.source)) == 1
    (counted,) = case.kernel[schedule].on("simt").plan(*args).counters()
    rows, others = 4 * matrix.nnz, 4 * 32 * (1 + 1)  # of V; of X, and of the result
    near, far = (
        matrix.nnz // 8,
        matrix.nnz,
    )  # of columns and places; of weights and products, at most
    assert counted.totals["global_load_sectors"] <= rows + others + 3 * near + far + 4 * 32
    assert counted.totals["global_store_sectors"] <= far + others


def test_atoms_whose_order_counts_are_taken_one_by_one() -> None:
    @ev.kernel
    def twice(A, X, Z, most):
        for row in A.tiles():
            top = -math.inf
            for k in A.atoms(row):
                dot = sum(X[row, j] * Z[A.column(k), j] for j in ev.lanes(X.shape[1]))
                top = max(top, dot)
                top = max(top, -dot)
            most[row] = top

    @ev.kernel
    def ragged(A, X, Z, out):
        for row in A.tiles():
            for k in A.atoms(row):
                out[k] = sum(X[row, j] * Z[A.column(k), j] for j in ev.lanes(A.column(k) % 7))

    matrix = matrices(np.float32)["power law"]
    A, X, Z, out = CASES["sddmm"].arguments(ev.csr(matrix), matrix, 7, np.float32)
    for kernel in twice, ragged:
        (code,) = emitted(kernel, (A, X, Z, out), ALONG["group 8"])
        assert "ev::along" in code.source
        assert "constexpr int most = 1;" in code.source
        wanted, found = np.zeros_like(out), np.zeros_like(out)
        kernel.on("python")(A, X, Z, wanted)
        kernel[ALONG["group 8"]].on("simt")(A, X, Z, found)
        np.testing.assert_array_equal(found, wanted)


def test_a_loop_whose_passes_have_effects_is_walked_lane_by_lane() -> None:
    @ev.kernel
    def marked(A, X, out):
        for row in A.tiles():
            for j in ev.lanes(X.shape[1]):
                for k in A.atoms(row):
                    out[k, j] = A.value(k) * X[A.column(k), j]

    matrix = matrices(np.float32)["a tile longer than a block"]
    X = CASES["spmm"].arguments(None, matrix, 3, np.float32)[1]
    args = ev.csr(matrix), X, np.zeros((matrix.nnz, 3), np.float32)
    (code,) = emitted(marked, args, ALONG["group 8"])
    assert "ev::along" not in code.source
    marked[ALONG["group 8"]].on("simt")(*args)
    np.testing.assert_array_equal(args[2], matrix.data[:, None] * X[matrix.indices])


@pytest.mark.parametrize("name", ["merge", "nonzero"])
def test_teams_that_split_tiles_load_atoms_once_and_columns_in_words(name: str) -> None:
    matrix = matrices(np.float32)["power law"]
    args = CASES["spmm"].arguments(ev.csr(matrix), matrix, 8, np.float32)
    main, finish, *_ = emitted(CASES["spmm"].kernel, args, ALONG[name])
    kernel = main.source[main.source.index("EV_KERNEL") :]
    for array in ("a_A_values", "a_A_indices"):
        assert len(re.findall(rf"\b{array}\[", kernel)) == 1
    assert kernel.count("ev::load_word(") == kernel.count("ev::store_word(") == 1
    assert finish.name == "spmm_0_finish"


def test_teams_that_split_tiles_in_plans_and_in_every_order() -> None:
    matrix = matrices(np.float32)["power law"]
    for name in ("merge", "nonzero"):
        args = CASES["spmm"].arguments(ev.csr(matrix), matrix, 9, np.float32)
        plan = CASES["spmm"].kernel.plan(*args, schedule=ALONG[name], target="simt").store()
        plan(*args)
        np.testing.assert_array_equal(args[2], matrix @ args[1])
        check(
            "spmm", matrix, 9, np.float32, *(on_simt("spmm", ALONG[name], seed=n) for n in (2, 3))
        )


@pytest.mark.parametrize("name", ["merge", "nonzero"])
def test_what_teams_that_split_tiles_cannot_carry_is_walked_lane_by_lane(name: str) -> None:
    @ev.kernel
    def with_total(A, X, Y, total):
        most = 0.0
        for row in A.tiles():
            for j in ev.lanes(X.shape[1]):
                y = sum(A.value(k) * X[A.column(k), j] for k in A.atoms(row))
                Y[row, j] = y
                most += y
        total[0] = most

    @ev.kernel
    def by_row(A, X, Y):
        for row in A.tiles():
            for j in ev.lanes(X.shape[1]):
                Y[row, j] = sum(A.value(k) * X[row % len(X), j] for k in A.atoms(row))

    matrix = matrices(np.float64)["power law"]
    A, X, Y = CASES["spmm"].arguments(ev.csr(matrix), matrix, 5, np.float64)
    for kernel, args in (with_total, (A, X, Y, np.zeros(1))), (by_row, (A, X, Y)):
        codes = emitted(kernel, args, ALONG[name])
        assert not any("dense_split" in code.source for code in codes)
        kernel.on("python")(*args)
        wanted = [np.array(a) for a in args[2:]]
        kernel[ALONG[name]].on("simt")(*args)
        for found, expected in zip(args[2:], wanted, strict=True):
            np.testing.assert_array_equal(found, expected)


def test_split_tiles_keep_results_of_each_lane_from_pass_to_pass() -> None:
    matrix = matrices(np.float64)["empty in the middle"]
    calls = [CASES["centred"].kernel["merge_path"].on(target) for target in ("simt", "cpu")]
    check("centred", matrix, 5, np.float64, *calls)


def test_lanes_that_hand_a_value_on_need_owners_of_whole_tiles() -> None:
    @ev.kernel
    def totals(A, X, total, most):
        for row in A.tiles():
            t = 0.0
            for j in ev.lanes(X.shape[1]):
                s = sum(A.value(k) * X[A.column(k), j] for k in A.atoms(row))
                t += s
            total[row] = t
            most[row] = max(
                (sum(X[A.column(k), j] for k in A.atoms(row)) for j in ev.lanes(X.shape[1])),
                default=-9.0,
            )

    matrix = matrices(np.float64)["empty in the middle"]
    X = CASES["spmm"].arguments(None, matrix, 5, np.float64)[1]
    ones = matrix.copy()
    ones.data[:] = 1
    for call in totals.on("cpu"), totals[ALONG["group 8"]].on("simt"), totals.on("python"):
        total, most = np.zeros(len(matrix.indptr) - 1), np.zeros(len(matrix.indptr) - 1)
        call(ev.csr(matrix), X, total, most)
        np.testing.assert_array_equal(total, (matrix @ X).sum(axis=1))
        np.testing.assert_array_equal(most, (ones @ X).max(axis=1))
    for target in "cpu", "simt":
        with pytest.raises(
            LanguageError, match="lanes around a loop over atoms that hand a value on"
        ):
            totals["merge_path"].on(target)(ev.csr(matrix), X, total, most)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ev.GroupMapped(8, lanes=3), "GroupMapped(lanes=...): expected one of 1, 2, 4, 8, for groups of 8 threads"),
        (lambda: ev.GroupMapped(8, lanes=16), "expected one of 1, 2, 4, 8, for groups of 8 threads, got 16"),
        (lambda: ev.GroupMapped(48, lanes=2), "expected one of 1, for groups of 48 threads"),
        (lambda: ev.WarpMapped(vector=0), "WarpMapped(vector=...): expected an integer from 1 to 32"),
        (lambda: ev.ThreadMapped(vector=33), "ThreadMapped(vector=...): expected an integer from 1 to 32"),
        (lambda: ev.Lrb(vector=True), "Lrb(vector=...)"),
        (lambda: ev.DynamicChunks(size=1, lanes=2), "DynamicChunks(lanes=...)"),
        (lambda: ev.MergePath(lanes=5), "MergePath(lanes=...): expected one of 1, 2, 4, 8, 16, 32, for groups of 256 threads"),
        (lambda: ev.MergePath(vector=0), "MergePath(vector=...): expected an integer from 1 to 32"),
        (lambda: ev.NonzeroSplit(lanes=64), "NonzeroSplit(lanes=...)"),
        (lambda: ev.NonzeroSplit(run=4, vector=2), "expected run=1, hypersparse=False with lanes or vector, got run=4"),
        (lambda: ev.GroupMapped(8, flatten=True, vector=4), "expected lanes=1, vector=1 with flatten=True"),
    ],
)  # fmt: skip
def test_refusals(make: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        make()
    assert said in str(error.value)
