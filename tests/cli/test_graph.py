"""`evenly graph`: what it prints, and its status."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from evenly.cli import graph, levels

SAYS = {
    "bfs": "Reached: 34 vertices, the farthest on level 3",
    "sssp": "Reached: 34 vertices, the farthest at 3",
    "pagerank": "Highest: vertex 33 with 0.100918",
    "components": "Components: 1, the largest of 34 vertices",
    "triangles": "Triangles: 45",
    "cores": "Greatest core number: 4, of 10 vertices",
}
KARATE = Path(__file__).parents[2] / "examples" / "karate.mtx"


@pytest.mark.parametrize("algorithm", SAYS)
def test_its_lines(evenly: Any, algorithm: str, tmp_path: Path) -> None:
    options = "--target", "python", "--schedule", "merge_path", "--csv", tmp_path / "times.csv"
    ran = evenly("graph", algorithm, KARATE, "--validate", *options)
    assert (ran.status, ran.err) == (0, "")
    assert re.fullmatch(r"Elapsed \(ms\): \d+\.\d{6}", ran.lines[0])
    assert ran.lines[1:] == [
        "Graph: karate.mtx", "Size: 34 vertices, 156 stored edges", SAYS[algorithm], "Errors: 0"
    ]  # fmt: skip
    header, row = (tmp_path / "times.csv").read_text().splitlines()
    assert header == "kernel,dataset,rows,cols,nnzs,elapsed"
    assert row.startswith(f"{algorithm},karate,34,34,156,")


def test_no_algorithm_is_forgotten() -> None:
    assert set(SAYS) == set(graph.TABLE)


@pytest.mark.parametrize("algorithm", SAYS)
def test_a_wrong_result_is_found(algorithm: str) -> None:
    matrix = sp.csr_array(scipy.io.mmread(KARATE)).astype(float)
    given = {"source": 0} if graph.TABLE[algorithm].from_source else {}
    right = graph.TABLE[algorithm].run(matrix, **given, target="python")
    assert graph.TABLE[algorithm].errors(matrix, 0, right) == 0
    right[7] += 1
    assert graph.TABLE[algorithm].errors(matrix, 0, right) > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bf", KARATE), "ALGORITHM: expected one of bfs, components, cores, pagerank, sssp, triangles, got 'bf'; hint: did you mean 'bfs'?"),
        (("bfs", KARATE, "--source", 40), "--source: expected a vertex in 0..33, got 40"),
        (("triangles", KARATE, "--source", 0), "--source: expected none: triangles has no source, got 0"),
        (("bfs", KARATE, "--repeat", 0), "--repeat: expected 1 or more, got 0"),
        (("bfs", KARATE, "--schedule", "tuned"), "--schedule: expected one of"),
        (("bfs", "nosuch.mtx"), "nosuch.mtx: expected a Matrix Market file, got no such file"),
    ],
)  # fmt: skip
def test_refusals(evenly: Any, arguments: Any, said: str) -> None:
    ran = evenly("graph", *arguments)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"evenly: {said}")


def test_errors_about_the_graph_name_the_file(evenly: Any, tmp_path: Path) -> None:
    for name, matrix, said in (
        ("wide", np.ones((2, 3)), "expected a square matrix, got shape (2, 3)"),
        ("cycle", np.array([[0, -1], [-1, 0]]), "expected no negative cycle"),
        ("complex", np.array([[0, 1j], [1j, 0]]), "expected real"),
    ):
        file = tmp_path / f"{name}.mtx"
        scipy.io.mmwrite(file, sp.coo_array(matrix), symmetry="general")
        ran = evenly("graph", "sssp", file, "--target", "python")
        assert ran.status == 2
        assert ran.err.startswith(f"evenly: {file}: {said}"), ran.err
        assert "--dtype" not in ran.err


def test_hints_are_of_what_the_command_has(evenly: Any, tmp_path: Path) -> None:
    file = tmp_path / "negative.mtx"
    scipy.io.mmwrite(file, sp.coo_array(np.array([[0.0, -1.0], [2.0, 0.0]])), symmetry="general")
    ran = evenly("graph", "pagerank", file, "--target", "python")
    assert ran.err == f"evenly: {file}: expected finite weights, 0 or more, got others\n"


def test_the_picture_has_a_bar_for_each_level(evenly: Any) -> None:
    ran = evenly("graph", "bfs", KARATE, "--target", "python", "--picture", "--validate")
    assert ran.status == 0
    assert ran.lines[4:] == [
        "level    vertices",
        "    0           1 ####",
        "    1          16 " + 50 * "#",
        "    2           9 " + 29 * "#",
        "    3           8 " + 25 * "#",
        "Errors: 0",
    ]


def test_many_levels_share_lines_and_unreached_vertices_have_none() -> None:
    title, *lines = levels.of_levels(np.array([-1, *range(100)]))
    assert title == "level    vertices"
    assert [line.split()[:2] for line in lines[:2]] == [["0-4", "5"], ["5-9", "5"]]
    assert len(lines) == 20
    title, *lines = levels.of_distances(np.array([math.inf, 0.0, 6.0, 6.5, 12.0]))
    assert title == "from    vertices"
    assert len(lines) == levels.ROWS
    counts = {line.split()[0]: line.split()[1] for line in lines}
    assert [counts[at] for at in ("0", "6", "6.5", "11.5")] == ["1", "1", "1", "1"]
    assert sum(map(int, counts.values())) == 4


def test_distances_that_are_all_the_same_share_a_line() -> None:
    title, line = levels.of_distances(np.array([0.0, math.inf, 0.0]))
    assert (title, line.split()[:2]) == ("from    vertices", ["0", "2"])


def test_what_has_no_levels_has_no_picture(evenly: Any) -> None:
    ran = evenly("graph", "cores", KARATE, "--picture")
    assert ran.status == 2
    assert ran.err.startswith("evenly: --picture: expected none: cores has no levels")
