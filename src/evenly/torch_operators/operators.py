"""The operators of `torch.library`: `evenly::spmv`, `spmm`, `sddmm`, `softmax`, `attention`, with fakes and gradients.

An operator takes a pattern as six tensors: offsets, columns and order of its rows, and the same of its transpose (see
`Pattern.tensors`). The gradient of one is others of them, at the pattern and at its transpose, so that nothing of the
size of a dense matrix is made, and gradients have gradients. None uses an atomic: the same input gives the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from evenly.algorithms.linalg.attention import attention_rows
from evenly.torch_operators import kernels
from evenly.torch_operators.launching import structure

PATTERN = "Tensor offsets, Tensor columns, Tensor? order, Tensor t_offsets, Tensor t_columns, Tensor? t_order"


def operator(name: str, arguments: str, results: str = "Tensor") -> Any:
    """Return a decorator that makes a function the operator evenly::`name` of a pattern and these arguments."""
    schema = f"({PATTERN}, {arguments}) -> {results}"
    return torch.library.custom_op(f"evenly::{name}", mutates_args=(), schema=schema)


# ---- spmv ------------------------------------------------------------------------------------------
@operator("spmv", "Tensor values, Tensor x")
def spmv(offsets, columns, order, t_offsets, t_columns, t_order, values, x):
    """A x, (m,), for the matrix A with this pattern and `values`, and x (n,)."""
    y = x.new_empty(len(offsets) - 1)
    structure(offsets, columns, t_offsets).product(
        kernels.spmv, order, values.contiguous(), x.contiguous(), y
    )
    return y


@spmv.register_fake
def _(offsets, columns, order, t_offsets, t_columns, t_order, values, x):
    return x.new_empty(offsets.shape[0] - 1)


def spmv_backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    *pattern, values, x = ctx.saved_tensors
    of_values = of_x = None
    if ctx.needs_input_grad[6]:
        of_values = sddmm(*pattern, gradient.unsqueeze(1), conjugate(x).unsqueeze(1))
    if ctx.needs_input_grad[7]:
        of_x = spmv(*turned(pattern), conjugate(values), gradient)
    return (*[None] * 6, of_values, of_x)


# ---- spmm ------------------------------------------------------------------------------------------
@operator("spmm", "Tensor values, Tensor B")
def spmm(offsets, columns, order, t_offsets, t_columns, t_order, values, B):
    """A B, (m, k), for the matrix A with this pattern and `values`, and B (n, k)."""
    C = B.new_empty((len(offsets) - 1, B.shape[1]))
    structure(offsets, columns, t_offsets).product(
        kernels.spmm, order, values.contiguous(), B.contiguous(), C
    )
    return C


@spmm.register_fake
def _(offsets, columns, order, t_offsets, t_columns, t_order, values, B):
    return B.new_empty((offsets.shape[0] - 1, B.shape[1]))


def spmm_backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    *pattern, values, B = ctx.saved_tensors
    of_values = of_B = None
    if ctx.needs_input_grad[6]:
        of_values = sddmm(*pattern, gradient, conjugate(B))
    if ctx.needs_input_grad[7]:
        of_B = spmm(*turned(pattern), conjugate(values), gradient)
    return (*[None] * 6, of_values, of_B)


# ---- sddmm -----------------------------------------------------------------------------------------
@operator("sddmm", "Tensor X, Tensor Y")
def sddmm(offsets, columns, order, t_offsets, t_columns, t_order, X, Y):
    """The entries of X Y^T at the pattern, (nonzeros,), for X (m, d) and Y (n, d)."""
    out = X.new_empty(len(columns))
    structure(offsets, columns, t_offsets).run(
        kernels.sddmm, order, X.contiguous(), Y.contiguous(), out
    )
    return out


@sddmm.register_fake
def _(offsets, columns, order, t_offsets, t_columns, t_order, X, Y):
    return X.new_empty(columns.shape[0])


def sddmm_backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    *pattern, X, Y = ctx.saved_tensors
    of_X = of_Y = None
    if ctx.needs_input_grad[6]:
        of_X = spmm(*pattern, gradient, conjugate(Y))
    if ctx.needs_input_grad[7]:
        of_Y = spmm(*turned(pattern), gradient, conjugate(X))
    return (*[None] * 6, of_X, of_Y)


# ---- softmax ---------------------------------------------------------------------------------------
@operator("softmax", "Tensor scores")
def softmax(offsets, columns, order, t_offsets, t_columns, t_order, scores):
    """The softmax of `scores`, (nonzeros,), over each row."""
    out = torch.empty_like(scores, memory_format=torch.contiguous_format)
    structure(offsets, columns, t_offsets).run(kernels.softmax, order, scores.contiguous(), out)
    return out


@softmax.register_fake
def _(offsets, columns, order, t_offsets, t_columns, t_order, scores):
    return torch.empty_like(scores, memory_format=torch.contiguous_format)


@operator("softmax_backward", "Tensor result, Tensor gradient")
def softmax_backward(offsets, columns, order, t_offsets, t_columns, t_order, result, gradient):
    """The gradient of the scores of which `result` is the softmax."""
    out = torch.empty_like(result, memory_format=torch.contiguous_format)
    given = order, result.contiguous(), gradient.contiguous(), out
    structure(offsets, columns, t_offsets).run(kernels.softmax_backward, *given)
    return out


@softmax_backward.register_fake
def _(offsets, columns, order, t_offsets, t_columns, t_order, result, gradient):
    return torch.empty_like(result, memory_format=torch.contiguous_format)


def backward_of_softmax(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    *pattern, result = ctx.saved_tensors
    return (*[None] * 6, softmax_backward(*pattern, result, gradient))


# ---- attention -------------------------------------------------------------------------------------
@operator("attention", "Tensor Q, Tensor K, Tensor V, float scale=1.0", "(Tensor, Tensor)")
def attention(offsets, columns, order, t_offsets, t_columns, t_order, Q, K, V, scale=1.0):
    """softmax(scale Q K^T) V over each row of the pattern, (m, e), and the logarithm of each sum, (m, 1)."""
    out, logs = Q.new_empty((len(offsets) - 1, V.shape[1])), sums_like(Q, len(offsets) - 1)
    one = np.ones((), np.float64 if logs.dtype == torch.float64 else np.float32)[()]
    given = *(x.contiguous() for x in (Q, K, V)), out, *[None] * 4, one * scale, one, logs
    structure(offsets, columns, t_offsets).run(attention_rows, *given)
    return out, logs


@attention.register_fake
def _(offsets, columns, order, t_offsets, t_columns, t_order, Q, K, V, scale=1.0):
    return Q.new_empty((offsets.shape[0] - 1, V.shape[1])), sums_like(Q, offsets.shape[0] - 1)


@operator(
    "attention_backward",
    "Tensor Q, Tensor K, Tensor V, Tensor gradient, Tensor logs, float scale=1.0",
    "(Tensor, Tensor, Tensor)",
)
def attention_backward(
    offsets, columns, order, t_offsets, t_columns, t_order, Q, K, V, gradient, logs, scale=1.0
):  # fmt: skip
    """The gradients of Q, K and V. Scores are computed again, and nothing is as large as the pattern."""
    dQ, dK, dV = (x.new_zeros(x.shape) for x in (Q, K, V))
    if V.shape[1]:
        given = *(x.contiguous() for x in (Q, K, V, gradient)), logs
        means = sums_like(Q, len(Q))
        here = structure(offsets, columns, t_offsets)
        here.run(kernels.attention_of_rows, *given, dQ, means, scale)
        there = structure(t_offsets, t_columns, offsets)
        alike = K.shape[1] == V.shape[1]
        for some in ((dK, dV),) if alike else ((dK, None), (None, dV)):
            there.run(kernels.attention_of_columns, *given, means, *some, scale)
    return dQ, dK, dV


@attention_backward.register_fake
def _(offsets, columns, order, t_offsets, t_columns, t_order, Q, K, V, gradient, logs, scale=1.0):
    return Q.new_empty(Q.shape), K.new_empty(K.shape), V.new_empty(V.shape)


def backward_of_attention(ctx: Any, gradient: Tensor, _: Any) -> Any:
    *given, logs = ctx.saved_tensors
    return (*[None] * 6, *attention_backward(*given, gradient, logs, ctx.scale), None)


def keep_logs(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    *tensors, ctx.scale = inputs
    ctx.save_for_backward(*tensors, output[1])
    ctx.mark_non_differentiable(output[1])


def sums_like(x: Tensor, count: int) -> Tensor:
    """A new tensor (count, 1) of the type of sums of such numbers."""
    narrow = x.dtype in (torch.float16, torch.bfloat16)
    return x.new_empty((count, 1), dtype=torch.float32 if narrow else x.dtype)


# ---- gradients -------------------------------------------------------------------------------------
def turned(pattern: list[Any]) -> list[Any]:
    """The transposed pattern."""
    return [*pattern[3:], *pattern[:3]]


def conjugate(x: Tensor) -> Tensor:
    return x.conj().resolve_conj() if x.is_complex() else x


def keep_inputs(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def keep_output(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[:6], output)


spmv.register_autograd(spmv_backward, setup_context=keep_inputs)
spmm.register_autograd(spmm_backward, setup_context=keep_inputs)
sddmm.register_autograd(sddmm_backward, setup_context=keep_inputs)
softmax.register_autograd(backward_of_softmax, setup_context=keep_output)
attention.register_autograd(backward_of_attention, setup_context=keep_logs)
