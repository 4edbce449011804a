"""What mypy makes of a user's program: `make types` checks it, strictly, and nothing runs it."""

from __future__ import annotations

from typing import Any, assert_type

import evenly as ev
from evenly.layouts.csr import Csr
from evenly.layouts.ell import Ell


def layouts(matrix: Any) -> None:
    A = ev.csr(matrix)
    assert_type(A.to("cuda"), Csr)
    assert_type(ev.ell(matrix).to("cpu"), Ell)
    assert_type(A.max_atoms, int)


def products(matrix: Any, B: Any) -> None:
    planned = ev.linalg.spmm.plan(matrix, B)
    assert_type(planned.plan, ev.Plan)
    planned()
    assert_type(ev.linalg.spgemm.estimate(matrix, matrix), Any)


def schedules(matrix: Any) -> None:
    chosen: list[ev.Schedule] = [
        ev.MergePath(items=7),
        ev.GroupMapped(8),
        ev.Lrb(),
        ev.WarpMapped(),
    ]
    for schedule in chosen:
        assert_type(schedule.partition(ev.csr(matrix), 7).num_processors, Any)
        assert_type(schedule.block, int)


@ev.layout
class Windows:
    num_tiles: int
    values: ev.Array

    @property
    def num_atoms(self) -> int:
        return self.num_tiles * 3

    def begin(self, tile: Any) -> Any:
        return tile * 3

    def end(self, tile: Any) -> Any:
        return tile * 3 + 3


assert_type(Windows(4, values=None), Windows)
