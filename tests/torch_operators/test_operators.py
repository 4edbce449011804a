"""PyTorch's operators: values, gradients, torch.compile, types, patterns and mistakes."""

from __future__ import annotations

import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import evenly as ev
from tests.torch_operators.problems import (
    NAMES,
    OPERATORS,
    Problem,
    attention,
    attention_and_gradients,
    modules,
)  # fmt: skip

torch, ours = modules()
kernels = pytest.importorskip("evenly.torch_operators.kernels")
ONCE = "softmax", "attention"  # of real numbers, and their gradients have none


def close(found: Any, wanted: Any, **how: Any) -> None:
    torch.testing.assert_close(found, wanted, **how)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", NAMES)
def test_values_and_gradients_are_those_of_dense_matrices(name: str, operator: str) -> None:
    problem = Problem(name)
    function, operands = problem.call(operator)
    found, wanted = function(*operands), problem.dense(operator)
    close(found, wanted)
    for ours_, theirs in zip(
        problem.gradients(found, operands), problem.gradients(wanted, operands), strict=True
    ):
        close(ours_, theirs)


@pytest.mark.parametrize("operator", OPERATORS)
def test_numeric_gradients_and_theirs(operator: str) -> None:
    function, operands = Problem("empty in the middle").call(operator)
    assert torch.autograd.gradcheck(function, operands)
    if operator not in ONCE:
        assert torch.autograd.gradgradcheck(function, operands)


@pytest.mark.parametrize("operator", OPERATORS)
def test_it_is_an_operator_of_torch(operator: str) -> None:
    problem = Problem("empty in the middle")
    _, operands = problem.call(operator)
    given = (*problem.pattern.tensors, *operands)
    found = torch.library.opcheck(getattr(torch.ops.evenly, operator).default, given)
    assert set(found.values()) == {"SUCCESS"}


def kernels_of(pattern: Any) -> set[Any]:
    """The kernels that there are plans of."""
    return {kernel for kernel, *_ in pattern._structure.plans}


@pytest.fixture
def in_one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """One kernel computes both gradients, as on a GPU."""
    launching = "evenly.torch_operators.launching.in_one_round"
    monkeypatch.setattr(launching, lambda B: B.shape[1] > 0)


def check_gradients(problem: Problem) -> None:
    for operator in "spmm", "attention":
        function, operands = problem.call(operator)
        found = problem.gradients(function(*operands), operands)
        wanted = problem.gradients(problem.dense(operator), operands)
        for mine, theirs in zip(found, wanted, strict=True):
            close(mine, theirs)


@pytest.mark.parametrize("wide", [1, 8, 33])
@pytest.mark.parametrize("name", NAMES)
def test_both_gradients_of_a_product_come_of_one_kernel(
    name: str, wide: int, in_one_round: None
) -> None:
    problem = Problem(name, wide=wide)
    check_gradients(problem)
    assert kernels.spmm_gradients in kernels_of(problem.pattern.T)


def test_both_gradients_of_a_product_come_of_two_kernels() -> None:
    """On a CPU, or if there are no columns."""
    for wide in 0, 4:
        problem = Problem("unsorted columns", wide=wide)
        check_gradients(problem)
        assert kernels.spmm_gradients not in kernels_of(problem.pattern.T)


@pytest.mark.parametrize(("values_apart", "kernels_of_both"), [(1 << 20, 1), (1 << 21, 0)])
def test_values_all_over_a_cache_take_two_kernels(
    values_apart: int, kernels_of_both: int, in_one_round: None
) -> None:
    problem = Problem("unsorted columns", wide=4)
    problem.pattern.T._structure.reach = values_apart  # of 8 bytes each
    check_gradients(problem)
    assert (kernels.spmm_gradients in kernels_of(problem.pattern.T)) == kernels_of_both


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients_of_both_gradients(dtype: str, in_one_round: None) -> None:
    problem = Problem("duplicates", dtype=dtype, wide=4)
    function, operands = problem.call("spmm")
    with torch.no_grad():
        for x in operands:
            x.mul_(1 + 2j if x.is_complex() else 1)
    assert torch.autograd.gradcheck(function, operands)
    assert torch.autograd.gradgradcheck(function, operands)
    assert kernels.spmm_gradients in kernels_of(problem.pattern.T)
    tensors = problem.pattern.tensors
    given = (*(x.detach().requires_grad_() for x in (*operands, function(*operands))),)
    found = torch.library.opcheck(torch.ops.evenly.spmm_gradients.default, (*tensors, *given))
    assert set(found.values()) == {"SUCCESS"}


def test_both_gradients_in_panels() -> None:
    problem = Problem("unsorted columns", wide=4)
    turned = problem.pattern.T
    values, B, G = problem.values.detach(), problem.B.detach(), torch.rand(4, 4).double()
    wanted = ours.sddmm(problem.pattern, G, B), ours.spmm(turned, values, G)
    for count in (1, 2, 3):
        of_values, of_B = (torch.full_like(x, torch.nan) for x in wanted)
        for i, (panel, places) in enumerate(turned._structure.panels(turned.order, count)):
            given = places, values, B, G, of_values, of_B, 1 if i else None
            panel.run(kernels.spmm_gradients, *given)
        close(of_values, wanted[0])
        close(of_B, wanted[1])


def test_compiled_without_graph_breaks() -> None:
    layer, operands = attention(Problem("empty in the middle"))
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    expected, found = (torch.autograd.grad(f(*operands).sum(), operands) for f in (layer, compiled))
    for mine, theirs in zip(found, expected, strict=True):
        close(mine, theirs, rtol=0, atol=0)


@pytest.mark.parametrize("operator", [o for o in OPERATORS if o not in ONCE])
def test_complex_numbers(operator: str) -> None:
    problem = Problem("empty in the middle", dtype="complex128")
    function, operands = problem.call(operator)
    with torch.no_grad():
        for x in operands:
            x.mul_(1 + 2j)
    close(function(*operands), problem.dense(operator))
    assert torch.autograd.gradcheck(function, operands)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_narrow_floats_are_summed_in_32_bits(operator: str, dtype: str) -> None:
    problem = Problem("unsorted columns", dtype=dtype)
    wide = Problem("unsorted columns", dtype="float64")
    function, operands = problem.call(operator)
    found = function(*operands)
    assert str(found.dtype) == f"torch.{dtype}"
    eps = torch.finfo(found.dtype).eps
    for x, y in zip(operands, wide.call(operator)[1], strict=True):
        y.data.copy_(x.data)
    close(found.double(), wide.dense(operator), rtol=2 * eps, atol=32 * eps)
    problem.gradients(found, operands)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_attention_of_keys_as_wide_as_values(dtype: str) -> None:
    eps = torch.finfo(getattr(torch, dtype)).eps
    for found, wanted in attention_and_gradients(8, "cpu", dtype):
        close(found.double(), wanted, rtol=4 * eps, atol=16 * eps)


def test_the_same_bits_in_every_run() -> None:
    layer, operands = attention(Problem("unsorted columns", dtype="float32"))
    runs = {
        b"".join(g.numpy().tobytes() for g in torch.autograd.grad(layer(*operands).sum(), operands))
        for _ in range(5)
    }
    assert len(runs) == 1


def test_strided_operands_and_gradients() -> None:
    problem = Problem("empty in the middle")
    B = problem.B.detach().T.contiguous().T.requires_grad_()
    found = ours.spmm(problem.pattern, problem.values, B)
    found.sum().backward()  # whose gradient is one number, expanded
    close(found, problem.dense("spmm"))
    assert problem.values.grad is not None and B.grad is not None


def test_plans_are_kept_with_the_pattern() -> None:
    problem = Problem("empty in the middle")
    for _ in range(3):
        ours.spmm(problem.pattern, problem.values * 2, problem.B + 1)
    assert len(problem.pattern._structure.plans) == 1
    ours.spmm(problem.pattern, problem.values, torch.cat([problem.B, problem.B], 1))
    assert len(problem.pattern._structure.plans) == 2


def test_no_operand_is_kept() -> None:
    problem = Problem("empty in the middle", dtype="float64")
    held = np.ones(tuple(problem.B.shape))
    B, known = torch.from_numpy(held), weakref.ref(held)
    ours.spmm(problem.pattern, problem.values.detach(), B)
    del held, B
    gc.collect()
    assert known() is None


def test_patterns_of_the_same_tensors() -> None:
    offsets, columns = torch.tensor([0, 1, 2]).int(), torch.tensor([1, 0]).int()
    narrow, wide = (ours.Pattern(offsets, columns, (2, n)) for n in (2, 5))
    for pattern in narrow, wide, narrow:
        x = torch.arange(float(pattern.shape[1]))
        close(ours.spmv(pattern, torch.ones(2), x), torch.tensor([1.0, 0.0]))


def test_tensors_that_are_no_patterns() -> None:
    """As an exported program passes them."""
    problem = Problem("empty in the middle")
    copies = [None if x is None else x.clone() for x in problem.pattern.tensors]
    close(torch.ops.evenly.spmm(*copies, problem.values, problem.B), problem.dense("spmm"))


@pytest.mark.parametrize("name", NAMES)
def test_the_transpose(name: str) -> None:
    problem = Problem(name)
    pattern, X = problem.pattern, problem.X
    assert pattern.T.shape == pattern.shape[::-1]
    assert pattern.T.T is pattern
    at = problem.matrix.tocoo()
    A = np.zeros(problem.matrix.shape)
    np.add.at(A, (at.row, at.col), problem.values.detach().numpy())
    close(ours.spmm(pattern.T, problem.values, X), torch.tensor(A.T) @ X)


@pytest.mark.parametrize("operator", OPERATORS)
def test_operators_at_a_transposed_pattern(operator: str) -> None:
    """Values are in the order of the pattern that was turned."""
    problem = Problem("unsorted columns")
    turned = problem.pattern.T
    plain = ours.Pattern(turned.offsets, turned.columns, turned.shape)
    values, order, X, Y = problem.values, turned.order.long(), problem.X, problem.Y
    operands = {
        "spmv": (values, X[:, 0]), "spmm": (values, X), "sddmm": (Y, X), "softmax": (values,),
        "attention": (Y, X, X),
    }[operator]  # fmt: skip
    function, of_values = getattr(ours, operator), operator in ("sddmm", "softmax")
    found = function(turned, *operands)
    wanted = function(plain, *(x[order] if x is values else x for x in operands))
    close(found[order] if of_values else found, wanted)
    needed = [x for x in (values, X, Y) if any(x is y for y in operands)]
    weights = torch.rand_like(wanted)
    for mine, theirs in zip(
        torch.autograd.grad(((found[order] if of_values else found) * weights).sum(), needed),
        torch.autograd.grad((wanted * weights).sum(), needed),
        strict=True,
    ):
        close(mine, theirs)


def test_patterns_of_sparse_tensors() -> None:
    problem = Problem("empty in the middle")
    problem.matrix.sum_duplicates()
    dense = torch.tensor(problem.matrix.toarray())
    for A in (dense.to_sparse_csr(), dense.to_sparse_csc(), dense.to_sparse_coo().coalesce()):
        pattern = ours.Pattern.of(A)
        assert (pattern.shape, pattern.num_nonzeros) == (tuple(dense.shape), A.values().numel())
        values = A.to_sparse_csr().values()
        close(ours.spmm(pattern, values, problem.B), dense @ problem.B)


def test_patterns_move_and_pickle() -> None:
    pattern = Problem("unsorted columns").pattern
    assert pattern.to("cpu") is pattern
    for given in pattern, pattern.T:
        again = pickle.loads(pickle.dumps(given))
        for mine, theirs in zip(again.tensors, given.tensors, strict=True):
            assert mine is theirs is None or torch.equal(mine, theirs)
    assert repr(pattern) == "<Pattern 4 x 64 of 51 nonzeros on cpu>"


def mistakes() -> dict[str, Any]:
    p = Problem("single column")
    values, B = p.values, p.B
    return {
        "values: expected shape (3,), for a pattern of shape (5, 1), got shape (2,)": lambda: ours.spmm(p.pattern, values[:2], B),
        "B: expected shape (1, 3), for a pattern of shape (5, 1), got shape (5, 3)": lambda: ours.spmm(p.pattern, values, torch.ones(5, 3).double()),
        "B: expected shape (1, 1), for a pattern of shape (5, 1), got shape (1,)": lambda: ours.spmm(p.pattern, values, B[:, 0]),
        "B: expected the dtype of values, torch.float64, got dtype torch.float32": lambda: ours.spmm(p.pattern, values, B.float()),
        "x: expected floats or complex numbers, got dtype torch.int64": lambda: ours.spmv(p.pattern, values, torch.ones(1, dtype=torch.int64)),
        "Y: expected shape (1, 2), for a pattern of shape (5, 1), got shape (1, 3)": lambda: ours.sddmm(p.pattern, p.X, B),
        "values: expected a dense tensor, got ndarray": lambda: ours.spmv(p.pattern, np.ones(3), p.x),
        "B: expected a dense tensor, got ndarray": lambda: ours.spmm(p.pattern, values, np.ones((1, 3))),
        "X: expected a dense tensor, got list": lambda: ours.sddmm(p.pattern, [[1.0]], B),
        "scores: expected real numbers, got dtype torch.complex128": lambda: ours.softmax(p.pattern, values * 1j),
        "A: expected a sparse tensor of two axes, got a torch.strided tensor of 2 axes; hint: A.to_sparse_csr()": lambda: ours.Pattern.of(B),
        "pattern: expected a Pattern, got Tensor; hint: Pattern.of(A) makes one of a sparse tensor": lambda: ours.spmm(B, values, B),
        "scale: expected a number, got 'a'": lambda: ours.attention(p.pattern, p.X, p.Y, B, scale="a"),
        "scale: expected a number, got a tensor with a gradient; hint: multiply Q by it": lambda: ours.attention(p.pattern, p.X, p.Y, B, scale=values[0]),
        "A: expected a coalesced tensor, got another; hint: A.coalesce()": lambda: ours.Pattern.of(torch.sparse_coo_tensor(torch.zeros(2, 2, dtype=torch.int64), torch.ones(2), (2, 2))),
        "Pattern.indices: expected column indices in 0..0, got indices[0]=1": lambda: ours.Pattern(torch.tensor([0, 1]), torch.tensor([1]), (1, 1)),
    }  # fmt: skip


@pytest.mark.parametrize("said", mistakes())
def test_mistakes(said: str) -> None:
    with pytest.raises(ev.InputError) as caught:
        mistakes()[said]()
    assert str(caught.value).startswith(said)


def test_products_with_the_transpose_go_in_parts_where_threads_would_fetch_from_all_over_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on a GPU: here by tensors that say that they are on one."""
    from evenly.torch_operators import launching, pattern

    class There(torch.Tensor):
        is_cuda = True

    monkeypatch.setattr(pattern, "WINDOW", 4)
    order = torch.tensor([0, 9, 1, 8, 2, 7, 3, 6, 4, 5])
    assert pattern.reach(order.as_subclass(There)) == (9 + 5) // 2
    assert pattern.reach(order) == pattern.reach(None) == 0
    problem = Problem("empty in the middle")
    turned, X, out = problem.pattern.T, problem.X.detach(), torch.empty(problem.B.shape[0], 2)
    values = problem.values.detach().as_subclass(There)
    found: list[Any] = []
    run = "evenly.torch_operators.launching.Structure.run"
    monkeypatch.setattr(run, lambda self, kernel, *given: found.append(given))
    monkeypatch.setattr(turned._structure, "reach", len(values))
    monkeypatch.setattr(launching, "PANEL", -(-(values.nbytes + X.nbytes) // 3))
    for far, moved, calls in ((1 << 40, 0, 1), (0, 0, 1), (0, 1 << 40, 3)):
        monkeypatch.setattr(launching, "FAR", far)
        monkeypatch.setattr(launching, "MOVED", moved)
        found.clear()
        turned._structure.product(None, turned.order, values, X, out)
        assert [given[-1] for given in found] == [None, 1, 1][:calls]
        places = torch.cat([order for order, *_ in found])
        close(places.sort().values, turned.order.sort().values)
        if not moved:
            order, given, *_ = found[0]
            assert (order is turned.order) == (given is values) == (far > 0)
            close(torch.Tensor(given)[order], torch.Tensor(values)[turned.order])


def test_panels_of_a_pattern_add_up_to_it() -> None:
    problem = Problem("unsorted columns")
    turned, values, X = problem.pattern.T, problem.values.detach(), problem.X.detach()
    wanted = ours.spmm(turned, values, X)
    for count in (1, 2, 3, 9):
        out = torch.full_like(wanted, torch.nan)
        for i, (panel, order) in enumerate(turned._structure.panels(turned.order, count)):
            panel.run(kernels.spmm, order, values, X, out, 1 if i else None)
        close(out, wanted)


def test_values_are_moved_part_by_part() -> None:
    """In each part of the first step they come from few rows of the pattern that was turned, in the second they ascend."""
    pattern = Problem("unsorted columns").pattern
    turned, rows = pattern.T, torch.repeat_interleave(torch.arange(4), pattern.offsets.diff())
    for parts in (1, 2, 4):
        first, second = turned._structure.steps(turned.order, parts)
        close(first[second], turned.order)
        part = rows[first] * parts // 4
        assert (part.diff() >= 0).all()
        for i in range(parts):
            assert (second[part[second] == i].diff() > 0).all()
    assert turned._structure.steps(turned.order, 4)[0] is first
