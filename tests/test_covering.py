"""Layouts x schedules x kernels x dtypes on target `cpu`, over the battery, against the reference."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest

from tests.covering import (
    DTYPES,
    covering,
    covering_of_kinds,
    gives_what_the_reference_gives,
    kinds,
    parameters,
    program_for_cpu,
)
from tests.kernels import CASES, ROW_LAYOUTS, SCHEDULES


def of_kinds() -> list[tuple[str, str, str, int]]:
    first = {name: names[0] for names in kinds() for name in names}
    return [(kernel, first[name], *rest) for kernel, name, *rest in covering_of_kinds()]


@pytest.mark.parametrize("chosen", [covering(), of_kinds()], ids=["schedules", "kinds"])
def test_every_pair_is_covered(chosen: Iterable[tuple[str, str, str, int]]) -> None:
    for a, b in itertools.combinations(zip(*chosen, strict=True), 2):
        assert len(set(zip(a, b, strict=True))) == len(set(a)) * len(set(b))


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
