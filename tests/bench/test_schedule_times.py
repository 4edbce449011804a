"""benchmarks/schedule_times.py, dry: which schedules are timed on which matrices, and what its file says."""

from __future__ import annotations

import csv
import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.bench.families import of_families
from evenly.bench.matrices import Source
from evenly.choosing.statistics import statistics

from .test_results import BENCHMARKS


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("schedule_times")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_families(times: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    out = tmp_path / "times.csv"
    line = f"schedule_times.py --dry --families 3,5 --largest 2000 {out}"
    monkeypatch.setattr(sys, "argv", line.split())
    times.main()
    found = rows(out)
    known = {source.name: source for seed in (3, 5) for source in of_families(seed, 2000)}
    assert {row["matrix"] for row in found} == set(known)
    assert len(known) == 120
    source = known["5/geometric/near"]
    here = [row for row in found if row["matrix"] == source.name]
    matrix = source.make()
    st = statistics(ev.csr(matrix))
    assert {row["dtype"] for row in here} == {"float32", "float64"}
    assert {row["kernel"] for row in here} == {"spmv"}
    assert {(row["lengths"], row["columns"], row["stream"]) for row in here} == {
        ("geometric", "near", "1")
    }
    assert {(int(row["rows"]), int(row["cols"]), int(row["nnz"])) for row in here} == {
        (*matrix.shape, matrix.nnz)
    }
    assert float(here[0]["deviation"]) == st.deviation
    assert int(here[0]["greatest"]) == st.greatest
    assert "walks" not in here[0]
    for dtype in ("float32", "float64"):
        mine = [row for row in here if row["dtype"] == dtype]
        assert {row["schedule"] for row in mine} >= {str(s) for s in times.tried(st)}
        assert [row["auto"] for row in mine].count("1") == 1
        assert {row["us"] for row in mine} == {"1.0000"}
    assert "spmv float64       auto over best: 1.000, worst 1.00" in capsys.readouterr().out


def test_hopeless_schedules_are_not_tried(times: Any) -> None:
    long = statistics(ev.ragged(np.array([0, 1, 1_000_000])))
    assert ev.ThreadMapped(128, items=3) in times.SCHEDULES
    assert ev.ThreadMapped(128, items=3) not in times.tried(long)
    assert {s.engine for s in times.tried(long)} >= {"merge", "nonzero", "bins"}


def test_what_breaks_is_left_out_and_so_is_what_is_late(
    times: Any, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    def breaks() -> Any:
        raise MemoryError("2 TB")

    found = [Source("broken", "file", breaks), *of_families(1, 2000)[:3]]
    clock = iter([0.0, 1.0, 2.0, 99.0])
    monkeypatch.setattr(times.time, "monotonic", lambda: next(clock, 99.0))
    times.run(times.Dry(), found, times.SPMVS[:1], str(tmp_path / "times.csv"), 10)
    told = capsys.readouterr().out
    assert "left out: MemoryError: 2 TB" in told
    assert "out of time: 2 matrices are left out" in told
    assert {row["matrix"] for row in rows(tmp_path / "times.csv")} == {found[1].name}


def test_a_folder_or_families(times: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(sys, "argv", ["schedule_times.py", "--dry", "out.csv"])
    with pytest.raises(SystemExit):
        times.main()
    assert "expected either a folder or --families" in capsys.readouterr().err
