"""Where a sparse matrix has nonzeros: by rows, and by columns for gradients."""

from __future__ import annotations

from typing import Any

import torch

from evenly.errors import InputError
from evenly.layouts.csr import csr
from evenly.torch_operators.launching import Structure

LARGEST = torch.iinfo(torch.int32).max


class Pattern:
    """The nonzeros of a sparse matrix of shape (m, n), without values, and those of its transpose.

    Values are a tensor of their own, (nonzeros,), in the order of the nonzeros here. They may require a gradient, and
    change from call to call. The transposed pattern is found when the pattern is made, by a stable sort; products with
    the transpose, and gradients, read values through it. Tensors are int32 where that suffices.

    offsets: (m + 1,), of rows. columns: (nonzeros,). order: None, or for each nonzero its place among the values.
    """

    offsets: Any
    columns: Any
    order: Any
    _turned: Pattern
    _structure: Structure

    def __init__(self, offsets: Any, columns: Any, shape: tuple[int, int]) -> None:
        """Make a pattern of CSR tensors. They are checked. Raises InputError if they are malformed."""
        rows, width = (int(n) for n in shape)
        csr((columns, columns, offsets), shape=(rows, width), name="Pattern")
        type_ = torch.int32 if max(rows, width, len(columns)) <= LARGEST else torch.int64
        offsets, columns = (x.detach().to(type_).contiguous() for x in (offsets, columns))
        order = torch.sort(columns, stable=True).indices
        lengths = offsets[1:] - offsets[:-1]
        of_rows = torch.repeat_interleave(torch.arange(rows, device=columns.device), lengths)
        ends = torch.arange(width + 1, device=columns.device, dtype=type_)
        starts = torch.searchsorted(columns[order], ends).to(type_)
        of_columns = starts, of_rows[order].to(type_), order.to(type_)
        self._pair((offsets, columns, None), of_columns)

    @classmethod
    def of(cls, A: Any) -> Pattern:
        """Make the pattern of a `torch.sparse_csr`, `sparse_csc` or (coalesced) `sparse_coo` tensor of two axes.

        The values in its order are `A.values()` for CSR and COO, and `A.to_sparse_csr().values()` for CSC. Raises
        InputError for anything else.
        """
        if not isinstance(A, torch.Tensor) or A.layout == torch.strided or A.dim() != 2:
            given = type(A).__name__
            if isinstance(A, torch.Tensor):
                given = f"a {A.layout} tensor of {A.dim()} axes"
            hint = "A.to_sparse_csr()" if isinstance(A, torch.Tensor) and A.dim() == 2 else ""
            raise InputError("A", expected="a sparse tensor of two axes", given=given, hint=hint)
        if A.layout == torch.sparse_coo and not A.is_coalesced():
            raise InputError(
                "A", expected="a coalesced tensor", given="another", hint="A.coalesce()"
            )
        A = A.detach().to_sparse_csr()
        return cls(A.crow_indices(), A.col_indices(), tuple(A.shape))

    def _pair(self, here: tuple[Any, ...], there: tuple[Any, ...]) -> Pattern:
        """Make this the pattern of the tensors `here`, with that of `there` as its transpose."""
        self._turned = object.__new__(Pattern)
        self._turned._turned = self
        for pattern, tensors, others in ((self, here, there), (self._turned, there, here)):
            offsets, columns, _ = pattern.offsets, pattern.columns, pattern.order = tensors
            pattern._structure = Structure(offsets, columns, len(others[0]) - 1)
            pattern._structure.reach = reach(pattern.order)
            for x in tensors:
                if x is not None and x.is_cuda:  # compiled graphs of CUDA read them where they lie
                    torch._dynamo.mark_static_address(x, guard=False)
        return self

    @property
    def T(self) -> Pattern:
        """The transposed pattern, whose values have the same order. It costs nothing."""
        turned: Pattern = self._turned
        return turned

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.offsets) - 1, len(self._turned.offsets) - 1

    @property
    def num_nonzeros(self) -> int:
        return len(self.columns)

    @property
    def tensors(self) -> tuple[Any, ...]:
        """The tensors by which operators get a pattern: offsets, columns, order; and those of the transpose."""
        turned = self._turned
        here = self.offsets, self.columns, self.order
        return (*here, turned.offsets, turned.columns, turned.order)

    def to(self, device: Any) -> Pattern:
        """Return the pattern on another device; itself if it is there."""
        if self.offsets.to(device) is self.offsets:
            return self
        moved = [None if x is None else x.to(device) for x in self.tensors]
        return object.__new__(Pattern)._pair(tuple(moved[:3]), tuple(moved[3:]))

    def __reduce__(self) -> Any:
        if self.order is not None:
            return _turned, (self.T,)
        return Pattern, (self.offsets, self.columns, self.shape)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return (
            f"<Pattern {rows} x {columns} of {self.num_nonzeros} nonzeros on {self.offsets.device}>"
        )


WINDOW = 1 << 19  # nonzeros that a GPU has in flight, about


def reach(order: Any) -> int:
    """Return over how many values the ones lie that a GPU reads at a time, in the mean; 0 if they are few anyway."""
    count = 0 if order is None else len(order) // WINDOW
    if not count or not order.is_cuda:
        return 0
    windows = order[: count * WINDOW].view(count, WINDOW)
    return int((windows.amax(1) - windows.amin(1)).double().mean())


def _turned(pattern: Pattern) -> Pattern:
    return pattern.T
