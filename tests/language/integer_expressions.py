"""Expressions of integers, made at random by their type: each has exactly the type that was asked for.

So none is refused, and NumPy itself says what each is worth. Values lie at the ends of their ranges.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

import evenly as ev

TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
ROWS = 8
LARGE = 0x9E3779B97F4A7C15  # a constant that only uint64 holds


def ends(t: str) -> list[int]:
    """Numbers of a type: small ones, the ends of its range, and the bits of others' signs."""
    low, high = int(np.iinfo(t).min), int(np.iinfo(t).max)
    return [0, 1, 3, high, high - 1, high // 2 + 1, low, low + 1 if low else 7]


def joined(t: str) -> list[tuple[str, str]]:
    """The pairs of integer types whose common type is `t`."""
    return [(a, b) for a in TYPES for b in TYPES if np.result_type(a, b) == t]


@dataclass
class Integers:
    """Draws expressions of a type."""

    source: random.Random

    def one(self, choices: Any) -> Any:
        return self.source.choice(list(choices))

    def expr(self, t: str, depth: int) -> str:
        if depth <= 0 or self.source.random() < 0.2:
            return self.leaf(t)
        kinds = (
            "binary", "mixed", "weak", "index", "divide", "shift", "unary", "pick", "cast", "float",
            "power", "rotate", "count", "if",
        )  # fmt: skip
        return getattr(self, f"_{self.one(kinds)}")(t, depth - 1)

    def leaf(self, t: str) -> str:
        return self.one([f"{t}s[r]", f"{t}s[r]", f"np.{t}({self.literal(t)})", f"{t}_n"])

    def literal(self, t: str) -> Any:
        large = [LARGE, "2**63", "1 << 63", "2**63 + 2**62 - 1", "LARGE"] if t == "uint64" else []
        return self.one([*ends(t), 2, 5, 100, *large])

    def _binary(self, t: str, depth: int) -> str:
        op = self.one("+-*&|^")
        return f"({self.expr(t, depth)} {op} {self.expr(t, depth)})"

    def _mixed(self, t: str, depth: int) -> str:
        a, b = self.one(joined(t))
        return f"({self.expr(a, depth)} {self.one('+-*&|^')} {self.expr(b, depth)})"

    def _weak(self, t: str, depth: int) -> str:
        a, b = self.expr(t, depth), f"({self.literal(t)})"
        a, b = self.one([(a, b), (b, a)])
        return f"({a} {self.one('+-*&|^')} {b})"

    def _index(self, t: str, depth: int) -> str:
        return f"({self.expr(t, depth)} {self.one('+*|')} {self.one(['r', 'n', 'len(int8s)'])})"

    def _divide(self, t: str, depth: int) -> str:
        literal = self.literal(t) or 3
        divisor = self.one(
            [f"({literal})", f"np.{t}({literal})", f"({self.expr(t, depth)} | 1)", "8"]
        )
        return f"({self.expr(t, depth)} {self.one(['//', '%'])} {divisor})"

    def _shift(self, t: str, depth: int) -> str:
        most = np.iinfo(t).bits - 1
        count = self.one([1, most, f"({self.expr(t, depth)} & {most})", "(r & 7)"])
        return f"({self.expr(t, depth)} {self.one(['<<', '>>'])} {count})"

    def _unary(self, t: str, depth: int) -> str:
        return self.one(["(-{})", "(~{})", "(+{})", "abs({})"]).format(self.expr(t, depth))

    def _pick(self, t: str, depth: int) -> str:
        return f"{self.one(['min', 'max'])}({self.expr(t, depth)}, {self.expr(t, depth)})"

    def _cast(self, t: str, depth: int) -> str:
        return f"np.{t}({self.expr(self.one(TYPES), depth)})"

    def _float(self, t: str, depth: int) -> str:
        return f"np.{t}(min(max({self.real(depth)}, 0.0), 100.0))"

    def _power(self, t: str, depth: int) -> str:
        return f"({self.expr(t, depth)} ** {self.one(range(5))})"

    def _rotate(self, t: str, depth: int) -> str:
        count = self.one([self.expr(self.one(TYPES), depth), "r", "(-1)", "1000"])
        return f"ev.{self.one(['rotl', 'rotr'])}({self.expr(t, depth)}, {count})"

    def _count(self, t: str, depth: int) -> str:
        return f"np.{t}(ev.{self.one(['popcount', 'clz'])}({self.expr(self.one(TYPES), depth)}))"

    def _if(self, t: str, depth: int) -> str:
        return f"({self.expr(t, depth)} if {self.truth(depth)} else {self.expr(t, depth)})"

    def truth(self, depth: int) -> str:
        sides = [self.expr(self.one(TYPES), depth), self.expr(self.one(TYPES), depth)]
        if self.one([True, False]):
            if self.one([True, False]):
                sides = [self.expr("uint64", depth), f"({self.literal('uint64')})"]
            else:
                literal = f"({self.literal(self.one(TYPES[:-1]))})"
                sides[0] = self.one([literal, "r", "(r - 4)", "(n * -3)"])
            self.source.shuffle(sides)
        return f"({sides[0]} {self.one(['<', '<=', '>', '>=', '==', '!='])} {sides[1]})"

    def real(self, depth: int) -> str:
        """A float64."""
        a, b = self.expr(self.one(TYPES), depth), self.expr(self.one(TYPES), depth)
        signed = self.expr(self.one(TYPES[:4]), depth)
        mixed = f"({self.expr('uint64', depth)} {self.one('+-*')} {signed})"
        return self.one(
            [f"({a} / ({b} | 1))", f"np.float64({a})", f"({a} * np.float64(0.5))", mixed]
        )


def kernel_text(seed: int, count: int = 3, depth: int = 4) -> tuple[str, list[tuple[str, str]]]:
    """A kernel that stores `count` expressions of each type. Also (the output's name, the expression) of each store."""
    draw = Integers(random.Random(seed))
    stores = []
    for t in TYPES:
        stores += [(f"{t}_out", draw.expr(t, depth)) for _ in range(count)]
        stores.append((f"{t}_out", draw.expr(draw.one(TYPES), depth)))  # which keeps its low bits
    stores += [("float64_out", draw.real(depth)) for _ in range(count)]
    stores += [("bool_out", draw.truth(depth)) for _ in range(count)]
    lines = [f"        {name}[r, {i}] = {text}" for i, (name, text) in enumerate(stores)]
    head = f"def kernel(A, {', '.join(arguments())}):\n    for r in A.tiles():\n"
    return head + "\n".join(lines) + "\n", stores


def arguments() -> dict[str, Any]:
    """Arrays and scalars of every type, weak integers, and outputs."""
    arrays = {f"{t}s": np.array(ends(t), t) for t in TYPES}
    scalars = {f"{t}_n": np.dtype(t).type(np.iinfo(t).max - 2) for t in TYPES}
    outputs = {f"{t}_out": np.zeros((ROWS, 48), t) for t in (*TYPES, "float64", "bool")}
    return {**arrays, **scalars, "n": 11, **outputs}


def by_numpy(stores: list[tuple[str, str]]) -> dict[str, np.ndarray]:
    """What NumPy's scalars make of the expressions."""
    given = arguments()
    for r in range(ROWS):
        for i, (name, text) in enumerate(stores):
            value = eval(text, {"np": np, "ev": ev, "LARGE": LARGE, "r": r, **given})
            given[name][r, i] = np.asarray(value).astype(given[name].dtype)  # the low bits
    return {name: array for name, array in given.items() if name.endswith("_out")}
