"""What values depend on, on one kernel with a line a rule, and which passes gather."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import evenly as ev
from evenly.language import ir
from evenly.language.accesses import gathers
from evenly.language.dependence import Dependence

from .building import lowered
from .cases.table import f32, i32, rows

A = rows([1, 2], [], [3])


def _loop(function: Callable[..., Any], **arguments: Any) -> ir.TileLoop:
    loop = lowered(function, arguments).steps[-1]
    assert isinstance(loop, ir.TileLoop)
    return loop


def rules(A, n, x, y, hits):
    fixed = n * 2
    for row in A.tiles():
        same = fixed + n
        computed = row * 2
        fetched = x[computed]
        chosen = n + 1
        if row > n:
            chosen = n - 1
        counted = n + 2
        while True:
            inner = counted + 1
            if counted >= row:
                break
            counted = inner
        sliced = n + 3
        for i in range(n):
            sliced += i
        ticket = ev.atomic_add(hits, 0, 1)
        total = sum(A.value(k) for k in A.atoms(row))
        y[row] = same + fetched + chosen + counted + sliced + ticket + total


def test_a_variable_depends_on_values_and_on_conditions() -> None:
    loop = _loop(rules, A=A, n=1, x=f32(0, 0, 0, 0, 0), y=f32(0, 0, 0), hits=i32(0))
    dependence = Dependence(loop.body, {loop.tile})
    varying = {v.name for v in dependence.varying()}
    conditional = {
        "chosen",
        "counted_1",
        "inner",
    }  # the loop carries `counted` round under another name
    results = {"old", "ticket", "k", "total", "total_1"}
    assert varying == {"row", "computed", "fetched"} | conditional | results
    by_value = {v.name for v in dependence.following({loop.tile}, conditions=False)}
    assert by_value == {"row", "computed", "fetched"}
    read = {v.name for v in dependence.following(set(), lambda e: e.array.name == "x")}
    assert read == {"fetched"}


def neighbours(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


def the_same_for_all_atoms(A, x, y):
    for row in A.tiles():
        total = 0.0
        for k in A.atoms(row):
            near = row + 1 - 1
            total += A.value(k) * x[near]
        y[row] = total


def test_a_pass_gathers_where_its_index_differs_from_atom_to_atom() -> None:
    for kernel, expected in (neighbours, True), (the_same_for_all_atoms, False):
        loop = _loop(kernel, A=A, x=f32(0, 0, 0), y=f32(0, 0, 0))
        assert [gathers(s) for s in loop.body if isinstance(s, ir.Pass)] == [expected]
