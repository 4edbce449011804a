"""The typed program and its phases, as text (see `printing`), on one example a rule."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from typing import Any

import evenly as ev
from evenly.language import ir
from evenly.language.cutting import cut

from . import printing
from .building import lowered
from .cases.passes import ELL, SUBSET
from .cases.table import f32, f64, i32, rows

A = rows([1, 2], [], [3])


def _program(function: Callable[..., Any], **arguments: Any) -> str:
    return printing.program(lowered(function, arguments))


def _phases(function: Callable[..., Any], whole: bool, **arguments: Any) -> str:
    return printing.phases(cut(lowered(function, arguments), whole))


def _is(text: str, expected: str) -> None:
    assert text == textwrap.dedent(expected).strip("\n")


def softmax(A, out):
    for row in A.tiles():
        top = max((A.value(k) for k in A.atoms(row)), default=0.0)
        total = sum(math.exp(A.value(k) - top) for k in A.atoms(row))
        for k in A.atoms(row):
            out[k] = math.exp(A.value(k) - top) / total


def test_a_reduction_is_a_pass_with_an_accumulator() -> None:
    """`out` is a name that targets keep for themselves; reads by the atom are marked `once`."""
    _is(
        _program(softmax, A=A, out=f32(0, 0, 0)),
        """
        tiles row of A
          pass k, max = max float32, found = any bool
            max <- A_values[k once]
            found <- True
          top: float32 = (max if found else 0.0)
          pass k_1, total = sum float32
            total <- exp((A_values[k_1 once] - top))
          total_1: float32 = (0.0 + total)
          pass k_2
            out[k_2] = (exp((A_values[k_2 once] - top)) / total_1)
        """,
    )


def test_passes_become_phases_and_results_live_in_workspace() -> None:
    _is(
        _phases(softmax, False, A=A, out=f32(0, 0, 0)),
        """
        workspace kept_top: float32 a tile
        workspace kept_total_1: float32 a tile
        split row of A
          pass k, max = max float32, found = any bool
            max <- A_values[k]
            found <- True
          leave
            top: float32 = (max if found else 0.0)
            kept_top[row] = top
        split row of A
          enter
            top: float32 = kept_top[row]
          pass k_1, total = sum float32
            total <- exp((A_values[k_1] - top))
          leave
            total_1: float32 = (0.0 + total)
            kept_total_1[row] = total_1
        split row of A
          enter
            top: float32 = kept_top[row]
            total_1: float32 = kept_total_1[row]
          pass k_2
            out[k_2] = (exp((A_values[k_2 once] - top)) / total_1)
        """,
    )


def test_owners_of_whole_tiles_run_one_phase() -> None:
    phases = cut(lowered(softmax, {"A": A, "out": f32(0, 0, 0)}), whole=True)
    assert len(phases.phases) == 1
    assert phases.workspaces == ()


def test_a_sum_over_the_grid_is_finished_before_it_is_read() -> None:
    def kernel(A, x, dot):
        total = 0.0
        for row in A.tiles():
            for k in A.atoms(row):
                total += A.value(k) * x[A.column(k)]
        dot[0] = total

    _is(
        _phases(kernel, False, A=A, x=f32(1, 2), dot=f64(0)),
        """
        workspace kept_total: float32 a one
        split row of A, sum to kept_total
          pass k, total_1 = sum float32
            total_1 <- (A_values[k once] * x[index(A_indices[k once])])
          leave
            total <- total_1
        once
          total: float32 = kept_total[0]
          total_2: float32 = (0.0 + total)
          dot[0] = float64(total_2)
        """,
    )


def test_what_can_be_computed_again_is_not_stored() -> None:
    def kernel(A, x, y):
        for row in A.tiles():
            scale = x[row] * 2
            total = sum(A.value(k) * scale for k in A.atoms(row))
            y[row] = total * scale

    _is(
        _phases(kernel, False, A=A, x=f32(1, 2, 3), y=f32(0, 0, 0)),
        """
        split row of A
          enter
            scale: float32 = (x[row] * 2.0)
          pass k, total = sum float32
            total <- (A_values[k once] * scale)
          leave
            scale: float32 = (x[row] * 2.0)
            total_1: float32 = (0.0 + total)
            y[row] = (total_1 * scale)
        """,
    )


def test_the_mask_stands_around_the_body() -> None:
    def kernel(E, y):
        for row in E.tiles():
            y[row] = sum(E.value(k) for k in E.atoms(row))

    _is(
        _program(kernel, E=ELL, y=f32(0, 0, 0)),
        """
        tiles row of E
          pass k, total = sum float32
            if (index(E_indices[k once]) >= 0)
              total <- E_values[k once]
          y[row] = (0.0 + total)
        """,
    )


def test_ids_are_computed_from_positions() -> None:
    def kernel(S, y):
        for v in S.tiles():
            y[v] = sum(S.value(k) for k in S.atoms(v))

    text = _program(kernel, S=SUBSET, y=f32(0, 0, 0))
    assert "tile: index = index(S_selected[v])" in text
    assert "y[tile_1] = " in text
    assert "S_base_values[atom]" in text
    assert "once" not in text.split("S_base_values")[1].split("\n")[0]  # its atoms are gathered


def test_lanes_outside_the_atoms_are_an_axis_of_the_launch() -> None:
    def kernel(A, x, y):
        for row in A.tiles():
            for j in ev.lanes(y.shape[1]):
                y[row, j] = sum(A.value(k) * x[A.column(k), j] for k in A.atoms(row))

    two = f32(1, 2, 3, 4, 5, 6).reshape(3, 2)
    _is(
        _phases(kernel, False, A=A, x=two, y=two.copy()),
        """
        split row of A, lane i < len(y, 1)
          pass k, total = sum float32
            total <- (A_values[k once] * x[index(A_indices[k once]), i])
          leave
            y[row, i] = (0.0 + total)
        """,
    )


def test_functions_are_gone() -> None:
    @ev.func
    def clamp(v, low):
        if v < low:
            return low
        return v

    def kernel(A, x, y):
        for row in A.tiles():
            y[row] = clamp(x[row], 0)

    _is(
        _program(kernel, A=A, x=f32(1, 2, 3), y=f32(0, 0, 0)),
        """
        tiles row of A
          v: float32 = x[row]
          if (v < 0.0)
            result: float32 = 0.0
          else
            result: float32 = v
          y[row] = result
        """,
    )


def test_constants_decide_branches() -> None:
    def kernel(A, bias, y):
        for row in A.tiles():
            y[row] = 1 + 2 * 3 if bias is None else bias[row]

    _is(
        _program(kernel, A=A, bias=None, y=f32(0, 0, 0)),
        """
        tiles row of A
          y[row] = 7.0
        """,
    )


def test_an_effect_does_not_overtake_a_read() -> None:
    def kernel(A, n, y):
        for row in A.tiles():
            y[row] = y[row] + ev.atomic_add(n, 0, 1)

    _is(
        _program(kernel, A=A, n=i32(0), y=i32(0, 0, 0)),
        """
        tiles row of A
          read: int32 = y[row]
          old = atomic add n[0], 1
          y[row] = (read + old)
        """,
    )


def test_a_walk_of_another_tile_is_serial() -> None:
    def kernel(A, y):
        for row in A.tiles():
            y[row] = sum(sum(1 for j in A.atoms(A.column(k))) for k in A.atoms(row))

    program = lowered(kernel, {"A": A, "y": i32(0, 0, 0)})
    loop = program.steps[0]
    assert isinstance(loop, ir.TileLoop)
    (pass_,) = [s for s in loop.body if isinstance(s, ir.Pass)]
    assert [s.kind for s in pass_.body if isinstance(s, ir.For)] == ["atoms"]


def test_lowering_is_repeatable() -> None:
    """Equal text each time: it is the key under which compiled code is kept."""
    arguments = {"A": A, "out": f32(0, 0, 0)}
    assert _program(softmax, **arguments) == _program(softmax, **arguments)
