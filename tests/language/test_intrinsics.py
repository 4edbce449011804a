"""Every intrinsic, of every type that it takes, on every target: what the table says of it is so."""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import math
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.language import ir, walk
from evenly.language import types as T
from evenly.language.intrinsics import TABLE, Intrinsic

from .building import lowered, made, refusal
from .cases.table import tiles

TARGETS = ["python", "cpu", pytest.param("simt", marks=pytest.mark.simt)]
WEAK = {"int": T.WEAK_INT, "float": T.WEAK_FLOAT, "complex": T.WEAK_COMPLEX}
ULPS = 8  # the most that libraries' functions are apart


# ---- nasty numbers -------------------------------------------------------------------------------
def battery(t: T.Scalar) -> list[Any]:
    if t.is_bool:
        return [False, True]
    if t.is_integer:
        ends = np.iinfo(t.dtype)
        return [0, 1, -1, 2, 7, -46341, ends.max, ends.max - 1, ends.min, ends.min + 1]
    if t.is_complex:
        parts = [0.0, -0.0, 1.0, -3.0, 0.1, 1e-40, 3e38, np.inf, -np.inf, np.nan]
        return [complex(*pair) for pair in itertools.product(parts, parts)]
    limits = np.finfo(t.dtype)
    sizes = [0.0, 0.5, 1.0, 2.75, 30.1, limits.tiny / 8, limits.eps, limits.max, np.inf]
    return [*sizes, *(-x for x in sizes), np.nan]


def inputs(entry: Intrinsic, t: T.Scalar) -> list[tuple[Any, ...]]:
    """Its arguments: the battery and its own samples, or the battery's pairs."""
    own = entry.samples if t.is_float else ()
    values = [np.array(v).astype(t.dtype)[()] for v in (*battery(t), *own)]
    if entry.takes == "float" and entry.gives == "int":  # it has to fit into 64 bits
        values = [v for v in values if abs(float(v)) < 2**62]
    return list(itertools.product(values, repeat=len(variables(entry))))


def expected(entry: Intrinsic, t: T.Scalar) -> np.ndarray:
    """Its meaning, number by number."""
    taken = taken_by(entry, t).dtype
    exponent = [np.array(3, taken)[()]] * entry.literal
    with np.errstate(all="ignore"):
        rows = [[np.array(v).astype(taken)[()] for v in row] for row in inputs(entry, t)]
        values = [entry.meaning(*row, *exponent) for row in rows]
        return np.array(values).astype(given_by(entry, t).dtype)


def taken_by(entry: Intrinsic, t: T.Scalar) -> T.Scalar:
    return T.WEAK_FLOAT if entry.gives == "complex" else entry.taken(t)  # complex(x, y) is weak


def given_by(entry: Intrinsic, t: T.Scalar) -> T.Scalar:
    return entry.given(taken_by(entry, t))


# ---- kernels -------------------------------------------------------------------------------------
def variables(entry: Intrinsic) -> list[str]:
    """The arguments of `written`, from left to right."""
    names = [n for n in ast.walk(ast.parse(entry.written)) if isinstance(n, ast.Name)]
    known = {*vars(builtins), "math", "np", "ev"}
    return [n.id for n in sorted(names, key=lambda n: n.col_offset) if n.id not in known]


def kernel_text(entries: list[Intrinsic], convert: str = "") -> str:
    """A kernel that stores what each gives for its own arguments."""
    head, body = [], []
    for e in entries:
        given = [f"{e.name}_{i}" for i in range(len(variables(e)))]
        head += [*given, f"{e.name}_out"]
        body.append(f"    if t < len({e.name}_out):")
        for variable, array in zip(variables(e), given, strict=True):
            body.append(f"        {variable} = {convert}({array}[t])")
        body.append(f"        {e.name}_out[t] = {e.written}")
    lines = [f"def kernel(A, {', '.join(head)}):", "    for t in A.tiles():"]
    return "\n".join([*lines, *(f"    {line}" for line in body)]) + "\n"


def arguments(entries: list[Intrinsic], t: T.Scalar) -> dict[str, np.ndarray]:
    made_: dict[str, np.ndarray] = {}
    for e in entries:
        rows = inputs(e, t)
        for i, column in enumerate(zip(*rows, strict=True)):
            made_[f"{e.name}_{i}"] = np.array(column, t.dtype)
        made_[f"{e.name}_out"] = np.zeros(len(rows), given_by(e, t).dtype)
    return made_


def of_type(t: T.Scalar) -> list[Intrinsic]:
    return [entry for entry in TABLE if entry.accepts(t)]


@functools.cache  # one kernel for all that takes a type: compiling takes longer than running
def results(target: str, t: T.Scalar) -> dict[str, np.ndarray]:
    text = kernel_text(of_type(t))
    given = arguments(of_type(t), t)
    count = max(map(len, given.values()))
    kernel = ev.kernel(made(text), source=text)[ev.ThreadMapped()].on(target)
    kernel(tiles(count), *given.values())
    return given


TYPED = [
    pytest.param(entry, t, id=f"{entry.name}-{t}")
    for t in T.DATA_TYPES.values()
    for entry in of_type(t)
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("entry", "t"), TYPED)
def test_it_gives_what_it_means(entry: Intrinsic, t: T.Scalar, target: str) -> None:
    got, wanted = results(target, t)[f"{entry.name}_out"], expected(entry, t)
    assert got.dtype == wanted.dtype
    if got.dtype.kind == "c":
        same(got.real, wanted.real, inputs(entry, t))
        same(got.imag, wanted.imag, inputs(entry, t))
    else:
        same(got, wanted, inputs(entry, t), entry.error_of)


def same(got: np.ndarray, wanted: np.ndarray, given: list[Any], error_of: float = 0.0) -> None:
    """Equal integers; floats that are NaN alike, signed alike, and a few roundings apart."""
    if got.dtype.kind != "f":
        np.testing.assert_array_equal(got, wanted)
        return
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(wanted), wanted.dtype.type(error_of))
        near = np.abs(got - wanted) <= ULPS * np.spacing(size)
        right = (got == wanted) | near
        right &= np.signbit(got) == np.signbit(wanted)
        right |= np.isnan(got) & np.isnan(wanted)
    wrong = [(x, a, b) for x, a, b, r in zip(given, got, wanted, right, strict=True) if not r]
    assert not wrong, wrong[:5]


def test_meanings_are_those_of_python() -> None:
    """NumPy and SciPy beside Python's own `math`, which is no part of any target."""
    for entry in TABLE:
        if getattr(entry.function, "__module__", "") != "math":
            continue
        for row, wanted in zip(inputs(entry, T.FLOAT64), expected(entry, T.FLOAT64), strict=True):
            try:
                there = entry.function(*map(float, row))  # type: ignore[misc]
            except (ValueError, OverflowError):  # where NumPy gives nan or inf
                assert not np.isfinite(wanted), (entry.name, row, wanted)
                continue
            near = math.isclose(there, wanted, rel_tol=1e-13)
            assert near or (math.isnan(there) and np.isnan(wanted)), (entry.name, row, there)


# ---- types ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("t", [*T.DATA_TYPES.values(), *WEAK.values()], ids=str)
def test_types(t: T.Scalar) -> None:
    held = T.strong(t)
    for entry in of_type(t):
        text = kernel_text([entry], t.name if t.weak else "")
        program = lowered(made(text), {"A": tiles(1), **arguments([entry], held)}, text)
        (loop,) = (s for s in program.steps if isinstance(s, ir.TileLoop))
        (call,) = (e for e in walk.expressions(loop.body) if isinstance(e, ir.Call))
        assert call.name == entry.name
        assert {a.type for a in call.arguments} == {taken_by(entry, t)}
        assert call.type == given_by(entry, t)


@pytest.mark.parametrize("t", T.DATA_TYPES.values(), ids=str)
def test_other_types_are_refused(t: T.Scalar) -> None:
    for entry in TABLE:
        if entry.accepts(t) or entry.function is None or (t.is_complex and entry.of_complex):
            continue
        names = variables(entry)
        text = f"def kernel(A, given):\n    for t in A.tiles():\n        {' = '.join(names)} = given[t]\n        held = {entry.written}\n"
        error = refusal(text, {"A": tiles(1), "given": np.zeros(1, t.dtype)})
        said = "a truth value" if t.is_bool else t.spoken
        assert error is not None
        assert error.message == f"{entry.said} of {said}"


# ---- the table itself ------------------------------------------------------------------------------
@pytest.mark.parametrize("entry", TABLE, ids=lambda e: e.name)
def test_entries_are_whole(entry: Intrinsic) -> None:
    assert len(variables(entry)) + entry.literal == entry.arity
    assert entry.doc and entry.cuda and entry.numba
    if entry.function is not None:
        called = eval(entry.written.partition("(")[0], {"math": math, "np": np, "ev": ev})
        assert called is entry.function
    assert entry.function is not None or not entry.on_host
    if entry.of_complex:
        assert entry.of_complex in {other.name for other in TABLE}


def test_names_are_unique() -> None:
    for of in (lambda e: e.name, lambda e: e.written, lambda e: e.function or e.name):
        assert len({of(entry) for entry in TABLE}) == len(TABLE)
