"""Every function of `ev.ragged`, each with what NumPy says for one list. The elements are small integers: sums are exact."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import evenly as ev

R = ev.ragged


class Work(NamedTuple):
    """run(data, offsets, **how): a function of `ev.ragged`. expected(piece, first): its result for one list.

    piece: the elements of the list, (n,) or (n, d). first: the position of its first element. each: whether there is a
    result for each element, not for each list. rows: whether it takes (n, d). exact: whether the bits must be equal.
    """

    run: Callable[..., Any]
    expected: Callable[[np.ndarray, int], Any]
    each: bool = False
    rows: bool = True
    exact: bool = True


@ev.func
def larger(a, b):
    return a if abs(a) >= abs(b) else b


def reduced(name: str, **more: Any) -> Callable[..., Any]:
    return lambda data, offsets, **how: R.segment_reduce(data, name, offsets, **more, **how)


def at(find: Callable[..., Any]) -> Callable[[np.ndarray, int], Any]:
    def expected(piece: np.ndarray, first: int) -> Any:
        if len(piece):
            return first + find(piece, axis=0)
        return np.full(piece.shape[1:], -1, np.int64)

    return expected


def nothing(value: Any, of: Callable[..., Any]) -> Callable[[np.ndarray, int], Any]:
    """`of` a list; `value` if it has no elements."""

    def expected(piece: np.ndarray, first: int) -> Any:
        return of(piece) if len(piece) else np.full(piece.shape[1:], value)

    return expected


def logsumexp(piece: np.ndarray) -> Any:
    top = piece.max(axis=0)
    return top + np.log(np.exp(piece - top).sum(axis=0))


def softmax(piece: np.ndarray, first: int) -> Any:
    if not len(piece):
        return piece
    powers = np.exp(piece - piece.max(axis=0))
    return powers / powers.sum(axis=0)


def best(count: int, largest: bool) -> Callable[[np.ndarray, int], Any]:
    def expected(piece: np.ndarray, first: int) -> Any:
        order = np.argsort(-piece if largest else piece, kind="stable")[:count]
        short = (0, count - len(order))
        return np.pad(piece[order], short), np.pad(first + order, short, constant_values=-1)

    return expected


def ordered(descending: bool) -> Callable[[np.ndarray, int], Any]:
    def expected(piece: np.ndarray, first: int) -> Any:
        order = np.argsort(-piece if descending else piece, kind="stable")
        return piece[order], first + order

    return expected


def padded(piece: np.ndarray, first: int) -> Any:
    cut = piece[:5]
    return np.pad(cut, [(0, 5 - len(cut))] + [(0, 0)] * (piece.ndim - 1), constant_values=7)


def there_and_back(data: Any, offsets: Any, **how: Any) -> Any:
    return R.padded_to_jagged(R.jagged_to_padded(data, offsets, **how), offsets, **how)


def before(piece: np.ndarray, first: int) -> Any:
    return np.cumsum(piece, axis=0) - piece


WORK = {
    "sum": Work(reduced("sum"), lambda piece, first: piece.sum(axis=0)),
    "sum and 3": Work(reduced("sum", initial=3), lambda piece, first: 3 + piece.sum(axis=0)),
    "mean": Work(reduced("mean"), nothing(np.nan, lambda x: x.mean(axis=0)), exact=False),
    "prod": Work(reduced("prod"), lambda piece, first: np.sign(piece).prod(axis=0)),
    "min": Work(reduced("min"), nothing(np.inf, lambda x: x.min(axis=0))),
    "max": Work(reduced("max"), nothing(-np.inf, lambda x: x.max(axis=0))),
    "max and 2": Work(
        reduced("max", initial=2), nothing(2, lambda x: np.maximum(2, x.max(axis=0)))
    ),
    "logsumexp": Work(reduced("logsumexp"), nothing(-np.inf, logsumexp), exact=False),
    "any": Work(reduced("any"), lambda piece, first: (piece != 0).any(axis=0)),
    "all": Work(reduced("all"), lambda piece, first: (piece != 0).all(axis=0)),
    "of a function": Work(
        reduced(larger, initial=0), nothing(0, lambda x: x.min(axis=0)), rows=False
    ),
    "softmax": Work(R.segment_softmax, softmax, each=True, exact=False),
    "argmax": Work(R.segment_argmax, at(np.argmax)),
    "argmin": Work(R.segment_argmin, at(np.argmin)),
    "scan": Work(R.segment_scan, lambda piece, first: np.cumsum(piece, axis=0), each=True),
    "exclusive scan": Work(
        lambda data, offsets, **how: R.segment_scan(data, offsets, exclusive=True, **how),
        before,
        each=True,
    ),
    "top 3": Work(
        lambda data, offsets, **how: R.top_k(data, 3, offsets, **how), best(3, True), rows=False
    ),
    "least 2": Work(
        lambda data, offsets, **how: R.top_k(data, 2, offsets, largest=False, **how),
        best(2, False),
        rows=False,
    ),
    "sort": Work(R.segment_sort, ordered(False), each=True, rows=False),
    "sort down": Work(
        lambda data, offsets, **how: R.segment_sort(data, offsets, descending=True, **how),
        ordered(True),
        each=True,
        rows=False,
    ),
    "padded": Work(
        lambda data, offsets, **how: R.jagged_to_padded(data, offsets, 5, padding_value=7, **how),
        padded,
    ),
    "there and back": Work(there_and_back, lambda piece, first: piece, each=True),
}


def data_for(name: str, offsets: np.ndarray, dtype: Any = np.float32, width: int = 0) -> np.ndarray:
    """Elements for a work: small integers, many of them equal. width: of rows; 0: numbers."""
    shape = (int(offsets[-1]), width) if width else int(offsets[-1])
    data = np.random.default_rng(len(name)).integers(-4, 5, shape)
    if name == "prod":
        data = np.sign(data)
    if name == "of a function":
        data = -np.abs(data)  # of which the larger in size is the least
    return data.astype(dtype)


def arrays(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def expected(work: Work, data: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, ...]:
    """The result by NumPy, list by list, in float64."""
    pieces = [
        arrays(work.expected(data[a:b].astype(np.float64), int(a)))
        for a, b in itertools.pairwise(offsets)
    ]
    join: Any = np.concatenate if work.each else np.stack
    return tuple(join(part) for part in zip(*pieces, strict=True))


def check(name: str, found: Any, data: np.ndarray, offsets: np.ndarray, rtol: float = 2e-5) -> None:
    """Hold a result, in CPU memory, against NumPy's."""
    if len(offsets) == 1:
        assert all(len(x) == 0 for x in arrays(found))
        return
    for mine, theirs in zip(arrays(found), expected(WORK[name], data, offsets), strict=True):
        assert mine.shape == theirs.shape
        if (
            mine.dtype.kind in "iu"
        ):  # which have no infinities: the least and the greatest stand for them
            theirs = np.clip(theirs, np.iinfo(mine.dtype).min, np.iinfo(mine.dtype).max)
        if WORK[name].exact:
            np.testing.assert_array_equal(mine, theirs)
        else:
            np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=1e-30)


def widths(work: Work) -> Iterator[int]:
    """The widths to try: numbers, and rows where they are taken."""
    yield from (0, 3) if work.rows else (0,)
