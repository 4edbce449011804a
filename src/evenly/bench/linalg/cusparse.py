"""cuSPARSE's products with dense matrices, through its C interface: descriptors and preprocessing are done once."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

from evenly.bench.cusparse import INDEX, REAL, CuSparse, Integer, Long, Pointer, address

SPMM = {"CSR ALG1": 4, "CSR ALG2": 6, "CSR ALG3": 12}  # CUSPARSE_SPMM_CSR_ALG1, ...
SDDMM = {"default": 0}  # CUSPARSE_SDDMM_ALG_DEFAULT
BY_COLUMNS, BY_ROWS = 1, 2  # CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW


class DenseProduct:
    """A product of a sparse matrix with dense ones, preprocessed. A call launches it.

    name: "SpMM", for out = A X, or "SDDMM", for A's values = X Z^T at A's pattern, which reads no values.
    A: its offsets, columns and values. dense: (X, out) or (X, Z), in C order.
    """

    def __init__(
        self, name: str, algorithm: int, A: tuple[Any, Any, Any], dense: tuple[Any, Any]
    ) -> None:
        import cupy

        self.of, self.name, turned = CuSparse.loaded(), name, name == "SDDMM"
        real = REAL[dense[0].dtype.name]
        number = ctypes.c_float if real == 0 else ctypes.c_double
        self.numbers = number(1), number(0)
        one, zero = map(ctypes.byref, self.numbers)
        matrix = self._sparse(A, dense[1 if turned else 0].shape[0], real)
        # The second operand of SDDMM, by columns, is Z transposed.
        first, second = self._dense(dense[0], real), self._dense(dense[1], real, turned)
        operands = (first, second, zero, matrix) if turned else (matrix, first, zero, second)
        self.arguments: tuple[Any, ...] = (
            self.of.handle, Integer(0), Integer(0), one, *operands, Integer(real), Integer(algorithm),
        )  # fmt: skip
        self._on_stream()
        size = ctypes.c_size_t()
        self.of.call(f"cusparse{name}_bufferSize", *self.arguments, ctypes.byref(size))
        work = cupy.empty(max(size.value, 1), cupy.uint8)
        self.kept = *A, *dense, work  # descriptors only point to them
        self.arguments += (address(work),)
        self.of.call(f"cusparse{name}_preprocess", *self.arguments)

    def __call__(self) -> None:
        self._on_stream()
        self.of.call(f"cusparse{self.name}", *self.arguments)

    def _on_stream(self) -> None:
        import cupy

        stream = Pointer(cupy.cuda.get_current_stream().ptr)
        self.of.call("cusparseSetStream", self.of.handle, stream)

    def _sparse(self, A: tuple[Any, Any, Any], columns: int, real: int) -> Any:
        offsets, indices, values = A
        made, kinds = Pointer(), [INDEX[a.dtype.name] for a in (offsets, indices)] + [0, real]
        sizes = map(Long, (len(offsets) - 1, columns, len(values)))
        given = *sizes, *map(address, A), *map(Integer, kinds)
        self.of.call("cusparseCreateCsr", ctypes.byref(made), *given)
        weakref.finalize(self, self.of.library.cusparseDestroySpMat, made)
        return made

    def _dense(self, array: Any, real: int, by_columns: bool = False) -> Any:
        made, order = Pointer(), BY_COLUMNS if by_columns else BY_ROWS
        rows, columns = array.shape[::-1] if by_columns else array.shape
        sizes = map(Long, (rows, columns, array.shape[1]))
        given = *sizes, address(array), Integer(real), Integer(order)
        self.of.call("cusparseCreateDnMat", ctypes.byref(made), *given)
        weakref.finalize(self, self.of.library.cusparseDestroyDnMat, made)
        return made
