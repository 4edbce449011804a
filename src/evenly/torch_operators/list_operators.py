"""The operators of lists: `evenly::segment_reduce`, `repeat`, `jagged_to_padded` and `padded_to_jagged`.

An operator takes the offsets of the lists. The gradient of each is another of them, so gradients have gradients.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from evenly import kit
from evenly.algorithms.ragged.jagged_to_padded import pad, pad_rows
from evenly.algorithms.ragged.padded_to_jagged import pack, pack_rows
from evenly.algorithms.ragged.segment_reduce import BY_NAME
from evenly.torch_operators import kernels
from evenly.torch_operators.launching import segments


def operator(name: str, arguments: str) -> Any:
    """Return a decorator that makes a function the operator evenly::`name` of lists and these arguments."""
    schema = f"(Tensor offsets, {arguments}) -> Tensor"
    return torch.library.custom_op(f"evenly::{name}", mutates_args=(), schema=schema)


def keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    """Keep the offsets, the shape of the operand, and the arguments beside it."""
    offsets, x, *ctx.more = inputs
    ctx.shape = x.shape
    ctx.save_for_backward(offsets)


# ---- sums and means --------------------------------------------------------------------------------
@operator("segment_reduce", 'Tensor x, str reduce="sum"')
def segment_reduce(offsets, x, reduce="sum"):
    """The sum or the mean of each list's elements, (m,) or (m, d), for x (n,) or (n, d)."""
    out, held = x.new_empty((len(offsets) - 1, *x.shape[1:])), kit.held_as(x)
    how = BY_NAME[reduce]
    given = x.contiguous(), held.type(how.start), held.type(how.empty), out
    segments(offsets, len(x)).run(how.kernels[x.dim() - 1], *given)
    return out


@segment_reduce.register_fake
def _(offsets, x, reduce="sum"):
    return x.new_empty((offsets.shape[0] - 1, *x.shape[1:]))


def segment_reduce_backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    (offsets,), (reduce,) = ctx.saved_tensors, ctx.more
    if reduce == "mean":
        lengths = offsets.diff().view(-1, *[1] * (gradient.dim() - 1))
        wide = torch.promote_types(gradient.dtype, torch.float32)  # float16 ends at 65,504
        gradient = (gradient.to(wide) / lengths).to(gradient.dtype)
    return None, repeat(offsets, gradient, ctx.shape[0]), None


@operator("repeat", "Tensor y, SymInt count")
def repeat(offsets, y, count):
    """What y, (m,) or (m, d), has for each list, at each of its elements, (count,) or (count, d)."""
    out = y.new_empty((count, *y.shape[1:]))
    kernel = kernels.repeat if y.dim() == 1 else kernels.repeat_rows
    segments(offsets, count).run(kernel, y.contiguous(), out)
    return out


@repeat.register_fake
def _(offsets, y, count):
    return y.new_empty((count, *y.shape[1:]))


def repeat_backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    return None, segment_reduce(*ctx.saved_tensors, gradient), None


# ---- the rows of one array -------------------------------------------------------------------------
@operator("jagged_to_padded", "Tensor x, SymInt length, float value=0.0")
def jagged_to_padded(offsets, x, length, value=0.0):
    """Lists as rows of `length` elements, (m, length) or (m, length, d), filled up with `value`."""
    m, rest = len(offsets) - 1, x.shape[1:]
    out = x.new_empty((m * length, *rest))
    lists = segments(offsets, len(x))
    given = lists.layout, x.contiguous(), kit.held_as(x).type(value), out
    lists.padded(length).run((pad, pad_rows)[len(rest)], *given)
    return out.view(m, length, *rest)


@jagged_to_padded.register_fake
def _(offsets, x, length, value=0.0):
    return x.new_empty((offsets.shape[0] - 1, length, *x.shape[1:]))


def jagged_to_padded_backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    return None, padded_to_jagged(*ctx.saved_tensors, gradient, ctx.shape[0]), None, None


@operator("padded_to_jagged", "Tensor padded, SymInt count")
def padded_to_jagged(offsets, padded, count):
    """The lists that the rows of `padded` begin with, one after the other; 0 beyond their length."""
    out = padded.new_empty((count, *padded.shape[2:]))
    given = padded.contiguous(), kit.held_as(padded).type(0), out
    segments(offsets, count).run((pack, pack_rows)[padded.dim() - 2], *given)
    return out


@padded_to_jagged.register_fake
def _(offsets, padded, count):
    return padded.new_empty((count, *padded.shape[2:]))


def padded_to_jagged_backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    return None, jagged_to_padded(*ctx.saved_tensors, gradient, ctx.shape[1]), None


segment_reduce.register_autograd(segment_reduce_backward, setup_context=keep)
repeat.register_autograd(repeat_backward, setup_context=keep)
jagged_to_padded.register_autograd(jagged_to_padded_backward, setup_context=keep)
padded_to_jagged.register_autograd(padded_to_jagged_backward, setup_context=keep)
