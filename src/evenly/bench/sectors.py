"""Compiled code that counts the sectors of x (32 bytes) that a matrix gathers."""

from __future__ import annotations

from typing import Any

from numba import njit


@njit(nogil=True)
def own(offsets: Any, columns: Any, bits: int) -> int:
    """Count the nonzeros with a sector of their own: neither that before them nor that above them reads the same.

    offsets: (rows + 1,). columns: (nnz,); a sector has 2**bits of them.
    """
    count = above = 0
    for row in range(len(offsets) - 1):
        begin, end = offsets[row], offsets[row + 1]
        before = -1
        for k in range(begin, end):
            sector = columns[k] >> bits
            other = above + k - begin  # the same place in the row above
            shared = other < begin and columns[other] >> bits == sector
            count += sector != before and not shared
            before = sector
        above = begin
    return count
