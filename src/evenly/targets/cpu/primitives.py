"""Functions that emitted code calls: typed pointers, extremes that propagate NaN, and hints to LLVM about loops.

Emitted code reads arrays through raw typed pointers instead of Numba's arrays. So a subscript is one address
computation (without the wraparound of negative indices, which makes gathers twice as slow), a call need not unbox
arrays, and read-only arrays need no second specialisation. The few intrinsics here are plain LLVM instructions.
"""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir as llvm
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from .vectors import PART, VECTOR


def scalar_type(numba_type):
    """Return the type for which `float32` or the like stands when it is passed as an argument."""
    return (
        numba_type.dtype if isinstance(numba_type, types.NumberClass) else numba_type.instance_type
    )


@intrinsic
def pointer(typing_context, slots, slot, dtype):
    """Return the address in a slot, as a pointer to elements of `dtype`."""
    result = types.CPointer(scalar_type(dtype))

    def generate(context, builder, signature, arguments):
        address = builder.load(builder.gep(arguments[0], [arguments[1]]))
        return builder.inttoptr(address, context.get_value_type(signature.return_type))

    return result(slots, types.intp, dtype), generate


@intrinsic
def shifted(typing_context, base, places):
    """Return the pointer `base`, moved on by a number of elements."""

    def generate(context, builder, signature, arguments):
        return builder.gep(arguments[0], [arguments[1]])

    return base(base, types.int64), generate


@intrinsic
def as_float(typing_context, bits):
    """Return the float64 with the bits of an int64. Slots hold floats in this form."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], llvm.DoubleType())

    return types.float64(types.int64), generate


def _extreme(name: str, compare: str):
    @intrinsic
    def extreme(typing_context, a, b):
        def generate(context, builder, signature, arguments):
            return emit_extreme(builder, signature.return_type, arguments, name, compare)

        return a(a, a), generate

    return extreme


def emit_extreme(builder, numba_type, arguments, name: str, compare: str):
    """Emit the lesser or greater of two values.

    LLVM's own intrinsic propagates NaN and orders -0.0 before 0.0, so the order of the operands does not matter.
    """
    a, b = arguments
    if isinstance(numba_type, types.Float):
        bits = numba_type.bitwidth
        function = builder.module.declare_intrinsic(
            f"llvm.{name}", [a.type], llvm.FunctionType(a.type, [a.type, a.type])
        )
        assert function.name.endswith(str(bits))
        return builder.call(function, [a, b])
    signed = isinstance(numba_type, types.Integer) and numba_type.signed
    test = (builder.icmp_signed if signed else builder.icmp_unsigned)(compare, a, b)
    return builder.select(test, a, b)


minimum = _extreme("minimum", "<")
maximum = _extreme("maximum", ">")


def _number(name: str):
    @intrinsic
    def extreme(typing_context, a, b):
        def generate(context, builder, signature, arguments):
            kind = arguments[0].type
            signature = llvm.FunctionType(kind, [kind, kind])
            function = builder.module.declare_intrinsic(f"llvm.{name}", [kind], signature)
            return builder.call(function, arguments, fastmath=("nnan", "nsz"))

        return a(a, a), generate

    return extreme


# The lesser and greater of numbers. Of NaN nothing is known; if both are zero, the result is either.
lesser_number, greater_number = _number("minnum"), _number("maxnum")


@intrinsic
def is_nan(typing_context, a):
    def generate(context, builder, signature, arguments):
        return builder.fcmp_unordered("uno", arguments[0], arguments[0])

    return types.boolean(a), generate


def _wrapping(instruction: str):
    @intrinsic
    def operation(typing_context, a, b):
        def generate(context, builder, signature, arguments):
            return getattr(builder, instruction)(*arguments)

        return types.int64(types.int64, types.int64), generate

    return operation


# Arithmetic of int64 data. Numba's own promises LLVM that nothing overflows ("nsw"), so that `a + 1 < a` is never true.
add_wrapping = _wrapping("add")
subtract_wrapping = _wrapping("sub")
multiply_wrapping = _wrapping("mul")


@njit(error_model="numpy")
def power_wrapping(base, exponent):
    """Return an integer's power, by squaring. The exponent is a literal, so that LLVM unrolls the loop."""
    result, factor = types.int64(1), types.int64(base)  # of a uint64, the same bits
    while exponent > 0:
        if exponent & 1:
            result = multiply_wrapping(result, factor)
        factor = multiply_wrapping(factor, factor)
        exponent >>= 1
    return result


@njit(error_model="numpy")
def floor_divide(a, b):
    """Return the quotient of int64 data. The lowest integer divided by -1 wraps; Numba's own division gives 0."""
    return subtract_wrapping(0, a) if b == -1 else a // b


@njit(error_model="numpy")
def exp_minus_abs(x):
    return math.exp(-abs(x))


@njit(error_model="numpy")
def cube_root(x):
    """Return the cube root in float64.

    Numba's own is off by a bit for two cubes in five, for example 27.0, and loses the sign of zero.
    """
    wide = types.float64(x)
    root = math.copysign(np.cbrt(abs(wide)), wide)
    if root != 0 and math.isfinite(root):
        root -= (root - wide / (root * root)) / 3
    return root


def _in_any_order(instruction: str):
    @intrinsic
    def operation(typing_context, a, b):
        def generate(context, builder, signature, arguments):
            return getattr(builder, instruction)(*arguments, flags=("reassoc",))

        return a(a, a), generate

    return operation


# One step of a reduction. LLVM may change the order of these steps, but not of other operations that the user wrote.
add_in_any_order = _in_any_order("fadd")
multiply_in_any_order = _in_any_order("fmul")


@intrinsic
def sum_of_terms(typing_context, terms, first, last):
    """Return the sum of the terms first .. last - 1. VECTOR behind the last one may be read.

    In the order of unrolled code: PART sums as long as there are as many terms, these in pairs, the rest one by one.
    """
    element = terms.dtype

    def generate(context, builder, signature, arguments):
        kind, i64 = context.get_value_type(element), llvm.IntType(64)
        base, first, last = arguments
        is_float = isinstance(element, types.Float)
        plus = builder.fadd if is_float else builder.add
        nothing = kind(-0.0) if is_float else kind(0)
        count = builder.sub(last, first)
        whole = builder.and_(count, i64(-PART))

        def chosen(at, size, limit):
            """Load `size` terms, of which those from `limit` on are nothing."""
            vector = llvm.VectorType(kind, size)
            place = builder.gep(base, [builder.add(first, at)])
            align = context.get_abi_alignment(kind)
            read = builder.load(builder.bitcast(place, vector.as_pointer()), align=align)
            if limit is None:
                return read
            inside = builder.icmp_signed("<", _lanes(range(size)), _splat(builder, limit, size))
            return builder.select(inside, read, vector([nothing] * size))

        def part(vector, i):
            places = _lanes(range(PART * i, PART * i + PART))
            return builder.shuffle_vector(vector, vector.type(llvm.Undefined), places)

        sums = llvm.VectorType(kind, PART)
        held = cgutils.alloca_once_value(builder, sums([nothing] * PART))

        def go_on(block):
            total = builder.load(held)
            for i in range(VECTOR // PART):
                total = plus(total, part(block, i))
            builder.store(total, held)

        before = builder.sub(whole, i64(VECTOR))
        with cgutils.for_range_slice(builder, i64(0), before, i64(VECTOR), i64) as (at, _):
            go_on(chosen(at, VECTOR, None))
        some = builder.select(builder.icmp_signed(">", whole, i64(0)), whole, i64(1))
        done = builder.and_(builder.sub(some, i64(1)), i64(-VECTOR))
        go_on(chosen(done, VECTOR, builder.sub(whole, done)))
        of_parts = builder.load(held)
        one, two, three, four = (
            builder.extract_element(of_parts, llvm.IntType(32)(i)) for i in range(PART)
        )
        total = plus(plus(one, two), plus(three, four))
        rest = chosen(whole, PART, builder.sub(count, whole))
        for i in range(PART - 1):
            total = plus(total, builder.extract_element(rest, llvm.IntType(32)(i)))
        return total

    return element(terms, types.int64, types.int64), generate


def _lanes(places):
    """Return a constant vector of int32."""
    return llvm.Constant(llvm.VectorType(llvm.IntType(32), len(places)), list(places))


def _splat(builder, value, size):
    """Return a vector of `size` times the lower 32 bits of a number."""
    kind = llvm.IntType(32)
    empty = llvm.VectorType(kind, size)(llvm.Undefined)
    one = builder.insert_element(empty, builder.trunc(value, kind), kind(0))
    return builder.shuffle_vector(one, empty, _lanes([0] * size))


@intrinsic
def wide_vectors(typing_context):
    """Let LLVM use vectors of 512 bits in the function that contains this call. It does nothing else."""

    def generate(context, builder, signature, arguments):
        for name in ("prefer-vector-width", "min-legal-vector-width"):
            # llvmlite only adds attributes that it knows, and prints what there is.
            set.add(builder.function.attributes, f'"{name}"="512"')
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def as_it_stands(typing_context):
    """Keep LLVM from unrolling and vectorising the loop that contains this call. It does nothing else."""

    def generate(context, builder, signature, arguments):
        nothing = llvm.InlineAsm(llvm.FunctionType(llvm.VoidType(), []), "", "", side_effect=True)
        builder.call(nothing, [], attrs=("convergent",))
        return context.get_dummy_value()

    return types.void(), generate
