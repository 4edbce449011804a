"""Blocks that fill a multiprocessor load what atoms read before they mark their tiles."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from tests.batteries import matrices
from tests.covering import gives_what_the_reference_gives
from tests.emitting import codes, emitted
from tests.kernels import CASES, Case

import evenly as ev

pytestmark = pytest.mark.simt
FULL, ROOM = ev.MergePath(64, items=3, min_blocks=32), ev.MergePath(64, items=3)


def loads_early(kernel: str, schedule: ev.MergePath, dtype: type = np.float32) -> bool:
    main = codes(CASES[kernel], schedule, dtype=dtype)[0].source
    early = "Loads load_first(" in main
    assert early == ("ev::merge_rule, true>" in main)
    assert not early or "EV_KERNEL(64, 32)" in main
    return early


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("kernel", CASES)
def test_what_is_loaded_early_gives_what_the_reference_gives(kernel: str, dtype: type) -> None:
    gives_what_the_reference_gives(kernel, FULL, "csr", dtype, "simt", seeds=(0, 1))


@pytest.mark.parametrize("schedule", [FULL, ROOM, ev.MergePath(64, items=4)], ids=str)
def test_full_blocks_load_early(schedule: ev.MergePath) -> None:
    assert loads_early("spmv", schedule)


@pytest.mark.parametrize(
    ("schedule", "dtype"),
    [
        (ev.MergePath(64, items=3, min_blocks=16), np.float32),  # who wants fewer has registers
        (ev.MergePath(64, items=5), np.float32),
        (ev.MergePath(64, items=4), np.float64),
        (ev.MergePath(64, items=9, min_blocks=32), np.float32),
        (ev.MergePath(32), np.float32),  # 64 blocks, which no multiprocessor can hold
        (ROOM, np.complex64),
    ],
    ids=str,
)
def test_where_registers_are_short_blocks_are_not_full(schedule: ev.MergePath, dtype: type) -> None:
    assert not loads_early("spmv", schedule, dtype)


@pytest.mark.parametrize("kernel", ["weighted_by_tile", "row_extremes"])
def test_what_depends_on_the_tile_or_has_two_values_is_not_loaded_early(kernel: str) -> None:
    assert not loads_early(kernel, FULL)


@ev.kernel
def by_a_local(A, x, y):
    for row in A.tiles():
        total = 0.0
        for k in A.atoms(row):
            c = A.column(k)
            total += A.value(k) * x[c]
        y[row] = total


@ev.func
def term(x, c, value):
    near = x[c]
    return near * value


@ev.kernel
def by_a_function(A, x, y):
    for row in A.tiles():
        y[row] = sum(term(x, A.column(k), A.value(k)) for k in A.atoms(row))


@ev.kernel
def by_a_local_that_changes(A, x, y):
    for row in A.tiles():
        total = 0.0
        for k in A.atoms(row):
            c = A.column(k)
            if A.value(k) > 0.5:
                c = 0
            total += A.value(k) * x[c]
        y[row] = total


@pytest.mark.parametrize(
    ("kernel", "through"),
    [(by_a_local, True), (by_a_function, True), (by_a_local_that_changes, False)],
)
def test_locals_are_seen_through_that_follow_from_the_atom(
    kernel: ev.Kernel, through: bool
) -> None:
    matrix = matrices(np.float32)["power law"]
    A, x = ev.csr(matrix), np.arange(matrix.shape[1], dtype=np.float32)
    y, expected = (np.zeros(matrix.shape[0], np.float32) for _ in range(2))
    for schedule in (ROOM, FULL):
        (main, *_) = emitted(kernel, (A, x, y), schedule)
        assert ("= a_x[loads.e" in main.source) == through
        kernel.on("python")(A, x, expected)
        kernel[schedule].on("simt", seeds=(0, 1))(A, x, y)
        np.testing.assert_allclose(y, expected, rtol=1e-5)


@ev.kernel
def by_a_chain(A, order, x, y):
    for row in A.tiles():
        y[row] = sum(
            A.value(k) * x[order[A.column(k)]] + x[A.column(k)] + A.column(k) for k in A.atoms(row)
        )


def test_places_are_asked_for_before_what_lies_there() -> None:
    """Column and value come first; a column that is a number too is read once; chains follow whole."""
    matrix = matrices(np.float64)["power law"]
    rows, columns = matrix.shape
    order = np.random.default_rng(0).permutation(columns).astype(np.int32)
    A, x = ev.csr(matrix), np.arange(columns) * 1.0
    y, expected = np.zeros(rows), np.zeros(rows)
    schedule = ev.MergePath(64, items=2, min_blocks=32)
    (main, *_) = emitted(by_a_chain, (A, order, x, y), schedule)
    asks, follows = (
        main.source.split(f"EV_DEVICE {f}(")[1] for f in ("Loads load_first", "void load_dependent")
    )
    assert re.findall(r"loads\.(\w+) = (.*);", asks.split("}")[0]) == [
        ("e0", "a_A_values.once(v_k)"),
        ("e1", "a_A_indices.once(v_k)"),
    ]
    assert re.findall(r"loads\.(\w+) = (.*);", follows.split("}")[0]) == [
        ("e2", "a_x[a_order[loads.e1]]"),
        ("e3", "a_x[loads.e1]"),
    ]
    by_a_chain.on("python")(A, order, x, expected)
    by_a_chain[schedule].on("simt", seeds=(0, 1))(A, order, x, y)
    np.testing.assert_allclose(y, expected, rtol=1e-12)


def test_locals_of_locals_are_not_written_out_twice_as_long_each() -> None:
    steps = "".join(f"            a{i + 1} = a{i} * a{i} + a{i}\n" for i in range(30))
    text = (
        "def chain(A, x, y):\n    for row in A.tiles():\n        total = 0.0\n"
        f"        for k in A.atoms(row):\n            a0 = A.value(k)\n{steps}"
        "            total += a30 * x[A.column(k)]\n        y[row] = total\n"
    )
    names: dict[str, Any] = {}
    exec(text, names)
    matrix = matrices(np.float32)["power law"]
    A, x = ev.csr(matrix), np.ones(matrix.shape[1], np.float32)
    y = np.zeros(matrix.shape[0], np.float32)
    (main, *_) = emitted(ev.kernel(names["chain"], source=text), (A, x, y), FULL)
    assert len(main.source) < 5000


@pytest.mark.parametrize("case", [CASES["spmm"], CASES["softmax"]], ids=["spmm", "softmax"])
def test_what_is_more_than_arithmetic_has_no_full_blocks_by_itself(case: Case) -> None:
    """It is done for each lane, or calls functions, and 32 registers are few for that."""
    for code in codes(case, ROOM):
        assert "Loads" not in code.source


@ev.kernel
def some_of_them(A, x, use, y):
    """What is read under a condition is not asked for where that does not hold: x is too short there."""
    for row in A.tiles():
        y[row] = sum(x[A.column(k)] if A.column(k) < 4 else use[k] for k in A.atoms(row))


@ev.kernel
def some_places(A, x, use, y):
    """The same of a place."""
    for row in A.tiles():
        y[row] = sum(x[A.column(k) if k >= 5 else use[k]] for k in A.atoms(row))


@pytest.mark.parametrize("schedule", [ROOM, FULL, ev.MergePath(64, items=1)], ids=str)
def test_what_a_condition_guards_is_read_under_it(schedule: ev.MergePath) -> None:
    matrix = matrices(np.float64)["power law"]
    A, (rows, columns) = ev.csr(matrix), matrix.shape
    longer, shorter = np.arange(max(matrix.nnz, columns)) * 1.0, np.arange(4.0)
    places = np.arange(5, dtype=np.int32)
    for kernel, x, use in ((some_of_them, shorter, longer), (some_places, longer, places)):
        y, expected = np.empty(rows), np.empty(rows)
        (main, *_) = emitted(kernel, (A, x, use, y), schedule)
        assert ("Loads load_first(" in main.source) == (
            kernel is some_places or schedule.min_blocks > 0
        )
        kernel.on("python")(A, x, use, expected)
        kernel[schedule].on("simt")(A, x, use, y)
        np.testing.assert_array_equal(y, expected)
