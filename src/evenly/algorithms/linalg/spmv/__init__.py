"""SpMV, y = A x: by rows (spmv.py), and on a CPU once for a matrix that is not stored by rows (scattered.py)."""

from .spmv import spmv, spmv_atoms, spmv_rows, spmv_scaled

__all__ = ["spmv", "spmv_atoms", "spmv_rows", "spmv_scaled"]
