"""Atomic read-modify-write operations for emitted code. Numba has none for the CPU.

Each takes a typed pointer, an index and values, and returns the old value. The memory order is
relaxed ("monotonic"), as on the GPU. Integers use one instruction. Floats use a loop around a
compare-and-exchange of their bits, which also lets NaN propagate through min and max.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir as llvm
from numba import types
from numba.extending import intrinsic

from .primitives import emit_extreme

_ORDER = "monotonic"


def _bits(value: Any) -> llvm.IntType:
    """Return the integer type that is as wide as a float value."""
    return llvm.IntType(64 if isinstance(value.type, llvm.DoubleType) else 32)


def _exchange_loop(
    builder: Any,
    address: Any,
    new_value: Callable[[Any], Any],
    wanted: Callable[[Any], Any] | None = None,
) -> Any:
    """Replace a float by `new_value(old)`, unless `wanted(old)` is false. Return the old value."""
    value_type = address.type.pointee
    word = llvm.IntType(64 if isinstance(value_type, llvm.DoubleType) else 32)
    words = builder.bitcast(address, word.as_pointer())
    first = builder.load_atomic(words, _ORDER, align=word.width // 8)
    entry = builder.block
    loop, store, done = (
        builder.append_basic_block(f"atomic.{n}") for n in ("loop", "store", "done")
    )
    builder.branch(loop)
    builder.position_at_end(loop)
    seen = builder.phi(word)
    seen.add_incoming(first, entry)
    old = builder.bitcast(seen, value_type)
    go_on = wanted(old) if wanted else llvm.Constant(llvm.IntType(1), 1)
    builder.cbranch(go_on, store, done)
    builder.position_at_end(store)
    new = builder.bitcast(new_value(old), word)
    pair = builder.cmpxchg(words, seen, new, _ORDER, _ORDER)
    seen.add_incoming(builder.extract_value(pair, 0), builder.block)
    builder.cbranch(builder.extract_value(pair, 1), done, loop)
    builder.position_at_end(done)
    return old


def _add(builder: Any, kind: Any, address: Any, value: Any) -> Any:
    if isinstance(kind, types.Integer):
        return builder.atomic_rmw("add", address, value, _ORDER)
    if isinstance(kind, types.Complex):  # one part after the other; no code uses the old value
        zero = llvm.Constant(llvm.IntType(32), 0)
        for i in range(2):
            part = builder.gep(address, [zero, llvm.Constant(llvm.IntType(32), i)])
            _add(builder, kind.underlying_float, part, builder.extract_value(value, i))
        return value
    return _exchange_loop(builder, address, lambda old: builder.fadd(old, value))


def _extreme(name: str) -> Callable[..., Any]:
    full = {"min": "minimum", "max": "maximum"}[name]

    def emit(builder: Any, kind: Any, address: Any, value: Any) -> Any:
        if isinstance(kind, types.Integer):
            return builder.atomic_rmw(name if kind.signed else f"u{name}", address, value, _ORDER)

        def new(old: Any) -> Any:
            return emit_extreme(builder, kind, (old, value), full, "")

        def changes(
            old: Any,
        ) -> Any:  # compare bits, so that NaN equals itself and unchanged values are not written
            return builder.icmp_unsigned(
                "!=", builder.bitcast(new(old), _bits(old)), builder.bitcast(old, _bits(old))
            )

        return _exchange_loop(builder, address, new, changes)

    return emit


def _exch(builder: Any, kind: Any, address: Any, value: Any) -> Any:
    if isinstance(kind, types.Integer):
        return builder.atomic_rmw("xchg", address, value, _ORDER)
    return _exchange_loop(builder, address, lambda old: value)


def _bitwise(name: str) -> Callable[..., Any]:
    return lambda builder, kind, address, value: builder.atomic_rmw(name, address, value, _ORDER)


def _cas(builder: Any, kind: Any, address: Any, expected: Any, value: Any) -> Any:
    if isinstance(kind, types.Integer):
        return builder.extract_value(builder.cmpxchg(address, expected, value, _ORDER, _ORDER), 0)
    # Floats are compared by value: -0.0 equals 0.0, and NaN never equals the expected value.
    return _exchange_loop(
        builder, address, lambda old: value, lambda old: builder.fcmp_ordered("==", old, expected)
    )


def _one(emit: Callable[..., Any]) -> Any:
    @intrinsic
    def atomic(typing_context, base, index, value):
        def generate(context, builder, signature, arguments):
            address = builder.gep(arguments[0], [arguments[1]])
            return emit(builder, signature.return_type, address, arguments[2])

        return base.dtype(base, types.int64, base.dtype), generate

    return atomic


def _unless(emit: Callable[..., Any], new_value: Callable[..., Any]) -> Any:
    """Return the operation that is atomic unless one worker is `alone`: a locked instruction waits for all stores."""

    @intrinsic
    def atomic_unless(typing_context, base, index, value, alone):
        def generate(context, builder, signature, arguments):
            address = builder.gep(arguments[0], [arguments[1]])
            with builder.if_else(arguments[3]) as (then, otherwise):
                with then:
                    plain = builder.load(address)
                    builder.store(new_value(builder, plain, arguments[2]), address)
                    after_then = builder.block
                with otherwise:
                    locked = emit(builder, signature.return_type, address, arguments[2])
                    after_otherwise = builder.block
            old = builder.phi(plain.type)
            old.add_incoming(plain, after_then)
            old.add_incoming(locked, after_otherwise)
            return old

        return base.dtype(base, types.int64, base.dtype, types.boolean), generate

    return atomic_unless


@intrinsic
def atomic_cas(typing_context, base, index, expected, value):
    """Replace an element by `value` if it is `expected`."""

    def generate(context, builder, signature, arguments):
        address = builder.gep(arguments[0], [arguments[1]])
        return _cas(builder, signature.return_type, address, arguments[2], arguments[3])

    return base.dtype(base, types.int64, base.dtype, base.dtype), generate


atomic_add = _one(_add)
atomic_min = _one(_extreme("min"))
atomic_max = _one(_extreme("max"))
atomic_exch = _one(_exch)
atomic_and = _one(_bitwise("and"))
atomic_or = _one(_bitwise("or"))
atomic_xor = _one(_bitwise("xor"))
atomic_add_unless = _unless(_add, lambda builder, old, value: builder.add(old, value))
atomic_exch_unless = _unless(_exch, lambda builder, old, value: value)
