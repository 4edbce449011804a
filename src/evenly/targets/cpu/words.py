"""Words of 64 bits that threads share: atomic operations on them, in native code; and time, and giving way to others.

`words` is a pointer to them, and `at` which one it is.
"""

from __future__ import annotations

import os
import time

from llvmlite import ir as llvm
from numba import types
from numba.core.cgutils import alloca_once, get_or_insert_function
from numba.extending import intrinsic

WORDS = types.CPointer(types.int64)


@intrinsic
def load(typing_context, words, at):
    def generate(context, builder, signature, arguments):
        return builder.load_atomic(builder.gep(arguments[0], [arguments[1]]), "acquire", align=8)

    return types.int64(words, types.int64), generate


@intrinsic
def store(typing_context, words, at, value):
    def generate(context, builder, signature, arguments):
        place = builder.gep(arguments[0], [arguments[1]])
        builder.store_atomic(arguments[2], place, "release", align=8)
        return context.get_dummy_value()

    return types.none(words, types.int64, types.int64), generate


def _changing(operation: str):
    @intrinsic
    def change(typing_context, words, at, value):
        def generate(context, builder, signature, arguments):
            place = builder.gep(arguments[0], [arguments[1]])
            return builder.atomic_rmw(operation, place, arguments[2], "seq_cst")

        return types.int64(words, types.int64, types.int64), generate

    return change


add, set_bits, keep_bits = _changing("add"), _changing("or"), _changing("and")


@intrinsic
def replaced(typing_context, words, at, expected, value):
    """Replace a word if it is `expected`. Return whether it was."""

    def generate(context, builder, signature, arguments):
        place = builder.gep(arguments[0], [arguments[1]])
        given = place, arguments[2], arguments[3]
        return builder.extract_value(builder.cmpxchg(*given, "seq_cst", "seq_cst"), 1)

    return types.boolean(words, types.int64, types.int64, types.int64), generate


@intrinsic
def give_way(typing_context):
    """Let another thread of the machine run, if one waits."""

    def generate(context, builder, signature, arguments):
        name = "SwitchToThread" if os.name == "nt" else "sched_yield"
        way = get_or_insert_function(builder.module, llvm.FunctionType(llvm.IntType(32), []), name)
        return builder.call(way, [])

    return types.int32(), generate


@intrinsic
def now(typing_context):
    """Return a time in nanoseconds. That of Windows moves on by milliseconds."""
    i32, i64 = llvm.IntType(32), llvm.IntType(64)

    def generate(context, builder, signature, arguments):
        if os.name == "nt":
            ask = get_or_insert_function(
                builder.module, llvm.FunctionType(i64, []), "GetTickCount64"
            )
            return builder.mul(builder.call(ask, []), i64(1_000_000))
        kind = llvm.FunctionType(i32, [i32, i64.as_pointer()])
        ask = get_or_insert_function(builder.module, kind, "clock_gettime")
        both = alloca_once(builder, i64, 2)  # seconds and nanoseconds
        builder.call(ask, [i32(time.CLOCK_MONOTONIC), both])
        seconds = builder.load(both)
        return builder.add(
            builder.mul(seconds, i64(1_000_000_000)), builder.load(builder.gep(both, [i64(1)]))
        )

    return types.int64(), generate
