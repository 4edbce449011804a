"""Convert floats of 16 bits, when emitted code reads and stores them.

Each conversion takes integer operations and one float operation, so that LLVM can vectorise it. It needs no instruction
that some CPUs lack, and no library function. (Giesen, "Float->half conversions".)
"""

from __future__ import annotations

from llvmlite import ir as llvm
from numba import int16, int32, int64, njit, types, uint16, uint32
from numba.extending import intrinsic

_MOVE = 2.0**112  # the biases of the two exponents differ by 112


@intrinsic
def float_bits(typing_context, value):
    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], llvm.IntType(32))

    return types.uint32(types.float32), generate


@intrinsic
def bits_float(typing_context, bits):
    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], llvm.FloatType())

    return types.float32(types.uint32), generate


@njit(error_model="numpy")
def half_value(bits):
    """Return the float32 of a float16's bits. The multiplication adjusts the exponent, also for subnormals."""
    widened = uint32(int32(int16(bits)) << 13) & uint32(0x8FFFE000)
    moved = types.float32(bits_float(uint32(widened)) * types.float32(_MOVE))
    if abs(moved) < types.float32(65536):
        return moved
    return bits_float(uint32(widened | uint32(0x7F800000)))  # inf and nan


@njit(error_model="numpy")
def half_bits(value):
    """Return the bits of the float16 nearest to a float32, ties to even."""
    bits = int64(
        float_bits(types.float32(value))
    )  # signed, since Numba would convert unsigned ones to floats
    magnitude = bits & 0x7FFFFFFF
    if magnitude > 0x7F800000:
        made = 0x7E00  # nan
    elif magnitude >= 0x47800000:
        made = 0x7C00  # from 2**16 on: inf
    elif magnitude < 0x38800000:  # below 2**-14: subnormal
        half = types.float32(bits_float(uint32(magnitude)) + types.float32(0.5))
        made = int64(float_bits(half)) - 0x3F000000
    else:
        made = (magnitude - 0x38000000 + 0xFFF + ((magnitude >> 13) & 1)) >> 13
    return uint16(made | ((bits >> 16) & 0x8000))


@njit(error_model="numpy")
def brain_value(bits):
    """Return the float32 of a bfloat16's bits."""
    return bits_float(uint32(uint32(bits) << 16))


@njit(error_model="numpy")
def brain_bits(value):
    """Return the bits of the bfloat16 nearest to a float32, ties to even."""
    bits = int64(float_bits(types.float32(value)))
    if value != value:
        return uint16((bits >> 16) | 0x40)  # without its lower bits a NaN might become infinity
    return uint16((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16)


@njit(error_model="numpy")
def rounded_to_odd(value):
    """Convert a float64 to a float32, and set the last bit if any was lost. Rounding it again is like rounding once."""
    near = types.float32(value)
    if types.float64(near) == value:
        return near
    beyond = 1 if abs(types.float64(near)) > abs(value) else 0
    return bits_float(uint32((float_bits(near) - beyond) | 1))
