"""What is measured, for how long, and the files of times."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import evenly as ev
from evenly.bench.families import of_families
from evenly.bench.matrices import Source
from evenly.choosing.statistics import statistics
from evenly.fitting import cases, measuring
from evenly.fitting.cases import Case
from evenly.fitting.tasks import SCHEDULES, SPMVS, TASKS, compiled, known, tried
from evenly.gpus.numbers import measured as default_gpu
from evenly.gpus.numbers import numbers

from .synthetic import Clockwork, times

LARGEST = 2000


def place() -> Clockwork:
    return Clockwork(default_gpu(), numbers())


def measured(found: Any, seconds: float = 1000.0, say: Any = lambda text: None) -> list[Case]:
    return list(measuring.measured(place(), found, LARGEST, seconds, say))


def test_every_kernel_on_the_first_of_each_lengths_then_products() -> None:
    sources = of_families(3, LARGEST)[:13]
    found = measured(sources)
    by_matrix: dict[str, list[Case]] = {}
    for case in found:
        by_matrix.setdefault(case.matrix, []).append(case)
    assert list(by_matrix) == [source.name for source in sources]
    assert {case.lengths for case in found} == {source.lengths for source in sources[:12]}
    kinds = [{case.task for case in here} for here in by_matrix.values()]
    assert kinds == [set(TASKS)] * 12 + [set(SPMVS)]
    matrix = sources[2].make()
    assert by_matrix[sources[2].name][0].size == (matrix.shape[0], matrix.nnz)
    wide = next(case for case in by_matrix[sources[2].name] if case.task.dtype == "float64")
    assert (wide.work.task.width, wide.work.columns) == (8, matrix.shape[1])
    assert wide.predictions(numbers()) == wide.us


def test_what_breaks_is_left_out_and_so_is_what_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks() -> Any:
        raise MemoryError("2 TB")

    sources = [Source("broken", "file", breaks), *of_families(1, LARGEST)[:3]]
    clock = iter([0.0, 1.0, 2.0])
    monkeypatch.setattr(measuring.time, "monotonic", lambda: next(clock, 99.0))
    told: list[str] = []
    found = measured(sources, 10.0, told.append)
    assert {case.matrix for case in found} == {sources[1].name}
    assert "broken is left out: MemoryError: 2 TB" in told
    assert told[0] == "measuring: 0 matrices, 1 of 10 s; broken"


def test_seeds_follow_each_other_and_files_come_after_the_first(tmp_path: Path) -> None:
    scipy.io.mmwrite(tmp_path / "small.mtx", scipy.sparse.coo_array(np.tri(3)))
    names = [source.name for source in measuring.drawn(4, LARGEST, str(tmp_path))]
    files = [name for name in names if "/" not in name]
    assert "small" in files
    assert [name.split("/")[0] for name in names if "/" in name] == ["4"] * 60 + ["5"] * 60 + [
        "6"
    ] * 60
    assert names.index("small") > 59 and names.index("small") < names.index("5/equal/uniform")


def test_hopeless_schedules_are_not_tried() -> None:
    long = statistics(ev.ragged(np.array([0, 1, 1_000_000])))
    assert ev.ThreadMapped(128, items=3) in SCHEDULES
    assert ev.ThreadMapped(128, items=3) not in tried(long)
    assert {s.engine for s in tried(long)} >= {"merge", "nonzero", "bins"}


def test_what_auto_knows_of_the_kernels() -> None:
    by_name = {task.kernel: known(task) for task in TASKS[1:]}
    assert [known(task).width for task in TASKS] == [4, 8, *[4] * (len(TASKS) - 2)]
    assert {k for k, task in by_name.items() if task.gathers} == {"spmv", "marks"}
    assert {k for k, task in by_name.items() if task.stored} == {"scaled", "ranks"}
    assert {k for k, task in by_name.items() if task.scans} == {"ranks"}
    assert {k for k, task in by_name.items() if task.passes > 1} == {"deviations"}
    assert by_name["weighted"].by_tile and by_name["weighted"].kept


def test_everything_is_compiled() -> None:
    jobs: list[Any] = []

    def mapped(function: Any, given: Any) -> Any:
        assert function is compiled
        jobs.extend(given)
        return jobs

    told = list(measuring.compile_all(mapped, "sm_90"))
    assert jobs == [(task, schedule, "sm_90") for task in TASKS for schedule in SCHEDULES]
    assert told[-1] == f"compiling: {len(jobs)} of {len(jobs)}"


# ---- files of times ------------------------------------------------------------------------------------
def test_times_are_kept_and_matrices_made_again(tmp_path: Path) -> None:
    found = measured(of_families(3, LARGEST)[:2])
    path = tmp_path / "times.csv.gz"
    path.write_bytes(cases.written(found))
    again = [c for _, here in cases.made_again(cases.read(str(path)), None) for c in here]
    assert len(again) == len(found) == 2 * len(TASKS)
    for one, other in zip(found, sorted(again, key=lambda c: found_at(c, found)), strict=True):
        assert (one.gpu, one.largest, one.matrix, one.columns, one.size, one.task) == (
            (other.gpu, other.largest, other.matrix, other.columns, other.size, other.task)
        )
        assert other.us == pytest.approx(one.us, abs=1e-4)
        assert other.work.st == one.work.st and other.work.reuse == one.work.reuse
        assert other.work.walks == one.work.walks


def found_at(case: Case, found: list[Case]) -> int:
    return next(n for n, c in enumerate(found) if (c.matrix, c.task) == (case.matrix, case.task))


def test_schedules_may_have_more_parameters_than_when_they_were_measured() -> None:
    for schedule in SCHEDULES:
        assert cases.as_now(str(schedule)) == str(schedule)
    assert cases.as_now("MergePath(block=256, items=4)") == str(ev.MergePath(256, 4))


def test_matrices_that_are_not_known_are_left_out() -> None:
    case = times(numbers())[0]
    case.lengths, case.matrix = "", "nosuch"
    assert list(cases.made_again([case], None)) == []


def test_a_matrix_of_another_size_is_refused() -> None:
    (first, *_) = measured(of_families(3, LARGEST)[:1])
    first.size = 1, 2
    with pytest.raises(
        ev.InputError, match=r"3/equal/\S+: expected the matrix that was measured, of \(1, 2\)"
    ):
        list(cases.made_again([first], None))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"gpu,matrix\n",
        gzip.compress(
            ",".join(cases.HEAD).encode() + b"\n{},1,a,,,1,1,spmv,float32,NoSuch(a=1),1\n"
        ),
        gzip.compress(b"a\n1\n", mtime=0),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "times.csv.gz"
    path.write_bytes(content)
    with pytest.raises(
        ev.InputError, match=r"expected a file of times that `evenly fit --times` wrote"
    ):
        cases.read(str(path))
