"""The scalar types of the kernel language and how they combine.

The rules are NumPy's (NEP 50): literals, tile and atom ids, range variables and
lengths are *weak*: next to a typed value they take its type. Typed values combine as
`numpy.result_type` says, so `int32 + float32` is `float64`, as it is in NumPy.

Elements of float16 and bfloat16 are stored in 16 bits and computed with in 32. An element
that is read becomes a float32 at once. A number that is stored is rounded to nearest, ties
to even. So these two are types of arrays, never of values.

`POS` is the type of a position or id as the engines hold it: a weak integer whose
machine width (32 or 64 bits) is chosen for the whole program from the sizes at hand.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar type: its name, its kind (NumPy's letter), and whether it is weak."""

    name: str
    kind: Literal["b", "i", "u", "f", "c"]
    weak: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def spoken(self) -> str:
        """The name with its article, for sentences: "an int32". Weak types have Python's names."""
        name = "int" if self.name == "index" else self.name
        return f"{'an' if name[0] == 'i' else 'a'} {name}"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype that holds it (weak ones: int64, float64 and complex128)."""
        found: np.dtype[Any] = np.dtype(_HELD_AS.get(self.name, self.name))
        return found

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        return self.kind == "u"

    @property
    def bits(self) -> int:
        """How many bits hold it."""
        return 8 * self.dtype.itemsize

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_complex(self) -> bool:
        return self.kind == "c"

    @property
    def is_inexact(self) -> bool:
        """Whether it is a float or complex."""
        return self.kind in "fc"

    @property
    def is_bool(self) -> bool:
        return self.kind == "b"


BOOL = Scalar("bool", "b")
INT8 = Scalar("int8", "i")
INT16 = Scalar("int16", "i")
INT32 = Scalar("int32", "i")
INT64 = Scalar("int64", "i")
UINT8 = Scalar("uint8", "u")
UINT16 = Scalar("uint16", "u")
UINT32 = Scalar("uint32", "u")
UINT64 = Scalar("uint64", "u")
FLOAT32 = Scalar("float32", "f")
FLOAT64 = Scalar("float64", "f")
COMPLEX64 = Scalar("complex64", "c")
COMPLEX128 = Scalar("complex128", "c")
FLOAT16 = Scalar("float16", "f")
BFLOAT16 = Scalar("bfloat16", "f")
WEAK_INT = Scalar("int", "i", weak=True)
WEAK_FLOAT = Scalar("float", "f", weak=True)
WEAK_COMPLEX = Scalar("complex", "c", weak=True)
POS = Scalar("index", "i", weak=True)

# NumPy has no bfloat16. The dtype of ml_dtypes is recognised by its name. Without ml_dtypes,
# arrays of bfloat16 have this dtype.
_BFLOAT16 = np.dtype([("bfloat16", np.uint16)])
_HELD_AS: dict[str, Any] = {
    "int": "int64", "float": "float64", "complex": "complex128", "index": "int64",
    "bfloat16": _BFLOAT16,
}  # fmt: skip
INTEGERS = {t.name: t for t in (INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64)}
DATA_TYPES = {
    BOOL.name: BOOL, **INTEGERS, **{t.name: t for t in (FLOAT32, FLOAT64, COMPLEX64, COMPLEX128)}
}  # fmt: skip
ARRAY_TYPES = DATA_TYPES | {t.name: t for t in (FLOAT16, BFLOAT16)}
TYPES = "float32, float64, int8 to int64, uint8 to uint64, bool, complex64, complex128, float16 or bfloat16"

_READ_AS = {FLOAT16: FLOAT32, BFLOAT16: FLOAT32}
_REAL = {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64, WEAK_COMPLEX: WEAK_FLOAT}
_COMPLEX = {part: whole for whole, part in _REAL.items()}
_WEAK_BY_KIND = {"i": WEAK_INT, "f": WEAK_FLOAT, "c": WEAK_COMPLEX}
_LIKE: dict[str, Any] = {"i": 1, "f": 1.0, "c": 1j}  # a number of each of Python's own types


def name_of(dtype: npt.DTypeLike) -> str:
    """Return the name of an array's element type, which is the language's and PyTorch's, too."""
    return _name_of(np.dtype(dtype))


@functools.lru_cache(maxsize=256)  # NumPy composes the name at each call
def _name_of(dtype: np.dtype[Any]) -> str:
    return "bfloat16" if dtype == _BFLOAT16 else dtype.name


def from_dtype(dtype: npt.DTypeLike) -> Scalar | None:
    """Return the type of the elements of a NumPy dtype, or None if the language has no such type."""
    return ARRAY_TYPES.get(name_of(dtype))


def read_as(t: Scalar) -> Scalar:
    """Return the type of an element that is read: float32 for types of 16 bits."""
    return _READ_AS.get(t, t)


def real_of(t: Scalar) -> Scalar:
    """Return the type of the parts of a complex number; `t` itself for others."""
    return _REAL.get(t, t)


def complex_of(t: Scalar) -> Scalar:
    """Return the type of a complex number whose parts are of the type `t`."""
    return _COMPLEX[t]


def strong(t: Scalar) -> Scalar:
    """Return the type in which a weak value is held if no typed value is next to it."""
    return DATA_TYPES[t.dtype.name] if t.weak else t


def wrapped(value: int, t: Scalar) -> int:
    """Return the low bits of an integer, as a number of the integer type `t`."""
    low = value % (1 << t.bits)
    return low if t.is_unsigned or not low >> (t.bits - 1) else low - (1 << t.bits)


def words_of(t: Scalar) -> int:
    """Return how many words of 64 bits hold a value."""
    return -(-t.dtype.itemsize // 8)


def struct_words(fields: Iterable[Scalar]) -> int:
    """Return an upper bound of the 64-bit words of a struct of such fields: for each as many as the widest has."""
    each = [words_of(t) for t in fields]
    return len(each) * max(each, default=1)


def struct_bytes(sizes: Iterable[int]) -> int:
    """Return the bytes of a struct of fields of these sizes, each aligned to its size."""
    total, widest = 0, 1
    for size in sizes:
        total, widest = _up(total, size) + size, max(widest, size)
    return _up(total, widest)


def _up(n: int, to: int) -> int:
    return -(-n // to) * to


def promote(a: Scalar, b: Scalar) -> Scalar:
    """Return the type of `a op b` for +, -, *, //, %, and of values that meet in one variable."""
    if a == b:
        return a
    if a.weak and b.weak:
        return _WEAK_BY_KIND[max(a.kind, b.kind, key="ifc".index)]
    if a.weak or b.weak:
        weak, typed = (a, b) if a.weak else (b, a)
        return DATA_TYPES[np.result_type(typed.dtype, _LIKE[weak.kind]).name]
    return DATA_TYPES[np.result_type(a.dtype, b.dtype).name]


def quotient(a: Scalar, b: Scalar) -> Scalar:
    """Return the type of the true division `a / b`: integers give floats."""
    t = promote(a, b)
    if t.is_inexact:
        return t
    return WEAK_FLOAT if t.weak else FLOAT64
