"""Patterns and operands for tests of PyTorch's operators. PyTorch is imported where it is there."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.batteries import matrices

NAMES = (
    "empty in the middle", "empty at the start", "unsorted columns", "duplicates", "no atoms", "single column",
    "zero columns (7 x 0)", "zero rows (0 x 7)",
)  # fmt: skip
OPERATORS = "spmv", "spmm", "sddmm", "softmax", "attention"


def modules() -> tuple[Any, Any]:
    """PyTorch and our operators; skips the test where PyTorch is missing."""
    torch = pytest.importorskip("torch")
    from evenly import torch_operators

    return torch, torch_operators


class Problem:
    """A matrix of the battery on a device, with one operand for each operator."""

    def __init__(
        self, name: str, device: str = "cpu", dtype: str = "float64", wide: int = 3
    ) -> None:
        """wide: how many columns B has."""
        torch, ours = modules()
        self.matrix = matrices(np.float64)[name]
        m, n = self.matrix.shape
        offsets, columns = (
            torch.tensor(x.astype(np.int64), device=device)
            for x in (self.matrix.indptr, self.matrix.indices)
        )
        self.pattern = ours.Pattern(offsets, columns, (m, n))
        random = torch.Generator().manual_seed(1)

        def made(*shape: int) -> Any:
            x = torch.randn(shape, generator=random, dtype=torch.float64)
            return x.to(device, getattr(torch, dtype)).requires_grad_()

        self.values, self.x, self.B = made(self.matrix.nnz), made(n), made(n, wide)
        self.X, self.Y = made(m, 2), made(n, 2)

    def call(self, operator: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """The function of the operands alone, and the operands."""
        _, ours = modules()
        operands = {
            "spmv": (self.values, self.x), "spmm": (self.values, self.B), "sddmm": (self.X, self.Y),
            "softmax": (self.values,), "attention": (self.X, self.Y, self.B),
        }  # fmt: skip
        function = getattr(ours, operator)
        return lambda *given: function(self.pattern, *given), operands[operator]

    def dense(self, operator: str) -> Any:
        """The same by PyTorch's dense functions."""
        torch, _ = modules()
        at = self.matrix.tocoo()
        i, j = (torch.tensor(x.astype(np.int64), device=self.x.device) for x in (at.row, at.col))
        A = torch.zeros(self.matrix.shape, dtype=self.x.dtype, device=self.x.device)
        if operator == "sddmm":
            return (self.X @ self.Y.T)[i, j]
        if operator in ("softmax", "attention"):
            scores = (self.X @ self.Y.T)[i, j] * self.X.shape[1] ** -0.5
            raised = torch.exp(self.values if operator == "softmax" else scores)
            sums = torch.zeros(len(A), dtype=A.dtype, device=A.device).index_add(0, i, raised)
            weights = raised / sums[i]
            if operator == "softmax":
                return weights
            return A.index_put((i, j), weights, accumulate=True) @ self.B
        A = A.index_put((i, j), self.values, accumulate=True)
        return A @ (self.x if operator == "spmv" else self.B)

    def gradients(self, result: Any, operands: tuple[Any, ...]) -> list[Any]:
        torch, _ = modules()
        weights = torch.arange(result.numel(), device=result.device, dtype=result.dtype)
        return list(torch.autograd.grad((result.reshape(-1) * weights).sum(), operands))


def attention(problem: Problem) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A sparse attention: scores at the pattern, their softmax, a product."""
    _, ours = modules()

    def layer(X: Any, Y: Any, B: Any) -> Any:
        weights = ours.softmax(problem.pattern, ours.sddmm(problem.pattern, X, Y))
        return ours.spmm(problem.pattern, weights, B).relu()

    return layer, (problem.X, problem.Y, problem.B)


def attention_and_gradients(width: int, device: str, dtype: str) -> list[tuple[Any, Any]]:
    """Of keys and values of one width: results and gradients of ours, and the same by PyTorch's dense functions."""
    torch, ours = modules()
    problem = Problem("empty in the middle", device)
    (m, n), random = problem.matrix.shape, torch.Generator().manual_seed(2)
    given = [
        torch.randn((k, width), generator=random).to(device, getattr(torch, dtype)).requires_grad_()
        for k in (m, n, n)
    ]
    at = problem.matrix.tocoo()
    mask = torch.zeros((m, n), dtype=torch.bool, device=device)
    mask[at.row, at.col] = True
    full = mask.any(1)
    wide = [x.detach().double().requires_grad_() for x in given]
    scores = (wide[0] @ wide[1].T * width**-0.5).masked_fill(~mask, -torch.inf)[full]
    wanted = torch.zeros(m, width, dtype=torch.float64, device=device)
    wanted = wanted.index_put((full.nonzero()[:, 0],), torch.softmax(scores, 1) @ wide[2])
    found = ours.attention(problem.pattern, *given)
    slope = torch.randn((m, width), generator=random).to(device)
    mine = torch.autograd.grad((found.double() * slope).sum(), given)
    theirs = torch.autograd.grad((wanted * slope).sum(), wide)
    return [(found, wanted), *zip(mine, theirs, strict=True)]


LISTS = {"some": (2, 0, 4, 3, 0), "none": (), "empty ones": (0, 0), "one": (5,)}


def lists_of(
    case: str, wide: tuple[int, ...], dtype: Any = None, device: str = "cpu"
) -> tuple[Any, list[tuple[Callable[[Any], Any], Any, Callable[[Any], Any]]]]:
    """Lists, and for each operator of them a function, its operand, and the same by slices. Rows are of 3 elements."""
    torch, ours = modules()
    lengths, length = LISTS[case], 3
    ends = torch.tensor((0, *lengths)).cumsum(0).tolist()
    lists = ours.Lists(torch.tensor(ends, device=device))
    random = torch.Generator().manual_seed(1)

    def made(*shape: int) -> Any:
        x = torch.randn((*shape, *wide), generator=random, dtype=torch.float64)
        return x.to(device, dtype or torch.float64).requires_grad_()

    def cut(x: Any) -> list[Any]:
        return [x[a:b] for a, b in itertools.pairwise(ends)]

    def padded(x: Any) -> Any:
        out = x.new_zeros((len(lengths), length, *wide))
        for i, part in enumerate(cut(x)):
            out[i, : len(part[:length])] = part.detach()[:length]
        return out

    def packed(x: Any) -> Any:
        out = x.new_zeros((ends[-1], *wide))
        for part, row in zip(cut(out), x.detach(), strict=True):
            part[:length] = row[: len(part)]
        return out

    def stacked(x: Any, f: Callable[[Any], Any]) -> Any:
        return torch.stack([f(part) for part in cut(x)]) if lengths else x.new_zeros((0, *wide))

    n, m = ends[-1], len(lengths)
    return lists, [
        (lambda x: ours.segment_reduce(lists, x), made(n), lambda x: stacked(x, lambda p: p.sum(0))),
        (lambda x: ours.segment_reduce(lists, x, "mean"), made(n), lambda x: stacked(x, lambda p: p.mean(0))),
        (lambda y: ours.repeat(lists, y), made(m), lambda y: y.repeat_interleave(lists.offsets.diff(), dim=0)),
        (lambda x: ours.jagged_to_padded(lists, x, length), made(n), padded),
        (lambda x: ours.padded_to_jagged(lists, x), made(m, length), packed),
    ]  # fmt: skip
