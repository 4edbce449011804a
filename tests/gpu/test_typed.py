"""Complex numbers and floats of 16 bits on a GPU: every schedule and conversion, arrays of every library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.interop.transfer import to_cuda, to_numpy
from evenly.layouts.contract import is_layout
from tests.batteries import array, matrices, readable, vector
from tests.kernels import CASES, SCHEDULES, inputs
from tests.language import test_numbers as numbers
from tests.typed import TYPES, agree, arguments, covering, moved_bits_are_kept, several_agree

pytestmark = pytest.mark.gpu


def moved(value: Any) -> Any:
    if is_layout(value):
        return value.to("cuda")
    return to_cuda(value) if isinstance(value, np.ndarray) else value


def run(kernel: Any, *args: Any) -> None:
    """A kernel on copies of CPU arrays, which are then brought back."""
    there = [moved(value) for value in args]
    kernel[ev.ThreadMapped()].on("cuda")(*there)
    for mine, theirs in zip(args, there, strict=True):
        if isinstance(mine, np.ndarray):
            mine[...] = to_numpy(theirs)


@pytest.mark.parametrize(("kernel", "schedule", "layout", "dtype"), covering())
def test_cuda_gives_what_the_reference_gives(
    kernel: str, schedule: str, layout: str, dtype: str
) -> None:
    case = CASES[kernel]
    bound = case.kernel[SCHEDULES[schedule]].on("cuda")
    for name, matrix in inputs(case, layout, np.float32, all_walked=True).items():
        args = [moved(value) for value in arguments(case, matrix, layout, dtype)]
        bound(*args)
        first = [to_numpy(args[i]) for i in case.outputs]
        agree(name, first, kernel, dtype)
        bound(*args)
        for i, got in zip(case.outputs, first, strict=True):
            assert to_numpy(args[i]).tobytes() == got.tobytes(), f"{name}: other bits"


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_operations(dtype: str) -> None:
    numbers.operations_agree(run, dtype, numbers.PLAIN)


def test_every_element_is_read() -> None:
    numbers.every_element_is_read(run)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_are_rounded_once(dtype: Any) -> None:
    numbers.numbers_are_rounded_once(run, dtype)


@ev.kernel
def scaled(A, alpha, beta, x, y, sums):
    for row in A.tiles():
        for k in A.atoms(row):
            ev.atomic_add(sums, A.column(k) % len(sums), alpha * A.value(k))
        y[row] = beta * y[row] + alpha * sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_arguments_and_atomics(dtype: str) -> None:
    matrix = matrices()["power law"].astype(dtype)
    x, y = vector(matrix.shape[1], dtype), vector(matrix.shape[0], dtype, seed=2)
    sums, alpha, beta = np.zeros(7, dtype), 2 - 1j, np.complex64(1j)
    args = [moved(v) for v in (ev.csr(matrix), alpha, beta, x, y, sums)]
    scaled[ev.MergePath()].on("cuda")(*args)
    np.testing.assert_allclose(to_numpy(args[4]), beta * y + alpha * (matrix @ x), rtol=1e-5)
    expected = np.zeros(7, dtype)
    np.add.at(expected, matrix.indices % 7, alpha * matrix.data)
    np.testing.assert_allclose(to_numpy(args[5]), expected, rtol=1e-5)


@pytest.mark.parametrize("schedule", ["thread_mapped", "merge_path"])
@pytest.mark.parametrize("dtype", TYPES)
def test_tensors_of_pytorch(dtype: str, schedule: str) -> None:
    torch = pytest.importorskip("torch")
    matrix = matrices()["power law"]
    t = getattr(torch, dtype)
    values, x = (torch.tensor(a).cuda().to(t) for a in (matrix.data, vector(matrix.shape[1])))
    offsets, columns = (torch.tensor(a).cuda() for a in (matrix.indptr, matrix.indices))
    y = ev.spmv(ev.csr((values, columns, offsets), shape=matrix.shape), x, schedule=schedule)
    assert y.dtype == t
    expected = array(dtype, matrix @ vector(matrix.shape[1]))
    np.testing.assert_array_equal(readable(to_numpy(y)), readable(expected))


def test_conjugate_views_of_pytorch() -> None:
    """They share memory with their base, so a remembered call must tell them apart."""
    torch = pytest.importorskip("torch")
    matrix = matrices()["power law"].astype(np.complex64)
    A = ev.csr(matrix).to("cuda")
    x = torch.tensor(vector(matrix.shape[1], np.complex64) * (1 + 2j)).cuda()
    for _ in range(2):
        ev.spmv(A, x)
        with pytest.raises(ev.InputError, match=r"hint: x\.resolve_conj\(\)"):
            ev.spmv(A, x.conj())
    y = ev.spmv(A, x.conj().resolve_conj())
    np.testing.assert_array_equal(to_numpy(y), matrix @ x.cpu().numpy().conj())


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_matrices_of_cupy(dtype: str) -> None:
    cupy = pytest.importorskip("cupy")
    sparse = pytest.importorskip("cupyx.scipy.sparse")
    matrix = matrices()["power law"].astype(dtype)
    matrix.data *= 1 - 2j
    x = vector(matrix.shape[1], dtype)
    y = ev.spmv(sparse.csr_matrix(matrix), cupy.asarray(x))
    assert y.dtype == dtype
    np.testing.assert_array_equal(y.get(), matrix @ x)


@pytest.mark.parametrize("dtype", TYPES)
def test_device_arrays(dtype: str) -> None:
    host = array(dtype, [1, 2, 3])
    there = ev.DeviceArray.from_numpy(host)
    assert there.dtype == host.dtype
    assert there.to_numpy().tobytes() == host.tobytes()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_accumulators_of_several_widths(schedule: str, dtype: str) -> None:
    if (schedule, dtype) == ("merge 7", "complex128"):
        expected = "schedule: expected blocks that fit into 49,152 bytes of shared memory, got "
        with pytest.raises(ev.InputError, match=expected):
            several_agree(schedule, dtype, "cuda", moved)
    else:
        several_agree(schedule, dtype, "cuda", moved)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_float_of_16_bits_that_is_moved_keeps_its_bits(dtype: str) -> None:
    moved_bits_are_kept(dtype, "cuda", moved)
