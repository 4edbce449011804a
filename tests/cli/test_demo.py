"""`evenly demo`: one table, checked."""

from __future__ import annotations

import re

import numpy as np
import pytest

from evenly.cli import demo, problem
from evenly.schedules import TABLE as SCHEDULES
from evenly.timing import busy

ROW = re.compile(r"│ (.{17,20}) │ (\S.{13,}) │ +(\d+\.\d{4}) │ +(\d+\.\d{4}) │ +(\S+) │")


def rows(ran) -> list[tuple[str, ...]]:
    return [found.groups() for found in map(ROW.fullmatch, ran.lines) if found]


def test_the_table(evenly, monkeypatch):
    monkeypatch.setattr(demo, "busy_machine", lambda: "")
    ran = evenly("demo", "--scale", 8, "--target", "cpu", "--repeat", 2)
    assert (ran.status, ran.err) == (0, "")
    assert re.match(r"evenly \S+: SpMV, y = A x, in float32\non cpu \(.+, \d+ threads?\)", ran.out)
    found = rows(ran)
    names = [demo.SCIPY, *SCHEDULES]
    assert [row[1].strip() for row in found] == names * 2
    assert [row[0].strip() for row in found if row[0].strip()] == [
        "R-MAT (power law)", "256 rows", found[2][0].strip(),
        "5-point stencil", "256 rows", "1,216 nonzeros",
    ]  # fmt: skip
    for section in (found[: len(names)], found[len(names) :]):
        assert section[0][3] == "1.0000"
        for row in section:
            assert float(row[2]) > 0
            assert float(row[4]) < 1e-5
    assert ran.lines[-1].startswith(f"All {2 * len(names)} results are right")
    assert max(map(len, ran.lines)) <= 80


def test_a_narrow_terminal_cuts_nothing(evenly, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    ran = evenly("demo", "--scale", 4, "--target", "cpu", "--repeat", 1)
    assert len(rows(ran)) == 2 * (1 + len(SCHEDULES))


def test_a_wrong_result_is_named(evenly, monkeypatch):
    right = problem.Problem.result

    def wrong(self, plan):
        y = right(self, plan)
        if type(plan.schedule).__name__ == "MergePath":
            y[0] = np.nan
        return y

    monkeypatch.setattr(problem.Problem, "result", wrong)
    ran = evenly("demo", "--scale", 4, "--target", "cpu", "--repeat", 1)
    assert ran.status == 1
    expected = "WRONG: merge_path on R-MAT (power law), merge_path on 5-point stencil."
    assert ran.lines[-1] == expected
    assert sum("WRONG" in line for line in ran.lines) == 3


def test_why_it_is_not_on_a_gpu(evenly, monkeypatch):
    monkeypatch.setattr(demo, "best_target", lambda: ("cpu", "no driver"))
    ran = evenly("demo", "--scale", 4, "--repeat", 1)
    assert "Not on a GPU: no driver (`evenly info` says more)." in ran.lines


def test_a_busy_machine_is_named(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("os.getloadavg", lambda: (3.25, 1.0, 1.0))
    assert busy.busy_machine().startswith("This machine was busy already (load 3.2, 2 cores)")
    monkeypatch.setattr("os.getloadavg", lambda: (0.25, 1.0, 1.0))
    assert busy.busy_machine() == ""


def test_the_usual_sizes():
    """At least a million nonzeros each, as `make demo` promises."""
    from evenly.interop.generators import rmat, stencil

    assert rmat(18).nnz > 1_000_000
    assert stencil(512).nnz > 1_000_000


@pytest.mark.gpu
def test_on_a_gpu(evenly):
    ran = evenly("demo", "--scale", 12, "--target", "cuda", "--repeat", 3)
    assert ran.status == 0, ran.out
    assert len(rows(ran)) == 2 * (1 + len(SCHEDULES))
