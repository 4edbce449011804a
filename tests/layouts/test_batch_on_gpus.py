"""Batches on a GPU, and what of that can be tested without one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from evenly.errors import InputError
from evenly.layouts import check
from tests.batches import (
    BATCHES,
    EYE,
    PATTERN,
    SOME,
    diagonal,
    malformed,
    products,
    same,
)
from tests.batteries import vector
from tests.emitting import emitted


@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
def test_the_kernels_that_check_and_renumber(target: str) -> None:
    from evenly.runtime.gluing import numbered, unsound

    B = ev.batch(SOME, narrow=False)
    heads = np.array([m.indptr[0] for m in SOME])
    tails = np.concatenate([m.indptr[1:] for m in SOME])
    columns = np.concatenate([m.indices for m in SOME])
    assert unsound(heads, tails, columns, B.starts, target) is None
    indices, offsets = np.zeros_like(B.indices), np.zeros_like(B.offsets)
    numbered(columns, B.starts.atoms, B.starts.columns[:-1], indices, target)
    numbered(tails, B.starts.tiles, B.starts.atoms[:-1], offsets[1:], target)
    np.testing.assert_array_equal(indices, B.indices)
    np.testing.assert_array_equal(offsets, B.offsets)
    empty, full = 1, next(i for i, m in enumerate(SOME) if m.nnz > 5)
    for looked_at, at, value, item in (
        (heads, empty, 1, empty),
        (tails, B.starts.tiles[full], -1, full),
        (tails, B.starts.tiles[full + 1] - 1, 10**6, full),
        (columns, B.starts.atoms[full], -1, full),
        (columns, B.starts.atoms[full + 1] - 1, SOME[full].shape[1], full),
    ):
        kept, looked_at[at] = looked_at[at], value
        assert unsound(heads, tails, columns, B.starts, target) == item
        looked_at[at] = kept


@pytest.mark.parametrize("narrow", [False, True])
def test_what_is_done_on_a_gpu_does_the_same_in_cpu_memory(
    narrow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = ev.batch(SOME, narrow=narrow)
    monkeypatch.setattr("evenly.layouts.gluing._alike", lambda pieces, name: pieces[0].values)
    B = ev.batch(SOME, narrow=narrow)
    for field, spec in type(B).__fields__.items():
        if "array" in spec.kind:
            np.testing.assert_array_equal(getattr(B, field), getattr(wanted, field))
            assert getattr(B, field).dtype == getattr(wanted, field).dtype
    with pytest.raises(InputError, match=r"matrices\[1\]\.indices: .* got indices\[1\]=3"):
        ev.batch([EYE, malformed("indices", 1, 3)])


def test_they_compile_for_a_gpu() -> None:
    pytest.importorskip("cuda.core")
    from evenly.targets.cuda import compile as compiling

    for kind, schedule in ("narrow", ev.GroupMapped(4)), ("one pattern", ev.MergePath()):
        B, _ = BATCHES[kind]()
        for code in emitted(products, (B, np.ones(B.num_columns), np.ones(B.num_tiles)), schedule):
            assert compiling.cubin(code.source, code.name, "sm_90")


def on_gpu(x: np.ndarray, library: str) -> Any:
    if library == "torch":
        return pytest.importorskip("torch").from_numpy(x).cuda()
    if library == "cupy":
        return pytest.importorskip("cupy").asarray(x)
    return ev.DeviceArray.from_numpy(x)


def explained(B: Any) -> list[str]:
    """The lines on the batch's tiles and items, which do not depend on the device."""
    return str(ev.explain(B)).splitlines()[1:4]


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["cupy", "torch", "evenly"])
def test_on_a_gpu(library: str) -> None:
    def there(m: Any) -> Any:
        given = tuple(on_gpu(part, library) for part in (m.data, m.indices, m.indptr))
        return ev.csr(given, shape=m.shape)

    items, m, count = [there(m) for m in SOME], SOME[PATTERN], 5
    values = vector(count * m.nnz, np.float64).reshape(count, m.nnz)
    alike = [sp.csr_array((v, m.indices, m.indptr), shape=m.shape) for v in values]
    for B, wanted in (
        (ev.batch(items), SOME),
        (ev.batch(items, narrow=True), SOME),
        (ev.batch(there(m), on_gpu(values, library)), alike),
    ):
        check(B)
        same(B.to("cpu"), wanted)
        assert [A.to("cpu").shape for A in B] == [m.shape for m in wanted]
        np.testing.assert_array_equal(B[2].to("cpu").indices, wanted[2].indices)
        assert explained(B) == explained(B.to("cpu"))
        x = vector(B.num_columns, np.float64)
        y = ev.spmv(B, on_gpu(x, library))
        np.testing.assert_array_equal(ev.kit.to_numpy(y), diagonal(wanted) @ x)
        parts = [ev.kit.to_numpy(part) for part in B.split(y) if part.shape[0]]
        np.testing.assert_array_equal(np.concatenate(parts), ev.kit.to_numpy(y))
    wrong = there(EYE)
    wrong = type(wrong)(wrong.offsets, on_gpu(np.int32([0, 3, 1]), library), wrong.values, 3)
    with pytest.raises(InputError, match=r"matrices\[2\]\.indices: .* got indices\[1\]=3"):
        ev.batch([items[0], items[1], wrong])
    with pytest.raises(InputError, match=r"matrices\[1\]: expected a matrix beside matrices\[0\]"):
        ev.batch([items[0], EYE])
