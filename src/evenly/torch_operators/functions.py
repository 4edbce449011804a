"""Sparse products for PyTorch: checks, and a call of an operator."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from evenly.errors import InputError
from evenly.torch_operators import operators
from evenly.torch_operators.pattern import Pattern

TYPES = (
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128,
)  # fmt: skip


def spmv(pattern: Pattern, values: Tensor, x: Tensor) -> Tensor:
    """A x, (m,), for the sparse A with this pattern, of shape (m, n), and these values; x: (n,).

    All functions here: tensors of one dtype (float16, bfloat16, float32, float64, complex64, complex128) on the device
    of the pattern; of any strides, but others than contiguous ones are copied. Sums of 16-bit floats are float32.
    Each is an operator of `torch.library`. Gradients are taken at the pattern, without a dense matrix, and the same
    input gives the same bits. They run in `torch.compile` without graph breaks. They raise InputError for tensors of
    other shapes, dtypes or devices.
    """
    _, n = _shape(pattern)
    _check(pattern, values=(values, (pattern.num_nonzeros,)), x=(x, (n,)))
    return operators.spmv(*pattern.tensors, values, x)


def spmm(pattern: Pattern, values: Tensor, B: Tensor) -> Tensor:
    """A B, (m, k), for the sparse A with this pattern and these values; B: (n, k). More: see `spmv`."""
    _, n = _shape(pattern)
    _check(pattern, values=(values, (pattern.num_nonzeros,)), B=(B, (n, *_width(B))))
    return operators.spmm(*pattern.tensors, values, B)


def sddmm(pattern: Pattern, X: Tensor, Y: Tensor) -> Tensor:
    """The entries of X Y^T at the pattern, (nonzeros,): X[i] . Y[j]; X: (m, d), Y: (n, d). More: see `spmv`."""
    m, n = _shape(pattern)
    _check(pattern, X=(X, (m, *_width(X))), Y=(Y, (n, *_width(X))))
    return operators.sddmm(*pattern.tensors, X, Y)


def softmax(pattern: Pattern, scores: Tensor) -> Tensor:
    """exp(scores) over their sum in each row of the pattern, (nonzeros,), for real `scores`. More: see `spmv`."""
    _shape(pattern)
    _check(pattern, scores=(scores, (pattern.num_nonzeros,)))
    if scores.is_complex():
        raise InputError("scores", expected="real numbers", given=f"dtype {scores.dtype}")
    return operators.softmax(*pattern.tensors, scores)


def attention(
    pattern: Pattern, Q: Tensor, K: Tensor, V: Tensor, *, scale: float | None = None
) -> Tensor:
    """softmax(scale Q K^T) V, (m, e), where row i attends to the nonzeros of row i of the pattern; in one kernel.

    Q: (m, d), K: (n, d), V: (n, e), real. scale: default 1 / sqrt(d). It is
    `torch.nn.functional.scaled_dot_product_attention` with the pattern as its mask; rows without a nonzero are 0. No
    scores are kept, but for gradients: then it is `spmm` of `softmax` of `sddmm`. More: see `spmv`.
    """
    m, n = _shape(pattern)
    _check(pattern, Q=(Q, (m, *_width(Q))), K=(K, (n, *_width(Q))), V=(V, (n, *_width(V))))
    if Q.is_complex():
        raise InputError("Q", expected="real numbers", given=f"dtype {Q.dtype}")
    factor = (
        max(Q.shape[1], 1) ** -0.5 if scale is None else number(scale, "scale", "multiply Q by it")
    )
    if torch.is_grad_enabled() and any(x.requires_grad for x in (Q, K, V)):
        return spmm(pattern, softmax(pattern, sddmm(pattern, Q * factor, K)), V)
    return operators.attention(*pattern.tensors, Q, K, V, factor)


def _shape(pattern: Any) -> tuple[int, int]:
    """Return the shape of a pattern. Raises InputError for anything else."""
    if not isinstance(pattern, Pattern):
        hint = "Pattern.of(A) makes one of a sparse tensor"
        given = type(pattern).__name__
        raise InputError("pattern", expected="a Pattern", given=given, hint=hint)
    return pattern.shape


def _width(x: Any) -> tuple[int, ...]:
    """Return how many columns a matrix has; one for what is none, which `_check` refuses."""
    return tuple(x.shape[1:2]) if getattr(x, "ndim", 0) == 2 else (1,)


def number(x: Any, name: str, hint: str = "") -> float:
    """Return a number without a gradient. Raises InputError for anything else. hint: what to do with a gradient."""
    if isinstance(x, torch.Tensor) and x.requires_grad:
        raise InputError(name, expected="a number", given="a tensor with a gradient", hint=hint)
    try:
        return float(x)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(name, expected="a number", given=repr(x)) from None


def _check(pattern: Pattern, **given: tuple[Any, Any]) -> None:
    """Raise InputError unless the tensors have their shapes, one dtype, and the device of the pattern."""
    first = ""
    for name, (x, shape) in given.items():
        check_tensor(x, name, pattern.offsets.device, "pattern")
        if tuple(x.shape) != tuple(shape):
            expected = f"shape {tuple(shape)}, for a pattern of shape {pattern.shape}"
            raise InputError(name, expected=expected, given=f"shape {tuple(x.shape)}")
        if first and x.dtype != given[first][0].dtype:
            expected = f"the dtype of {first}, {given[first][0].dtype}"
            raise InputError(name, expected=expected, given=f"dtype {x.dtype}")
        first = first or name


def check_tensor(x: Any, name: str, device: Any, beside: str) -> None:
    """Raise InputError unless x is a dense tensor of a type that there is, on the device of what `beside` names."""
    if not isinstance(x, torch.Tensor) or x.layout != torch.strided:
        raise InputError(name, expected="a dense tensor", given=type(x).__name__)
    if x.device != device:
        expected = f"a tensor on the device of the {beside}, {device}"
        raise InputError(name, expected=expected, given=f"one on {x.device}")
    if x.dtype not in TYPES:
        raise InputError(name, expected="floats or complex numbers", given=f"dtype {x.dtype}")
