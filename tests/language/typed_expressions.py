"""Expressions made at random, with the types that they have: constants near the ends of their ranges, conditionals, casts."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

INTEGERS = [0, 1, -1, 2, 3, 7, -8, 63, 1000, 100000, 200000, 2**30, 2**31 - 1, -(2**31)]
LONG = [2**31, 2**32 + 1, 2**40, 2**62, 2**63 - 1, -(2**63), -(2**63) + 1, -(2**31) - 1]
FLOATS = ["0.0", "-0.0", "1.0", "0.5", "-2.75", "3.1", "1e10", "math.inf", "math.nan"]
COMPLEX = ["1j", "(2 - 0.5j)", "(0.5 + 0j)"]
VALUES: dict[str, list[Any]] = {
    "i": [0, 1, -1, 5, 46341, 2**31 - 1, -(2**31), 123456],
    "l": [0, 3, -1, 2**31, -(2**40), 2**63 - 1, -(2**63), 77],
    "f": [0.0, -0.0, 1.5, -3.25, 1e10, -1e-3, np.inf, np.nan],
    "d": [0.0, 2.0, -1.5, 1e300, 3.1, -0.0, -np.inf, np.nan],
    "b": [True, False, True, True, False, False, True, False],
    "c": [1 + 2j, -0.5j, 3, 0, 1e3 - 1j, -2 + 2j, 0.25j, 8],
}
DTYPES = {"i": "int32", "l": "int64", "f": "float32", "d": "float64", "b": "bool", "c": "complex64"}
OUTPUTS = {"i": np.int64, "f": np.float64, "b": np.bool_, "c": np.complex128}
CASTS = {
    "b": ["bool"],
    "i": ["int", "np.int32", "np.int64"],
    "f": ["float", "np.float32", "np.float64"],
    "c": ["complex", "np.complex64", "np.complex128"],
}
SMALL = "int(max(-1e6, min(1e6, {})))"  # where a float is converted, it has to fit


@dataclass
class Typed:
    """Draws expressions of a kind: b (a truth value), i (an integer), f (a float) or c (a complex number)."""

    source: random.Random

    def one(self, choices: list[Any]) -> Any:
        return self.source.choice(choices)

    def expr(self, kind: str, depth: int) -> str:
        if depth <= 0 or self.one([False, False, False, True]):
            return self.leaf(kind)
        return getattr(self, f"_{kind}")(depth - 1)

    def leaf(self, kind: str) -> str:
        match kind:
            case "b":
                return self.one(["b[r]", "True", "False"])
            case "i":
                return self.one(["i[r]", "l[r]", "r", "n", "len(i)", self.integer()])
            case "f":
                return self.one(
                    ["f[r]", "d[r]", "h", self.one(FLOATS), f"np.float32({self.one([1.5, -0.1])})"]
                )
        return self.one(["c[r]", self.one(COMPLEX)])

    def integer(self) -> str:
        value = self.one(INTEGERS + LONG)
        if value not in INTEGERS or self.one([False, True]):
            return self.one(
                [f"np.int64({value})", f"({value})"]
                if value not in INTEGERS
                else [f"np.int64({value})", f"np.int32({value})"]
            )
        return f"({value})"

    def condition(self, kind: str, depth: int) -> str:
        """Both sides have one type: the reference does not know that of the side that it leaves out."""
        cast = self.one(CASTS[kind])
        a, b = (f"{cast}({self.expr(kind, depth)})" for _ in range(2))
        if kind == "i" and self.one([False, True]):
            a, b = (f"({self.one(INTEGERS + LONG)})" for _ in range(2))
        return f"({a} if {self.expr('b', depth)} else {b})"

    def _b(self, depth: int) -> str:
        e = self.expr
        kind = self.one(["compare", "logic", "bits", "not", "if", "test"])
        match kind:
            case "compare":
                k = self.one(["i", "i", "f"])
                return (
                    f"({e(k, depth)} {self.one(['<', '<=', '>', '>=', '==', '!='])} {e(k, depth)})"
                )
            case "logic":
                return f"({e('b', depth)} {self.one(['and', 'or'])} {e('b', depth)})"
            case "bits":
                return f"({e('b', depth)} {self.one(['&', '|', '^'])} {e('b', depth)})"
            case "not":
                return f"(not {e('b', depth)})"
            case "test":
                return f"math.isnan({e('f', depth)})"
        return self.condition("b", depth)

    def _i(self, depth: int) -> str:
        e = self.expr
        kind = self.one(
            [
                "binary",
                "binary",
                "divide",
                "shift",
                "unary",
                "if",
                "call",
                "bool",
                "cast",
                "float",
                "power",
            ]
        )
        match kind:
            case "binary":
                return (
                    f"({e('i', depth)} {self.one(['+', '-', '*', '&', '|', '^'])} {e('i', depth)})"
                )
            case "divide":
                divisor = self.one(
                    ["7", "(-1)", "(7 if {} else 3)", "(i[r] | 1)", "8", "np.int64(-1)"]
                )
                return f"({e('i', depth)} {self.one(['//', '%'])} {divisor.replace('{}', e('b', depth))})"
            case "shift":
                return f"({e('i', depth)} {self.one(['<<', '>>'])} {self.one(['1', '5', '(r & 7)', '31'])})"
            case "unary":
                return f"({self.one(['-', '+', '~'])}{e('i', depth)})"
            case "call":
                name = self.one(["abs", "min", "max"])
                return (
                    f"abs({e('i', depth)})"
                    if name == "abs"
                    else f"{name}({e('i', depth)}, {e('i', depth)})"
                )
            case "bool":
                return f"int({e('b', depth)})"
            case "cast":
                return f"{self.one(['int', 'np.int32', 'np.int64'])}({e('i', depth)})"
            case "float":
                x = f"({e('f', depth)})"
                return f"(0 if math.isnan({x}) else {SMALL.format(x)})"
            case "power":
                return f"({e('i', depth)} ** {self.one([0, 1, 2, 3])})"
        return self.condition("i", depth)

    def _f(self, depth: int) -> str:
        e = self.expr
        kind = self.one(["binary", "mixed", "divide", "unary", "if", "call", "cast", "part"])
        match kind:
            case "binary":
                return f"({e('f', depth)} {self.one(['+', '-', '*'])} {e('f', depth)})"
            case "mixed":
                return f"({e('i', depth)} {self.one(['+', '-', '*'])} {e('f', depth)})"
            case "divide":
                k = self.one(["f", "i"])
                return f"({e('f', depth)} {self.one(['/', '//', '%'])} ({e(k, depth)} + 0.0))"
            case "unary":
                return f"({self.one(['-', '+'])}{e('f', depth)})"
            case "call":
                return f"{self.one(['min', 'max'])}({e('f', depth)}, {e('f', depth)})"
            case "cast":
                return f"{self.one(['float', 'np.float32', 'np.float64'])}({e(self.one(['i', 'b', 'f']), depth)})"
            case "part":
                return f"({e('c', depth)}).{self.one(['real', 'imag'])}"
        return self.condition("f", depth)

    def _c(self, depth: int) -> str:
        e = self.expr
        kind = self.one(["binary", "mixed", "unary", "if", "cast"])
        match kind:
            case "binary":
                return f"({e('c', depth)} {self.one(['+', '-', '*'])} {e('c', depth)})"
            case "mixed":
                return f"({e(self.one(['f', 'i']), depth)} {self.one(['+', '-', '*'])} {e('c', depth)})"
            case "unary":
                return f"(-{e('c', depth)})"
            case "cast":
                return f"{self.one(['np.complex64', 'np.complex128', 'complex'])}({e(self.one(['c', 'f', 'i']), depth)})"
        return self.condition("c", depth)


def kernel_text(seed: int, count: int = 6, depth: int = 4) -> str:
    """A kernel that stores `count` expressions of each kind."""
    typed = Typed(random.Random(seed))
    lines = ["def kernel(A, i, l, f, d, b, c, n, h, oi, of, ob, oc):", "    for r in A.tiles():"]
    for kind, out in (("i", "oi"), ("f", "of"), ("b", "ob"), ("c", "oc")):
        for place in range(count):
            text = typed.expr(kind, depth)
            stored = f"np.int64({text})" if kind == "i" else text
            lines.append(f"        {out}[r, {place}] = {stored}")
    return "\n".join(lines) + "\n"


def arguments(count: int = 6) -> dict[str, Any]:
    arrays = {name: np.array(values, DTYPES[name]) for name, values in VALUES.items()}
    rows = len(VALUES["i"])
    outputs = {f"o{kind}": np.zeros((rows, count), dtype) for kind, dtype in OUTPUTS.items()}
    return {**arrays, "n": 11, "h": 2.5, **outputs}
