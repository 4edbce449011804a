"""Sparse linear algebra."""

from evenly.algorithms.linalg.spmv import spmv

__all__ = ["spmv"]
