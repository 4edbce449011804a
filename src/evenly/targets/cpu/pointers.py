"""Addresses in native code: pointers, calls, and counters that threads share."""

from __future__ import annotations

from llvmlite import ir as llvm
from numba import types
from numba.extending import intrinsic


def _native_call(context, builder, signature, arguments):
    """Call the function at an address, with integers. It returns an integer."""
    address, *given = arguments
    i64 = llvm.IntType(64)
    kind = llvm.FunctionType(i64, [i64] * len(given))
    return builder.call(builder.inttoptr(address, kind.as_pointer()), given)


@intrinsic
def call(typing_context, address, worker, workers, slots):
    """Call a program's function."""
    return types.int64(types.int64, types.int64, types.int64, types.int64), _native_call


def _pointer(context, builder, signature, arguments):
    return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))


@intrinsic
def integers(typing_context, address):
    """Return a pointer to the integers at an address."""
    return types.CPointer(types.int64)(types.int64), _pointer


@intrinsic
def flag(typing_context, address):
    """Return a pointer to the truth values at an address."""
    return types.CPointer(types.uint8)(types.int64), _pointer


@intrinsic
def take(typing_context, counter):
    """Take the next number of a counter that threads share. `counter` is its address."""

    def generate(context, builder, signature, arguments):
        i64 = llvm.IntType(64)
        place = builder.inttoptr(arguments[0], i64.as_pointer())
        return builder.atomic_rmw("add", place, i64(1), "monotonic")

    return types.int64(types.int64), generate
