"""The paper's matrices: read, or stood in for by matrices with the same lengths of rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st

import evenly as ev
from evenly.bench.cpu import CpuBench
from evenly.reproduce.experiment import Site
from evenly.reproduce.flexible_batched.matrices import (
    TWELVE,
    all_of_them,
    random_lengths,
    the_twelve,
    with_lengths,
)

# (order, nonzeros), as the files of the SuiteSparse collection have them
KNOWN = {"west0989": (989, 3537), "dwt_992": (992, 16744), "G2": (800, 38352), "ex25": (848, 24369)}


def test_there_are_32_and_all_are_stand_ins_without_a_folder(site):
    found = all_of_them(site)
    assert len({m.name for m in found}) == 32 and all(m.stand_in for m in found)
    assert [m.mean for m in found] == sorted(m.mean for m in found)
    by_name = {m.name: m for m in found}
    for name, (order, nonzeros) in KNOWN.items():
        assert by_name[name].matrix.shape == (order, order)
        assert by_name[name].matrix.nnz == nonzeros
        assert by_name[name].label == f"{name} (stand-in)"
    assert by_name["bp_1600"].longest == 304


def test_the_twelve_are_of_order_800_to_1024(site):
    orders = [m.matrix.shape[0] for m in the_twelve(site)]
    assert len(orders) == len(TWELVE) == 12
    assert min(orders) >= 800 and max(orders) <= 1024


def test_files_take_the_places_of_their_stand_ins(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENLY_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "matrices"
    folder.mkdir()
    given_ = with_lengths([1, 2, 1], 3, np.random.default_rng(1))
    scipy.io.mmwrite(folder / "gr_30_30.mtx", given_)
    scipy.io.mmwrite(folder / "other.mtx", given_)
    found = {m.name: m for m in all_of_them(Site(CpuBench(), str(folder)))}
    assert [m.name for m in found.values() if not m.stand_in] == ["gr_30_30"]
    assert found["gr_30_30"].label == "gr_30_30" and len(found) == 32
    np.testing.assert_array_equal(found["gr_30_30"].matrix.toarray(), given_.toarray())


def test_a_folder_without_any_of_them(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENLY_CACHE_DIR", str(tmp_path / "cache"))
    scipy.io.mmwrite(tmp_path / "other.mtx", with_lengths([1], 1, np.random.default_rng(1)))
    with pytest.raises(ev.InputError) as raised:
        all_of_them(Site(CpuBench(), str(tmp_path)))
    assert str(raised.value) == (
        "--matrices: expected a folder with matrices of the paper, such as G2, G45, GD02_a, got 1 others"
    )


@given(st.lists(st.integers(0, 40), max_size=30), st.integers(0, 5), st.integers(0, 3))
def test_rows_have_the_lengths_and_no_column_twice(lengths, more, seed):
    columns = max(lengths, default=0) + more
    made = with_lengths(lengths, columns, np.random.default_rng(seed))
    assert made.shape == (len(lengths), columns)
    assert np.diff(made.indptr).tolist() == lengths
    for start, stop in zip(made.indptr, made.indptr[1:], strict=False):
        row = made.indices[start:stop]
        assert (np.diff(row) > 0).all() and ((row >= 0) & (row < columns)).all()


@pytest.mark.parametrize("mean", [2, 4, 16, 64])
def test_a_few_dense_rows_hold_half_of_the_nonzeros(mean):
    assert random_lengths(1024, mean, few_dense=False).tolist() == [mean] * 1024
    lengths = random_lengths(1024, mean, few_dense=True)
    assert lengths.sum() == 1024 * mean
    assert lengths[lengths == 1024].sum() == 512 * mean
