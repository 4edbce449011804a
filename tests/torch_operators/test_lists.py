"""Operators of lists: values, gradients, torch.compile, types and mistakes."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import evenly as ev
from tests.torch_operators.problems import LISTS, lists_of, modules

torch, ours = modules()
from evenly.torch_operators.launching import MOST, Places, Plans  # noqa: E402  of PyTorch


@pytest.mark.parametrize("wide", [(), (3,)], ids=["numbers", "rows"])
@pytest.mark.parametrize("case", LISTS)
def test_values_and_gradients(case: str, wide: tuple[int, ...]) -> None:
    """Numeric gradients, theirs, and values by slices."""
    lists, calls = lists_of(case, wide)
    for function, x, plain in calls:
        torch.testing.assert_close(function(x), plain(x), equal_nan=True)

        def kept(x: Any, f: Callable[[Any], Any] = function, lists: Any = lists) -> Any:
            y = f(x)  # a mean of nothing is no number
            return y[lists.offsets.diff() > 0] if len(y) == lists.num_lists else y

        assert torch.autograd.gradcheck(kept, x)
        assert torch.autograd.gradgradcheck(kept, x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64"])
def test_types(dtype: str) -> None:
    _, calls = lists_of("some", (5,), getattr(torch, dtype))
    for function, x, plain in calls:
        found = function(x)
        assert found.dtype == x.dtype
        wide = torch.complex128 if x.is_complex() else torch.float64
        wanted = plain(x.to(wide)).to(x.dtype)
        torch.testing.assert_close(found, wanted, equal_nan=True)
        (gradient,) = torch.autograd.grad(found.abs().sum(), x)
        assert gradient.dtype == x.dtype and gradient.shape == x.shape


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_gradient_of_a_long_mean(dtype: str) -> None:
    """Float16 has no number as large as its length, bfloat16 few like it."""
    lists = ours.Lists(torch.tensor([0, 100_001, 100_001, 100_004]))
    x = torch.ones(100_004, dtype=getattr(torch, dtype), requires_grad=True)
    y = ours.segment_reduce(lists, x, "mean")
    (gradient,) = torch.autograd.grad(y, x, torch.ones_like(y))
    for at, length in ((0, 100_001), (-1, 3)):
        wanted = torch.tensor(1 / length).to(x.dtype)
        assert gradient[at] == wanted
    assert ours.segment_reduce(lists, x, "mean")[0] == 1


def test_they_are_operators_of_torch_and_compile_without_graph_breaks() -> None:
    lists, calls = lists_of("one", (3,))
    for function, x, _ in calls:
        compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
        torch.testing.assert_close(compiled(x), function(x), rtol=0, atol=0, equal_nan=True)
    op, x = torch.ops.evenly, calls[0][1]
    for name, given in {
        "segment_reduce": (x, "mean"), "repeat": (calls[2][1], lists.num_elements),
        "jagged_to_padded": (x, 3), "padded_to_jagged": (calls[-1][1], lists.num_elements),
    }.items():  # fmt: skip
        found = torch.library.opcheck(getattr(op, name).default, (lists.offsets, *given))
        assert set(found.values()) == {"SUCCESS"}


def test_lists_pickle_and_keep_their_plans() -> None:
    lists, _ = lists_of("some", ())
    assert (
        repr(lists) == "<Lists: 5 of 9 elements on cpu>" == repr(pickle.loads(pickle.dumps(lists)))
    )
    assert lists.to("cpu") is lists
    for _ in range(3):
        ours.segment_reduce(lists, torch.ones(9))
    assert len(lists._segments.plans) == 1


def test_of_many_lengths_and_widths_the_last_ones_are_kept() -> None:
    lists, x = ours.Lists(torch.tensor([0, 2, 3])), torch.arange(3.0)
    kept = lists._segments._padded
    for length in range(1, MOST + 3):
        kept.found(length, lambda n=length: Plans(Places(2, n)))
    for length in (4, 1, 4):
        padded = ours.jagged_to_padded(lists, x, length)
        assert padded.tolist() == [[0, 1, 0, 0][:length], [2, 0, 0, 0][:length]]
    assert list(kept) == [*range(5, MOST + 3), 1, 4]
    assert type(kept) is type(lists._segments.plans)


def mistakes() -> dict[str, Callable[[], Any]]:
    lists, _ = lists_of("some", ())
    return {
        "lists: expected Lists, got Tensor; hint: Lists(offsets) makes them": lambda: ours.repeat(lists.offsets, torch.ones(5)),
        "offsets: expected a tensor, got list": lambda: ours.Lists([0, 1]),
        "Lists.offsets: expected non-decreasing offsets, got offsets[2]=1 after 2": lambda: ours.Lists(torch.tensor([0, 2, 1, 3])),
        "x: expected 1 or 2 axes, the first of 9 elements, got shape (5,)": lambda: ours.segment_reduce(lists, torch.ones(5)),
        "y: expected 1 or 2 axes, the first of 5 lists, got shape (9,)": lambda: ours.repeat(lists, torch.ones(9)),
        "padded: expected 2 or 3 axes, the first of 5 lists, got shape (5,)": lambda: ours.padded_to_jagged(lists, torch.ones(5)),
        "reduce: expected 'sum' or 'mean', got 'max'": lambda: ours.segment_reduce(lists, torch.ones(9), "max"),
        "length: expected an int, 0 or more, got -1": lambda: ours.jagged_to_padded(lists, torch.ones(9), -1),
        "padding_value: expected a number, got 'x'": lambda: ours.jagged_to_padded(lists, torch.ones(9), 3, "x"),
        "x: expected floats or complex numbers, got dtype torch.int64": lambda: ours.segment_reduce(lists, torch.arange(9)),
    }  # fmt: skip


@pytest.mark.parametrize("said", mistakes())
def test_mistakes(said: str) -> None:
    with pytest.raises(ev.InputError) as caught:
        mistakes()[said]()
    assert str(caught.value).startswith(said)
