"""`evenly bench graph` on the CPU: files in, times, figures and a status out."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from evenly.bench import searches
from evenly.schedules import TABLE


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A graph whose entries may be negative, and a matrix that is none. Two schedules are tried."""
    monkeypatch.setattr(
        searches, "SCHEDULES", {name: TABLE[name] for name in ("thread_mapped", "merge_path")}
    )
    folder = tmp_path / "corpus"
    folder.mkdir()
    rng = np.random.default_rng(0)
    square = sp.random_array((60, 60), density=0.08, rng=rng, data_sampler=rng.standard_normal)
    scipy.io.mmwrite(folder / "square.mtx", square)
    scipy.io.mmwrite(folder / "wide.mtx", sp.random_array((3, 9), density=0.5, rng=rng))
    return folder


def test_from_files_to_figures(evenly: Any, corpus: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file, figures = tmp_path / "times.csv", tmp_path / "figures"
    only = "--only", "square", "--only", "wide"
    ran = evenly(
        "bench", "graph", corpus, *only, "--target", "cpu", "--validate", "--csv", file,
        "--plots", figures,
    )  # fmt: skip
    assert (ran.status, ran.err) == (0, "")
    assert "wide" in ran.out and "left out: matrix: expected a square one with rows" in ran.out
    with file.open() as lines:
        rows = list(csv.DictReader(lines))
    assert {(row["algorithm"], row["contender"]) for row in rows} == {
        (name, who)
        for name in ("bfs", "sssp")
        for who in ("auto", "SciPy", *(str(TABLE[s].make()) for s in searches.SCHEDULES))
    }
    assert all(float(row["us"]) > 0 and row["wrong"] == "0" for row in rows)
    assert "bfs: times as fast as SciPy, geometric mean of 1 graph" in ran.lines
    assert sorted(path.name for path in figures.iterdir()) == [
        f"{name}-{figure}.svg" for name in ("bfs", "sssp") for figure in ("landscape", "speedup")
    ]


def test_a_wrong_result_is_told(evenly: Any, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(searches.CHECKS, "bfs", lambda G, source, found: 3)
    ran = evenly(
        "bench", "graph", corpus, "--only", "square", "--algorithm", "bfs", "--target", "cpu",
        "--validate",
    )  # fmt: skip
    assert ran.status == 1
    assert "WRONG: auto (3)" in ran.out


def test_without_a_library_schedules_are_compared_with_a_thread_a_vertex() -> None:
    rows = [
        searches.SearchRow(
            "m", "v", "cuda", "float64", "g", "file", 2, 2, 9, "s", who, of, who, "call", "warm",
            us, us, us, 3, algorithm="bfs",
        )
        for who, of, us in (
            ("auto", "auto", 2.0), (searches.BASE, "ours", 6.0), ("MergePath()", "ours", 3.0),
        )
    ]  # fmt: skip
    found = {who: each[0].value for who, each in searches.speedups(rows).items()}
    assert found == {"auto": 3.0, searches.BASE: 1.0, "MergePath()": 2.0}


def program(file: Path, *lines: str) -> None:
    file.write_text("\n".join(["#!/bin/sh", *lines]))
    file.chmod(0o755)


def test_gunrock_is_read_by_its_line(evenly: Any, corpus: Path, tmp_path: Path) -> None:
    args, times = tmp_path / "args", tmp_path / "times.csv"
    said = "echo 'GPU distances[:4] = 0 1 2 3'", "echo 'GPU Elapsed Time : 0.25 (ms)'"
    program(tmp_path / "bfs", f'echo "$@" > {args}; head -n 1 "$2" >> {args}', *said)
    options = "--only", "square", "--algorithm", "bfs", "--target", "cpu", "--gunrock", tmp_path
    ran = evenly("bench", "graph", corpus, *options, "--csv", times)
    assert (ran.status, ran.err) == (0, "")
    with times.open() as lines:
        row = {row["contender"]: row for row in csv.DictReader(lines)}["Gunrock"]
    assert (float(row["us"]), row["family"], row["clock"]) == (250.0, "library", "kernels")
    assert "bfs: times as fast as SciPy or Gunrock, geometric mean of 1 graph" in ran.lines
    given, header = args.read_text().splitlines()
    assert given.endswith(f".mtx --src {row['source']} --num_runs 10")
    assert header.startswith("%%MatrixMarket matrix coordinate real general")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("echo 'no CUDA-capable device' >&2", "exit 7"), "got status 7, no CUDA-capable device"),
        (("echo 'GPU Elapsed Time : -nan (ms)'",), "got status 0, GPU Elapsed Time : -nan (ms)"),
        (("echo 'GPU Elapsed Time : 1.5. (ms)'",), "got status 0, GPU Elapsed Time : 1.5. (ms)"),
    ],
)
def test_gunrock_that_prints_no_time_leaves_the_graph_out(
    evenly: Any, corpus: Path, tmp_path: Path, lines: tuple[str, ...], said: str
) -> None:
    program(tmp_path / "bfs", *lines)
    options = "--only", "square", "--algorithm", "bfs", "--target", "cpu", "--gunrock", tmp_path
    ran = evenly("bench", "graph", corpus, *options)
    assert ran.status == 2
    assert said in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--algorithm", "bsf"), "--algorithm: expected one of all, bfs, sssp, got 'bsf'; hint: did you mean 'bfs'?"),
        (("--only", "nosuch"), "--only: expected one of"),
        (("--seconds", "0"), "--seconds: expected 1 or more, got 0"),
        (("--gunrock", "nowhere"), "--gunrock: expected a folder with Gunrock's program bfs, got nowhere"),
        (("--csv", ""), "--csv: expected a path, got an empty one"),
    ],
)  # fmt: skip
def test_refusals(evenly: Any, arguments: Any, said: str) -> None:
    ran = evenly("bench", "graph", *arguments)
    assert ran.status == 2
    assert ran.err.startswith(f"evenly: {said}")
