"""The values that kernels, functions, layouts and schedules read from outside decide each call. A plan keeps them."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.language.reads import MOST

OFFSET, FACTOR, STEP, POWER = 0, 2.0, 1, 1.0
mod = types.ModuleType("mod")


@ev.layout
class Rows:
    """Two atoms a tile, whose values a global scales."""

    data: ev.Array
    num_tiles: int

    @property
    def num_atoms(self) -> int:
        return 2 * self.num_tiles

    def begin(self, tile):
        return 2 * tile

    def end(self, tile):
        return 2 * tile + 2

    def value(self, k):
        return self.data[k] * FACTOR

    def column(self, k):
        return k % 2 + OFFSET


@ev.schedule
class Strided:
    """Every `STEP`-th tile from `OFFSET` on: right where they are 1 and 0."""

    owner = "thread"
    scale = 1

    def launch(self, layout):
        return 1, 32

    def tiles(self, state):
        return range(
            ev.thread_index() + OFFSET, state.num_tiles, ev.thread_count() * STEP * self.scale
        )

    def atoms(self, state, tile):
        return range(state.begin(tile), state.end(tile), 1)


@ev.func
def combined(a, b):
    return a + b * POWER


@ev.kernel
def total(A, y):
    for t in A.tiles():
        y[t] = sum(A.value(k) for k in A.atoms(t))


@ev.kernel
def reduced(A, y):
    for t in A.tiles():
        y[t] = ev.reduce(combined, (A.value(k) for k in A.atoms(t)), 0.0)


@ev.kernel
def by_module(A, y):
    for t in A.tiles():
        y[t] = mod.f(1.0) + mod.inner.z.imag + mod.pair[1]


mod.f, mod.inner, mod.pair = ev.func(combined.function), types.ModuleType("inner"), (1, 2.0)
mod.inner.z = 1j


@ev.func
def one(v):
    return v


@ev.func
def two(v):
    return 2 * v


mod.f = one
A = Rows(np.arange(1.0, 7.0), 3)


def answers(kernel: Any, schedule: Any = "thread_mapped", A: Any = A) -> list[float]:
    """The results of two one-shot calls, which must be the reference's."""
    y, expected = np.full(3, -1.0), np.full(3, -1.0)
    kernel.on("python")(A, expected)
    for _ in range(2):
        y[:] = -1
        kernel[schedule].on("cpu")(A, y)
        np.testing.assert_array_equal(y, expected)
    return list(y)


def test_layouts_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answers(total) == [6, 14, 22]
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert answers(total) == [9, 21, 33]
    monkeypatch.setattr(Rows, "value", lambda_of_two)
    assert answers(total) == [4, 4, 4]


def test_a_layout_whose_methods_are_given_another_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notebooks that reload modules replace the code of methods."""
    y = np.zeros(3)
    plans = [total.plan(A, y, schedule="thread_mapped", target=t) for t in ("cpu", "python")]
    assert answers(total) == [6, 14, 22]
    monkeypatch.setattr(Rows.value, "__code__", lambda_of_two.__code__)
    assert answers(total) == [4, 4, 4]
    for plan in plans:
        plan(A, y)
        assert list(y) == [6, 14, 22]


class Fewer(Rows):
    """A class without the decorator `ev.layout`, which is a layout by inheritance."""

    def valid(self, tile, position):
        return position % 2 == 0


def test_methods_of_the_contract_that_come_later(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answers(total, A=Fewer(A.data, 3)) == [2, 6, 10]
    some = ev.subset(A, np.array([2, 0, 1]))
    for layout in (A, some):
        assert answers(total, A=layout) == [6, 14, 22]
    monkeypatch.setattr(Rows, "valid", Fewer.valid)
    for layout in (A, some):
        assert answers(total, A=layout) == [2, 6, 10]
    monkeypatch.setattr(Rows, "tile_id", last_first)
    assert answers(total) == [2, 6, 10][::-1]


def last_first(self, tile):
    return self.num_tiles - 1 - tile


def lambda_of_two(self, k):
    return 2.0


def test_methods_of_a_layout_in_a_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    some = ev.subset(A, np.array([2, 0, 1]))
    assert answers(total, A=some) == [6, 14, 22]
    monkeypatch.setitem(globals(), "FACTOR", 4.0)
    assert answers(total, A=some) == [12, 28, 44]


def test_schedules_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    y = np.zeros(3)
    run = total[Strided()].on("cpu")
    run(A, y)
    assert list(y) == [6, 14, 22]
    for name, value, expected in (("OFFSET", 1, [0, 14, 22]), ("OFFSET", 2, [0, 0, 22])):
        monkeypatch.setitem(globals(), name, value)
        y[:] = 0
        run(A, y)
        assert list(y) == expected
    monkeypatch.setitem(globals(), "OFFSET", 0)
    monkeypatch.setattr(Strided, "scale", 2)
    y[:] = 0
    run(A, y)
    assert list(y) == [6, 0, 22]


def test_what_a_combining_function_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answers(reduced) == [6, 14, 22]
    monkeypatch.setitem(globals(), "POWER", 2.0)
    assert answers(reduced) == [12, 28, 44]


def test_functions_and_values_of_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answers(by_module)[0] == 4
    monkeypatch.setattr(mod, "f", two)
    assert answers(by_module)[0] == 5
    monkeypatch.setattr(mod.inner, "z", 5j)
    assert answers(by_module)[0] == 9
    monkeypatch.setattr(mod, "pair", (1, 0.5))
    assert answers(by_module)[0] == 7.5


@pytest.mark.simt
def test_on_simt(monkeypatch: pytest.MonkeyPatch) -> None:
    y = np.zeros(3)
    for factor in (2.0, 3.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        total[Strided()].on("simt")(A, y)
        assert list(y) == [3 * factor, 7 * factor, 11 * factor]


@pytest.mark.parametrize("target", ["cpu", "python"])
def test_a_plan_freezes_them(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    y = np.zeros(3)
    plans = [k.plan(A, y, schedule="thread_mapped", target=target) for k in (total, by_module)]
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    monkeypatch.setattr(mod, "f", two)
    monkeypatch.setattr(mod, "pair", (0, 0.0))
    monkeypatch.setitem(globals(), "sum", ev.func(one.function))
    found = []
    for plan in plans:
        for _ in range(3):
            plan(A, y)
        found.append(list(y))
    assert found == [[6, 14, 22], [4, 4, 4]]


def test_parameters_of_schedules_are_compared_exactly() -> None:
    @ev.schedule
    class Scaled:
        owner = "thread"
        by: float = 1.0

        def launch(self, layout):
            return 1, 32

        def tiles(self, state):
            return range(ev.thread_index(), state.num_tiles, ev.thread_count())

        def atoms(self, state, tile):
            return range(state.begin(tile), state.end(tile), 1)

    apart = [Scaled(1), Scaled(1.0), Scaled(True), Scaled(0.0), Scaled(-0.0)]
    assert [[a == b for b in apart] for a in apart] == np.eye(5, dtype=bool).tolist()
    assert Scaled(1.0) == Scaled(1.0)
    assert hash(Scaled(1.0)) == hash(Scaled(1.0))
    assert Scaled() != ev.ThreadMapped()


def test_few_of_many_values_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = total.copy()
    specs = kernel.plan(A, np.zeros(3), schedule="thread_mapped")._specs
    for value in range(MOST + 5):
        monkeypatch.setitem(globals(), "FACTOR", float(value))
        kernel.program(specs)
    assert [len(made) for made in kernel._programs.values()] == [MOST]
