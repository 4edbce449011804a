"""From a line of the emitted CUDA C++ to the line of Python that it was made from."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator

import pytest
from tests import kernels
from tests.emitting import codes
from tests.kernels import CASES, FIRST, SCHEDULES

from evenly.language.diagnostics import Location

# kernel, what an emitted line has, what its line of Python has
EXPECTED = [
    ("spmv", r"\ba_y\[v_row\] = ", "y[row] = sum("),
    ("spmv", r"\ba_x\[", "A.value(k) * x[A.column(k)]"),
    ("row_extremes", r"\ba_least\[v_row\] = ", "least[row] = min("),
    ("row_extremes", r"\ba_greatest\[v_row\] = ", "greatest[row] = max("),
    ("row_extremes", r"\bif \(.* == 0LL\)", "if A.column(k) % 2 == 0"),
    ("row_extremes", r"\ba_where\[v_row\] = ", "where[row] = "),
    ("row_norms", r"\bv_v = a_A_values", "square(A.value(k))"),
    ("softmax", r"\ba_y\[v_row\] = -1\.0f", "y[row] = -1.0"),
    ("softmax", r"\ba_y\[v_row\] = (?!-1)", "y[row] = mean"),
    ("softmax", r"\ba_x\[", "mean = sum("),
    ("spmv_dot", r"\ba_out\[0LL\] = ", "out[0] = total"),
    ("spmv_dot", r"\ba_w\[v_row\]", "total += y[row] * w[row]"),
    ("spmv_dot", r"\ba_kept_total\[0\] = grid", "for row in A.tiles():"),
    ("spmm", r"\ba_Y\[.*\] = ", "Y[row, j] = sum("),
    ("weighted_by_tile", r"\ba_scale\[v_row\]", "acc += A.value(k) * scale[row] * (row % 5)"),
    ("weighted_by_tile", r"\ba_y\[v_row\] = ", "y[row] = acc + count"),
    ("two_loops", r"\ba_z\[v_row_1\] = ", "z[row] = sum("),
    ("column_counts", r"ev::atomic_add\(", "ev.atomic_add(counts, A.column(k), 1)"),
    ("column_counts", r"ev::atomic_max\(", "ev.atomic_max(longest, 0, A.column(k) + 1)"),
    ("normalised", r"\ba_z\[v_row_1\] = ", "z[row] = y[row] - mean"),
]  # fmt: skip
READS = r"\ba_(A_\w+|x|y|w|X|scale)(\[|\.once\()"


def lines(kernel: str, schedule: str, layout: str) -> Iterator[tuple[str, Location | None]]:
    """Each line that is emitted for a kernel, and where it comes from."""
    for code in codes(CASES[kernel], SCHEDULES[schedule], layout):
        yield from zip(code.source.splitlines(), code.origins, strict=True)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("kernel", "emits", "python"), EXPECTED)
def test_a_line_comes_from_the_statement_that_says_so(
    kernel: str, emits: str, python: str, schedule: str
) -> None:
    found = [at for line, at in lines(kernel, schedule, "csr") if re.search(emits, line)]
    assert found
    for at in found:
        assert at is not None
        assert at.file == kernels.__file__
        assert python in at.text
        assert linecache.getline(at.file, at.line).rstrip() == at.text


@pytest.mark.parametrize("layout", [*FIRST, "sell_sorted"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_read_has_an_origin_in_the_kernel_or_the_schedule(schedule: str, layout: str) -> None:
    """A layout's methods are inlined: what they read is read by the line that uses them."""
    for kernel in CASES:
        for line, at in lines(kernel, schedule, layout):
            if re.search(READS, line):
                assert at is not None, line
                assert at.file == kernels.__file__ or "/evenly/schedules/" in at.file, (line, at)


def test_the_engines_own_lines_come_from_nowhere() -> None:
    origins = dict(lines("spmv", "merge", "csr"))
    assert origins["using pos = int;"] is None
    assert next(at for line, at in origins.items() if "ev::split_block" in line) is None
