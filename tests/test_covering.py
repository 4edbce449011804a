"""Layouts x schedules x kernels x dtypes on target `cpu`, over the battery, against the reference."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import pytest

from tests.covering import (
    DTYPES,
    covering,
    covering_of_kinds,
    gives_what_the_reference_gives,
    kinds,
    of_engines,
    parameters,
    program_for_cpu,
)
from tests.kernels import CASES, ROW_LAYOUTS, SCHEDULES


def of_kinds() -> list[tuple[str, str, str, int]]:
    first = {name: names[0] for names in kinds() for name in names}
    return [(kernel, first[name], *rest) for kernel, name, *rest in covering_of_kinds()]


ENGINES = {(kernel, SCHEDULES[name].engine, *rest) for kernel, name, *rest in covering()}
ALONE = {tuple(rest) for _, *rest in covering()}


@pytest.mark.parametrize("chosen", [ENGINES, ALONE, of_kinds()], ids=["engines", "schedules", "kinds"])  # fmt: skip
def test_every_pair_is_covered(chosen: Iterable[tuple[Any, ...]]) -> None:
    for a, b in itertools.combinations(zip(*chosen, strict=True), 2):
        assert len(set(zip(a, b, strict=True))) == len(set(a)) * len(set(b))


def test_schedules_meet_their_kernels_in_turn() -> None:
    for alike in of_engines().values():
        met = [
            {kernel for kernel, name, *_ in covering() if name == schedule} for schedule in alike
        ]
        assert set().union(*met) == set(CASES)
        assert all(len(kernels) >= len(CASES) // 2 for kernels in met)


def test_every_value_is_covered_by_kinds() -> None:
    wanted = set(CASES), set(SCHEDULES), set(ROW_LAYOUTS), {0, 1}
    assert tuple(map(set, zip(*covering_of_kinds(), strict=True))) == wanted


@pytest.mark.parametrize("kernel", CASES)
def test_schedules_of_a_kind_make_one_program(kernel: str) -> None:
    for names in kinds():
        assert len({program_for_cpu(kernel, name) for name in names}) == 1, names


@pytest.mark.parametrize(("kernel", "schedule", "layout", "dtype"), parameters(covering_of_kinds()))
def test_cpu_gives_what_the_reference_gives(
    kernel: str, schedule: str, layout: str, dtype: int
) -> None:
    gives_what_the_reference_gives(kernel, SCHEDULES[schedule], layout, DTYPES[dtype], "cpu")
