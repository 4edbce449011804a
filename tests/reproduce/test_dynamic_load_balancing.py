"""`evenly reproduce dynamic-load-balancing`: its octree, its figures from end to end on the CPU, and its claims."""

from __future__ import annotations

import csv
import dataclasses
from typing import Any

import numpy as np
import pytest

from evenly.reproduce.dynamic_load_balancing import figures, sweep
from evenly.reproduce.dynamic_load_balancing.conclusions import CLAIMS
from evenly.reproduce.dynamic_load_balancing.octree import DEEPEST, octree, root, tree
from evenly.reproduce.dynamic_load_balancing.particles import DISTRIBUTIONS, TUBE, UNIFORM
from evenly.reproduce.dynamic_load_balancing.sweep import EVERY, METHODS, Point
from evenly.reproduce.experiment import Site

QUICK = "reproduce", "dynamic-load-balancing", "--quick", "--target", "cpu"


def by_hand(points: np.ndarray) -> tuple[list[np.ndarray], int, int]:
    """The particles of each leaf of a sequential octree, how many octants are divided, and in how many levels."""
    todo: list[Any] = [(np.arange(len(points)), 0, np.full(3, 0.5), 0.5)]
    leaves, tasks, levels = [], 0, 0
    while todo:
        inside, depth, centre, half = todo.pop()
        if len(inside) <= 20 or depth == DEEPEST:
            leaves.append(inside)
            continue
        tasks, levels = tasks + 1, max(levels, depth + 1)
        octants = (points[inside] >= centre) @ np.array([1, 2, 4])
        for o in range(8):
            if (octants == o).any():
                signs = np.where(np.array([o & 1, o & 2, o & 4]) > 0, 1, -1)
                todo.append((inside[octants == o], depth + 1, centre + signs * half / 2, half / 2))
    return leaves, tasks, levels


@pytest.mark.parametrize("name", [*DISTRIBUTIONS, "one point"])
def test_the_octree_by_sorting_is_the_sequential_one(name: str) -> None:
    n = 3000
    points = np.full((n, 3), 0.3, np.float32) if name == "one point" else DISTRIBUTIONS[name](n)
    leaves, tasks, levels = by_hand(points)
    found = tree(points)
    assert (found.tasks, found.leaves, found.rounds) == (tasks, len(leaves), levels)
    for inside in leaves:
        number = found.leaf_of[inside[0]]
        np.testing.assert_array_equal(np.flatnonzero(found.leaf_of == number), np.sort(inside))


def test_the_tube_is_a_shell() -> None:
    points = DISTRIBUTIONS[TUBE](2000).astype(np.float64)
    radius = np.hypot(points[:, 0] - 0.5, points[:, 1] - 0.5)
    assert 0.374 < radius.min() < 0.38 < 0.42 < radius.max() < 0.426
    assert points.min() >= 0 and points.max() < 1


@pytest.mark.simt
@pytest.mark.parametrize("method", EVERY)
def test_every_method_finds_the_octree(site: Site, method: str) -> None:
    of = sweep.problem(site, TUBE, 200)
    plan = octree.plan(*of.arguments, schedule=sweep.schedule(method, 72, 2), target="simt")
    assert after(site, of, lambda: plan(*of.arguments)) == 0


def after(site: Site, of: sweep.Problem, run: Any) -> int:
    """What is wrong after a run."""
    (_,) = sweep.timed(site, of, run, 1)
    return sweep.wrong(of)


def test_a_particle_out_of_its_leaf_is_wrong(site: Site) -> None:
    of = sweep.problem(site, UNIFORM, 500)
    plan = octree.plan(*of.arguments, target="cpu")

    def swapped() -> None:
        plan(*of.arguments)
        of.arguments[4][[0, 499]] = of.arguments[4][[499, 0]]

    def twice() -> None:
        plan(*of.arguments)
        of.arguments[4][0] = of.arguments[4][1]

    assert after(site, of, lambda: plan(*of.arguments)) == 0
    assert after(site, of, swapped) > 0
    assert after(site, of, twice) > 0


def test_launches() -> None:
    made = sweep.schedule("stealing", 72, 20)
    assert (made.size, made.block, made.blocks) == (72, 96, 20)
    made = sweep.schedule("static", 16, 9)  # two of them are a warp
    assert (made.size, made.block, made.blocks) == (16, 32, 5)


def test_every_figure(evenly, tmp_path, monkeypatch) -> None:
    pytest.importorskip("matplotlib")
    small = dataclasses.replace(figures.QUICK, particles=500, threads=(32,), sets=(100, 500))
    monkeypatch.setattr(figures, "QUICK", small)
    ran = evenly(*QUICK, "--out", tmp_path)
    assert (ran.status, ran.err) == (0, "")
    assert [line[:8] for line in ran.lines if line.startswith("Figure")] == [f"Figure {n}" for n in (2, 3, 4, 5)]  # fmt: skip
    assert ran.lines.count("the lock-free queue does not change from 20 blocks on     cannot tell    not measured") == 1  # fmt: skip
    assert {path.name for path in tmp_path.iterdir()} == {
        *(f"figure-{n}.csv" for n in (2, 3, 4, 5)), "figure-2-threads.svg", "figure-2-blocks.svg",
        "figure-3.svg", "figure-4.svg", "figure-5.svg",
    }  # fmt: skip
    with (tmp_path / "figure-2.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {(r["distribution"], r["method"], r["blocks"]) for r in rows} == {
        (d, m, b) for d in DISTRIBUTIONS for m in EVERY for b in ("2", "8")
    }
    assert all(r["wrong"] == "0" and r["rounds"] == "1" and not r["note"] for r in rows)


def small(monkeypatch: Any) -> None:
    few = dataclasses.replace(figures.QUICK, particles=300, threads=(32,), blocks=(2,), sets=(100,))
    monkeypatch.setattr(figures, "QUICK", few)


def test_a_run_goes_on_where_an_earlier_one_has_ended(evenly, tmp_path, monkeypatch) -> None:
    small(monkeypatch)
    assert evenly(*QUICK, "--figure", "2", "--out", tmp_path).status == 0
    whole = (tmp_path / "figure-2.csv").read_text()
    lines = whole.splitlines(keepends=True)
    (tmp_path / "figure-2.csv").write_text("".join(lines[:-3]))  # as if it had been interrupted
    ran = []
    real = sweep.measured
    monkeypatch.setattr(sweep, "measured", lambda site, at: ran.append(at) or real(site, at))
    assert evenly(*QUICK, "--figure", "2", "--out", tmp_path, "--resume").status == 0
    again = (tmp_path / "figure-2.csv").read_text().splitlines(keepends=True)
    assert len(ran) == 3 and len(again) == len(lines) and again[:-3] == lines[:-3]
    ran.clear()
    shown = evenly(*QUICK, "--figure", "3", "--out", tmp_path, "--resume")
    assert shown.status == 0 and {at.figure for at in ran} == {3}  # its best are those of the file
    verdict = "the slowest of the four in "
    assert sum(verdict in line for line in shown.lines) == 1  # of Figure 2, which did not run


def test_what_a_run_cannot_go_on_with_is_refused(evenly, tmp_path, monkeypatch) -> None:
    small(monkeypatch)
    ran = evenly(*QUICK, "--resume")
    assert (ran.status, ran.err.count("--resume: expected --out")) == (2, 1)
    ran = evenly("reproduce", "load-balancing", "--quick", "--resume", "--out", tmp_path)
    assert (ran.status, ran.err.count("--resume: expected an experiment that goes on")) == (2, 1)
    (tmp_path / "figure-2.csv").write_text("a,b\n1,2\n")
    ran = evenly(*QUICK, "--resume", "--out", tmp_path)
    assert (ran.status, ran.err.count("expected a CSV file of the same experiment")) == (2, 1)
    (tmp_path / "figure-2.csv").unlink()
    assert evenly(*QUICK, "--figure", "2", "--out", tmp_path).status == 0
    path = tmp_path / "figure-2.csv"
    with path.open() as file:
        rows = list(csv.reader(file))
    with path.open("w") as file:
        csv.writer(file).writerows([rows[0], ["another machine", *rows[1][1:]]])
    ran = evenly(*QUICK, "--resume", "--out", tmp_path)
    assert (ran.status, ran.err.count("expected points of this machine")) == (2, 1)


def test_a_wrong_octree_gives_the_status(evenly, monkeypatch) -> None:
    monkeypatch.setattr(sweep, "wrong", lambda *given: 3)
    ran = evenly(*QUICK, "--figure", "5")
    assert ran.status == 1
    assert "  WRONG: static, tube, 72 x 8, 500 particles: 3" in ran.lines


def point(method: str, us: float, **others: Any) -> Point:
    usual = {"machine": "a GPU", "versions": "1", "target": "cuda", "figure": 2, "distribution": TUBE, "particles": 500_000, "threads": 32, "blocks": 8, "rounds": 5}  # fmt: skip
    return Point(method=method, us=us, **(usual | others))


def test_claims() -> None:
    blocking, lock_free, stealing, static = METHODS
    times = {blocking: 40.0, lock_free: 20.0, stealing: 10.0, static: 15.0}
    rows = [point(m, us) for m, us in times.items()]
    rows += [point(m, us, blocks=64) for m, us in times.items()]
    rows += [point(blocking, us, figure=3, blocks=n) for n, us in ((20, 9.0), (64, 5.0), (132, 8.0))]  # fmt: skip
    rows += [point(lock_free, us, figure=3, blocks=n) for n, us in ((20, 9.0), (64, 8.9))]
    rows += [point(static, 1.0, figure=5, distribution=d, levels=n) for d, n in ((TUBE, 7), (UNIFORM, 6))]  # fmt: skip
    found = [ask(rows) for ask in CLAIMS.values()]
    assert found == [
        ("the slowest of the four in 2 of 2 launches", True),
        ("the fastest of the four in 0 of 1 launches", False),
        ("time on 132 blocks over that on 64: tube 1.60", True),
        ("time on 20 blocks over the least on more: tube 1.01", True),
        ("best time of the static list over that of stealing: tube 1.50", True),
        ("rounds of 500,000 particles: 7 and 6", True),
    ]
    assert [ask([]) for ask in CLAIMS.values()] == [None] * len(CLAIMS)


def test_without_room_a_point_is_left_out(site: Site, monkeypatch) -> None:
    def narrow(n: int, capacity: int, like: Any) -> Any:
        return root(n, 1, like)

    monkeypatch.setattr(sweep, "root", narrow)
    found = sweep.measure(site, 2, UNIFORM, 1000, "static", 32, 8)
    assert found.rounds == 0
    assert found.note.startswith("T: expected at most 1 tasks that wait at a time, got 8")
