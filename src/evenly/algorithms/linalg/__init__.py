"""Sparse linear algebra: `ev.linalg.spmm(A, B)` and others, a file of kernels each (docs/linalg.md).

They run under every schedule for tiles, on every target. spgemm is a folder: its kernels differ by how many products a
row has. So is spmv: on a CPU a matrix that is not stored by rows has kernels of its own.
"""

from evenly.algorithms.linalg.attention import attention
from evenly.algorithms.linalg.sddmm import sddmm
from evenly.algorithms.linalg.spgemm import spgemm
from evenly.algorithms.linalg.spmm import spmm
from evenly.algorithms.linalg.spmv import spmv

__all__ = ["attention", "sddmm", "spgemm", "spmm", "spmv"]
