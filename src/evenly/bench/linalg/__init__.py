"""Sparse matrices times dense and sparse ones beside other libraries: `evenly bench linalg`."""
