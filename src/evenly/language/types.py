"""The scalar types of the kernel language and how they combine.

The rules are NumPy's (NEP 50): literals, tile and atom ids, range variables and
lengths are *weak*: next to a typed value they take its type. Typed values combine as
`numpy.result_type` says, so `int32 + float32` is `float64`, as it is in NumPy.

`POS` is the type of a position or id as the engines hold it: a weak integer whose
machine width (32 or 64 bits) is chosen for the whole program from the sizes at hand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar type: its name, its kind ('b', 'i' or 'f') and whether it is weak."""

    name: str
    kind: str
    weak: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def spoken(self) -> str:
        """With its article, as a sentence has it: "an int32". Weak ones have Python's names."""
        name = "int" if self.name == "index" else self.name
        return f"{'an' if name[0] == 'i' else 'a'} {name}"

    @property
    def dtype(self) -> np.dtype:
        """The NumPy dtype that holds it (weak ones: int64 and float64)."""
        return np.dtype(_HELD_AS.get(self.name, self.name))

    @property
    def is_integer(self) -> bool:
        return self.kind == "i"

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_bool(self) -> bool:
        return self.kind == "b"


BOOL = Scalar("bool", "b")
INT32 = Scalar("int32", "i")
INT64 = Scalar("int64", "i")
FLOAT32 = Scalar("float32", "f")
FLOAT64 = Scalar("float64", "f")
WEAK_INT = Scalar("int", "i", weak=True)
WEAK_FLOAT = Scalar("float", "f", weak=True)
POS = Scalar("index", "i", weak=True)

_HELD_AS = {"int": "int64", "float": "float64", "index": "int64"}
DATA_TYPES = {t.name: t for t in (BOOL, INT32, INT64, FLOAT32, FLOAT64)}


def from_dtype(dtype: npt.DTypeLike) -> Scalar | None:
    """The scalar type of a NumPy dtype; None where the language has no such type."""
    return DATA_TYPES.get(np.dtype(dtype).name)


def strong(t: Scalar) -> Scalar:
    """The type in which a weak value is held when nothing typed stands next to it."""
    return DATA_TYPES[t.dtype.name] if t.weak else t


def promote(a: Scalar, b: Scalar) -> Scalar:
    """The type of `a op b` for +, -, *, //, % and of values that meet in one variable."""
    if a == b:
        return a
    if a.weak and b.weak:
        return WEAK_FLOAT if "f" in (a.kind, b.kind) else WEAK_INT
    if a.weak or b.weak:
        weak, typed = (a, b) if a.weak else (b, a)
        if typed.kind == "b":
            return strong(weak)
        return FLOAT64 if weak.is_float and typed.is_integer else typed
    return DATA_TYPES[np.result_type(a.dtype, b.dtype).name]


def quotient(a: Scalar, b: Scalar) -> Scalar:
    """The type of the true division `a / b`: integers give floats."""
    t = promote(a, b)
    if t.is_float:
        return t
    return WEAK_FLOAT if t.weak else FLOAT64
