"""The emitted text: spelling, precedence, shared subexpressions and prefetches. Its results are NumPy's."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.targets.cpu.programs import compiled, csr_of, run

import evenly as ev
from evenly.errors import InputError
from evenly.language import ir
from evenly.language import types as T
from evenly.targets.cpu import machine
from evenly.targets.cpu.common import shared
from evenly.targets.cpu.slots import Slots
from evenly.targets.cpu.statements import Writer
from evenly.targets.cpu.text import Text

I32 = ir.Var("i", T.INT32)
I64 = ir.Var("l", T.INT64)
J32 = ir.Var("j", T.INT32)
F32 = ir.Var("f", T.FLOAT32)
P = ir.Var("p", T.POS)
INDICES = ir.Array("indices", T.INT32, 1, ("A", "indices"), ids=True)
MATRIX = ir.Array("M", T.FLOAT32, 2, ("M",))
FLAGS = ir.Array("flags", T.BOOL, 1, ("flags",))


def text(e: ir.Expr) -> str:
    return Text(Slots()).expr(e)


def binary(op: str, a: ir.Expr, b: ir.Expr) -> ir.Binary:
    return ir.Binary(op, a, b, a.type)


# ---- spelling ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (binary("+", I32, J32), "int32(v_i + v_j)"),
        (binary("*", P, binary("+", P, P)), "v_p * (v_p + v_p)"),
        (binary("-", P, binary("-", P, P)), "v_p - (v_p - v_p)"),
        (ir.Unary("-", I32, T.INT32), "int32(-v_i)"),
        (ir.Const(1.5, T.FLOAT32), "float32(1.5)"),
        (ir.Const(-math.inf, T.FLOAT64), "-inf"),
        (ir.Const(-0.0, T.FLOAT64), "-0.0"),
        (ir.Const(-(2**63), T.INT64), "int64(-9223372036854775807 - 1)"),
        (ir.Const(-(2**63), T.POS), "(-9223372036854775807 - 1)"),
        (ir.Const(3, T.INT64), "int64(3)"),  # bare, Python would fold 3 << 62 beyond 64 bits
        (binary("*", I64, I64), "multiply_wrapping(v_l, v_l)"),
        (ir.Cast(P, T.WEAK_INT), "v_p"),
        (ir.Cast(I32, T.POS), "int64(v_i)"),
        (ir.Cast(F32, T.BOOL), "v_f != 0"),
        (ir.Element(MATRIX, (P, I32), T.FLOAT32), "a_M[v_p * a_M_length1 + v_i]"),
        (ir.Element(FLAGS, (P,), T.BOOL), "a_flags[v_p] != 0"),
        (
            ir.Element(INDICES, (ir.Cast(ir.Element(INDICES, (P,), T.INT32), T.POS),), T.INT32),
            "a_A_indices[a_A_indices[v_p]]",
        ),
        (
            ir.Logic("and", ir.Logic("or", FLAG := ir.Var("b", T.BOOL), FLAG), FLAG),
            "(v_b or v_b) and v_b",
        ),
        (ir.Compare("==", ir.Compare("<", P, P), FLAG), "(v_p < v_p) == v_b"),
        (
            ir.Select(FLAG, P, ir.Select(FLAG, P, P, T.POS), T.POS),
            "v_p if v_b else (v_p if v_b else v_p)",
        ),
        (ir.Unary("not", ir.Logic("and", FLAG, FLAG), T.BOOL), "not (v_b and v_b)"),
        (ir.Call("floor", (F32,), T.WEAK_INT), "int64(np.floor(v_f))"),
    ],
)
def test_spelling(e: ir.Expr, expected: str) -> None:
    assert text(e) == expected


def test_names_of_the_target_are_kept_apart() -> None:
    t = Text(Slots())
    names = [t.var(ir.Var(n, T.POS)) for n in ("worker", "lambda", "x", "x", "é", "x" * 99)]
    assert names == ["v_worker", "v_lambda", "v_x", "v_x_1", "v__", f"v_{'x' * 48}"]
    assert t.extent(ir.Array("x", T.INT32, 1, ("x",)), 0) == "a_x_length"
    assert t.array(ir.Array("x_length", T.INT32, 1, ("x_length",))) == "a_x_length_1"


def test_an_arguments_fields_are_not_the_engines_variables() -> None:
    """Fields of arguments that are called like what an engine keeps its own variables by."""
    w = Writer(Text(Slots()))
    own = [w.local("carry"), w.scratch(0, "piece_tile"), w.shared("facts")]
    kinds = ("engine", "carry"), ("scratch", "piece_tile"), ("shared", "facts")
    fields = [w.text.array(ir.Array(path[1], T.INT32, 1, path)) for path in kinds]
    assert own == ["carry", "piece_tile", "facts"]
    assert fields == ["a_engine_carry", "a_scratch_piece_tile", "a_shared_facts"]


# ---- common parts ------------------------------------------------------------------------------------
def test_repeated_parts_are_computed_once() -> None:
    begin = ir.Element(INDICES, (P,), T.INT32)
    twice = binary("+", binary("*", begin, begin), J32)
    assigned, (rest,) = shared((twice,))
    assert [a.value for a in assigned] == [begin]
    assert "a_A_indices" not in text(rest)


def test_what_may_not_be_evaluated_is_not_moved() -> None:
    """The same element occurs twice, each time under a condition."""
    element = ir.Cast(ir.Element(INDICES, (P,), T.INT32), T.POS)
    guarded = ir.Select(
        ir.Compare("<", P, ir.Extent(INDICES, 0)), element, ir.Const(0, T.POS), T.POS
    )
    assert shared((guarded, guarded))[0] == []
    inside = ir.Select(ir.Compare("<", P, P), binary("+", element, element), P, T.POS)
    assert shared((inside,))[0] == []


def test_zeros_of_either_sign_are_told_apart() -> None:
    plus, minus = (binary("+", F32, ir.Const(zero, T.FLOAT32)) for zero in (0.0, -0.0))
    assert shared((plus, minus))[0] == []


# ---- loops that LLVM may vectorise -----------------------------------------------------------------
def lengths(A, y):
    for row in A.tiles():
        y[row] = sum(abs(A.value(k)) for k in A.atoms(row))


def sums(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


def one_row() -> dict[str, Any]:
    x, y = np.arange(50, dtype=np.float32), np.zeros(1, np.float32)
    return {"A": csr_of(np.array([0, 3])), "x": x, "y": y}


def test_passes_that_stream_are_written_for_long_and_for_short_tiles() -> None:
    given_ = one_row()
    del given_["x"]
    source = compiled(lengths, given_, ev.ThreadMapped()).source
    assert "if v_high - v_low >= 16:" in source
    assert "v_total = add_in_any_order(v_total, abs(a_A_values[v_k]))" in source
    assert "v_total = v_total + abs(a_A_values[v_k])" in source
    assert "any_order(v_t" not in compiled(lengths, given_, ev.ThreadMapped(), debug=True).source


def test_passes_that_gather_are_unrolled(monkeypatch) -> None:
    monkeypatch.setattr(machine, "gathers_quickly", lambda: False)
    source = compiled(sums, one_row(), ev.ThreadMapped()).source
    assert "while v_k + 4 <= v_high:" in source
    term = r"a_A_values\[(v_common_\d+)\] \* a_x\[a_A_indices\[\1\]\]"
    assert re.search(rf"(v_total_3\w*) = \1 \+ {term.replace('1', '2')}", source)
    assert "any_order(v_t" not in source
    assert "total_3" not in compiled(sums, one_row(), ev.ThreadMapped(), debug=True).source


def every_reduction(A, x, n, flags, floats, ints):
    for row in A.tiles():
        floats[row, 0] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))
        floats[row, 1] = max((x[A.column(k)] for k in A.atoms(row)), default=-1.0)
        floats[row, 2] = min((x[A.column(k)] + A.value(k) for k in A.atoms(row)), default=-1.0)
        acc = 2.0
        mask = 63
        bits = 0
        odd = False
        for k in A.atoms(row):
            acc += x[A.column(k)]
            mask &= n[A.column(k)]
            bits ^= n[A.column(k)] + row
            odd |= flags[A.column(k)]
        floats[row, 3] = acc
        ints[row, 0] = mask
        ints[row, 1] = bits
        ints[row, 2] = 1 if odd else 0
        ints[row, 3] = 1 if all(flags[A.column(k)] for k in A.atoms(row)) else 0


@pytest.mark.parametrize("schedule", [ev.ThreadMapped(), ev.MergePath()], ids=str)
@pytest.mark.parametrize("workers", [1, 3])
def test_unrolled_passes_take_every_atom_once(schedule: Any, workers: int) -> None:
    """Tiles of all lengths to 21, and mostly empty ones, which are written as plain loops."""
    lengths = np.arange(22)
    for sizes in (lengths, lengths[::-1], np.where(np.arange(400) % 40 == 0, 7, 0)):
        A = csr_of(np.concatenate([[0], np.cumsum(sizes)]))
        rng = np.random.default_rng(len(sizes))
        n, flags = rng.integers(0, 64, 50).astype(np.int32), rng.random(50) < 0.7
        x = rng.integers(-9, 9, 50).astype(np.float32)
        given_ = {"A": A, "x": x, "n": n, "flags": flags}
        given_ |= {"floats": np.zeros((len(sizes), 4)), "ints": np.zeros((len(sizes), 4), np.int64)}
        run(compiled(every_reduction, given_, schedule), given_, workers)
        found = given_["floats"].copy(), given_["ints"].copy()
        ev.kernel(every_reduction).on("python")(*given_.values())
        np.testing.assert_array_equal(found[0], given_["floats"])
        np.testing.assert_array_equal(found[1], given_["ints"])


def test_only_the_order_of_the_sum_is_free() -> None:
    """Brackets of the user stay: (v + 1e8) - 1e8 is not v."""

    def rounded(A, y):
        for row in A.tiles():
            y[row] = sum((A.value(k) + 1e8) - 1e8 for k in A.atoms(row))

    A = csr_of(np.array([0, 100]))
    A.values[:] = 1.0
    given_ = {"A": A, "y": np.zeros(1, np.float32)}
    run(compiled(rounded, given_, ev.ThreadMapped()), given_)
    assert given_["y"][0] == 0


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("length", [5, 100])
def test_sums_of_what_is_not_finite(bad: float, length: int) -> None:
    def sums(A, y):
        for row in A.tiles():
            y[row] = sum(A.value(k) for k in A.atoms(row))

    A = csr_of(np.array([0, length]))
    A.values[length // 2] = bad
    given_ = {"A": A, "y": np.zeros(1, np.float32)}
    executable = compiled(sums, given_, ev.ThreadMapped())
    run(executable, given_)
    np.testing.assert_array_equal(given_["y"], [bad])
    A.values[1] = -bad
    run(executable, given_)
    assert np.isnan(given_["y"][0])


# ---- arithmetic, against NumPy -------------------------------------------------------------------------
def table(A, a, b, f, g, ints, floats):
    for t in A.tiles():
        ints[t, 0] = a[t] + b[t]
        ints[t, 1] = a[t] - b[t]
        ints[t, 2] = a[t] * b[t]
        ints[t, 3] = a[t] // b[t]
        ints[t, 4] = a[t] % b[t]
        ints[t, 5] = -a[t]
        ints[t, 6] = a[t] & b[t]
        ints[t, 7] = a[t] ^ ~b[t]
        ints[t, 8] = a[t] ** 3
        ints[t, 9] = abs(a[t])
        floats[t, 0] = f[t] + g[t]
        floats[t, 1] = f[t] * g[t]
        floats[t, 2] = f[t] / g[t]
        floats[t, 3] = f[t] // g[t]
        floats[t, 4] = min(f[t], g[t])
        floats[t, 5] = max(f[t], g[t])
        floats[t, 6] = math.fmod(f[t], g[t])
        floats[t, 7] = f[t] ** 2


FLOATS = st.floats(width=32) | st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 1e30])
_tables: dict[Any, Any] = {}


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([np.int32, np.int64]),
    st.lists(
        st.tuples(
            st.integers(-(2**31), 2**31 - 1),
            st.integers(-(2**31), 2**31 - 1).filter(bool),
            FLOATS,
            FLOATS,
        ),
        min_size=1,
        max_size=20,
    ),
)
def test_arithmetic_is_numpys(dtype: Any, rows: list[tuple[int, int, float, float]]) -> None:
    a, b = (np.array([r[i] for r in rows], dtype) for i in (0, 1))
    f, g = (np.array([r[i] for r in rows], np.float32) for i in (2, 3))
    n = len(rows)
    arguments = {
        "A": csr_of(np.zeros(n + 1, int)), "a": a, "b": b, "f": f, "g": g,
        "ints": np.zeros((n, 10), dtype), "floats": np.zeros((n, 8), np.float32),
    }  # fmt: skip
    if dtype not in _tables:
        _tables[dtype] = compiled(table, arguments, ev.ThreadMapped())
    run(_tables[dtype], arguments)
    with np.errstate(all="ignore"):
        ints = [a + b, a - b, a * b, a // b, a % b, -a, a & b, a ^ ~b, a**3, abs(a)]
        floats = [
            f + g,
            f * g,
            f / g,
            f // g,
            np.minimum(f, g),
            np.maximum(f, g),
            np.fmod(f, g),
            f**2,
        ]
    np.testing.assert_array_equal(arguments["ints"], np.stack(ints, axis=1))
    np.testing.assert_array_equal(arguments["floats"], np.stack(floats, axis=1))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("debug", [False, True])
def test_the_least_integer_by_minus_one(dtype: Any, debug: bool) -> None:
    def quotient(A, a, b, q, r):
        for t in A.tiles():
            q[t] = a[t] // b[t]
            r[t] = a[t] % b[t]

    least = np.array([np.iinfo(dtype).min], dtype)
    given_ = {
        "A": csr_of(np.zeros(2, int)),
        "a": least,
        "b": np.array([-1], dtype),
        "q": least * 0,
        "r": least + 1,
    }
    run(compiled(quotient, given_, ev.ThreadMapped(), debug), given_)
    assert (given_["q"], given_["r"]) == (least, 0)


# ---- arguments -----------------------------------------------------------------------------------------
def copy(A, x, n, y):
    for t in A.tiles():
        y[t] = x[t] * n


def arguments(**changed: Any) -> dict[str, Any]:
    n = {"A": csr_of(np.zeros(5, int)), "x": np.ones(4), "n": 3, "y": np.zeros(4)}
    return {**n, **changed}


def test_read_only_arrays_are_read() -> None:
    given_ = arguments()
    given_["x"].flags.writeable = False
    run(compiled(copy, given_, ev.ThreadMapped()), given_)
    np.testing.assert_array_equal(given_["y"], 3)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"x": np.ones(4, np.float32)}, "expected a C-contiguous array of float64 with 1 axis"),
        ({"x": np.ones((4, 1))}, "got one of float64 with shape (4, 1)"),
        ({"x": np.ones(8)[::2]}, "that is not C-contiguous"),
        ({"n": 2**70}, "n: expected an integer of 64 bits"),
    ],
)
def test_arguments_that_do_not_fit(changed: dict[str, Any], said: str) -> None:
    executable = compiled(copy, arguments(), ev.ThreadMapped())
    with pytest.raises(InputError) as caught:
        run(executable, arguments(**changed))
    assert said in str(caught.value)
