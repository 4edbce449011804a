"""The checks that emitted code calls in debug mode. A check that fails writes a record, then raises.

A record has four integers: 1 + the number of the check in the executable's table, the wrong value, its bound, and
one that is unused. The exception only ends the worker. The executable reads the record and raises an error that names
the user's file and line.
"""

from __future__ import annotations

from numba import njit, types
from numba.extending import intrinsic

from .failures import RECORD


@intrinsic
def record_of(typing_context, slots, slot, worker):
    """Return a pointer to a worker's record, in the memory whose address is in a slot."""

    def generate(context, builder, signature, arguments):
        slots, slot, worker = arguments
        records = builder.inttoptr(builder.load(builder.gep(slots, [slot])), slots.type)
        return builder.gep(records, [builder.mul(worker, worker.type(RECORD))])

    return types.CPointer(types.int64)(slots, types.intp, types.intp), generate


@njit(error_model="numpy")
def check_index(index, length, place, record):
    """Return `index` if it is in 0 .. length-1."""
    if index < 0 or index >= length:
        record[0] = place
        record[1] = index
        record[2] = length
        raise IndexError
    return index


@njit(error_model="numpy")
def check_length(length, place, record):
    """Return the `length` of a scratch array if it is not negative."""
    if length < 0:
        record[0] = place
        record[1] = length
        raise ValueError
    return length


@njit(error_model="numpy")
def check_that(holds, place, record):
    """Check an assertion."""
    if not holds:
        record[0] = place
        raise AssertionError


@njit(error_model="numpy")
def check_divisor(divisor, place, record):
    """Return `divisor` if it is not zero."""
    if divisor == 0:
        record[0] = place
        raise ZeroDivisionError
    return divisor


@njit(error_model="numpy")
def check_shift(count, bits, place, record):
    """Return a shift `count` if it is in 0 .. bits-1."""
    if count < 0 or count >= bits:
        record[0] = place
        record[1] = count
        record[2] = bits
        raise ValueError
    return count
