"""The table of refusals: what is refused, where the caret stands, what is said, what is suggested.

    Refusal("tile", "y[row] = «[1, 2]»", "a list is not part of ...", "a tuple ...")

The code stands in a loop over tiles ("tile"), in a loop over a tile's atoms ("atoms") or in
the kernel itself ("top"); « and » enclose what the caret must underline, to the column.
Messages are given in full, hints in full too ("" where there is none).
"""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from evenly.layouts.batch import batch
from evenly.layouts.bcsr import bcsr
from evenly.layouts.frontier import frontier
from evenly.layouts.output import output
from evenly.layouts.subset import subset
from evenly.layouts.tasks import tasks
from evenly.layouts.uniform import uniform

from . import helpers
from .cases.table import c64, f16, f32, i32, i64, rows, truths

A = rows([1, 2, 3], [], [4])
ARGUMENTS: dict[str, Any] = {
    "A": A,
    "B": bcsr((f32(1, 2, 3, 4).reshape(1, 2, 2), i32(0), i32(0, 1)), shape=(2, 2)),
    "S": subset(A, i32(2, 0)),
    "T": batch(
        [
            sp.eye_array(2, format="csr", dtype=np.float32),
            sp.eye_array(1, format="csr", dtype=np.float32),
        ]
    ),
    "F": frontier(A),
    "UF": uniform(2, frontier(A)),
    "O": output((np.int32, np.float32), capacity=9),
    "U": uniform(2, A),
    "Q": tasks(a=np.int32, b=np.int32, first=[(0, 3)], capacity=9),
    "x": f32(1, 2, 3),
    "y": f32(0, 0, 0),
    "z": i32(0, 0, 0),
    "b": truths(0, 0, 0),
    "m": np.zeros((3, 2), np.float32),
    "n": 3,
    "s": 2.5,
    "none": None,
    "cs": c64(1j, 2, 3),
    "hs": f16(1, 2, 3),
    "e": np.zeros(3, np.int8),
    "w": np.zeros(3, np.uint64),
    "l": i64(0, 0, 0),
}

CAPTURED: dict[str, Any] = {
    **{name: thing for name, thing in vars(helpers).items() if not name.startswith("_")},
    "TABLE": np.zeros(3),
    "LAYOUT": A,
    "DAY": np.datetime64("2026-01-01"),
    "PAIR": (1, 2.0),
    "BIG": 2**70,
    "TEXT": "text",
    "THING": object(),
    "np": np,
    "math": math,
}

SAME = "every lane stores into the same element of {}: the last one to write would win, and they have no order"
BY_LANE = "index it by the lane, accumulate into a variable, or use range()"

WHERE = {
    "top": "",
    "tile": "for row in A.tiles():\n",
    "atoms": "for row in A.tiles():\n    for k in A.atoms(row):\n",
    "item": "for item in T.items():\n",
}


@dataclass(frozen=True)
class Refusal:
    where: str
    marked: str
    message: str
    hint: str = ""

    def text(self, marks: bool = False) -> str:
        """The kernel's source."""
        body = textwrap.dedent(self.marked).strip("\n")
        depth = {"top": 0, "tile": 4, "atoms": 8, "item": 4}[self.where]
        inside = WHERE[self.where] + textwrap.indent(body, " " * depth)
        whole = f"def kernel({', '.join(ARGUMENTS)}):\n" + textwrap.indent(inside, "    ") + "\n"
        return whole if marks else whole.replace("«", "").replace("»", "")

    def span(self) -> tuple[int, int, int]:
        """Line, column and end column (from 1) of what the caret must underline."""
        for number, line in enumerate(self.text(marks=True).splitlines(), 1):
            if "«" in line:
                start = line.index("«") + 1
                end = line.index("»") if "»" in line else len(line)
                return number, start, end
        raise AssertionError("no « in the code")


REALS = "it takes real numbers: z.real, z.imag or abs(z)"
NOT = "is not part of the kernel language"
RUNNING = "one operation only, and no other use in the loop; a running sum is ev.scan(v), a count ev.rank(condition)"
FUNCTION = "define it beside the kernel: @ev.func, def larger(a, b): return max(a, b)"
ONE = "one operation only: +=, *=, min, max, and, or; and no other use of it in the loop"
INDEX = "index one element: x[i]"
UNSIGNED = "write np.uint64(x) for unsigned 64 bits"
LOOPS = "loop over A.tiles(), A.atoms(tile), range(n) or ev.lanes(n)"
PUBLIC = "kernels have tiles, atoms, num_tiles, num_atoms, offsets, indices, values, num_columns, column, row, value"

# fmt: off
R = Refusal
SYNTAX = [
    R("tile", "y[row] = «[1, 2]»", f"a list {NOT}", "a tuple has a fixed length and works; for data, pass an array"),
    R("tile", "y[row] = «[v for v in (1, 2)]»", f"a list {NOT}", "reduce it where it stands: sum(... for k in A.atoms(tile))"),
    R("tile", "q = «{1: 2}»", f"a dict {NOT}", "keep such data in arrays and pass them as arguments"),
    R("tile", "q = «{v: v for v in (1, 2)}»", f"a dict {NOT}", "keep such data in arrays and pass them as arguments"),
    R("tile", "q = «{1, 2}»", f"a set {NOT}", "keep such data in arrays and pass them as arguments"),
    R("tile", "q = «{v for v in (1, 2)}»", f"a set {NOT}", "reduce it where it stands: sum(... for k in A.atoms(tile))"),
    R("tile", "f = «lambda v: v»", f"a lambda {NOT}", "define an @ev.func beside the kernel"),
    R("tile", "q = «'text'»", f"a string {NOT}", "kernels compute on numbers"),
    R("tile", "q = «f'{row}'»", f"a string {NOT}", "kernels compute on numbers"),
    R("tile", "q = «b'text'»", f"a string {NOT}", "kernels compute on numbers"),
    R("tile", "«'a docstring in the middle'»", f"a string {NOT}", "kernels compute on numbers"),
    R("tile", "q = «...»", f"a literal of type ellipsis {NOT}"),
    R("tile", "«try:»\n    pass\nexcept ValueError:\n    pass", f"try {NOT}", "check the condition with an if"),
    R("tile", "«with x:»\n    pass", f"with {NOT}", "kernels hold no resources"),
    R("tile", "if («q := 3») > 2:\n    pass", f"an assignment inside an expression {NOT}", "assign on a line of its own"),
    R("tile", "«def g(): return 1»", f"a nested function {NOT}", "define an @ev.func beside the kernel"),
    R("tile", "«async def g(): return 1»", f"a nested function {NOT}", "define an @ev.func beside the kernel"),
    R("tile", "«class G: pass»", f"a class {NOT}", "define it outside the kernel"),
    R("tile", "while n > 5:\n    pass\nelse:\n    «pass»", f"else after a loop {NOT}", "set a flag in the loop and test it afterwards"),
    R("tile", "for i in range(3):\n    pass\nelse:\n    «y[0] = 1»", f"else after a loop {NOT}", "set a flag in the loop and test it afterwards"),
    R("tile", "«global TABLE»", f"global {NOT}", "pass arrays as arguments and store into them"),
    R("tile", "«yield 3»", f"yield {NOT}", "store results into an output array"),
    R("tile", "«yield from x»", f"yield {NOT}", "store results into an output array"),
    R("tile", "«del n»", f"del {NOT}", "variables end with their block"),
    R("tile", "«import math»", f"import {NOT}", "import at the top of the file"),
    R("tile", "«from math import exp»", f"import {NOT}", "import at the top of the file"),
    R("tile", "assert n > 2, «f'{n}'»", "the message of an assertion that is not a literal string", "print the numbers before it: print(x[row])"),
    R("tile", "«assert sum(A.value(k) for k in A.atoms(row)) > 0»", "a reduction over atoms in an assertion", "assign it to a variable first"),
    R("tile", "assert «ev.atomic_add(y, 0, 1.0)» > 0", "an atomic in an assertion", "use it in a statement of the kernel itself"),
    R("tile", "q = 0.0\nfor k in A.atoms(row):\n    q += 1.0\n    assert «q» > 0", "q is read in the loop over atoms that accumulates it", RUNNING),
    R("tile", "«print(sum(A.value(k) for k in A.atoms(row)))»", "a reduction over atoms in a print", "assign it to a variable first"),
    R("tile", "print('x', «x»)", "the whole array x where a number is needed", INDEX),
    R("tile", "print(n, sep=«', '»)", "print takes no argument sep here", "texts and numbers, one line a call"),
    R("tile", "print(n, end=«n»)", "print takes no argument end here", "texts and numbers, one line a call"),
    R("tile", "print(«f'{n}'»)", f"a string {NOT}", "kernels compute on numbers"),
    R("tile", "«raise ValueError»", f"raise {NOT}", "write an error code to an output array"),
    R("tile", "«match n:»\n    case 1:\n        pass", f"match {NOT}", "use if/elif/else"),
    R("tile", "«q: int»", f"an annotation without a value {NOT}", "assign the variable where it starts"),
    R("tile", "q = square(«*x»)", f"a starred expression {NOT}", "name the items one by one"),
    R("tile", "q, «*rest» = 1, 2, 3", f"a starred expression {NOT}", "name the items one by one"),
    R("tile", "q = square(**«x»)", f"** in a call {NOT}", "name the arguments one by one"),
    R("tile", "q = x[«1:2»]", f"a slice {NOT}", "index one element at a time"),
    R("tile", "q = m[1, «:»]", f"a slice {NOT}", "index one element at a time"),
    R("tile", "q = «3 in x»", f"'in' {NOT}", "compare numbers with == or !=; only `is None` and `is not None` are known"),
    R("tile", "q = «x is y»", f"'is' {NOT}", "compare numbers with == or !=; only `is None` and `is not None` are known"),
    R("tile", "q = «x is not y»", f"'is not' {NOT}", "compare numbers with == or !=; only `is None` and `is not None` are known"),
    R("tile", "q = «x @ y»", f"the operator @ {NOT}", "write the sum over the atoms"),
    R("tile", "«A.field» = 3", f"assignment to an attribute {NOT}", "store into an array: y[tile] = value"),
    R("tile", "for «A.field» in range(3):\n    pass", f"assignment to an attribute {NOT}", "store into an array: y[tile] = value"),
    R("tile", "q = sum«(1 for i in range(3) for j in range(2))»", f"a generator over two loops {NOT}", "nest two reductions, or write a for loop that accumulates"),
    R("tile", "q = «(x[i] for i in range(3))»", "a generator stands only inside a reduction", "sum(...), min(..., default=), max, any, all, ev.argmin, ev.argmax, ev.first, ev.reduce"),
]

NAMES = [
    R("tile", "q = «unheard_of»", "unheard_of is not defined here"),
    R("tile", "q = «rowe»", "rowe is not defined here", "did you mean row?"),
    R("tile", "q = «squar»(n)", "squar is not defined here", "did you mean square?"),
    R("tile", "q = «summ»(n)", "summ is not defined here", "did you mean sum?"),
    R("tile", "«total» += 1", "total is not defined here"),
    R("tile", "«fresh»[0] = 1", "fresh is not defined here"),
    R("tile", "q = «TABLE»[0]", "TABLE is captured from outside", "pass arrays and layouts as arguments of the kernel; only numbers may be captured"),
    R("tile", "for k in «LAYOUT».atoms(row):\n    pass", "LAYOUT is captured from outside", "pass arrays and layouts as arguments of the kernel; only numbers may be captured"),
    R("tile", "q = «DAY»", "a constant of type datetime64[D]",
      "the types are float32, float64, int8 to int64, uint8 to uint64, bool, complex64, complex128, float16 and bfloat16"),
    R("tile", "q = «BIG»", f"{2**70} does not fit into int64", "floats go further: 2.0 ** 64"),
    R("tile", "q = «TEXT»", f"a captured str {NOT}", "numbers, tuples of numbers and functions may be captured"),
    R("tile", "q = «THING».x", f"a captured object {NOT}", "numbers, tuples of numbers and functions may be captured"),
    R("tile", "q = «math.foo»", "module math has no foo", "did you mean math.floor?"),
    R("tile", "q = «PAIR[row]»", "a tuple is indexed by one literal integer"),
    R("tile", "q = «PAIR[2]»", "index 2 of a tuple of 2"),
    R("tile", "if x[row] > 0:\n    q = 1\ny[row] = «q»", "q has no value on every path to here", "assign it before the if, or in both branches"),
    R("tile", "for i in range(n):\n    q = i\ny[row] = «q»", "q has no value if the loop does not run", "assign it before the loop"),
    R("tile", "while n > 5:\n    q = 1\ny[row] = «q»", "q has no value if the loop does not run", "assign it before the loop"),
    R("tile", "for i in range(n):\n    pass\ny[row] = «i»", "i belongs to its loop, and has no value after it", "keep it in a variable assigned before the loop"),
    R("tile", "i = 7\nfor i in range(n):\n    pass\ny[row] = «i»", "i belongs to its loop, and has no value after it", "keep it in a variable assigned before the loop"),
    R("tile", "q = 1\nif x[row] > 0:\n    q = (1, 2)\ny[row] = «q»", "q is a tuple of 2 on one path and a number (int) on the other"),
    R("tile", "q = x\nif x[row] > 0:\n    q = y\ny[row] = «q»[0]", "q is the array y on one path and the array x on the other"),
    R("tile", "q = x\nfor i in range(3):\n    «q = y»", "q becomes the array y inside a loop"),
    R("tile", "q = 1\nfor i in range(3):\n    «q» = (1, 2)", "q is a number (int) before the loop and a tuple of 2 in it"),
    R("tile", "q = (1, 2.0)\nwhile n > 9:\n    «q» = (1, 2, 3)", "q is a tuple of 2 before the loop and a tuple of 3 in it"),
]

VALUES = [
    R("tile", "«y[row] = x»", "the whole array x where a number is needed", INDEX),
    R("tile", "«y[row] = A.values»", "the whole array A.values where a number is needed", "index one element: A.values[i]"),
    R("tile", "«y[row] = A»", "the layout A where a number is needed"),
    R("tile", "«y[row] = A.value»", "the method value where a number is needed"),
    R("tile", "«y[row] = A.atoms(row)»", "an iterable (atoms) where a number is needed"),
    R("tile", "«y[row] = square»", "Func square where a number is needed"),
    R("tile", "«y[row] = math»", "module math where a number is needed"),
    R("tile", "«y[row] = none»", "None where a number is needed", "test it first: if x is not None"),
    R("tile", "q = «none» + 1", "None where a number is needed", "test it first: if x is not None"),
    R("tile", "if «none»:\n    pass", "None where a number is needed", "test it first: if x is not None"),
    R("tile", "«q = none»", "None is not a value of the kernel language", "a function that is called for a value must return one"),
    R("tile", "q = «(1, 2)» + 3", "a tuple of 2 where a number is needed"),
    R("tile", "q = (1, 2)\n«y[row] = q»", "a tuple of 2 where a number is needed"),
    R("tile", "q = -«x»", "the whole array x where a number is needed", INDEX),
    R("tile", "q = 1 if «x» else 2", "the whole array x where a number is needed", INDEX),
    R("tile", "while «x»:\n    pass", "the whole array x where a number is needed", INDEX),
    R("tile", "«x» += 1", "the array x is assigned in the loop over tiles", "use another name: the next round would see the new value"),
    R("top", "«x» += 1", "the whole array x where a number is needed", INDEX),
    R("tile", "if n > 2:\n    «A» = 3", "the layout A is assigned in the loop over tiles", "use another name: the next round would see the new value"),
    R("atoms", "«none» = 3", "None is assigned in the loop over tiles", "use another name: the next round would see the new value"),
    R("tile", "q = «PAIR»[0]\nPAIR = (2, 3)", "PAIR has no value here: it is assigned further on", "assign it first, or give one of the two another name"),
    R("tile", "q = «(1, 2) if n > 2 else 3»", "chosen is a tuple of 2 on one path and a number (int) on the other"),
    R("tile", "q = «x if n > 2 else y»", "chosen is the array x on one path and the array y on the other"),
    R("tile", "«n + 1»", "an expression whose value is not used", "assign it or store it"),
    R("tile", "«x[0]»", "an expression whose value is not used", "assign it or store it"),
    R("tile", "«square(2)»", "a call whose value is not used", "assign the result; a function that acts returns nothing"),
    R("tile", "«p, q = 1»", "a number (int) cannot be unpacked into 2 names"),
    R("tile", "«p, q = x»", "the array x cannot be unpacked into 2 names"),
    R("tile", "«p, q = 1, 2, 3»", "a tuple of 3 cannot be unpacked into 2 names"),
    R("tile", "q = «n.denominator»", "a number (int) has no attribute denominator in the kernel language", "real, imag and conjugate()"),
    R("tile", "q = «b[0].real»", "a number (bool) has no attribute real in the kernel language", "real, imag and conjugate()"),
    R("tile", "q = «cs[0].conjugate» + 1", "the method conjugate where a number is needed"),
    R("tile", "q = «x.dtype»", "an array has no attribute dtype in the kernel language", "shape, len() and subscripts"),
    R("tile", "q = «x.sum»()", "an array has no attribute sum in the kernel language", "shape, len() and subscripts"),
    R("tile", "q = «m.size»", "an array has no attribute size in the kernel language", "shape, len() and subscripts"),
]

SUBSCRIPTS = [
    R("tile", "q = x[«-1»]", "a negative index", "count from the start: len(x) - 1"),
    R("tile", "q = m[0, «-2»]", "a negative index", "count from the start: len(m) - 2"),
    R("tile", "q = x[«1.5»]", "a float as an index", "indices are integers: int(x) truncates"),
    R("tile", "q = x[«x[0]»]", "a float32 as an index", "indices are integers: int(x) truncates"),
    R("tile", "q = x[«b[0]»]", "a bool as an index", "indices are integers: int(x) truncates"),
    R("tile", "q = «x[1, 2]»", "x has 1 axis, got 2 indices"),
    R("tile", "q = «m[1]»", "m has 2 axes, got 1 index"),
    R("tile", "«m[1]» = 1.0", "m has 2 axes, got 1 index"),
    R("tile", "q = «n[0]»", "a number (int) cannot be indexed", "arrays and tuples can"),
    R("tile", "q = «A[0]»", "the layout A cannot be indexed", "arrays and tuples can"),
    R("tile", "«n[0]» = 1", "a number (int) cannot be stored into", "an array argument can"),
    R("tile", "«A.values[0]» = 1", "A.values belongs to a layout, which is read-only", "pass the array as an argument of its own"),
    R("tile", "«A.values[0]» += 1", "A.values belongs to a layout, which is read-only", "pass the array as an argument of its own"),
    R("tile", "«z[row] = 1.5»", "a float stored into z of int32", "convert it: int(x) truncates"),
    R("tile", "«z[row] = x[row]»", "a float32 stored into z of int32", "convert it: int(x) truncates"),
    R("tile", "«z[row] += 0.5»", "a float64 stored into z of int32", "convert it: int(x) truncates"),
    R("tile", "«z[row] = 2**40»", f"{2**40} does not fit into int32", "write np.int64(x) for 64 bits"),
    R("tile", "«x[row] = cs[row]»", "a complex64 stored into x of float32", "store its z.real, z.imag or abs(z)"),
    R("tile", "«z[row] += 1j»", "a complex128 stored into z of int32", "store its z.real, z.imag or abs(z)"),
    R("tile", "q = x[«cs[0]»]", "a complex64 as an index", "indices are integers: int(x) truncates"),
    R("tile", "«b[row] = 1»", "an int stored into b of bool", "compare it: x != 0"),
    R("tile", "«b[row] = x[0]»", "a float32 stored into b of bool", "convert it: int(x) truncates"),
]

OPERATORS = [
    R("tile", "q = «b[0] + b[1]»", "'+' of two truth values", "convert one: int(a) + int(b)"),
    R("tile", "q = «True + True»", "'+' of two truth values", "convert one: int(a) + int(b)"),
    R("tile", "q = «b[0] / b[1]»", "'/' of two truth values", "convert one: int(a) + int(b)"),
    R("tile", "q = «b[0] << b[1]»", "'<<' of two truth values"),
    R("tile", "q = «-b[0]»", "'-' of a truth value", "write `not x`, or int(x)"),
    R("tile", "q = «~b[0]»", "'~' of a truth value", "write `not x`, or int(x)"),
    R("tile", "q = «~x[0]»", "'~' needs an integer, got a float32"),
    R("tile", "q = «x[0] & 1»", "'&' needs integers or truth values, got a float32"),
    R("tile", "q = «x[0] << 1»", "'<<' needs integers or truth values, got a float32"),
    R("tile", "q = «abs(b[0])»", "abs of a truth value"),
    R("tile", "q = «cs[0] < cs[1]»", "'<' of a complex64", REALS),
    R("tile", "q = «1.0 >= 1j»", "'>=' of a complex", REALS),
    R("tile", "q = «0 < cs[0] == 1»", "'<' of a complex64", REALS),
    R("tile", "q = «cs[0] // 2»", "'//' of a complex64", REALS),
    R("tile", "q = «2 % cs[0]»", "'%' of a complex64", REALS),
    R("tile", "q = «cs[0] ** 2»", "'**' of a complex64", REALS),
    R("tile", "q = «cs[0] & 1»", "'&' needs integers or truth values, got a complex64"),
    R("tile", "q = «1j / 0»", "division by zero"),
    R("tile", "q = «1 // 0»", "division by zero"),
    R("tile", "q = «n // 0»", "division by zero"),
    R("tile", "q = «z[row] % np.int64(0)»", "division by zero"),
    R("tile", "q = «1 / 0»", "division by zero"),
    R("tile", "q = «1 % 0»", "division by zero"),
    R("tile", "q = «1 << -1»", "a shift by -1", "shift the other way"),
    R("tile", "q = «1 << 63»", f"{1 << 63} does not fit into int64", UNSIGNED),
    R("tile", "q = «3 << 2147483648»", "the result does not fit into int64", "floats go further: 2.0 ** 64"),
    R("tile", "q = «7 ** 2147483648»", "the result does not fit into int64", "floats go further: 2.0 ** 64"),
    R("tile", "q = «z[0] << 32»", "a shift by 32", "int32 has 32 bits: shift by less"),
    R("tile", "q = «1 >> 64»", "a shift by 64", "int64 has 64 bits: shift by less"),
    R("tile", "q = «0 << 64»", "a shift by 64", "int64 has 64 bits: shift by less"),
    R("tile", "q = «n >> -1»", "a shift by -1", "int64 has 64 bits: shift by less"),
    R("tile", "q = «9223372036854775808»", "9223372036854775808 does not fit into int64", UNSIGNED),
    R("tile", "q = 1\n«q += 2**63 - 1»", "9223372036854775808 does not fit into int64", UNSIGNED),
    R("tile", "q = «l[0] + 2**63»", "9223372036854775808 does not fit into int64", UNSIGNED),
    R("tile", "q = «l[0] < 2**63»", "9223372036854775808 does not fit into int64", UNSIGNED),
    R("tile", "q = x[«2**63»]", "9223372036854775808 does not fit into int64", UNSIGNED),
    R("tile", "q = «1 << 64»", "the result does not fit into int64", "floats go further: 2.0 ** 64"),
    R("tile", "q = w[0] * «2**64»", "the result does not fit into int64", "floats go further: 2.0 ** 64"),
    R("tile", "q = «w[0] + -1»", "-1 does not fit into uint64", "it has no negative numbers: write np.int64(x) for signed 64 bits"),
    R("tile", "q = «e[0] + 300»", "300 does not fit into int8", "write np.int64(x) for 64 bits"),
    R("tile", "q = «e[0] << 8»", "a shift by 8", "int8 has 8 bits: shift by less"),
    R("tile", "«e[row] = 128»", "128 does not fit into int8", "write np.int64(x) for 64 bits"),
    R("tile", "q = «w[0] & l[0]»", "'&' of a uint64 and an int64: no integer type holds both", "convert one: np.uint64(x) or np.int64(x)"),
    R("tile", "q = «w[0] << z[0]»", "'<<' of a uint64 and an int32: no integer type holds both", "convert one: np.uint64(x) or np.int64(x)"),
    R("tile", "q = «z[0] + 4294967296»", "4294967296 does not fit into int32", "write np.int64(x) for 64 bits"),
    R("tile", "q = «z[0] | 4294967296»", "4294967296 does not fit into int32", "write np.int64(x) for 64 bits"),
    R("tile", "q = «z[0] ** 4294967296»", "4294967296 does not fit into int32", "write np.int64(x) for 64 bits"),
    R("tile", "q = «max(z[0], 4294967296)»", "4294967296 does not fit into int32", "write np.int64(x) for 64 bits"),
    R("tile", "q = «z[0] if n > 2 else 4294967296»", "4294967296 does not fit into int32", "write np.int64(x) for 64 bits"),
    R("tile", "q = 4294967296\n«if n > 2:»\n    q = z[0]", "4294967296 does not fit into int32", "write np.int64(x) for 64 bits"),
    R("tile", "q = z[0]\nfor i in range(3):\n    «q» = 4294967296", "4294967296 does not fit into int32", "write np.int64(x) for 64 bits"),
    R("tile", "q = 4294967296\nfor i in range(3):\n    «q» += z[0]", "4294967296 does not fit into int32", "write np.int64(x) for 64 bits"),
    R("tile", "q = «n ** n»", "an integer power needs a literal exponent that is not negative", "make the base a float: float(x) ** y"),
    R("tile", "q = «2 ** -1»", "an integer power needs a literal exponent that is not negative", "make the base a float: float(x) ** y"),
    R("tile", "q = «z[0] ** -1»", "an integer power needs a literal exponent that is not negative", "make the base a float: float(x) ** y"),
    R("tile", "q = «x[0]» and x[1]", "'and' of a number (float32)", "compare it: x != 0"),
    R("tile", "q = b[0] or «n»", "'or' of a number (int)", "compare it: x != 0"),
]

CALLS = [
    R("tile", "q = «np.sqrt(2.0)»", f"sqrt of numpy {NOT}", "math.sqrt keeps the type of its argument"),
    R("tile", "q = «np.sum(x)»", f"numpy's sum {NOT}", "sum(x[i] for i in range(len(x))), or sum(... for k in A.atoms(tile))"),
    R("tile", "q = «np.where(n > 1, 1, 2)»", f"numpy's where {NOT}", "a if condition else b"),
    R("tile", "q = «np.floor_divide(1, 2)»", f"numpy's floor_divide {NOT}", "write what happens to one element; math.* and min, max, abs work on numbers"),
    R("tile", "q = «np.float16(n)»", f"numpy's float16 {NOT}",
      "typed numbers are np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float32, np.float64, np.complex64, np.complex128, np.bool"),
    R("tile", "q = «np.bitwise_count(n)»", f"numpy's bitwise_count {NOT}", "ev.popcount(x) counts at x's own width; NumPy counts the bits of abs(x)"),
    R("tile", "q = «ev.popcount(x[0])»", "popcount of a float32"),
    R("tile", "q = «ev.clz(b[0])»", "clz of a truth value"),
    R("tile", "q = «ev.rotl(z[0], 1.5)»", "rotl of a float"),
    R("tile", "q = «ev.rotr(z[0])»", "rotr takes 2 arguments, got 1"),
    R("tile", "q = «plain(3)»", "plain is a plain Python function", "decorate it with @ev.func"),
    R("tile", "q = «print(row)»", f"print {NOT}", "it stands alone on a line: print(x[row])"),
    R("tile", "q = «round(x[0])»", f"round {NOT}", "math.floor(x + 0.5)"),
    R("tile", "q = «sorted(x)»", f"sorted {NOT}", "atoms have no order: min, max, ev.argmin and ev.argmax find the ends; sort outside the kernel"),
    R("tile", "for i in «reversed(range(3))»:\n    pass", f"reversed {NOT}", "count down: range(n - 1, -1, -1)"),
    R("tile", "q = «map(square, x)»", f"map {NOT}", "reduce where it stands: sum(f(A.value(k)) for k in A.atoms(tile))"),
    R("tile", "q = «list(x)»", f"list {NOT}", "a tuple has a fixed length: (a, b); for data, pass an array"),
    R("tile", "q = «isinstance(n, int)»", f"isinstance {NOT}", "types are known when the kernel is compiled; int, float and np.float32 convert"),
    R("tile", "q = «str(n)»", f"str {NOT}", "kernels compute on numbers; print shows them"),
    R("tile", "q = «divmod(n, 2)»", f"divmod {NOT}", "two operations: a // b, a % b"),
    R("tile", "q = «open(n)»", f"open {NOT}", "do it outside, and pass what comes of it as an argument"),
    R("tile", "q = «max(x)»", "max() takes a generator or two numbers and more", "max((x[i] for i in range(len(x))), default=0.0)"),
    R("tile", "q = «ev.armax»(x)", "module evenly has no armax", "did you mean ev.argmax?"),
    R("tile", "q = «ev.sin»(x[n])", "module evenly has no sin", "did you mean math.sin?"),
    R("tile", "q = «1.5 << 2»", "'<<' needs integers or truth values, got a float"),
    R("tile", "q = «math.factorial(3)»", f"factorial {NOT}", "math.gamma(n + 1)"),
    R("tile", "q = «pow(2, 3)»", f"pow of builtins {NOT}", "math.pow keeps the type of its argument"),
    R("tile", "q = «math.sqrt()»", "sqrt takes 1 argument, got 0"),
    R("tile", "q = «math.sqrt(1, 2)»", "sqrt takes 1 argument, got 2"),
    R("tile", "q = «math.atan2(1)»", "atan2 takes 2 arguments, got 1"),
    R("tile", "q = math.sqrt(«x»)", "the whole array x where a number is needed", INDEX),
    R("tile", "q = «n»(3)", "a number (int) cannot be called"),
    R("tile", "q = «int()»", "int() takes one argument, got 0"),
    R("tile", "q = int(x=«1»)", "no argument x here"),
    R("tile", "q = «int(math.inf)»", "int(inf) has no value"),
    R("tile", "q = «min(cs[0], 1)»", "min of a complex64", REALS),
    R("tile", "q = «math.sqrt(cs[0])»", "sqrt of a complex64", REALS),
    R("tile", "q = «math.isnan(1j)»", "isnan of a complex", REALS),
    R("tile", "q = «float(cs[0])»", "float() of a complex64", REALS),
    R("tile", "q = «np.int32(1j)»", "int32() of a complex", REALS),
    R("tile", "q = complex(1, «1j»)", "a part of a complex", REALS),
    R("tile", "q = «complex()»", "complex() takes one argument, got 0"),
    R("tile", "q = «cs[0].conjugate(1)»", "conjugate() takes no argument"),
    R("tile", "q = «len(3)»", "len() takes one array or tuple"),
    R("tile", "q = «len(A)»", "len() takes one array or tuple", "A.num_tiles and A.num_atoms"),
    R("tile", "q = «len(A.atoms(row))»", "len() takes one array or tuple", "sum(1 for k in A.atoms(tile)) counts them"),
    R("tile", "q = «x.tiles»()", "an array has no attribute tiles in the kernel language", "layouts have it: scipy.sparse.csr_array(dense) makes a matrix of a dense array"),
    R("tile", "q = «square(1, 2)»", "square takes 1 argument, got 2"),
    R("tile", "q = «square()»", "square needs an argument v"),
    R("tile", "q = «square(w=3)»", "square takes no argument w"),
    R("tile", "q = «square(1, v=2)»", "square got v twice"),
    R("tile", "«q = nothing(1)»", "None is not a value of the kernel language", "a function that is called for a value must return one"),
    R("tile", "q = «ev.thread_index()»", "ev.thread_index in a kernel", "a kernel says what happens, a schedule who does it: it belongs in a schedule's methods"),
    R("tile", "q = «ev.thread_count()»", "ev.thread_count in a kernel", "a kernel says what happens, a schedule who does it: it belongs in a schedule's methods"),
    R("tile", "q = «ev.group(32)»", "ev.group in a kernel", "it belongs in a schedule's methods"),
    R("atoms", "ev.atomic_add(«A.values», row, 1.0)", "an atomic on the array A.values", "it takes an array argument of the kernel"),
    R("atoms", "ev.atomic_add(«n», row, 1.0)", "an atomic on a number (int)", "it takes an array argument of the kernel"),
    R("atoms", "ev.atomic_add(«b», row, True)", "an atomic on an array of bool", "use int32 flags"),
    R("atoms", "ev.atomic_add(«hs», row, 1.0)", "an atomic on an array of float16", "accumulate into an array of float32"),
    R("atoms", "ev.atomic_add(«e», row, 1)", "an atomic on an array of int8", "atomics have 32 or 64 bits: use an array of int32"),
    R("atoms", "ev.atomic_or(«y», row, 1)", "ev.atomic_or on y of float32", "it takes an array of int32, int64, uint32 or uint64"),
    R("atoms", "«ev.atomic_xor(z, row, x[0])»", "a float32 stored into z of int32", "convert it: int(x) truncates"),
    R("atoms", "ev.atomic_min(«cs», row, 1.0)", "ev.atomic_min on cs of complex64", "ev.atomic_add is the one that complex numbers have"),
    R("atoms", "«q = ev.atomic_add(cs, row, 1.0)»", "the old value of an atomic on an array of complex64",
      "its two parts change one after the other: use atomics on arrays of reals"),
    R("atoms", "q = 1 + «ev.atomic_add(cs, row, 1.0)»", "the old value of an atomic on an array of complex64",
      "its two parts change one after the other: use atomics on arrays of reals"),
    R("atoms", "«ev.atomic_add(y, row)»", "ev.atomic_add takes an array, an index and a value"),
    R("atoms", "«ev.atomic_cas(z, row, 1)»", "ev.atomic_cas takes an array, an index and two values"),
    R("atoms", "«ev.atomic_add(z, row, 1.5)»", "a float stored into z of int32", "convert it: int(x) truncates"),
    R("atoms", "ev.atomic_add(y, «1.5», 1.0)", "a float as an index", "indices are integers: int(x) truncates"),
    R("atoms", "ev.atomic_add(y, «-1», 1.0)", "a negative index", "count from the start: len(y) - 1"),
    R("atoms", "«ev.atomic_add(m, row, 1.0)»", "m has 2 axes, got 1 index"),
]

LAYOUTS = [
    R("tile", "q = «A.valeu»(3)", "Csr has no valeu", "did you mean value?"),
    R("tile", "q = «A.indptr»[row]", "Csr has no indptr", "did you mean offsets?"),
    R("tile", "q = «A.nnz»", "Csr has no nnz", "did you mean num_atoms?"),
    R("tile", "q = «A.num_rows»", "Csr has no num_rows", "did you mean num_tiles?"),
    R("tile", "q = «A.weight»(3)", "Csr has no weight", PUBLIC),
    R("tile", "q = «A.shape»[0]", "Csr.shape is for the host, not for kernels", PUBLIC),
    R("tile", "q = «A.slice»(3)", "Csr.slice is for the host, not for kernels", PUBLIC),
    R("tile", "q = «A.validate»()", "Csr.validate is for the host, not for kernels", PUBLIC),
    R("tile", "q = «A.__sizeof__»()", "Csr.__sizeof__ is for the host, not for kernels", PUBLIC),
    R("tile", "q = «A.value()»", "Csr.value takes 1 argument, got 0"),
    R("tile", "q = «A.value(1, 2)»", "Csr.value takes 1 argument, got 2"),
    R("tile", "q = A.value(k=«1»)", "no argument k here"),
    R("tile", "q = «A.num_tiles»()", "a number (int) cannot be called"),
    R("tile", "q = «A»(3)", "the layout A cannot be called"),
    R("tile", "q = «B.value(0)»", "Bcsr.value needs the tile, and this is not in a loop over B.tiles()", "pass it: B.value(tile, k)"),
    R("top", "for r in B.tiles():\n    for k in B.atoms(r):\n        y[r] = sum(«B.value(j)» for j in B.atoms(B.column(k)))",
      "Bcsr.value needs the tile, and this loop walks the atoms of another", "pass it: B.value(tile, k)"),
    R("tile", "for k in «A.atoms()»:\n    pass", "atoms() of a tuple of 0", "give it the tile of the loop: for tile in A.tiles(): ... A.atoms(tile)"),
    R("tile", "for k in «A.atoms(x)»:\n    pass", "atoms() of the array x", "give it the tile of the loop: for tile in A.tiles(): ... A.atoms(tile)"),
    R("tile", "for k in «A.atoms(1.5)»:\n    pass", "atoms() of a number (float)", "give it the tile of the loop: for tile in A.tiles(): ... A.atoms(tile)"),
    R("top", "for v in S.tiles():\n    for k in «S.atoms(v + 1)»:\n        pass", "atoms() of a tile that is not the loop's: Subset renames its tiles", "walk the base layout's atoms"),
    R("top", "for v in S.tiles():\n    q = «S.begin(v)»", "begin() of the loop's tile: Subset renames its tiles", "walk its atoms: for k in A.atoms(tile)"),
    R("top", "«for t in U.tiles():»\n    y[t] = sum(U.value(k) for k in U.atoms(t))", "a kernel on whole tiles of Uniform", "the tiles of ev.uniform cross rows, so nothing of a whole row is known in one"),
    R("top", "z[0] = «F.pushed»[0]", "Frontier.pushed is for the frontier itself", "kernels have push, len(F), tiles, atoms and what its base has"),
    R("top", "q = «F._swap»()", "Frontier._swap is for the frontier itself", "kernels have push, len(F), tiles, atoms and what its base has"),
    R("tile", "z[row] = «len(F)»", "len(F) in a loop over tiles: others push meanwhile", "ask between the loops over tiles"),
    R("tile", "z[row] = «F.waiting_atoms»", "F.waiting_atoms in a loop over tiles: others push meanwhile", "ask between the loops over tiles"),
    R("tile", "«F.push()»", "Frontier.push takes 1 argument, got 0", ""),
    R("top", "for u in «UF.tiles()»:\n    pass", "a loop over UF, which holds a frontier", "walk the frontier itself: for u in F.tiles()"),
    R("atoms", "«F.push(0.5)»", "a push of a number (float)", "it takes a tile of the base: an integer"),
    R("tile", "«O.append(row)»", "O.append takes 2 values, got 1", "one for each type of ev.output(types, ...)"),
    R("tile", "O.append(n=«1»)", "O.append takes no argument n", "values by place, one a column"),
    R("tile", "«O.append(row, 1j)»", "a complex stored into O.column_1 of float32", "store its z.real, z.imag or abs(z)"),
    R("top", "for t in «O.tiles»():\n    pass", "O.tiles in a kernel: O is an output", "kernels have O.append; another kernel may take O.columns"),
    R("tile", "«x.append»(row)", "x.append of an array", "x = ev.output(types, capacity=n) can be appended to"),
    R("tile", "«x.emit»(row)", "x.emit of an array", "kernel.collect(..., x=(numpy.int32, ...)) returns what a kernel emits"),
]

TASKS = [
    R("top", "for t in Q.tiles():\n    y[«t»] = 1", "a task where a number is needed", ""),
    R("top", "for t in Q.tiles():\n    z[Q.a(t)] = «Q.c»(t)", "Q.c in a kernel: Q is a set of tasks", "kernels have a, b, push, tiles"),
    R("top", "for t in Q.tiles():\n    z[0] = «Q.a(2)»", "Q.a of a number (int)", "for t in Q.tiles(): ... Q.a(t)"),
    R("top", "for t in Q.tiles():\n    z[0] = «Q.a()»", "Q.a takes 1 argument, got 0", "the loop's task"),
    R("top", "for t in Q.tiles():\n    for k in «Q.atoms»(t):\n        pass", "the atoms of Q, whose tasks have none", "ev.tasks(..., atoms=(begin, end)) names the fields that are a task's range of atoms"),
    R("top", "for t in Q.tiles():\n    «Q.push(1)»", "Q.push takes 2 values, got 1", "one for each field: Q.push(a, b)"),
    R("top", "for t in Q.tiles():\n    Q.push(1, b=«2»)", "Q.push takes no argument b", "values by place, one a column"),
    R("top", "for t in Q.tiles():\n    «Q.push(1, s)»", "a float stored into Q.b of int32", "convert it: int(x) truncates"),
    R("top", "«Q.push(1, 2)»", "Q.push outside the loop over the tasks of Q", "the tasks that a call begins with are first=[...] of ev.tasks"),
    R("tile", "«Q.push(1, 2)»", "Q.push outside the loop over the tasks of Q", "the tasks that a call begins with are first=[...] of ev.tasks"),
    R("top", "for t in Q.tiles():\n    for u in «Q.tiles()»:\n        pass", "a loop over tasks that is not at the top level of the kernel", "one loop over tiles after the other; a while at the top level may stand around them"),
    R("top", "q = 0.0\n«for t in Q.tiles():»\n    q += x[Q.a(t)]", "a sum of floats over the tasks of Q, whose order differs from run to run", "append a key and the value to an ev.output, sort by the key (ev.sort_by_key), and reduce that"),
    R("top", "for t in Q.tiles():\n    «y[Q.a(t)] += 1»", "an update of y[...] in a loop over tasks: two tasks may meet in one element", "ev.atomic_add(y, index, value)"),
    R("top", "for t in Q.tiles():\n    h = «ev.scratch(3, np.int32)»", "ev.scratch in a loop over tasks, whose number is not known", "ev.local(n, type) makes an array of a length that the kernel knows"),
]

LOOPS_ = [
    R("tile", "for r in «A.tiles()»:\n    pass", "a loop over tiles that is not at the top level of the kernel", "one loop over tiles after the other; a while at the top level may stand around them"),
    R("top", "if n > 2:\n    for row in «A.tiles()»:\n        pass", "a loop over tiles that is not at the top level of the kernel", "test the condition in the loop, for each tile; a while at the top level may stand around loops"),
    R("top", "for i in range(3):\n    for row in «A.tiles()»:\n        pass", "a loop over tiles that is not at the top level of the kernel", "one loop over tiles after the other; a while at the top level may stand around them"),
    R("top", "while n > 2:\n    if n > 5:\n        for row in «A.tiles()»:\n            pass", "a loop over tiles that is not at the top level of the kernel", "one loop over tiles after the other; a while at the top level may stand around them"),
    R("top", "while n > 2:\n    for i in range(3):\n        for row in «A.tiles()»:\n            pass", "a loop over tiles that is not at the top level of the kernel", "one loop over tiles after the other; a while at the top level may stand around them"),
    R("top", "for i in range(3):\n    while n > 2:\n        for row in «A.tiles()»:\n            pass", "a loop over tiles that is not at the top level of the kernel", "one loop over tiles after the other; a while at the top level may stand around them"),
    R("top", "while n > 2:\n    if n > 5:\n        «break»\n    for row in A.tiles():\n        pass", "break in a while around loops over tiles", "break after the round's last loop over tiles, or make it part of the condition: while going and ..."),
    R("top", "while n > 2:\n    if n > 5:\n        «continue»\n    for row in A.tiles():\n        pass", "continue in a while around loops over tiles", "each round runs all of its loops over tiles: test inside them"),
    R("top", "while n > 2:\n    q = 1\n    for row in A.tiles():\n        pass\nz[0] = «q»", "q has no value if the loop does not run", "assign it before the loop"),
    R("top", "for row in «A.tiles(3)»:\n    pass", "tiles() takes no argument, got 1"),
    R("top", "for row in «A.tiles»:\n    pass", "a loop over the method tiles", LOOPS),
    R("top", "for row in «A»:\n    pass", "a loop over the layout A", LOOPS),
    R("top", "for «p, q» in A.tiles():\n    pass", "a number (int) cannot be unpacked here"),
    R("tile", "for i in «x»:\n    pass", "a loop over the array x", LOOPS),
    R("tile", "for i in «(1, 2)»:\n    pass", "a loop over a tuple of 2", LOOPS),
    R("tile", "for i in «enumerate(x)»:\n    pass", f"enumerate {NOT}", "loop over the indices: for i in range(len(x)), and read x[i]; an atom's place in its tile is ev.rank(True)"),
    R("tile", "for i in «zip(x, y)»:\n    pass", f"zip {NOT}", "loop over the indices: for i in range(len(x)), and read x[i] and y[i]"),
    R("tile", "for i in «range(1.5)»:\n    pass", "range of a float", "it takes integers"),
    R("tile", "for i in «range()»:\n    pass", "range() takes 1 to 3 arguments, got 0"),
    R("tile", "for i in «range(0, 3, 0)»:\n    pass", "a range whose step is zero"),
    R("tile", "for i in «range(0, 3, n)»:\n    pass", "a range whose step is not a literal", "write a while loop"),
    R("tile", "for «i, j» in range(3):\n    pass", "a number (int) cannot be unpacked here"),
    R("tile", "for i in «ev.lanes(2.0)»:\n    pass", "lanes of a float", "it takes integers"),
    R("tile", "for j in ev.lanes(3):\n    «break»", "break out of a loop over lanes: lanes are independent of each other", "use range()"),
    R("tile", "q = 0.0\nfor j in ev.lanes(2):\n    «q» = m[row, j]", "q passes from one lane to the next", "lanes are independent of each other; accumulate with +=, or use range()"),
    R("tile", "for j in ev.lanes(2):\n    «y[row] = m[row, j]»", SAME.format("y"), BY_LANE),
    R("tile", "for j in ev.lanes(2):\n    if ev.atomic_cas(z, row, 0, 1) == 0:\n        «y[row] = m[row, j]»", SAME.format("y"), f"{BY_LANE}; that an atomic lets one lane alone store is not known here"),
    R("tile", "for j in ev.lanes(2):\n    for k in A.atoms(row):\n        «y[k] = m[row, j]»", SAME.format("y"), BY_LANE),
    R("tile", "for j in ev.lanes(2):\n    q = 0.0\n    for k in A.atoms(row):\n        p = 1.0 if m[row, j] > 0 else A.value(k)\n        «y[k] = p»\n        q += p\n    x[j] = q", SAME.format("y"), BY_LANE),
    R("tile", "for j in ev.lanes(2):\n    q = sum(A.value(k) * m[row, j] for k in A.atoms(row))\n    for k in A.atoms(row):\n        «y[k] = A.value(k) / q»", SAME.format("y"), BY_LANE),
    R("tile", "for j in ev.lanes(2):\n    for k in A.atoms(row):\n        for i in ev.lanes(2):\n            «m[k, i] = A.value(k) * j»", SAME.format("m"), BY_LANE),
    R("tile", "for j in ev.lanes(2):\n    for k in A.atoms(row):\n        «y[k] += A.value(k)»", SAME.format("y"), BY_LANE),
    R("tile", "«break»", "break out of the loop over tiles: tiles have no order", "put the rest of the body under an if"),
    R("atoms", "«break»", "break out of a loop over atoms: a tile's atoms have no order", "any, all and ev.first may stop early"),
    R("atoms", "if A.value(k) > 0:\n    «break»", "break out of a loop over atoms: a tile's atoms have no order", "any, all and ev.first may stop early"),
    R("tile", "«return»", "return inside a kernel", "a kernel stores its results into output arrays"),
    R("atoms", "«return 3»", "return inside a kernel", "a kernel stores its results into output arrays"),
    R("top", "«return»", "return inside a kernel", "a kernel stores its results into output arrays"),
]

STATEMENT = "use it in a statement of the kernel itself"
REDUCTIONS = [
    R("tile", "q = min((«cs[0]» for k in A.atoms(row)), default=1.0)", "min of a complex64", REALS),
    R("tile", "q = «max((A.value(k) for k in A.atoms(row)), default=1j)»", "a default of a complex", REALS),
    R("tile", "q = ev.argmax((«cs[0]» for k in A.atoms(row)), default=-1)", "ev.argmax of a complex64", REALS),
    R("tile", "q = «min(A.value(k) for k in A.atoms(row))»", "min needs default=: a tile may have no atoms", "default=0.0, or -math.inf"),
    R("tile", "q = «max(A.value(k) for k in A.atoms(row))»", "max needs default=: a tile may have no atoms", "default=0.0, or -math.inf"),
    R("tile", "q = «ev.argmin(A.value(k) for k in A.atoms(row))»", "argmin needs default=: a tile may have no atoms", "default=-1"),
    R("tile", "q = «ev.argmin((A.value(k) for k in A.atoms(row)), default=0.5)»", "the default of ev.argmin is a number (float)", "it stands for an atom: an integer"),
    R("tile", "q = any(«ev.atomic_add(z, A.column(k), 1)» > 0 for k in A.atoms(row))", "an atomic in any, which need not look at every atom", STATEMENT),
    R("tile", "q = any(A.value(k) > 0 for k in A.atoms(row) if «ev.atomic_add(z, A.column(k), 1)» > 0)", "an atomic in any, which need not look at every atom", STATEMENT),
    R("tile", "q = any(sum(«ev.atomic_add(z, k, 1)» for j in range(2)) > 0 for k in A.atoms(row))", "an atomic in any, which need not look at every atom", STATEMENT),
    R("tile", "q = all(«ev.atomic_add(z, j, 1)» > 0 for j in range(3))", "an atomic in all, which need not look at every atom", STATEMENT),
    R("tile", "q = ev.first((«ev.atomic_add(z, A.column(k), 1)» > 0 for k in A.atoms(row)), default=-1)", "an atomic in first, which need not look at every atom", STATEMENT),
    R("tile", "q = «ev.first(A.value(k) > 0 for k in A.atoms(row))»", "first needs default=: a tile may have no atoms", "default=-1"),
    R("tile", "q = «sum((z[k] for k in A.atoms(row)), 4294967296)»", "4294967296 does not fit into int32", "write np.int64(x) for 64 bits"),
    R("tile", "q = sum((«4294967296» for k in A.atoms(row)), z[0])", "4294967296 does not fit into int32", "write np.int64(x) for 64 bits"),
    R("tile", "q = «max((z[k] for k in A.atoms(row)), default=4294967296)»", "4294967296 does not fit into int32", "write np.int64(x) for 64 bits"),
    R("tile", "q = «ev.reduce(both, (z[k] for k in A.atoms(row)), 4294967296)»", "4294967296 does not fit into int32", "write np.int64(x) for 64 bits"),
    R("tile", "q = «sum(x)»", "sum() takes a generator", "sum(... for k in A.atoms(tile))"),
    R("tile", "q = «any(x)»", "any() takes a generator", "any(... for k in A.atoms(tile))"),
    R("tile", "q = «min(1)»", "min() takes a generator or two numbers and more"),
    R("tile", "q = max(«x», 2)", "the whole array x where a number is needed", INDEX),
    R("tile", "q = sum((x[k] for k in A.atoms(row)), «1», 2)", "sum over atoms takes one generator"),
    R("tile", "q = sum((x[k] for k in A.atoms(row)), foo=«2»)", "sum takes no argument foo here", "it takes start"),
    R("tile", "q = any((x[k] > 0 for k in A.atoms(row)), default=«2»)", "any takes no argument default here", "it takes a generator only"),
    R("tile", "q = sum(x[k] for k in «x»)", "a reduction over something that is not a range of atoms", "A.atoms(tile), range(n) or ev.lanes(n)"),
    R("tile", "q = sum(1 for r in «A.tiles()»)", "a reduction over something that is not a range of atoms", "A.atoms(tile), range(n) or ev.lanes(n)"),
    R("tile", "q = sum(1 for k in A.atoms(row) if «x»)", "the whole array x where a number is needed", INDEX),
    R("tile", "q = sum(v for «k, v» in A.atoms(row))", "a number (int) cannot be unpacked here"),
    R("tile", "q = «ev.argmax((x[i] for i in range(3)), default=-1)»", "ev.argmax over a range", "it gives an atom: use it over A.atoms(tile)"),
    R("tile", "q = ev.reduce(«plain», (x[k] for k in A.atoms(row)), 0.0)", "the combining function must be an @ev.func", FUNCTION),
    R("tile", "q = «ev.reduce(both, (x[k] for k in A.atoms(row)))»", "ev.reduce takes a function, a generator and a start", "ev.reduce(f, (... for k in A.atoms(tile)), start)"),
    R("tile", "q = «ev.reduce(pair, (x[k] for k in A.atoms(row)), 0.0)»", "the combining function gives 2 values, its start has 1"),
    R("tile", "q = ev.reduce(both, («(x[k], 1)» for k in A.atoms(row)), 0.0)", "2 values an atom, but the start has 1"),
    R("tile", "q = «ev.reduce(square, (x[k] for k in A.atoms(row)), 0.0)»", "square takes 1 argument, got 2"),
]


def _accumulate(body: str, start: str = "0.0") -> str:
    return f"acc = {start}\nfor k in A.atoms(row):\n{textwrap.indent(body, '    ')}\ny[row] = acc"


SECOND = "scan it in a second loop over atoms"
SCANS = [
    R("tile", "q = «ev.scan(x[row])»", "ev.scan outside a loop over a tile's own atoms", "for k in A.atoms(tile): ... ev.scan(...), with the tile of the loop over A.tiles(); ev.prefix_sum sums up whole arrays"),
    R("tile", "q = «ev.rank(x[row] > 0)»", "ev.rank outside a loop over a tile's own atoms", "for k in A.atoms(tile): ... ev.rank(...), with the tile of the loop over A.tiles(); ev.prefix_sum sums up whole arrays"),
    R("top", "q = «ev.scan(x[0])»", "ev.scan outside a loop over a tile's own atoms", "for k in A.atoms(tile): ... ev.scan(...), with the tile of the loop over A.tiles(); ev.prefix_sum sums up whole arrays"),
    R("tile", "for k in A.atoms(z[row]):\n    x[k] = «ev.scan(A.value(k))»", "ev.scan outside a loop over a tile's own atoms", "for k in A.atoms(tile): ... ev.scan(...), with the tile of the loop over A.tiles(); ev.prefix_sum sums up whole arrays"),
    R("atoms", "if A.value(k) > 0:\n    x[k] = «ev.scan(A.value(k))»", "ev.scan under a condition: every atom takes part", "scan a conditional value, as in ev.scan(v if keep else 0.0), or ev.rank(keep)"),
    R("atoms", "x[k] = «ev.scan(A.value(k))» if A.value(k) > 0 else 0.0", "ev.scan under a condition: every atom takes part", "scan a conditional value, as in ev.scan(v if keep else 0.0), or ev.rank(keep)"),
    R("atoms", "q = A.value(k) > 0 and «ev.rank(A.value(k) > 1)» > 2", "ev.rank under a condition: every atom takes part", "before the if, write at = ev.rank(keep)"),
    R("tile", "q = sum(«ev.scan(A.value(k))» for k in A.atoms(row) if A.value(k) > 0)", "ev.scan under a condition: every atom takes part", "scan a conditional value, as in ev.scan(v if keep else 0.0), or ev.rank(keep)"),
    R("atoms", "for i in range(3):\n    x[k] = «ev.scan(A.value(k))»", "ev.scan in a loop inside the loop over atoms: each atom takes part once", "compute the atom's value in the loop, and scan it after it"),
    R("tile", "q = any(«ev.scan(A.value(k))» > 2 for k in A.atoms(row))", "ev.scan in any, which need not look at every atom", "use it in a statement of the loop over atoms itself"),
    R("atoms", "x[k] = «ev.scan(ev.atomic_add(z, 0, 1))»", "a scan of what an atomic returns: atomics of different atoms have no order", "store it, and " + SECOND),
    R("atoms", "q = ev.scan(A.value(k))\nx[k] = «ev.scan(q)»", "a scan of another scan's result in one loop over atoms", "store the first, and " + SECOND),
    R("atoms", "x[k] = A.value(k)\ny[k] = «ev.scan(x[k])»", "a scan of x, which this loop over atoms stores", "scan the value itself, or " + SECOND),
    R("atoms", "x[k] = «ev.scan()»", "ev.scan takes a value, a function and its start", "ev.scan(A.value(k))"),
    R("atoms", "x[k] = «ev.rank()»", "ev.rank takes one condition", "ev.rank(A.value(k) > 0)"),
    R("atoms", "x[k] = ev.scan(A.value(k), reverse=«True»)", "ev.scan takes no argument reverse", "it takes value, f, start and exclusive"),
    R("atoms", "x[k] = ev.scan(A.value(k), value=«2.0»)", "ev.scan got value twice"),
    R("atoms", "x[k] = ev.scan(A.value(k), exclusive=«n»)", "exclusive= is True or False, known when the kernel is compiled"),
    R("atoms", "x[k] = ev.scan(A.value(k), «plain», 0.0)", "the combining function of ev.scan must be an @ev.func", FUNCTION),
    R("atoms", "x[k] = «ev.scan(A.value(k), both)»", "ev.scan with a function needs start=", "it is the identity of the function: a number or a tuple of numbers"),
    R("atoms", "x[k] = ev.scan(A.value(k), both, «s»)", "the start of ev.scan must be known when the kernel is compiled", "it is the identity of the function: a number or a tuple of numbers"),
    R("atoms", "x[k] = «ev.scan((A.value(k), 1), both, 0.0)»", "ev.scan of a tuple of 2 whose start is a number (float)"),
    R("atoms", "x[k] = «ev.scan(A.value(k), pair, 0.0)»", "the combining function gives 2 values, its start has 1"),
]

OF_ITEM = "for item in T.items(): ... for tile in T.tiles(item)"
STAGE = "stage at the top of a loop over items or tiles, outside conditions and inner loops"
BATCHES = [
    R("top", "for item in «A.items()»:\n    pass", "the items of A: Csr has none", "ev.batch([...]) makes a layout of several matrices; one of yours has num_items, item_begin, item_end"),
    R("top", "for item in «T.items(2)»:\n    pass", "items() takes no argument, got 1"),
    R("tile", "for item in «T.items()»:\n    pass", "a loop over items that is not at the top level of the kernel", "one loop over tiles after the other; a while at the top level may stand around them"),
    R("item", "for i in «T.tiles()»:\n    pass", "a loop over tiles that is not at the top level of the kernel", "the tiles of the loop's item are T.tiles(item)"),
    R("tile", "for i in «T.tiles(row)»:\n    pass", "T.tiles of something that is not the item of the loop", OF_ITEM),
    R("item", "for i in «T.tiles(item + 1)»:\n    pass", "T.tiles of something that is not the item of the loop", OF_ITEM),
    R("item", "for i in T.tiles(item):\n    for j in «T.tiles(item)»:\n        pass", "T.tiles of something that is not the item of the loop", OF_ITEM),
    R("item", "for k in «T.atoms(item)»:\n    pass", "T.atoms of an item", "for tile in T.tiles(item): ... T.atoms(tile)"),
    R("item", "for i in «T.tiles(item, 1)»:\n    pass", "tiles() of a batch takes one item, got 2", "T.tiles(item)"),
    R("item", "q = 0.0\nfor i in T.tiles(item):\n    «q» = x[i]", "q is assigned in the loop over tiles: the last one to write would win, and they have no order", ONE),
    R("item", "for i in T.tiles(item):\n    q = x[i]\ny[item] = «q»", "q belongs to the loop over tiles", "tiles have no order: accumulate into a variable assigned before the loop"),
    R("item", "«y[0] = x[item]»", "every item stores into the same element of y: the last one to write would win", "accumulate into a variable and store it after the loop, or use an atomic"),
    R("item", "for i in T.tiles(item):\n    «y[item] = x[i]»", "every tile stores into the same element of y: the last one to write would win, and they have no order", "accumulate into a variable and store it after the loop over tiles"),
    R("item", "for i in T.tiles(item):\n    y[i] = «y[i + 1]»", "y is stored in this loop over tiles and read at another place: tiles are independent, and have no order", "read it in a second loop over tiles"),
    R("item", "xs = ev.stage(x, T.columns(item))\n«xs[item]» = 1.0", "a store into a copy of x", "ev.stage is for reading"),
    R("item", "xs = ev.stage(x, T.columns(item))\nfor i in T.tiles(item):\n    «x[i] = 1.0»", "x is staged in this loop, and stored into: the copy would not follow", "store into another array, or read it without ev.stage"),
    R("top", "xs = «ev.stage(x, range(3))»", "ev.stage in a place where threads do not come together", STAGE),
    R("atoms", "xs = «ev.stage(x, range(3))»", "ev.stage in a place where threads do not come together", STAGE),
    R("item", "xs = «ev.stage(x)»", "ev.stage takes an array and a range", "ev.stage(x, range(first, last))"),
    R("item", "xs = ev.stage(«m», range(3))", "ev.stage of an array of 2 axes", "it takes an array of one axis"),
    R("item", "xs = ev.stage(x, «3»)", "ev.stage of x over a number (int)", "the part that is read: range(first, last)"),
]

READ = "acc is read in the loop over atoms that accumulates it"
ASSIGNED = "acc is assigned in the loop over atoms: the last one to write would win, and they have no order"
ACCUMULATION = [
    R("tile", _accumulate("acc = max(acc, «cs[0]»)"), "max of a complex64", REALS),
    R("tile", "acc = 1j\nfor k in A.atoms(row):\n    «acc» = min(acc, 1.0)", "min of a complex", REALS),
    R("tile", _accumulate("acc += A.value(k)\nx[k] = «acc»"), READ, RUNNING),
    R("tile", _accumulate("if «acc» > 0:\n    acc += 1.0"), READ, RUNNING),
    R("tile", _accumulate("acc += «acc»"), READ, RUNNING),
    R("tile", _accumulate("acc = 1.0 - «acc»"), READ, RUNNING),
    R("tile", _accumulate("acc = «acc» + 1 if A.value(k) > 0 else acc"), READ, RUNNING),
    R("tile", _accumulate("«acc» /= 2.0"), READ, RUNNING),
    R("tile", _accumulate("«acc» //= 2"), READ, RUNNING),
    R("tile", _accumulate("«acc» **= 2.0"), READ, RUNNING),
    R("tile", _accumulate("«acc» = A.value(k)"), ASSIGNED, ONE),
    R("tile", _accumulate("«acc», other = 1.0, 2.0"), ASSIGNED, ONE),
    R("tile", _accumulate("for «acc» in range(3):\n    pass"), ASSIGNED, ONE),
    R("tile", _accumulate("for j in ev.lanes(2):\n    «acc» = m[row, j]"), ASSIGNED, ONE),
    R("tile", _accumulate("«acc» += 1.0\nacc *= 2.0"), "acc is accumulated by product and sum", ONE),
    R("tile", _accumulate("«acc» = acc + 1.0\nacc = max(acc, 2.0)"), "acc is accumulated by max and sum", ONE),
    R("tile", _accumulate("acc += «(1, 2)»"), "a tuple of 2 where a number is needed"),
    R("tile", _accumulate("«acc» = acc or A.value(k) > 0"), "acc starts as a float, and accumulates truth values", "start it as True or False"),
    R("tile", _accumulate("acc = acc or «ev.atomic_add(z, k, 1)» > 0", "False"), "an atomic in an accumulation by or, which need not evaluate all its operands", STATEMENT),
    R("tile", _accumulate("acc = acc and «ev.atomic_add(z, k, 1)» > 0", "True"), "an atomic in an accumulation by and, which need not evaluate all its operands", STATEMENT),
    R("tile", _accumulate("acc = acc or «A.column(k)»", "False"), "'or' of a number (int)", "compare it: x != 0"),
    R("tile", _accumulate("«acc += A.value(k) > 0»", "False"), "acc starts as a truth value, and adds up truth values", "start it at 0 to count them, or accumulate with or, and"),
    R("tile", _accumulate("«acc» &= A.column(k)"), "'&' needs integers or truth values, and acc starts as a float"),
    R("tile", _accumulate("acc |= «A.value(k)»", "0"), "'|' needs integers or truth values, got a float32"),
    R("tile", _accumulate("acc += «4294967296»", "z[0]"), "4294967296 does not fit into int32", "write np.int64(x) for 64 bits"),
    R("tile", "acc = 4294967296\n«for k in A.atoms(row):»\n    acc += z[k]\ny[row] = acc", "4294967296 does not fit into int32", "write np.int64(x) for 64 bits"),
    R("tile", "pair = (0.0, 1)\nfor k in A.atoms(row):\n    «pair» = (A.value(k), 2)", "the tuple pair is assigned in the loop over atoms", "accumulate numbers one by one, or use ev.reduce"),
    R("tile", "for k in A.atoms(row):\n    last = A.value(k)\ny[row] = «last»", "last belongs to the loop over atoms", "atoms have no order: accumulate into a variable assigned before the loop"),
    R("tile", "for k in A.atoms(row):\n    pass\ny[row] = «k»", "k belongs to the loop over atoms", "atoms have no order: use ev.first or ev.argmax to find one"),
    R("atoms", "«row» = 3", "row is assigned in the loop over atoms: the last one to write would win, and they have no order", ONE),
    R("top", "total = 0.0\nfor row in A.tiles():\n    total += x[row]\n    y[row] = «total»", "total is read in the loop over tiles that accumulates it", ONE),
    R("top", "total = 0.0\nfor row in A.tiles():\n    «total» = x[row]", "total is assigned in the loop over tiles: the last one to write would win, and they have no order", ONE),
    R("top", "total = 0.0\nfor row in A.tiles():\n    «total» += x[row]\n    total *= 2.0", "total is accumulated by product and sum", ONE),
    R("top", "for row in A.tiles():\n    last = x[row]\ny[0] = «last»", "last belongs to the loop over tiles", "tiles have no order: store it, or accumulate into a variable assigned before the loop"),
    R("top", "for row in A.tiles():\n    pass\ny[0] = «row»", "row belongs to the loop over tiles", "tiles have no order: store it, or accumulate into a variable assigned before the loop"),
]

def _local(body: str, type_: str = "np.float32") -> str:
    return f"h = ev.local(2, {type_})\nfor k in A.atoms(row):\n{textwrap.indent(body, '    ')}"


ITEMS = "one operation on its elements: +=, *=, &=, |=, ^=, min, max; a serial loop may do anything: for k in range(A.begin(row), A.end(row))"
ITEM_READ = "h is read in the loop over atoms that accumulates it"
ITEM_ASSIGNED = "an element of h is assigned in the loop over atoms: the last one to write would win, and they have no order"
KNOWN = "the length of ev.local must be an integer that is known when the kernel is compiled"
NUMBERS = "a type of numbers: np.int32, np.float32 and the like"
OF_A_TILE = "a local array belongs to a tile: make it in the loop; arrays for all tiles are arguments"
LITERAL = "a literal or a captured number; an array of another length is an argument of the kernel"
LOCALS = [
    R("top", "h = «ev.local(2, np.float32)»", "ev.local outside a loop over tiles", OF_A_TILE),
    R("atoms", "h = «ev.local(2, np.float32)»", "ev.local in a loop over atoms", "a local array belongs to a tile: make it before the loop"),
    R("tile", "h = «ev.local(2)»", "ev.local takes a length and a type", "ev.local(8, np.float32)"),
    R("tile", "h = «ev.local(2, dtype=np.float32)»", "ev.local takes a length and a type", "ev.local(8, np.float32)"),
    R("tile", "h = ev.local(«n», np.float32)", KNOWN, LITERAL),
    R("tile", "h = ev.local(«2.0», np.float32)", KNOWN, LITERAL),
    R("tile", "h = ev.local(«row», np.float32)", KNOWN, LITERAL),
    R("tile", "h = ev.local(«x», np.float32)", KNOWN, LITERAL),
    R("tile", "h = ev.local(«0», np.float32)", "a local array of 0 elements", "1 or more"),
    R("tile", "h = ev.local(«-1», np.float32)", "a local array of -1 elements", "1 or more"),
    R("tile", "h = «ev.local(129, np.float64)»", "a local array of 1,032 bytes", "at most 1,024; a larger one is an argument of the kernel, with a row for each tile"),
    R("tile", "h = ev.local(2, «x»)", "the array x as the type of ev.local", NUMBERS),
    R("tile", "h = ev.local(2, «np.float16»)", "type float16 as the type of ev.local", NUMBERS),
    R("tile", "h = ev.local(2, «1»)", "a number (int) as the type of ev.local", NUMBERS),
    R("tile", "h = ev.local(2, np.int32)\nq = h[«2»]", "index 2 of the local array h", "it has 2 elements"),
    R("tile", "h = ev.local(1, np.int32)\nh[«1»] = 0", "index 1 of the local array h", "it has 1 element"),
    R("tile", "h = ev.local(2, np.int32)\nq = h[«-1»]", "a negative index", "count from the start: 2 - 1"),
    R("tile", "h = ev.local(2, np.int32)\nq = h[«0.5»]", "a float as an index", "indices are integers: int(x) truncates"),
    R("tile", "h = ev.local(2, np.int32)\nq = «h[0, 1]»", "h has 1 axis, got 2 indices"),
    R("tile", "h = ev.local(2, np.int32)\n«h[0] = 0.5»", "a float stored into h of int32", "convert it: int(x) truncates"),
    R("tile", "h = ev.local(2, np.int32)\n«h[0] += 0.5»", "a float64 stored into h of int32", "convert it: int(x) truncates"),
    R("tile", "h = ev.local(2, bool)\n«h[0] = 1»", "an int stored into h of bool", "compare it: x != 0"),
    R("tile", "h = ev.local(2, np.int32)\n«g = h»", "g would be a second name of the local array h", "use h"),
    R("tile", "h = ev.local(2, np.int32)\ng = («h», 1)", "the local array h in a tuple", "use h itself"),
    R("tile", "«pair = ev.local(2, np.int32), 1»", "a local array in a tuple", "give it a name of its own"),
    R("tile", "h = ev.local(2, np.int32)\nq = 1 + «h»", "the local array h where a number is needed", "index one element: h[i]"),
    R("tile", "h = ev.local(2, np.int32)\nfor i in range(2):\n    «h = ev.local(2, np.int32)»", "h becomes another local array in the loop", "give it another name"),
    R("tile", "h = ev.local(2, np.int32)\nfor v in «h»:\n    pass", "a loop over the local array h", LOOPS),
    R("tile", "h = ev.local(2, np.int32)\nev.atomic_add(«h», 0, 1)", "an atomic on the local array h", "it takes an array argument of the kernel"),
    R("tile", "h = ev.local(2, np.int32)\nq = «h.T»", "the local array h has no attribute T in the kernel language"),
    R("tile", "if row > 0:\n    h = ev.local(2, np.int32)\nelse:\n    h = ev.local(3, np.int32)\nq = «h»[0]", "h is another local array on each path to here", "make it before the if"),
    R("tile", "h = ev.local(2, np.int32)\nfor j in ev.lanes(2):\n    «h[j] = j»", "h is stored in a loop over lanes, which share it", "make it in the loop, or use range()"),
    R("tile", _local("h[0] += 1.0\nx[k] = «h»[0]"), ITEM_READ, ITEMS),
    R("tile", _local("h[0] += «h»[1]"), ITEM_READ, ITEMS),
    R("tile", _local("h[np.int32(«h»[1])] += 1"), ITEM_READ, ITEMS),
    R("tile", _local("h[0] = min(«h»[1], h[0])"), ITEM_READ, ITEMS),
    R("tile", _local("if «h»[0] < 1:\n    h[0] += 1"), ITEM_READ, ITEMS),
    R("tile", _local("«h[0] = A.value(k)»"), ITEM_ASSIGNED, ITEMS),
    R("tile", _local("«h[0], h[1] = 1.0, 2.0»"), ITEM_ASSIGNED, ITEMS),
    R("tile", _local("«h[0] = min(h[1], A.value(k))»"), ITEM_ASSIGNED, ITEMS),
    R("tile", _local("«h[0] = 1 - h[0]»"), ITEM_ASSIGNED, ITEMS),
    R("tile", _local("«h[0] /= 2.0»"), "an element of h is changed by /= in a loop over atoms", ITEMS),
    R("tile", _local("«h[0] += 1.0»\nh[1] *= 2.0"), "h is accumulated by product and sum", ITEMS),
    R("tile", _local("«h[0] = h[0] or A.value(k) > 0»"), "h holds float32, and accumulates truth values", "make it of bool"),
    R("tile", _local("«h[0] += A.value(k) > 0»", "bool"), "h holds bool, and adds up truth values", "make it of int32 to count them, or accumulate with or, and"),
    R("tile", _local("«h[0] &= 1»"), "'&' needs integers or truth values, and h holds float32"),
    R("tile", _local("h[0] |= «A.value(k)»", "np.int32"), "'|' needs integers or truth values, got a float32"),
    R("tile", _local("«h[0] = min(h[0], 1.0)»", "np.complex64"), "min of a complex64", REALS),
    R("tile", _local("h[0] += «A.value(k)»", "np.int32"), "a float32 accumulated into h of int32", "convert it: int(x) truncates, or make h of a wider type"),
    R("tile", _local("h[0] += «np.float64(1)»"), "a float64 accumulated into h of float32", "convert it: np.float32(x), or make h of a wider type"),
    R("tile", _local("h[0] += «4294967296»", "np.int32"), "4294967296 does not fit into int32", "write np.int64(x) for 64 bits"),
    R("tile", _local("h[«ev.atomic_add(z, 0, 1)»] = min(h[ev.atomic_add(z, 0, 1)], 1)", "np.int32"), "an atomic in an index that Python evaluates twice", STATEMENT),
    R("tile", _local("«h» = 1.0"), "the local array h is assigned in the loop over atoms", "use another name: the next round would see the new value"),
]

def _scratch(body: str) -> str:
    return f"h = ev.scratch(n, np.int32)\nfor k in A.atoms(row):\n{textwrap.indent(body, '    ')}"


OF_ITS_TILE = "a scratch array belongs to a tile: make it in the loop; arrays for all tiles are arguments"
SCRATCH = [
    R("top", "h = «ev.scratch(n, np.int32)»", "ev.scratch outside a loop over tiles", OF_ITS_TILE),
    R("atoms", "h = «ev.scratch(n, np.int32)»", "ev.scratch in a loop over atoms", "a scratch array belongs to a tile: make it before the loop"),
    R("tile", "h = «ev.scratch(n)»", "ev.scratch takes a length and a type", "ev.scratch(2 * n, np.int32), or with zeros=False too"),
    R("tile", "h = «ev.scratch(n, np.int32, zero=False)»", "ev.scratch takes a length and a type", "ev.scratch(2 * n, np.int32), or with zeros=False too"),
    R("tile", "h = «ev.scratch(n, dtype=np.int32)»", "ev.scratch takes a length and a type", "ev.scratch(2 * n, np.int32), or with zeros=False too"),
    R("tile", "h = ev.scratch(n, np.int32, zeros=«n > 3»)", "zeros= is True or False, known when the kernel is compiled"),
    R("tile", "h = ev.scratch(«s», np.int32)", "a float as the length of ev.scratch", "int(x) truncates"),
    R("tile", "h = ev.scratch(«-1», np.int32)", "a scratch array of -1 elements", "0 or more"),
    R("tile", "h = ev.scratch(«x», np.int32)", "the whole array x where a number is needed", "index one element: x[i]"),
    R("tile", "h = ev.scratch(n, «np.float16»)", "type float16 as the type of ev.scratch", NUMBERS),
    R("tile", "h = ev.scratch(n, np.int32)\nq = h[«-1»]", "a negative index", "count from the start: len(h) - 1"),
    R("tile", "h = ev.scratch(n, np.int32)\nq = h[«0.5»]", "a float as an index", "indices are integers: int(x) truncates"),
    R("tile", "h = ev.scratch(n, np.int32)\n«h[0] = 0.5»", "a float stored into h of int32", "convert it: int(x) truncates"),
    R("tile", "«g = h = ev.scratch(n, np.int32)»", "h would be a second name of the scratch array g", "use g"),
    R("tile", "«pair = ev.scratch(n, np.int32), 1»", "a scratch array in a tuple", "give it a name of its own"),
    R("tile", "h = ev.scratch(n, np.int32)\nq = 1 + «h»", "the whole array h where a number is needed", "index one element: h[i]"),
    R("tile", "h = ev.scratch(n, np.int32)\nfor i in range(2):\n    «h = ev.scratch(n, np.int32)»", "h becomes another scratch array in the loop", "give it another name"),
    R("tile", "h = ev.scratch(n, np.int32)\nfor v in «h»:\n    pass", "a loop over the scratch array h", LOOPS),
    R("tile", "if row > 0:\n    h = ev.scratch(2, np.int32)\nelse:\n    h = ev.scratch(3, np.int32)\nq = «h»[0]", "h is the scratch array h on one path and the scratch array h on the other"),
    R("tile", "h = ev.scratch(n, np.int8)\nev.atomic_add(«h», 0, 1)", "an atomic on an array of int8", "atomics have 32 or 64 bits: use an array of int32"),
    R("tile", "h = ev.scratch(n, np.int32)\nfor j in ev.lanes(2):\n    «h[0] = j»", SAME.format("h"), BY_LANE),
    R("tile", _scratch("«h[0] = A.column(k)»"), "every atom stores into the same element of h: the last one to write would win, and they have no order", "accumulate into a variable and store it after the loop over atoms"),
    R("tile", _scratch("«h[A.column(k)] += 1»"), "an update of h[...] in a loop over atoms: two atoms may meet in one element", "ev.atomic_add(h, index, value)"),
    R("tile", _scratch("h[A.column(k)] = 1\nx[k] = «h[0]»"), "h is stored in this loop over atoms and read at another place: atoms are independent, and have no order", "read it in a second loop over atoms"),
    R("top", "for item in T.items():\n    for i in T.tiles(item):\n        h = «ev.scratch(n, np.int32)»", "ev.scratch in a loop over an item's tiles", "make it in the loop over items; a tile uses its part of it: h[tile - B.item_begin(item)]"),
    R("item", "h = ev.scratch(3, np.float64)\nfor i in T.tiles(item):\n    h[i] = «h[i + 1]»", "h is stored in this loop over tiles and read at another place: tiles are independent, and have no order", "read it in a second loop over tiles"),
    R("item", "h = ev.scratch(3, np.float64)\nfor i in T.tiles(item):\n    at = i - 1\n    v = «h[at]»\n    at = at + 1\n    h[at] = v", "h is stored in this loop over tiles and read at another place: tiles are independent, and have no order", "read it in a second loop over tiles"),
    R("item", "h = ev.scratch(3, np.float64)\nfor i in T.tiles(item):\n    «h[0] = x[i]»", "every tile stores into the same element of h: the last one to write would win, and they have no order", "accumulate into a variable and store it after the loop over tiles"),
    R("item", "h = ev.scratch(3, np.float64)\nfor i in T.tiles(item):\n    «h[z[i]] += 1.0»", "an update of h[...] in a loop over tiles: two tiles may meet in one element", "ev.atomic_add(h, index, value)"),
    R("tile", "h = ev.scratch(n, np.int32)\nfor k in A.atoms(row):\n    for j in ev.lanes(2):\n        «h[ev.distinct(A.column(k + j))] += 1»", "an update of h[...] in a loop over atoms: two atoms may meet in one element", "ev.atomic_add(h, index, value)"),
    R("tile", "q = ev.distinct(«s»)", "ev.distinct of a float", "int(x) truncates"),
    R("tile", "q = «ev.distinct(n, 2)»", "ev.distinct takes one integer", "y[ev.distinct(order[k])] += v"),
    R("tile", _scratch("g = «ev.scratch(n, np.int32)»"), "ev.scratch in a loop over atoms", "a scratch array belongs to a tile: make it before the loop"),
]

RACES = [
    R("atoms", "«y[row] = A.value(k)»", "every atom stores into the same element of y: the last one to write would win, and they have no order", "accumulate into a variable and store it after the loop over atoms"),
    R("atoms", "«y[row] += A.value(k)»", "every atom stores into the same element of y: the last one to write would win, and they have no order", "accumulate into a variable and store it after the loop over atoms"),
    R("atoms", "«y[A.column(k)] += A.value(k)»", "an update of y[...] in a loop over atoms: two atoms may meet in one element", "ev.atomic_add(y, index, value)"),
    R("atoms", "c = A.column(k)\n«y[c] = y[c] + 1»", "an update of y[...] in a loop over atoms: two atoms may meet in one element", "ev.atomic_add(y, index, value)"),
    R("atoms", "c = A.column(k)\nold = y[c]\n«y[c] = old + 1»", "an update of y[...] in a loop over atoms: two atoms may meet in one element", "ev.atomic_add(y, index, value)"),
    R("atoms", "c = A.column(k)\nold = y[c]\nnew = old + 1\n«y[c] = new»", "an update of y[...] in a loop over atoms: two atoms may meet in one element", "ev.atomic_add(y, index, value)"),
    R("atoms", "c = A.column(k)\nnew = y[c]\nnew = new + 1\n«y[c] = new»", "an update of y[...] in a loop over atoms: two atoms may meet in one element", "ev.atomic_add(y, index, value)"),
    R("tile", "«y[z[row]] += 1»", "an update of y[...] in a loop over tiles: two tiles may meet in one element", "ev.atomic_add(y, index, value)"),
    R("tile", "«y[0] = x[row]»", "every tile stores into the same element of y: the last one to write would win", "accumulate into a variable and store it after the loop, or use an atomic"),
    R("tile", "«y[0] += x[row]»", "every tile stores into the same element of y: the last one to write would win", "accumulate into a variable and store it after the loop, or use an atomic"),
    R("atoms", "for j in range(2):\n    «m[row, j] += A.value(k)»", "every atom stores into the same element of m: the last one to write would win, and they have no order", "accumulate into a variable and store it after the loop over atoms"),
    R("tile", "y[row] = sum(«y[A.column(k)]» for k in A.atoms(row))", "y is stored in this loop over tiles and read at another place: tiles are independent, and have no order", "read it in a second loop over tiles"),
    R("tile", "at = row + 0\nv = «y[at]»\nat = at + 1\ny[at] = v", "y is stored in this loop over tiles and read at another place: tiles are independent, and have no order", "read it in a second loop over tiles"),
]

TABLE = [*SYNTAX, *NAMES, *VALUES, *SUBSCRIPTS, *OPERATORS, *CALLS, *LAYOUTS, *TASKS, *LOOPS_, *REDUCTIONS, *SCANS, *ACCUMULATION, *LOCALS, *SCRATCH, *BATCHES, *RACES]
