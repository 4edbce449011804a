"""Sparse products for PyTorch, with gradients: `from evenly import torch_operators` (docs/pytorch.md).

    pattern.py     where a matrix has nonzeros, and the transposed pattern, found once
    kernels.py     the kernels, in the public language
    launching.py   plans of them, kept with patterns
    operators.py   the operators of `torch.library`: `torch.ops.evenly.spmm` and others
    functions.py   what users call
    lists.py, list_operators.py, list_functions.py   the same of lists of unequal length

It needs PyTorch, which evenly does not install, and imports it at once.
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:  # in one line, rather than a traceback of ours
    raise ImportError(
        "evenly.torch_operators needs PyTorch 2.4 or newer: pip install torch"
    ) from error

from evenly.torch_operators.functions import attention, sddmm, softmax, spmm, spmv
from evenly.torch_operators.list_functions import (
    jagged_to_padded,
    padded_to_jagged,
    repeat,
    segment_reduce,
)
from evenly.torch_operators.lists import Lists
from evenly.torch_operators.pattern import Pattern

__all__ = [
    "Lists", "Pattern", "attention", "jagged_to_padded", "padded_to_jagged", "repeat", "sddmm", "segment_reduce",
    "softmax", "spmm", "spmv",
]  # fmt: skip
