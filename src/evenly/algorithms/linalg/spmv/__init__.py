"""SpMV, y = A x: by rows (by_rows.py), and on a CPU once for a matrix that is not stored by rows (scattered.py)."""

from .by_rows import spmv, spmv_atoms, spmv_rows, spmv_scaled

__all__ = ["spmv", "spmv_atoms", "spmv_rows", "spmv_scaled"]
