"""Other libraries as contenders, one class each. They work on the live arrays: nothing is copied."""

from __future__ import annotations

import contextlib
import importlib.util
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from .contender import CALL, COO, CSR, KERNELS, LIBRARY, Contender, LeftOut, prepared
from .cusparse import COO_ALGORITHMS, CSR_ALGORITHMS, CuSparse
from .place import Live

ALGORITHMS = {CSR: CSR_ALGORITHMS, COO: COO_ALGORITHMS}


class SciPy:
    """`A @ x` on the CPU, one thread."""

    name, package = "SciPy", "scipy"

    def __init__(self, live: Live) -> None:
        import scipy.sparse

        self.x = live.x
        arrays = live.values, live.indices, live.offsets
        self.A = scipy.sparse.csr_array(arrays, shape=live.A.shape, copy=False)

    def __call__(self) -> Any:
        return self.A @ self.x


class Mkl:
    """Intel's MKL, through sparse_dot_mkl."""

    name, package = "MKL", "sparse_dot_mkl"

    def __init__(self, live: Live) -> None:
        import scipy.sparse
        import sparse_dot_mkl

        self.x, self.dot = live.x, sparse_dot_mkl.dot_product_mkl
        arrays = live.values, live.indices, live.offsets
        self.A = scipy.sparse.csr_matrix(arrays, shape=live.A.shape, copy=False)

    def __call__(self) -> Any:
        return self.dot(self.A, self.x)


class CuPy:
    """`A @ x`, which calls cuSPARSE."""

    name, package = "CuPy", "cupy"

    def __init__(self, live: Live) -> None:
        import cupyx.scipy.sparse

        self.x = live.x
        arrays = live.values, live.indices, live.offsets
        self.A = cupyx.scipy.sparse.csr_matrix(arrays, shape=live.A.shape, copy=False)
        self.A.has_canonical_format = True  # else CuPy sums duplicates, into new arrays

    def __call__(self) -> Any:
        return self.A @ self.x


class PyTorch:
    """`A @ x` for a sparse CSR tensor, which calls cuSPARSE."""

    name, package = "PyTorch", "torch"

    def __init__(self, live: Live) -> None:
        import torch

        arrays = (live.offsets, live.indices, live.values)
        offsets, indices, values = (torch.as_tensor(a, device="cuda") for a in arrays)
        self.x = torch.as_tensor(live.x, device="cuda")
        self.A = csr_tensor(offsets, indices, values, live.A.shape)

    def __call__(self) -> Any:
        return self.A @ self.x


def csr_tensor(offsets: Any, indices: Any, values: Any, shape: tuple[int, int]) -> Any:
    """Return the `torch.sparse_csr` tensor of tensors that are right, without PyTorch's warnings about CSR."""
    import torch

    # The argument check_invariants does not silence the warning in PyTorch 2.11 to 2.13.
    unchecked = torch.sparse.check_sparse_tensor_invariants(enable=False)
    with warnings.catch_warnings(), unchecked:
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(offsets, indices, values, size=shape)


def pytorch_on(stream: Any) -> AbstractContextManager[Any]:
    """A context in which PyTorch uses a stream of CuPy. Leaving it restores PyTorch's stream."""
    # If PyTorch cannot be imported, or cannot use the GPU, it will be left out as a contender.
    with contextlib.suppress(Exception):
        import torch

        torch.cuda.current_stream()
        there: AbstractContextManager[Any] = torch.cuda.stream(
            torch.cuda.ExternalStream(stream.ptr)
        )
        return there
    return contextlib.nullcontext()


def library(peer: Any, live: Live) -> Contender | LeftOut:
    """Return a library's call as a contender, or LeftOut if the library is missing."""
    if importlib.util.find_spec(peer.package) is None:
        return LeftOut(peer.name, f"{peer.package} is not installed")
    return prepared(peer.name, lambda: Contender(peer.name, LIBRARY, CALL, peer(live)))


def cpu_peers(live: Live) -> Iterator[Contender | LeftOut]:
    """Yield the libraries that run on the CPU."""
    yield library(SciPy, live)
    yield library(Mkl, live)


def gpu_peers(live: Live) -> Iterator[Contender | LeftOut]:
    """Yield what runs on a GPU: the kernels of cuSPARSE, and whole calls of CuPy and PyTorch."""
    yield from cusparse_peers(live)
    yield library(CuPy, live)
    yield library(PyTorch, live)


def cusparse_peers(
    live: Live, families: tuple[str, ...] = (CSR, COO)
) -> Iterator[Contender | LeftOut]:
    """Yield the kernels of cuSPARSE."""
    for family in families:
        for algorithm in ALGORITHMS[family]:
            name = f"cuSPARSE {algorithm}"
            yield prepared(name, partial(_cusparse, name, family, algorithm, live))


def _cusparse(name: str, family: str, algorithm: str, live: Live) -> Contender:
    return Contender(name, family, KERNELS, CuSparse.loaded().product(algorithm, live))
