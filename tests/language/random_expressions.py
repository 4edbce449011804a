"""Typed expressions made at random, of every type of the language and of constants near the ends of their ranges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

LEAVES = {
    "b": ["b[r]", "True", "(i32[r] > 0)"],
    "i": ["i32[r]", "i64[r]", "r", "n", "2", "-3", "2147483647", "4611686018427387904"],
    "f": ["f32[r]", "f64[r]", "0.1", "-2.5", "1e300", "math.pi", "s32"],
    "c": ["c64[r]", "c128[r]", "1j", "(2 - 0.3j)"],
}  # fmt: skip
ARRAYS = ("i32", "i64", "f32", "f64", "c64", "c128", "b")


def arguments() -> dict[str, Any]:
    """Fresh arguments of the kernels, the layout `A` aside."""
    ends = np.iinfo(np.int32), np.iinfo(np.int64)
    return {
        "i32": np.int32([7, -3, ends[0].max, ends[0].min]),
        "i64": np.int64([-5, 3_000_000_000, ends[1].max, 2]),
        "f32": np.float32([0.1, -7.25, 3e38, 16777217]),
        "f64": np.float64([0.1, 1e-300, -1e300, 2.5]),
        "c64": np.complex64([1 + 0.1j, -2j, 3e38, 0.3 - 1j]),
        "c128": np.complex128([0.1 + 0.7j, 1e200j, -2, 5 + 1e-3j]),
        "b": np.array([True, False, True, False]),
        "n": 3,
        "s32": np.float32(1.1),
        "ob": np.zeros(4, bool),
        "oi": np.zeros(4, np.int64),
        "of": np.zeros(4),
        "oc": np.zeros(4, np.complex128),
    }


@dataclass
class Expressions:
    """Of kind "b", "i", "f" or "c"."""

    draw: Callable[[st.SearchStrategy[Any]], Any]

    def one(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def of(self, kind: str, depth: int) -> str:
        if depth <= 0 or self.one(0, 0, 0, 1):
            return self.one(*LEAVES[kind])
        if self.one(0, 0, 0, 0, 1):
            condition = self.of("b", depth - 1)
            other = self.one(*"bifc"[: "bifc".index(kind) + 1]) if kind != "b" else "b"
            sides = self.of(kind, depth - 1), self.of(other, depth - 1)
            return f"({sides[0]} if {condition} else {sides[1]})"
        return {"b": self.truth, "i": self.integer, "f": self.real, "c": self.complex}[kind](
            depth - 1
        )

    def truth(self, d: int) -> str:
        match self.one("compare", "compare", "chain", "logic", "not", "same"):
            case "logic":
                return f"({self.of('b', d)} {self.one('and', 'or', '&', '^')} {self.of('b', d)})"
            case "not":
                return f"(not {self.of('b', d)})"
            case "same":
                return f"({self.of('c', d)} {self.one('==', '!=')} {self.of(self.one('c', 'f', 'i'), d)})"
            case "chain":
                a, b, c = (self.of(self.one("i", "f"), d) for _ in range(3))
                return f"({a} {self.one('<', '<=')} {b} {self.one('!=', '>')} {c})"
        a, b = (self.of(self.one("i", "f"), d) for _ in range(2))
        return f"({a} {self.one('<', '<=', '>', '>=', '==', '!=')} {b})"

    def integer(self, d: int) -> str:
        match self.one(
            "arithmetic", "arithmetic", "bits", "shift", "unary", "cast", "power", "most"
        ):
            case "bits":
                return f"({self.of('i', d)} {self.one('&', '|', '^')} {self.of('i', d)})"
            case "shift":
                return f"({self.of('i', d)} {self.one('<<', '>>')} {self.one(0, 1, 7, 31)})"
            case "unary":
                return self.one(
                    f"(-{self.of('i', d)})", f"(~{self.of('i', d)})", f"abs({self.of('i', d)})"
                )
            case "cast":
                kind = self.one("i", "i", "b", "f")
                return f"{self.one('int', 'np.int32', 'np.int64')}({self.of(kind, d)})"
            case "power":
                return f"({self.of('i', d)} ** {self.one(0, 1, 2, 3)})"
            case "most":
                return f"{self.one('min', 'max')}({self.of('i', d)}, {self.of('i', d)})"
        return f"({self.of('i', d)} {self.one(*'+-*', '//', '%')} {self.of(self.one('i', 'i', 'b'), d)})"

    def real(self, d: int) -> str:
        match self.one(
            "arithmetic", "arithmetic", "function", "cast", "most", "part", "divide", "unary"
        ):
            case "function":
                return f"math.{self.one('sqrt', 'fabs', 'floor', 'exp')}({self.of('f', 0)})"
            case "cast":
                kind = self.one("i", "f", "b")
                return f"{self.one('float', 'np.float32', 'np.float64')}({self.of(kind, d)})"
            case "most":
                return (
                    f"{self.one('min', 'max')}({self.of('f', d)}, {self.of(self.one('i', 'f'), d)})"
                )
            case "part":
                return self.one(
                    f"{self.of('c', d)}.real", f"{self.of('c', d)}.imag", f"abs({self.of('c', d)})"
                )
            case "divide":
                return f"({self.of('i', d)} / {self.of(self.one('i', 'f'), d)})"
            case "unary":
                return self.one(f"(-{self.of('f', d)})", f"abs({self.of('f', d)})")
        return f"({self.of('f', d)} {self.one(*'+-*/', '//', '%')} {self.of(self.one('i', 'f', 'b'), d)})"

    def complex(self, d: int) -> str:
        match self.one("arithmetic", "arithmetic", "cast", "parts", "unary"):
            case "cast":
                kind = self.one("i", "f", "c", "b")
                return f"{self.one('complex', 'np.complex64', 'np.complex128')}({self.of(kind, d)})"
            case "parts":
                parts = self.of(self.one("i", "f"), d), self.of("f", d)
                return f"{self.one('complex', 'np.complex64')}({parts[0]}, {parts[1]})"
            case "unary":
                return self.one(f"(-{self.of('c', d)})", f"{self.of('c', d)}.conjugate()")
        left, right = self.of("c", d), self.of(self.one("i", "f", "c", "b"), d)
        left, right = (left, right) if self.one(0, 1) else (right, left)
        return f"({left} {self.one(*'+-*/')} {right})"


@st.composite
def kernels(draw: Callable[[st.SearchStrategy[Any]], Any], depth: int = 3) -> str:
    """A kernel that stores one expression of each kind."""
    made = Expressions(draw)
    lines = [f"        o{kind}[r] = {made.of(kind, depth)}" for kind in "bifc"]
    lines += [f"        {made.one('of', 'oc')}[r] += {made.of('f', depth - 1)}"]
    head = f"def kernel(A, {', '.join(arguments())}):\n    for r in A.tiles():\n"
    return head + "\n".join(lines) + "\n"
