"""Functions of integers that emitted code calls: of their bits, at their own width, and exact comparisons."""

from __future__ import annotations

from llvmlite import ir as llvm
from numba import types
from numba.extending import intrinsic


@intrinsic
def popcount(typing_context, x):
    """Return how many bits are 1."""

    def generate(context, builder, signature, arguments):
        return _as_int64(builder, builder.ctpop(arguments[0]))

    return types.int64(x), generate


@intrinsic
def leading_zeros(typing_context, x):
    """Return how many zeros the bits begin with. Of 0, these are all."""

    def generate(context, builder, signature, arguments):
        zero_is_known = llvm.Constant(llvm.IntType(1), 0)
        return _as_int64(builder, builder.ctlz(arguments[0], zero_is_known))

    return types.int64(x), generate


def _as_int64(builder, count):
    return count if count.type.width == 64 else builder.zext(count, llvm.IntType(64))


def _rotate(name: str):
    """Return a function that rotates bits, by LLVM's funnel shift: it takes the count modulo the width."""

    @intrinsic
    def rotate(typing_context, x, n):
        def generate(context, builder, signature, arguments):
            bits, count = arguments
            kind = bits.type
            function = builder.module.declare_intrinsic(
                f"llvm.{name}", [kind], llvm.FunctionType(kind, [kind, kind, kind])
            )
            return builder.call(function, [bits, bits, count])

        return x(x, x), generate

    return rotate


rotate_left = _rotate("fshl")
rotate_right = _rotate("fshr")


# ---- comparisons of a uint64 and an int64, which Numba would convert to floats ------------------------
@intrinsic
def less_exactly(typing_context, a, b):
    """Return whether a < b."""

    def generate(context, builder, signature, arguments):
        first, second = arguments
        below = builder.icmp_unsigned("<", first, second)
        if a.signed:
            return builder.or_(builder.icmp_signed("<", first, first.type(0)), below)
        return builder.and_(builder.icmp_signed(">", second, second.type(0)), below)

    return types.boolean(a, b), generate


@intrinsic
def equal_exactly(typing_context, a, b):
    """Return whether a == b."""

    def generate(context, builder, signature, arguments):
        signed = arguments[0 if a.signed else 1]
        not_negative = builder.icmp_signed(">=", signed, signed.type(0))
        return builder.and_(not_negative, builder.icmp_unsigned("==", *arguments))

    return types.boolean(a, b), generate
