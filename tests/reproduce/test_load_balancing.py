"""The experiments of the PPoPP paper: the rule, what is published, what is said of rows, and what is drawn."""

from __future__ import annotations

import dataclasses

import pytest

from evenly.reproduce import tables
from evenly.reproduce.experiment import Site
from evenly.reproduce.load_balancing import EXPERIMENT, pictures, published, rule
from evenly.reproduce.load_balancing.rule import AS_DATA, BEST, MERGE, RULE, THREAD
from evenly.reproduce.load_balancing.sweep import NAMES
from tests.bench.conftest import row

FIGURES = {figure.number: figure for figure in EXPERIMENT.figures}


class Gpu:
    target = "cuda"


# ---- the rule -------------------------------------------------------------------------------------------
def test_the_rule_takes_thread_mapped_for_what_is_small_in_both_respects():
    assert rule.by_rule(499, 5000, 9_999) == rule.by_rule(5000, 499, 9_999) == THREAD
    assert rule.by_rule(500, 500, 9_999) == rule.by_rule(499, 499, 10_000) == MERGE


def test_in_the_published_data_beta_alone_decides():
    assert rule.as_data(7_353) == THREAD  # west2021
    assert rule.as_data(52_121) == MERGE  # aa4
    for name, line in published.table().items():
        assert line.ms[RULE] == line.ms[rule.as_data(line.nonzeros)], name


def of_one_matrix(**us):
    """Rows of one matrix of 100 rows and 5,000 nonzeros, where the rule takes thread-mapped."""
    return [row("m", NAMES[name.replace("_", "-")], "ours", time) for name, time in us.items()]


def test_who_chooses_has_the_time_of_what_it_chooses():
    rows = of_one_matrix(thread_mapped=4.0, group_mapped=2.0, merge_path=3.0)
    found = {r.contender: r for r in rule.choices(rows, NAMES)}
    assert {name: r.us for name, r in found.items()} == {RULE: 4.0, AS_DATA: 4.0, BEST: 2.0}
    assert found[BEST].detail == NAMES["group-mapped"] and found[BEST].family == rule.CHOICE
    assert list(rule.choices([], NAMES)) == []
    without = rule.choices(of_one_matrix(merge_path=3.0), NAMES)
    assert [r.contender for r in without] == [BEST]  # what the rule would take was not measured


# ---- what is published ----------------------------------------------------------------------------------
def test_published_times_are_of_the_same_matrix():
    known = row("deep/wiki-Vote", "auto", "auto", 1.0, rows=8297, nnz=103_689)
    line = published.of(known)
    assert line.speedup(RULE) == pytest.approx(2.337210244)  # as printed there
    assert line.speedup(BEST) == line.speedup(MERGE) == line.speedup(RULE)
    assert line.speedup("unknown") is None
    assert published.of(dataclasses.replace(known, nnz=103_688)) is None
    assert published.of(dataclasses.replace(known, matrix="other")) is None


def test_means_are_over_the_matrices_of_the_rows():
    rows = [row("bcsstm25", who, "ours", 1.0, rows=15_439, nnz=15_439) for who in ("a", "b")]
    rows += [
        row("usroads", "a", "ours", 1.0, rows=129_164, nnz=330_870),
        row("m", "a", "ours", 1.0),
    ]
    found = published.speedups(rows, RULE)
    assert found == pytest.approx([2.782045896, 2.529416961])  # as printed there
    assert published.mean(found) == "2.65 (2)"
    assert published.speedups(rows, MERGE, over=published.CUB) == pytest.approx(
        [
            0.9487,
        ],
        abs=1e-4,
    )
    assert published.mean([]) == "-"


# ---- what is printed ------------------------------------------------------------------------------------
LARGE = {"rows": 8297, "cols": 8297, "nnz": 103_689}


def rows_of_a_gpu():
    """Two matrices: on `small` thread-mapped is the fastest, on wiki-Vote merge-path."""
    rows = []
    for matrix, us, sizes in (
        ("small", {THREAD: 1.0, "group-mapped": 2.0, MERGE: 3.0}, {}),
        ("wiki-Vote", {THREAD: 9.0, "group-mapped": 4.0, MERGE: 2.0}, LARGE),
    ):
        timed = [row(matrix, NAMES[name], "ours", time, **sizes) for name, time in us.items()]
        rows += [*timed, *rule.choices(timed, NAMES)]
        rows += [
            row(matrix, f"hand: {NAMES[n]}", "hand", us[n] * s, **sizes)
            for n, s in ((THREAD, 1.0), (MERGE, 0.85))
        ]
        rows += [
            row(matrix, "auto", "auto", 1.0, **sizes),
            row(matrix, "cuSPARSE CSR ALG1", "csr", 4.0, **sizes),
        ]
        rows.append(row(matrix, "cuSPARSE CSR ALG2", "", 0.0, rounds=0, note="refused", **sizes))
    return rows


def shown(number, rows):
    return list(tables.table(EXPERIMENT, FIGURES[number], rows))


def cells(lines, start):
    """Return the cells behind `start` of the line that begins with it, split at blanks."""
    (found,) = (
        line.removeprefix(f"  {start} ").split() for line in lines if line.startswith(f"  {start} ")
    )
    return found


def test_figure_2_has_the_two_numbers_of_the_paper():
    lines = shown(2, rows_of_a_gpu())
    assert lines[1].startswith("Figure 2: time of generated kernels")
    assert cells(lines, NAMES[THREAD]) == ["2", "1.000", "-", "100%", "-", "1.00", "small"]
    assert cells(lines, NAMES[MERGE])[:4] == ["2", "0.850", "-", "0%"]
    more = [
        row("can_838", who, family, 2.0, rows=838, nnz=10_010)
        for who, family in ((NAMES[MERGE], "ours"), (f"hand: {NAMES[MERGE]}", "hand"))
    ]
    assert cells(shown(2, more), NAMES[MERGE]) == [
        "1",
        "1.000",
        "0.85",
        "(1)",
        "100%",
        "0%",
        "(1)",
        "1.00",
        "can_838",
    ]
    assert shown(2, [])[2:] == ["  not measured: kernels by hand run on a GPU"]


def test_figure_3_has_a_line_a_schedule():
    lines = shown(3, rows_of_a_gpu())
    assert cells(lines, NAMES[THREAD])[:3] == ["2", "1", "1.33"]
    assert cells(lines, NAMES[MERGE]) == [
        "2",
        "1",
        "1.63",
        "2.34",
        "(1)",
        "1.33",
        "small",
        "2.00",
        "wiki-Vote",
    ]
    assert "  left out: cuSPARSE CSR ALG2, small, wiki-Vote: refused" in lines


def test_figure_4_has_a_line_a_matrix_and_the_means():
    lines = shown(4, rows_of_a_gpu())
    small, large, means = (
        line.split() for line in lines if line.startswith(("  small", "  wiki", "  rule  "))
    )
    assert small == ["small", "5,000", "4.00", "4.00", "4.00", "4.00", "-", "-"]
    assert large == ["wiki-Vote", "103,689", "2.00", "2.00", "2.00", "4.00", "2.34", "2.34"]
    assert means == ["rule", "2", "2.83", "2.34", "(1)", "2.00", "wiki-Vote", "4.00", "small", "0"]


def test_a_wrong_result_is_told_and_counts_for_nothing():
    rows = rows_of_a_gpu()
    at = next(i for i, r in enumerate(rows) if r.contender == "cuSPARSE CSR ALG1")
    rows[at] = dataclasses.replace(rows[at], wrong=7)
    lines = shown(4, rows)
    assert "  WRONG: cuSPARSE CSR ALG1, small: 7 entries of y" in lines
    assert not any(line.startswith("  small") for line in lines)


def verdicts(rows, site):
    return {
        c.published.partition(" (")[0]: (c.holds, c.here)
        for c in EXPERIMENT.conclusions(site, rows)
    }


def test_conclusions_of_a_gpu():
    found = verdicts(rows_of_a_gpu() * 2, Site(Gpu()))  # each row comes with several figures
    assert found["generated kernels cost little over the same by hand"] == (
        False,
        "ThreadMapped 1.00 (90% on 100% of matrices), MergePath 0.85 (90% on 0% of matrices)",
    )
    assert found["no schedule is the fastest everywhere"] == (
        True,
        "of the three, thread-mapped on 1, group-mapped on 0, merge-path on 1",
    )
    assert found["a simple rule over schedules beats cuSPARSE"] == (
        True,
        "2.83 times in the geometric mean, the peak 4.00 small",
    )
    assert found["the rule is near the best of its schedules"] == (
        True,
        f"{RULE} 1.00, {AS_DATA} 1.00, auto 1.41",
    )
    assert found["kernels are shorter than the same by hand"] == (None, "not measured")


def test_what_a_run_cannot_tell(site):
    assert {holds for holds, _ in verdicts([], site).values()} == {None}
    for other in site, Site(Gpu(), quick=True):
        holds, here = verdicts(rows_of_a_gpu(), other)[
            "a simple rule over schedules beats cuSPARSE"
        ]
        assert holds is None and here.startswith("2.83 times")


# ---- what is drawn --------------------------------------------------------------------------------------
def test_figures_are_drawn():
    pytest.importorskip("matplotlib")
    rows = rows_of_a_gpu()
    drawn = dict(
        item
        for draw in (pictures.overhead, pictures.landscape, pictures.speedup)
        for item in draw(rows)
    )
    assert list(drawn) == ["figure-2", "figure-2-ratio", "figure-3", "figure-4"]
    titles = {
        name: [ax.get_title(loc="left") for ax in made.axes if ax.get_visible()]
        for name, made in drawn.items()
    }
    assert titles["figure-2"] == ["ThreadMapped", "MergePath"]
    assert titles["figure-3"][:3] == [
        f"{kind}, {name}"
        for kind, name in (
            ("ThreadMapped", THREAD),
            ("GroupMapped", "group-mapped"),
            ("MergePath", MERGE),
        )
    ]
    assert titles["figure-4"][0] == "rule: geometric mean 2.83, slower on 0 of 2 matrices"
    hand, generated = drawn["figure-2"].axes[1].collections
    assert hand.get_offsets()[:, 1].tolist() == pytest.approx([2.55, 1.7])
    assert generated.get_offsets()[:, 1].tolist() == [3.0, 2.0]
    assert (
        list(pictures.overhead([]))
        == list(pictures.landscape([]))
        == list(pictures.speedup([]))
        == []
    )
