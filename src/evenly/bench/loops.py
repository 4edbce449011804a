"""A loop of a library's calls, one for each item of a batch."""

from __future__ import annotations

from typing import Any

from .contender import CALL, KERNELS, LIBRARY, Contender
from .cusparse import CuSparse
from .place import Live

ALGORITHM = "CSR ALG1"


class SciPyLoop:
    """`A @ x` for each item."""

    def __init__(self, B: Any, x: Any, y: Any) -> None:
        import scipy.sparse

        self.y = y
        self.items = [
            (scipy.sparse.csr_array((A.values, A.indices, A.offsets), shape=A.shape), *vectors)
            for A, *vectors in parts(B, x, y)
        ]

    def __call__(self) -> Any:
        for A, x, y in self.items:
            y[:] = A @ x
        return self.y


class CuSparseLoop:
    """`cusparseSpMV` for each item, with descriptors made and preprocessed once."""

    def __init__(self, B: Any, x: Any, y: Any) -> None:
        of = CuSparse.loaded()
        self.y = y
        self.products = [
            of.product(ALGORITHM, Live(A, A.offsets, A.indices, A.values, of_x, of_y, ()))
            for A, of_x, of_y in parts(B, x, y)
        ]

    def __call__(self) -> Any:
        for product in self.products:
            product()
        return self.y


def parts(B: Any, x: Any, y: Any) -> Any:
    """Return the items of a batch, each with its parts of x and y."""
    return zip(B, B.split(x, by="columns"), B.split(y), strict=True)


def loop(B: Any, x: Any, y: Any, target: str) -> Contender:
    """Return the loop of this place: of cuSPARSE's calls, which a clock captures in one graph, or of SciPy's."""
    if target == "cuda":
        return Contender(
            f"cuSPARSE {ALGORITHM}, a call an item", LIBRARY, KERNELS, CuSparseLoop(B, x, y)
        )
    return Contender("SciPy, a call an item", LIBRARY, CALL, SciPyLoop(B, x, y))
