"""Local arrays on the stack of the function that uses them."""

from __future__ import annotations

from llvmlite import ir as llvm
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from .primitives import scalar_type


@intrinsic(prefer_literal=True)
def stack(typing_context, length, dtype):
    """Return a pointer to `length` elements of `dtype`, a literal and a type, in the caller's frame."""
    if not isinstance(length, types.IntegerLiteral):
        raise TypingError("stack: expected a literal length")
    result = types.CPointer(scalar_type(dtype))

    def generate(context, builder, signature, arguments):
        count = llvm.IntType(64)(length.literal_value)
        element = context.get_data_type(signature.return_type.dtype)
        return cgutils.alloca_once(builder, element, size=count)  # once, if it is called in a loop

    return result(length, dtype), generate
