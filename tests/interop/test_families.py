"""Matrices by families are what their families say, and the same on every machine."""

from __future__ import annotations

import itertools
import math
import statistics
import zlib
from typing import Any

import numpy as np
import pytest

from evenly.interop.families import COLUMNS, LENGTHS, Member, draws, families, member
from evenly.interop.families.chosen import drawn
from evenly.layouts import csr

SMALL = 60_000


def one(lengths: str, columns: str, seed: int = 0, nnz: float = SMALL) -> Member:
    return drawn(seed, lengths, columns, nnz, np.random.default_rng(seed))


def rows_of(made: Member) -> list[Any]:
    offsets, columns = made.structure()
    return np.split(columns, offsets[1:-1])


@pytest.mark.parametrize("pair", list(itertools.product(LENGTHS, COLUMNS)), ids="/".join)
def test_they_are_sound_csr_matrices(pair: tuple[str, str]) -> None:
    found = one(*pair, nnz=20_000)
    matrix = found.make()
    matrix.check_format(full_check=True)
    csr(matrix, validate=True)
    assert matrix.dtype == np.float32
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
    assert matrix.shape == (found.rows, found.cols)
    assert 0.6 < matrix.nnz / found.nnz < 1.5
    assert 0 <= matrix.data.min() < 0.01 < 0.99 < matrix.data.max() < 1
    steps = np.diff(matrix.indices)
    begins = matrix.indptr[1:-1]
    within = np.ones(len(steps), bool)
    within[begins[(begins > 0) & (begins < matrix.nnz)] - 1] = False
    assert (steps[within] > 0).all()


def test_a_seed_draws_sixty_and_two_have_all_pairs() -> None:
    for seed in (0, 5):
        here, after = ([(m.lengths, m.columns) for m in families(s)] for s in (seed, seed + 1))
        assert len(set(here)) == len(here) == 60
        assert {*here, *after} == set(itertools.product(LENGTHS, COLUMNS))
        assert [lengths for lengths, _ in here[:12]] == list(LENGTHS)


def test_sizes_are_those_asked_for() -> None:
    found = [m.nnz for m in families(3)]
    assert max(found) < 1.1 * 60e6
    assert sum(nnz < 100_000 for nnz in found) < 15
    assert sum(1e5 <= nnz <= 5e7 for nnz in found) > 40
    assert max(m.nnz for m in families(3, 300_000_000)) > 1.5e8
    assert max(m.nnz for m in families(3, 10_000)) < 15_000


def test_another_seed_gives_other_parameters_and_matrices() -> None:
    first, second = (next(iter(families(seed, SMALL))) for seed in (0, 7))  # the same pair
    assert (first.lengths, first.columns) == (second.lengths, second.columns)
    assert (first.rows, first.nnz, first.about) != (second.rows, second.nnz, second.about)


def test_names_tell_the_seed() -> None:
    assert next(iter(families(4))).name == "4/equal/repeated"


@pytest.mark.parametrize(
    ("pair", "known"),
    [
        (("pareto", "near"), 2632942459),
        (("log-normal", "power-law-shuffled"), 3995029570),
        (("geometric", "bands"), 2707692970),
        (("block-diagonal", "blocks"), 3999278255),
    ],
)
def test_every_machine_draws_the_same(pair: tuple[str, str], known: int) -> None:
    offsets, columns = one(*pair).structure()
    assert zlib.crc32(offsets.tobytes() + columns.tobytes()) == known


def test_threads_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    for pair in (("sorted", "blocks"), ("block-diagonal", "repeated")):
        many = one(*pair).make()
        monkeypatch.setattr(member.os, "cpu_count", lambda: 7)
        assert (many != one(*pair).make()).nnz == 0


# ---- row lengths -----------------------------------------------------------------------------------
def lengths_of(lengths: str, seed: int = 0, nnz: float = SMALL) -> tuple[Member, Any]:
    found = one(lengths, "uniform", seed, nnz)
    return found, np.diff(found.offsets())


def test_equal() -> None:
    found, lengths = lengths_of("equal")
    assert set(lengths) == {found.shape.mean}


def test_normal_and_log_normal_and_geometric_and_pareto_have_their_moments() -> None:
    found, lengths = lengths_of("normal")
    assert lengths.std() / lengths.mean() == pytest.approx(found.shape.a, rel=0.1)
    found, lengths = lengths_of("log-normal", nnz=3e6)
    spread = math.sqrt(math.exp(found.shape.a**2) - 1)
    assert lengths.std() / lengths.mean() == pytest.approx(spread, rel=0.3)
    found, lengths = lengths_of("geometric")
    mean = found.shape.mean
    assert (lengths == 0).mean() == pytest.approx(1 / (1 + mean), rel=0.2)
    assert lengths.std() == pytest.approx(math.sqrt(mean * (1 + mean)), rel=0.1)
    found, lengths = lengths_of("pareto", nnz=3e6)
    alpha = found.shape.a
    least = found.shape.mean * (alpha - 1) / alpha
    assert (lengths > 4 * least).mean() == pytest.approx(4**-alpha, rel=0.2)


def test_bimodal_and_clustered() -> None:
    for name in ("bimodal", "clustered"):
        found, lengths = lengths_of(name, nnz=1e6)
        short, long = np.unique(lengths)
        assert long == found.shape.b * short
        assert (lengths == long).mean() == pytest.approx(found.shape.a, rel=0.5)
        changes = np.count_nonzero(np.diff(lengths)) / np.count_nonzero(lengths == long)
        assert changes > 1.8 if name == "bimodal" else changes < 2.1 / found.shape.run


def test_sorted_and_one_huge_and_arrow() -> None:
    _, lengths = lengths_of("sorted")
    assert (np.diff(np.sort(lengths)[::-1] - lengths) <= 1).all()  # but for rounding
    assert lengths[0] > 3 * lengths.mean()
    found, lengths = lengths_of("one-huge")
    assert [lengths.argmax()] == list(found.shape.long)
    assert np.sort(lengths)[-2] < lengths.max() / 50
    found = one("arrow", "uniform")
    matrix = found.make()
    heads = len(found.shape.long)
    assert (np.diff(matrix.indptr)[:heads] == found.cols).all()
    assert np.diff(matrix.indptr)[heads:].max() < found.cols / 10
    assert (matrix.indices[matrix.indptr[:-1][np.diff(matrix.indptr) > 0]] == 0).all()


def test_mostly_empty() -> None:
    found, lengths = lengths_of("mostly-empty")
    assert 0.92 <= found.shape.a <= 0.99
    assert (lengths == 0).mean() == pytest.approx(found.shape.a, abs=0.005)
    assert set(lengths) == set(range(int(found.shape.b) + 1))


def test_blocks_of_one_key_are_equal_and_nothing_lies_beside_them() -> None:
    kinds = set()
    for seed in range(6):
        found = one("block-diagonal", "uniform", seed)
        keys, begins = found.blocks.keys, found.blocks.rows
        matrix = found.make()
        kinds.add(len(set(keys)) == 1)
        blocks: dict[int, Any] = {}
        inside = 0
        for key, first, last in zip(keys, begins, begins[1:], strict=False):
            here = matrix[first:last, first:last].astype(bool).toarray()
            assert np.array_equal(blocks.setdefault(key, here), here)
            inside += here.sum()
        assert inside == matrix.nnz
        assert len({block.tobytes() for block in blocks.values()}) == len(blocks)
    assert kinds == {True, False}


# ---- columns ---------------------------------------------------------------------------------------
def test_near_lies_in_its_window() -> None:
    found = one("geometric", "near", seed=1)
    scattered = False
    for row, columns in enumerate(rows_of(found)):
        if len(columns):
            away = np.abs(columns - row * found.cols // found.rows)
            assert away.max() <= max(found.places.window, 2 * len(columns))
            scattered |= bool((np.diff(columns) > 1).any())
    assert scattered


def test_bands_are_runs_at_the_same_distances() -> None:
    found = next(
        m
        for m in (one("equal", "bands", s) for s in range(20))
        if m.places.a > 2 and m.rows == m.cols > 4 * m.places.window
    )
    rows = rows_of(found)
    middle = [columns - row for row, columns in enumerate(rows)][len(rows) // 2 :][:20]
    assert all(np.array_equal(middle[0], columns) for columns in middle)
    assert np.count_nonzero(np.diff(middle[0]) > 1) < found.places.a


def test_blocks_and_repeated_share_their_columns() -> None:
    for name in ("blocks", "repeated"):
        found = one("equal", name, seed=1)
        rows, group = rows_of(found), found.places.group
        assert group > 1
        for first in range(0, len(rows) - group, group):
            assert all(np.array_equal(rows[first], row) for row in rows[first : first + group])
        differ = [not np.array_equal(*pair) for pair in itertools.pairwise(rows[::group])]
        assert np.mean(differ) > 0.9


def test_blocks_have_runs() -> None:
    found = one("equal", "blocks", seed=1)
    breaks = [np.count_nonzero(np.diff(columns) > 1) for columns in rows_of(found)]
    assert max(breaks) < -(-found.shape.mean // found.places.a)


def test_a_power_law_has_frequent_columns_first_or_anywhere() -> None:
    found, shuffled = one("geometric", "power-law"), one("geometric", "power-law-shuffled")
    counts, others = (
        np.bincount(m.structure()[1], minlength=m.cols) for m in (found, shuffled)
    )  # fmt: skip
    quarter = found.cols // 4
    expected = 0.25 ** (4 / found.places.a)
    assert counts[:quarter].sum() / counts.sum() == pytest.approx(expected, abs=0.05)
    assert others[:quarter].sum() / others.sum() == pytest.approx(0.25, abs=0.1)
    head = np.sort(others)[::-1][:quarter].sum() / others.sum()
    assert head > 0.8 * expected


def test_scattered_columns_are_as_random_as_ones_drawn_apart() -> None:
    """The gaps of sorted uniform numbers vary as an exponential distribution; equal parts would have a third of it."""
    found = one("equal", "uniform", nnz=1e6)
    gaps = np.concatenate([np.diff(row) for row in rows_of(found)])
    assert found.cols > 100 * found.shape.mean
    assert gaps.std() / gaps.mean() == pytest.approx(1, abs=0.1)


def test_uniform_columns_are_everywhere() -> None:
    found = one("geometric", "uniform")
    parts = np.histogram(found.structure()[1], 8, (0, found.cols))[0]
    assert parts.max() < 1.1 * parts.min()


def test_what_streams() -> None:
    for name in COLUMNS:
        close = name in ("near", "bands", "blocks", "repeated")
        assert one("mostly-empty", name).stream == close
    by_rows = [one("block-diagonal", "uniform", seed) for seed in range(8)]
    for found in by_rows:
        gap = found.cols / len(found.blocks.keys) / (found.nnz / found.rows)
        assert found.stream == (gap <= 32)
    assert {found.stream for found in by_rows} == {True, False}


# ---- draws -----------------------------------------------------------------------------------------
def test_functions_are_those_of_the_library_but_for_rounding() -> None:
    for x in (1e-16, 0.3, 0.5, 1 - 1e-16, 1.0, 77.7, 1e12):
        assert draws.ln(x) == pytest.approx(math.log(x), rel=1e-13, abs=1e-15)
    for x in (-40.0, -1.0, -1e-9, 0.0, 0.34, 0.35, 30.0):
        assert draws.exp(x) == pytest.approx(math.exp(x), rel=1e-13)
    for u in (1e-9, 0.02, 0.5, 0.9, 1 - 1e-6):
        assert draws.normal(u) == pytest.approx(statistics.NormalDist().inv_cdf(u), abs=6e-4)


def test_compiled_functions_round_as_python_does() -> None:
    """A compiler that joins a product and a sum into one instruction would change the last bits."""
    for k in range(1, 2000):
        assert draws.ln(k / 700) == draws.ln.py_func(k / 700)
        assert draws.exp(k / 100 - 10) == draws.exp.py_func(k / 100 - 10)
        assert draws.normal(k / 2000) == draws.normal.py_func(k / 2000)


def test_draws_are_even() -> None:
    words = [draws.hashed(np.uint64(9), np.uint64(k)) for k in range(4000)]
    units = np.array([draws.unit(np.uint64(w)) for w in words])
    assert 0 < units.min() < 0.01 < 0.99 < units.max() < 1
    assert units.mean() == pytest.approx(0.5, abs=0.02)
    gaps = np.array([draws.gap(np.uint64(w)) for w in words])
    assert gaps.min() > 0
    assert gaps.std() / gaps.mean() == pytest.approx(1, abs=0.08)  # as of an exponential one
    assert np.median(gaps) / gaps.mean() == pytest.approx(math.log(2), abs=0.05)
    below = np.bincount([draws.below(np.uint64(w), 5) for w in words])
    assert len(below) == 5 and below.min() > 700
