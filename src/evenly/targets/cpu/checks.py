"""What emitted code calls in debug mode: each check records what is wrong, then raises.

A record is four integers: the check (1 + its number in the executable's table of them),
the offending value, and its bound. The exception only ends the worker; the executable
reads the record and raises an error that names the user's file and line.
"""

from __future__ import annotations

from numba import njit, types
from numba.extending import intrinsic

from .failures import RECORD


@intrinsic
def record_of(typing_context, slots, slot, worker):
    """A pointer to the record of a worker, in the memory whose address stands in a slot."""

    def generate(context, builder, signature, arguments):
        slots, slot, worker = arguments
        records = builder.inttoptr(builder.load(builder.gep(slots, [slot])), slots.type)
        return builder.gep(records, [builder.mul(worker, worker.type(RECORD))])

    return types.CPointer(types.int64)(slots, types.intp, types.intp), generate


@njit(error_model="numpy")
def check_index(index, length, place, record):
    """`index`, if it lies in 0 .. length-1."""
    if index < 0 or index >= length:
        record[0] = place
        record[1] = index
        record[2] = length
        raise IndexError
    return index


@njit(error_model="numpy")
def check_that(holds, place, record):
    """An assertion."""
    if not holds:
        record[0] = place
        raise AssertionError


@njit(error_model="numpy")
def check_divisor(divisor, place, record):
    """`divisor`, if it is not zero."""
    if divisor == 0:
        record[0] = place
        raise ZeroDivisionError
    return divisor


@njit(error_model="numpy")
def check_shift(count, bits, place, record):
    """A shift `count`, if it lies in 0 .. bits-1."""
    if count < 0 or count >= bits:
        record[0] = place
        record[1] = count
        record[2] = bits
        raise ValueError
    return count
