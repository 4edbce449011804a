"""PyTorch's operators on a GPU: values, gradients, torch.compile, CUDA graphs, the same bits."""

from __future__ import annotations

import pytest

from tests.torch_operators.problems import (
    LISTS,
    NAMES,
    OPERATORS,
    Problem,
    attention,
    attention_and_gradients,
    lists_of,
    modules,
)  # fmt: skip

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", [NAMES[0], "duplicates", "no atoms", "power law"])
def test_values_and_gradients_are_those_of_dense_matrices(name: str, operator: str) -> None:
    torch, _ = modules()
    problem = Problem(name, "cuda")
    function, operands = problem.call(operator)
    found, wanted = function(*operands), problem.dense(operator)
    torch.testing.assert_close(found, wanted)
    pairs = zip(
        problem.gradients(found, operands), problem.gradients(wanted, operands), strict=True
    )
    for mine, theirs in pairs:
        torch.testing.assert_close(mine, theirs)


@pytest.mark.parametrize("operator", OPERATORS)
def test_numeric_gradients(operator: str) -> None:
    torch, _ = modules()
    function, operands = Problem("empty in the middle", "cuda").call(operator)
    assert torch.autograd.gradcheck(function, operands)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_narrow_floats(operator: str, dtype: str) -> None:
    torch, _ = modules()
    problem = Problem("unsorted columns", "cuda", dtype)
    wide = Problem("unsorted columns", "cuda")
    function, operands = problem.call(operator)
    for x, y in zip(operands, wide.call(operator)[1], strict=True):
        y.data.copy_(x.data)
    found = function(*operands)
    eps = torch.finfo(found.dtype).eps
    torch.testing.assert_close(found.double(), wide.dense(operator), rtol=2 * eps, atol=32 * eps)
    problem.gradients(found, operands)


@pytest.mark.parametrize("width", [8, 33, 64])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_attention_of_keys_as_wide_as_values(dtype: str, width: int) -> None:
    torch, _ = modules()
    eps = torch.finfo(getattr(torch, dtype)).eps
    for found, wanted in attention_and_gradients(width, "cuda", dtype):
        torch.testing.assert_close(found.double(), wanted, rtol=4 * eps, atol=32 * eps)


@pytest.mark.parametrize("wide", [2, 8, 32, 64, 66, 128])
@pytest.mark.parametrize("name", ["empty in the middle", "duplicates", "no atoms", "power law"])
def test_both_gradients_of_a_product(name: str, wide: int) -> None:
    """By one kernel up to 64 columns of 8 bytes."""
    torch, _ = modules()
    problem = Problem(name, "cuda", wide=wide)
    for operator in "spmm", "attention":
        function, operands = problem.call(operator)
        found = problem.gradients(function(*operands), operands)
        wanted = problem.gradients(problem.dense(operator), operands)
        for mine, theirs in zip(found, wanted, strict=True):
            torch.testing.assert_close(mine, theirs)


@pytest.mark.parametrize("wide", [(), (3,), (512,)])
@pytest.mark.parametrize("case", LISTS)
def test_lists(case: str, wide: tuple[int, ...]) -> None:
    torch, _ = modules()
    for function, x, plain in lists_of(case, wide, device="cuda")[1]:
        found = function(x)
        torch.testing.assert_close(found, plain(x), equal_nan=True)
        if wide != (512,):
            slope = torch.rand_like(found)
            (mine,) = torch.autograd.grad((function(x) * slope).nansum(), x, allow_unused=True)
            assert mine.shape == x.shape


@pytest.mark.parametrize(("width", "way"), [(4, "_panels"), (32, "_steps")])
def test_values_from_all_over_memory(width: int, way: str) -> None:
    """Products are added up, or values are moved in two steps."""
    torch, ours = modules()
    n, each = 600_000, 16
    columns = torch.randint(n, (n * each,), device="cuda")
    pattern = ours.Pattern(torch.arange(0, n * each + 1, each, device="cuda"), columns, (n, n))
    values, X = torch.rand(n * each, device="cuda"), torch.rand(n, width, device="cuda")
    tensors, G = pattern.tensors, torch.rand(n, width, device="cuda")
    of_values, of_X = torch.ops.evenly.spmm_gradients(*tensors, values, X, G)
    torch.testing.assert_close(of_values, torch.ops.evenly.sddmm(*tensors, G, X))
    torch.testing.assert_close(of_X, ours.spmm(pattern.T, values, G))
    found = ours.spmm(pattern.T, values, X)
    assert getattr(pattern.T._structure, way)
    wanted = torch.zeros(n, width, device="cuda")
    wanted.index_add_(0, columns, values[:, None] * X.repeat_interleave(each, 0))
    torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_compiled_without_graph_breaks(mode: str) -> None:
    torch, _ = modules()
    layer, operands = attention(Problem("power law", "cuda", "float32"))
    compiled = torch.compile(layer, fullgraph=True, mode=mode)
    for turn in range(4):
        with torch.no_grad():
            operands[0].add_(turn)
        wanted = torch.autograd.grad(layer(*operands).sum(), operands)
        found = torch.autograd.grad(compiled(*operands).sum(), operands)
        for mine, theirs in zip(found, wanted, strict=True):
            torch.testing.assert_close(mine, theirs)


def test_inside_a_cuda_graph() -> None:
    torch, _ = modules()
    layer, operands = attention(Problem("power law", "cuda", "float32"))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):
            torch.autograd.grad(layer(*operands).sum(), operands)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = torch.autograd.grad(layer(*operands).sum(), operands)
    with torch.no_grad():
        operands[0].mul_(0.5)
    graph.replay()
    for mine, theirs in zip(
        found, torch.autograd.grad(layer(*operands).sum(), operands), strict=True
    ):
        torch.testing.assert_close(mine, theirs)


def test_the_same_bits_in_every_run() -> None:
    torch, _ = modules()
    layer, operands = attention(Problem("power law", "cuda", "float32"))
    runs = set()
    for _ in range(100):
        found = torch.autograd.grad(layer(*operands).sum(), operands)
        runs.add(b"".join(g.cpu().numpy().tobytes() for g in found))
    assert len(runs) == 1


def test_memory_is_that_of_nonzeros() -> None:
    torch, ours = modules()
    n, each, width = 50_000, 8, 16
    columns = torch.randint(n, (n * each,), device="cuda")
    offsets = torch.arange(0, n * each + 1, each, device="cuda")
    pattern = ours.Pattern(offsets, columns, (n, n))
    values = torch.rand(n * each, device="cuda", requires_grad=True)
    B = torch.rand(n, width, device="cuda", requires_grad=True)
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    ours.spmm(pattern, values, B).sum().backward()
    assert torch.cuda.max_memory_allocated() - before < 4 * (4 * n * width + 4 * n * each) * 2
