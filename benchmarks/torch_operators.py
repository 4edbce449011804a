"""SpMM, sparse attention and lists with their gradients in PyTorch, in replayed CUDA graphs, in one run.

    python benchmarks/torch_operators.py [--columns 8,32,128] [--matrices uniform,band,stencil,rmat] [--dtypes float32]

`--matrices ""` leaves lists alone, of rows of these types.

Needs a GPU and PyTorch. Beside SpMM stands torch.sparse.mm, beside attention the chain of our SDDMM, softmax and
SpMM, beside sums, means and packing of lists of rows of 512 a copy. Forward: C = A B. Backward: both gradients, of A's
values at the pattern and of B. PyTorch's backward makes no gradient for values of CSR here, so that of B alone is
measured, as the product with a CSR matrix of the transpose that is made beforehand.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from typing import Any

import torch

from evenly import torch_operators as ours
from evenly.bench.peers import csr_tensor
from evenly.interop import generators
from evenly.timing.rounds import measure

ROUNDS, RUNS = 5, 5
KINDS = "equal", "uniform", "power law"
MATRICES: dict[str, Callable[[], Any]] = {
    "uniform": lambda: generators.uniform(1_000_000, 16),
    "band": lambda: generators.banded(300_000, 64),
    "stencil": lambda: generators.stencil(1024),
    "rmat": lambda: generators.rmat(18),
}


class Replayed:
    """A clock that replays a graph of RUNS calls, and gives the microseconds of one."""

    def __init__(self, call: Callable[[], Any]) -> None:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):
                call()
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            for _ in range(RUNS):
                call()
        self.estimate = self.warm()

    def warm(self) -> float:
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.graph.replay()
        start.record()
        self.graph.replay()
        stop.record()
        stop.synchronize()
        return float(start.elapsed_time(stop)) / RUNS * 1e3

    def flushed(self) -> None:
        return


def csr(matrix: Any, values: Any) -> Any:
    parts = (torch.tensor(x, device="cuda") for x in (matrix.indptr, matrix.indices))
    return csr_tensor(*parts, values, matrix.shape)


def measured(matrix: Any, width: int) -> dict[str, float]:
    m, n = matrix.shape
    offsets, columns = (torch.tensor(x, device="cuda") for x in (matrix.indptr, matrix.indices))
    pattern = ours.Pattern(offsets, columns, (m, n))
    values = torch.rand(matrix.nnz, device="cuda")
    B, G = torch.rand(n, width, device="cuda"), torch.rand(m, width, device="cuda")
    op = torch.ops.evenly
    A = csr(matrix, values)
    turned = csr(matrix.T.tocsr(), values[pattern.T.order])
    calls: dict[str, Callable[[], Any]] = {
        "forward": lambda: op.spmm(*pattern.tensors, values, B),
        "backward: values": lambda: op.sddmm(*pattern.tensors, G, B),
        "backward: B": lambda: op.spmm(*pattern.T.tensors, values, G),
        "backward: both": lambda: op.spmm_gradients(*pattern.tensors, values, B, G),
        "PyTorch forward": lambda: A @ B,
        "PyTorch backward: B": lambda: turned @ G,
    }
    torch.testing.assert_close(calls["forward"](), A @ B, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(calls["backward: B"](), turned @ G, rtol=1e-3, atol=1e-3)
    of_values, of_B = calls["backward: both"]()
    torch.testing.assert_close(of_values, calls["backward: values"](), rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(of_B, turned @ G, rtol=1e-3, atol=1e-3)
    return medians(calls)


def attended(matrix: Any, width: int) -> dict[str, float]:
    m, n = matrix.shape
    offsets, columns = (torch.tensor(x, device="cuda") for x in (matrix.indptr, matrix.indices))
    pattern = ours.Pattern(offsets, columns, (m, n))
    Q, K, V = (torch.randn(k, width, device="cuda") for k in (m, n, n))
    here, op = pattern.tensors, torch.ops.evenly

    def chain() -> torch.Tensor:
        return op.spmm(*here, op.softmax(*here, op.sddmm(*here, Q, K)), V)

    torch.testing.assert_close(op.attention(*here, Q, K, V), chain(), rtol=1e-3, atol=1e-3)
    calls: dict[str, Callable[[], Any]] = {
        "chain": chain,
        "attention": lambda: op.attention(*here, Q, K, V),
    }
    return medians(calls)


def of_lists(kind: str, dtype: str) -> dict[str, float]:
    """Shares of the rate of a copy."""
    random, width = torch.Generator().manual_seed(0), 512
    uniform = torch.rand(2_000, generator=random)
    lengths = {
        "equal": torch.full((2_000,), 50),
        "uniform": (101 * uniform).long(),
        "power law": (10 * (uniform + 1e-4) ** -0.7).long(),
    }[kind]
    lists = ours.Lists(torch.cat([torch.zeros(1), lengths.cumsum(0)]).long().cuda())
    n, m, most = lists.num_elements, len(lengths), int(lengths.max())
    of = {"device": "cuda", "dtype": getattr(torch, dtype)}
    x, y = torch.rand(n, width, **of), torch.rand(m, width, **of)
    other, op, offsets = torch.empty_like(x), torch.ops.evenly, lists.offsets
    calls: dict[str, tuple[int, Callable[[], Any]]] = {
        "copy": (2 * n, lambda: other.copy_(x)),
        "sum": (n + m, lambda: op.segment_reduce(offsets, x, "sum")),
        "mean": (n + m, lambda: op.segment_reduce(offsets, x, "mean")),
        "backward of a sum": (n + m, lambda: op.repeat(offsets, y, n)),
    }
    if kind != "power law":
        padded = torch.rand(m, most, width, **of)
        calls |= {
            "pack": (2 * n, lambda: op.padded_to_jagged(offsets, padded, n)),
            "backward of pack": (n + m * most, lambda: op.jagged_to_padded(offsets, x, most)),
        }
    found = medians({title: call for title, (_, call) in calls.items()})
    rate = calls["copy"][0] / found["copy"]
    return {title: 100 * calls[title][0] / us / rate for title, us in found.items()}


def medians(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    clocks = {title: Replayed(call) for title, call in calls.items()}
    samples = measure(clocks, rounds=ROUNDS, flushed=False)
    return {title: sample.median for (title, _), sample in samples.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--columns", default="8,32,128")
    parser.add_argument("--matrices", default=",".join(MATRICES))
    parser.add_argument("--dtypes", default="float32")
    given = parser.parse_args()
    print(torch.cuda.get_device_name(0), torch.__version__)
    for name in filter(None, given.matrices.split(",")):
        matrix = MATRICES[name]()
        for width in map(int, given.columns.split(",")):
            found = measured(matrix, width)
            apart = found["backward: values"] + found["backward: B"]
            shares = [x / found["forward"] for x in (found["backward: both"], apart)]
            print(
                f"{name}, {width} columns: backward {shares[0]:.2f} times forward, apart {shares[1]:.2f}"
            )
            shown(found)
            print(f"{name}, {width} columns: attention")
            times = attended(matrix, width)
            print(f"  chain / attention {times['chain'] / times['attention']:.2f}")
            shown(times)
    for dtype, kind in itertools.product(given.dtypes.split(","), KINDS):
        print(f"lists of {kind} lengths, rows of {dtype}, percent of the rate of a copy")
        shown(of_lists(kind, dtype))


def shown(found: dict[str, float]) -> None:
    for title, number in found.items():
        print(f"  {number:9.1f}  {title}", flush=True)


if __name__ == "__main__":
    main()
