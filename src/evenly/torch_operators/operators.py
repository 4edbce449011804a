"""The operators of `torch.library`: `evenly::spmv`, `spmm`, `sddmm`, `softmax`, `attention`, with fakes and gradients.

An operator takes a pattern as six tensors: offsets, columns and order of its rows, and the same of its transpose (see
`Pattern.tensors`). The gradient of one is others of them, at the pattern and at its transpose, so that nothing of the
size of a dense matrix is made, and gradients have gradients. None uses an atomic: the same input gives the same bits.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from evenly import kit
from evenly.algorithms.linalg.attention import LOG2_E, attention_rows
from evenly.torch_operators import kernels
from evenly.torch_operators.launching import beside, structure

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


@operator("spmm_gradients", "Tensor values, Tensor B, Tensor gradient", "(Tensor, Tensor)")
def spmm_gradients(offsets, columns, order, t_offsets, t_columns, t_order, values, B, gradient):
    """sddmm(gradient, B) and the product of the transpose with `gradient`, for values (nonzeros,) and B (n, k)."""
    here, there = structure(offsets, columns, t_offsets), structure(t_offsets, t_columns, offsets)
    values, B, gradient = (x.contiguous() for x in (values, B, gradient))
    of_values, of_B = torch.empty_like(values), torch.empty_like(B)
    if not there.gradients(t_order, values, B, gradient, of_values, of_B):
        with beside(values) as aside:
            there.product(kernels.spmm, t_order, values, gradient, of_B)
            with aside:
                here.run(kernels.sddmm, order, gradient, B, of_values)
    return of_values, of_B


@spmm_gradients.register_fake
def _(offsets, columns, order, t_offsets, t_columns, t_order, values, B, gradient):
    return tuple(torch.empty_like(x, memory_format=torch.contiguous_format) for x in (values, B))


def backward_of_gradients(ctx: Any, of_values: Tensor, of_B: Tensor) -> tuple[Any, ...]:
    *pattern, values, B, gradient = ctx.saved_tensors
    back = turned(pattern)
    found = (
        sddmm(*pattern, conjugate(gradient), of_B),
        spmm(*back, of_values, conjugate(gradient)),
        spmm(*pattern, of_values, conjugate(B)) + spmm(*pattern, conjugate(values), of_B),
    )
    return (*[None] * 6, *found)


def spmm_backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    *pattern, values, B = ctx.saved_tensors
    of_values = of_B = None
    if ctx.needs_input_grad[6] and ctx.needs_input_grad[7]:
        of_values, of_B = spmm_gradients(*pattern, conjugate(values), conjugate(B), gradient)
    elif ctx.needs_input_grad[6]:
        of_values = sddmm(*pattern, gradient, conjugate(B))
    elif ctx.needs_input_grad[7]:
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
@operator("attention", "Tensor Q, Tensor K, Tensor V, float scale=1.0")
def attention(offsets, columns, order, t_offsets, t_columns, t_order, Q, K, V, scale=1.0):
    """softmax(scale Q K^T) V over each row of the pattern, (m, e)."""
    out, one = Q.new_empty((len(offsets) - 1, V.shape[1])), kit.held_as(Q).type(1)
    given = *(x.contiguous() for x in (Q, K, V)), out, *[None] * 4, one * scale * LOG2_E, one
    structure(offsets, columns, t_offsets).run(attention_rows, *given)
    return out


@attention.register_fake
def _(offsets, columns, order, t_offsets, t_columns, t_order, Q, K, V, scale=1.0):
    return Q.new_empty((offsets.shape[0] - 1, V.shape[1]))


def attention_backward(ctx: Any, gradient: Tensor) -> Any:
    """The gradients of the chain of SDDMM, softmax and SpMM, whose weights are computed again."""
    *pattern, Q, K, V = ctx.saved_tensors
    of_Q, of_K, of_V = ctx.needs_input_grad[6:9]
    weights = softmax(*pattern, sddmm(*pattern, Q * ctx.scale, K))
    of_weights = for_V = through = None
    if of_V and (of_Q or of_K):
        of_weights, for_V = spmm_gradients(*pattern, weights, V, gradient)
    elif of_V:
        for_V = spmm(*turned(pattern), weights, gradient)
    else:
        of_weights = sddmm(*pattern, gradient, V)
    if of_weights is not None:
        through = softmax_backward(*pattern, weights, of_weights) * ctx.scale
    for_Q = spmm(*pattern, through, K) if of_Q else None
    for_K = spmm(*turned(pattern), through, Q) if of_K else None
    return (*[None] * 6, for_Q, for_K, for_V, None)


def keep_scale(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    *tensors, ctx.scale = inputs
    ctx.save_for_backward(*tensors)


# ---- gradients -------------------------------------------------------------------------------------
def turned(pattern: list[Any]) -> list[Any]:
    """The transposed pattern."""
    return [*pattern[3:], *pattern[:3]]


def conjugate(x: Tensor) -> Tensor:
    return x.conj().resolve_conj() if x.is_complex() else x


def keep_inputs(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.save_for_backward(*inputs)


def keep_output(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[:6], output)


spmv.register_autograd(spmv_backward, setup_context=keep_inputs)
spmm.register_autograd(spmm_backward, setup_context=keep_inputs)
spmm_gradients.register_autograd(backward_of_gradients, setup_context=keep_inputs)
sddmm.register_autograd(sddmm_backward, setup_context=keep_inputs)
softmax.register_autograd(backward_of_softmax, setup_context=keep_output)
attention.register_autograd(attention_backward, setup_context=keep_scale)
