"""The functions that kernels and schedules call as `ev.NAME`.

Kernels are compiled, so these bodies run only when a kernel, layout or schedule is run
as plain Python. They are the reference for the meaning of the names.
"""

from __future__ import annotations

import contextlib
import contextvars
import inspect
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.errors import InputError

from .exchange import exchange

_NO_DEFAULT: Any = object()


# ---- reductions over atoms -----------------------------------------------------------------------
def argmin(values: Generator[Any, None, None], default: Any = _NO_DEFAULT) -> Any:
    """Return the atom with the least value: `ev.argmin(A.value(k) for k in A.atoms(row), default=-1)`.

    Ties go to the lowest atom; NaN is less than every number, as in NumPy.
    `default` is the result for a tile without atoms.
    """
    return _best(values, default, lambda new, old: new < old)


def argmax(values: Generator[Any, None, None], default: Any = _NO_DEFAULT) -> Any:
    """Return the atom with the greatest value; ties, NaN and `default` as in `argmin`."""
    return _best(values, default, lambda new, old: new > old)


def _best(
    values: Generator[Any, None, None], default: Any, beats: Callable[[Any, Any], bool]
) -> Any:
    best, at = None, default
    for atom, v in _with_atoms(values):
        nan_wins = v != v and best is not None and best == best
        if best is None or nan_wins or beats(v, best):
            best, at = v, atom
    return at


def first(conditions: Generator[Any, None, None], default: Any = _NO_DEFAULT) -> Any:
    """Return the lowest atom whose condition holds: `ev.first(A.value(k) > 0 for k in A.atoms(row), default=-1)`."""
    for atom, holds in _with_atoms(conditions):
        if holds:
            return atom
    return default


def _with_atoms(values: Generator[Any, None, None]) -> Iterator[tuple[Any, Any]]:
    """Yield each value with the atom that it was computed for, the last one that the generator took."""
    drawn = inspect.getgeneratorlocals(values) if inspect.isgenerator(values) else {}
    source: Any = drawn.get(".0")
    if not hasattr(source, "current"):
        raise InputError(
            "ev.argmin, ev.argmax and ev.first",
            expected="a generator over A.atoms(tile), or over B.tiles(item), in a kernel",
            given=type(values).__name__,
        )
    for v in values:
        yield source.current, v


def reduce(function: Callable[[Any, Any], Any], values: Iterator[Any], start: Any) -> Any:
    """Reduce by an `@ev.func` of two arguments, associative and commutative; `start` is its identity.

    Values may be numbers or tuples of numbers:
    `ev.reduce(longer, ((A.value(k), A.column(k)) for k in A.atoms(row)), (0.0, -1))`.
    """
    result = start
    for v in values:
        result = function(result, v)
    return result


def scan(
    value: Any,
    f: Callable[[Any, Any], Any] | None = None,
    start: Any = None,
    *,
    exclusive: bool = False,
) -> Any:
    """Scan over the atoms of a tile, in their order: `before[k] = ev.scan(A.value(k), exclusive=True)`.

    Returns the sum of `value` over the tile's atoms up to this one, or before it if `exclusive`; a first `start`
    is added. `f`: an associative `@ev.func` of two arguments takes the place of the sum; it need not be commutative,
    and `start` is its identity, a number or a tuple of numbers. In a loop over the tile's own atoms, outside
    conditions and inner loops. Floats are combined in an order that follows from the schedule and the layout alone.
    """
    raise _unplaced("scan")


def rank(condition: Any) -> Any:
    """Return how many of the tile's atoms before this one meet the condition: `at = ev.rank(A.value(k) > 0)`.

    It is an integer, 0 for the first of them. Used as `scan` is.
    """
    raise _unplaced("rank")


def distinct(i: Any) -> Any:
    """Return the integer `i`, and promise that all lanes, atoms or tiles of the loop around have different ones.

    So they may update elements of an array there: `y[ev.distinct(order[k])] += v`. A store at such an index is a plain
    one, where the compiler would otherwise have to expect others there. evenly takes your word for it. Where it is
    broken, an update may be lost; target `simt` reports that, unless equal numbers are stored.
    """
    return i


def stage(array: Any, over: range) -> Any:
    """Return `array`, with the part `over` near the threads that read it: `xs = ev.stage(x, B.columns(item))`.

    xs[i] is array[i] for the i in `over`; others may not be read. On a GPU the threads that share the tile or the item
    copy the elements to shared memory first, if they fit there. array: one axis; the loop may not store into it. At the
    top of a loop over items or tiles.

    Source: the locality of Anzt et al. (ScalA 2017), who keep each problem's vector in shared memory.
    """
    raise InputError(
        "ev.stage()",
        expected="a call in a kernel's loop over items or tiles",
        given="a call from plain Python",
    )


def _unplaced(name: str) -> InputError:
    return InputError(
        f"ev.{name}()",
        expected="a call in a kernel's loop over atoms",
        given="a call from plain Python",
    )


def lanes(n: int) -> range:
    """A dense axis of length `n` that threads may share.

    Outside a loop over atoms its iterations are independent results (the columns of an
    SpMM); inside, they may accumulate (the dot product of an SDDMM).
    """
    return range(int(n))


def local(n: int, dtype: Any) -> Any:
    """Make a local array: `n` elements of the type `dtype`, zero at first, of the tile that makes it.

    n: a literal or a captured integer. dtype: np.int32, np.float32 and the like, or int, float, complex and
    bool, as NumPy takes them. The elements have at most 1,024 bytes; 64 under schedules that split tiles.
    In a loop over atoms, elements take one operation: `h[i] += v`, `*=`, `&=`, `|=`, `^=`, `h[i] = min(h[i], v)` or
    `max`. Everywhere else they are read and stored in any order.
    Another use raises a KernelError. An index out of bounds raises an error where indices of arrays are checked.
    """
    return np.zeros(n, dtype)


def scratch(n: int, dtype: Any, *, zeros: bool = True) -> Any:
    """Make a scratch array: `n` elements of the type `dtype`, zero at first, of the tile or the item that makes it.

    zeros: False: the elements may be anything at first. The kernel stores each before it reads it.

    n: an integer that follows from the tile and the kernel's arguments, such as `2 * sum(1 for k in A.atoms(row))`.
    dtype: as in `local`. Loops over atoms may change elements by atomics, as those of an array of the kernel, and code
    after the loop reads them; outside loops over atoms they are read and stored in any order.
    Under schedules that own whole tiles. On a GPU it lies in shared memory if it fits, else in the plan's workspace
    (`max_workspace=`).
    Another use raises a KernelError. An index out of bounds raises an error where indices of arrays are checked.
    """
    return np.zeros(n, dtype)


# ---- atomics ---------------------------------------------------------------------------------------
def atomic_add(array: Any, index: Any, value: Any) -> Any:
    """Do `array[index] += value` atomically; returns the old value."""
    return _update(array, index, lambda old: old + value)


def atomic_min(array: Any, index: Any, value: Any) -> Any:
    """Do `array[index] = min(array[index], value)` atomically (NaN propagates); returns the old value."""
    return _update(array, index, lambda old: old if old != old or old <= value else value)


def atomic_max(array: Any, index: Any, value: Any) -> Any:
    """Do `array[index] = max(array[index], value)` atomically (NaN propagates); returns the old value."""
    return _update(array, index, lambda old: old if old != old or old >= value else value)


def atomic_exch(array: Any, index: Any, value: Any) -> Any:
    """Do `array[index] = value` atomically; returns the old value."""
    return _update(array, index, lambda old: value)


def atomic_cas(array: Any, index: Any, expected: Any, value: Any) -> Any:
    """Do `if array[index] == expected: array[index] = value` atomically; returns the old value."""
    return _update(array, index, lambda old: value if old == expected else old)


def atomic_and(array: Any, index: Any, value: Any) -> Any:
    """Do `array[index] &= value` atomically; returns the old value. Of int32, int64, uint32 and uint64."""
    return _update(array, index, lambda old: old & value)


def atomic_or(array: Any, index: Any, value: Any) -> Any:
    """Do `array[index] |= value` atomically; returns the old value. Of int32, int64, uint32 and uint64."""
    return _update(array, index, lambda old: old | value)


def atomic_xor(array: Any, index: Any, value: Any) -> Any:
    """Do `array[index] ^= value` atomically; returns the old value. Of int32, int64, uint32 and uint64."""
    return _update(array, index, lambda old: old ^ value)


def _update(array: Any, index: Any, change: Callable[[Any], Any]) -> Any:
    old = array[index]
    array[index] = change(old)
    return old


# ---- weights ------------------------------------------------------------------------------------
def exp_minus_abs(x: Any) -> Any:
    """Return e to the power -abs(x), sooner than `math.exp` on a GPU: `total += v * ev.exp_minus_abs(m - x)`.

    x: a real number. The result is a float from 0 to 1, of the type that `math.exp` gives; nan for nan, 0 for
    infinities. It is a weight in a sum, so its error is a few roundings of 1, whatever its size. Small results have
    fewer right digits than those of `math.exp`: relative errors are up to 1e-5 of float32, and 1e-13 of float64. Those
    below 2**-126, and 2**-1021, may be 0.
    """
    return np.exp(-np.abs(x))


# ---- the bits of integers --------------------------------------------------------------------------
def popcount(x: Any) -> int:
    """Return how many bits of an integer are 1, at its own width (Python's int: 64 bits). -1 has all of them.

    `numpy.bitwise_count` counts the bits of `abs(x)`.
    """
    return _bits(x)[0].bit_count()


def clz(x: Any) -> int:
    """Return how many zeros an integer's bits begin with, at its own width (Python's int: 64 bits). Of 0: all."""
    bits, width = _bits(x)
    return width - bits.bit_length()


def rotl(x: Any, n: Any) -> Any:
    """Return the integer `x` with its bits rotated to the left by `n`, at its own width (Python's int: 64 bits).

    Any integer `n` will do: it is taken modulo the width, and does not change the type of the result.
    """
    bits, width = _bits(x)
    n = int(n) % width
    low = (bits << n | bits >> (width - n)) % (1 << width)
    if isinstance(x, np.unsignedinteger):
        return type(x)(low)
    signed = low - (1 << width) if low >> (width - 1) else low
    return type(x)(signed) if isinstance(x, np.generic) else signed


def rotr(x: Any, n: Any) -> Any:
    """Return the integer `x` with its bits rotated to the right by `n`; see `rotl`."""
    return rotl(x, -int(n))


def _bits(x: Any) -> tuple[int, int]:
    """Return the bits of an integer, as one that is not negative, and how many they are."""
    width = 8 * x.itemsize if isinstance(x, np.generic) else 64
    return int(x) % (1 << width), width


# ---- processors (in schedules) -----------------------------------------------------------------------
@dataclass(slots=True)
class _Processor:
    index: int
    count: int


_current: contextvars.ContextVar[_Processor | None] = contextvars.ContextVar(
    "processor", default=None
)


class processor:  # used like a function; walks enter it for each tile, and a generator takes three times as long
    """Run schedule methods as plain Python on processor `index` of `count`."""

    __slots__ = ("_here", "_token")

    def __init__(self, index: int, count: int) -> None:
        self._here = _Processor(index, count)

    def __enter__(self) -> None:
        self._token = _current.set(self._here)

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)


def _here(name: str) -> _Processor:
    here = _current.get()
    if here is None:
        raise InputError(
            f"ev.{name}()",
            expected="a call from a schedule's method",
            given="a call from plain Python",
        )
    return here


def thread_index() -> int:
    """Return the index of this thread, 0 .. thread_count() - 1, in the whole launch. In schedules only."""
    return _here("thread_index").index


def thread_count() -> int:
    """Return how many threads the launch has. In schedules only."""
    return _here("thread_count").count


_asked: contextvars.ContextVar[set[int] | None] = contextvars.ContextVar("asked", default=None)


@contextlib.contextmanager
def groups_asked() -> Iterator[set[int]]:
    """Collect the sizes of the groups that methods use in this context."""
    sizes: set[int] = set()
    token = _asked.set(sizes)
    try:
        yield sizes
    finally:
        _asked.reset(token)


@dataclass(frozen=True)
class group:  # used like a function
    """`ev.group(size)`: the group of consecutive threads that this thread is in. In schedules only.

    index: which group; count: how many there are; rank: this thread's position in it; size.

    In `setup` its members may exchange integers. All members have to come to each exchange:
    sum(value): the sum of all members' values. scan(value): the sum of those of the ranks up to this one, or, with
    exclusive=True, below it. broadcast(value, rank): the value of that rank. gather(value): the values of all members,
    by rank, to be indexed in `setup`, `tiles` and `atoms`.
    """

    size: int

    def __post_init__(self) -> None:
        sizes = _asked.get()
        if sizes is not None:
            sizes.add(self.size)

    @property
    def index(self) -> int:
        return _here("group").index // self.size

    @property
    def count(self) -> int:
        return _here("group").count // self.size

    @property
    def rank(self) -> int:
        return _here("group").index % self.size

    def sum(self, value: int) -> int:
        total: int = exchange("sum", self.size, value)
        return total

    def scan(self, value: int, *, exclusive: bool = False) -> int:
        total: int = exchange("scan", self.size, value)
        return total - value if exclusive else total

    def broadcast(self, value: int, rank: int) -> int:
        given: int = exchange("broadcast", self.size, value, rank)
        return given

    def gather(self, value: int) -> Sequence[int]:
        given: Sequence[int] = exchange("gather", self.size, value)
        return given
