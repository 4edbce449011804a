"""A graph attention layer (GAT), trained for some steps with PyTorch, beside the same layer of PyTorch's own operators.

An edge's weight is the softmax, over the edges of a vertex, of a score of both its ends. Scores and weights exist at
edges alone, and so do their gradients. Needs PyTorch.
Source: Velickovic et al., "Graph Attention Networks" (ICLR 2018).

Run it: python examples/graph_attention.py
"""

from __future__ import annotations

import time

import numpy as np
import torch
from torch import nn

from evenly import torch_operators as ops
from evenly.interop.generators import rmat


class Attention(nn.Module):
    """One head: (vertices, features) to (vertices, out)."""

    def __init__(self, pattern: ops.Pattern, features: int, out: int) -> None:
        super().__init__()
        self.pattern = pattern
        self.linear = nn.Linear(features, out, bias=False)
        self.ends = nn.Parameter(torch.randn(2, out) * out**-0.5)

    def forward(self, x):
        h = self.linear(x)
        here, there = (h @ self.ends.T).unbind(1)
        ones = torch.ones_like(here)
        # here[i] + there[j] for each edge is a product of two columns at the pattern
        scores = ops.sddmm(
            self.pattern, torch.stack([here, ones], 1), torch.stack([ones, there], 1)
        )
        weights = ops.softmax(self.pattern, nn.functional.leaky_relu(scores, 0.2))
        return ops.spmm(self.pattern, weights, h)


class Unfused(Attention):
    """The same by PyTorch's operators on lists of edges."""

    def __init__(self, pattern: ops.Pattern, features: int, out: int) -> None:
        super().__init__(pattern, features, out)
        lengths = pattern.offsets.diff()
        rows = torch.arange(len(lengths), device=lengths.device)
        self.rows = torch.repeat_interleave(rows, lengths)
        self.columns = pattern.columns.long()

    def forward(self, x):
        h = self.linear(x)
        here, there = (h @ self.ends.T).unbind(1)
        scores = nn.functional.leaky_relu(here[self.rows] + there[self.columns], 0.2)
        top = torch.full_like(here, -torch.inf)
        top = top.scatter_reduce(0, self.rows, scores.detach(), "amax")
        raised = torch.exp(scores - top[self.rows])
        sums = torch.zeros_like(here).index_add(0, self.rows, raised)
        weights = raised / sums[self.rows]
        return torch.zeros_like(h).index_add(0, self.rows, weights[:, None] * h[self.columns])


def train(make, pattern: ops.Pattern, steps: int, compiled: bool = False):
    """Learn to tell the vertices of many neighbours from the others; returns the losses, and seconds a step."""
    torch.manual_seed(0)
    device = pattern.offsets.device
    degrees = pattern.T.offsets.diff()
    labels = (degrees > degrees.float().mean()).long()
    x = torch.randn(pattern.shape[0], 16, generator=torch.Generator().manual_seed(1)).to(device)
    x[:, 0] += labels
    layers = make(pattern, 16, 16), make(pattern, 16, 2)
    model = nn.Sequential(layers[0], nn.ELU(), layers[1]).to(device)
    step = torch.compile(model, fullgraph=True) if compiled else model
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    losses, took = [], []
    for _ in range(steps):
        start = time.perf_counter()
        loss = nn.functional.cross_entropy(step(x), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())  # which waits for a GPU
        took.append(time.perf_counter() - start)
    return losses, float(np.median(took))


def main(steps: int = 20, scale: int = 9, device: str | None = None):
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    matrix = rmat(scale)
    matrix.sum_duplicates()
    matrix = (matrix + matrix.T).tocsr()
    matrix.setdiag(1)  # an edge to itself
    offsets, columns = (torch.tensor(x.astype(np.int64)) for x in (matrix.indptr, matrix.indices))
    pattern = ops.Pattern(offsets, columns, matrix.shape).to(device)
    losses, took = train(Attention, pattern, steps)
    theirs, their_time = train(Unfused, pattern, steps)
    np.testing.assert_allclose(losses[:3], theirs[:3], rtol=1e-3)
    assert losses[-1] < 0.9 * losses[0]
    again, _ = train(Attention, pattern, steps)
    assert again == losses  # the same bits in every run
    return pattern, losses, took, their_time


if __name__ == "__main__":
    pattern, losses, took, theirs = main()
    print(
        f"graph attention over {pattern}: the loss falls from {losses[0]:.3f} to {losses[-1]:.3f}"
    )
    print(f"{took * 1e3:.2f} ms a step; PyTorch's own operators: {theirs * 1e3:.2f} ms")
