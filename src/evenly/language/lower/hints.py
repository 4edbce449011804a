"""Hints for functions that users try: what to write instead."""

from __future__ import annotations

import builtins
import difflib
import math
from types import ModuleType
from typing import Any

import numpy as np

from ..intrinsics import CONVERSIONS

_REDUCED = "reduce where it stands: sum(f(A.value(k)) for k in A.atoms(tile))"
_FIXED = "a tuple has a fixed length: (a, b); for data, pass an array"
_TYPED = "types are known when the kernel is compiled; int, float and np.float32 convert"
_NUMBERS = "kernels compute on numbers; print shows them"
_OUTSIDE = "do it outside, and pass what comes of it as an argument"
_ELEMENTS = "sum(x[i] for i in range(len(x))), or sum(... for k in A.atoms(tile))"
_ARRAYS = "make it outside the kernel, and pass it as an argument"

FUNCTION = "define it beside the kernel: @ev.func, def larger(a, b): return max(a, b)"

_BUILTINS = {
    "print": "it stands alone on a line: print(x[row])",
    "enumerate": "loop over the indices: for i in range(len(x)), and read x[i]; "
    "an atom's place in its tile is ev.rank(True)",
    "zip": "loop over the indices: for i in range(len(x)), and read x[i] and y[i]",
    "map": _REDUCED, "filter": _REDUCED,
    "sorted": "atoms have no order: min, max, ev.argmin and ev.argmax find the ends; sort outside the kernel",
    "reversed": "count down: range(n - 1, -1, -1)",
    "round": "math.floor(x + 0.5)", "divmod": "two operations: a // b, a % b", "pow": "write x ** y",
    "list": _FIXED, "tuple": _FIXED, "set": _FIXED, "dict": _FIXED, "frozenset": _FIXED,
    "isinstance": _TYPED, "type": _TYPED, "callable": _TYPED, "issubclass": _TYPED,
    "str": _NUMBERS, "repr": _NUMBERS, "format": _NUMBERS, "bin": _NUMBERS, "hex": _NUMBERS, "oct": _NUMBERS,
    "chr": _NUMBERS, "ord": _NUMBERS, "ascii": _NUMBERS, "bytes": _NUMBERS, "bytearray": _NUMBERS,
    "hash": _NUMBERS, "id": _NUMBERS, "object": _NUMBERS, "memoryview": _NUMBERS,
    "iter": "loop with for", "next": "loop with for", "slice": "index one element at a time",
    "getattr": "name it: A.values", "setattr": "store into an array", "hasattr": "name it: A.values",
    "open": _OUTSIDE, "input": _OUTSIDE, "eval": _OUTSIDE, "exec": _OUTSIDE, "vars": _OUTSIDE, "dir": _OUTSIDE,
    "globals": _OUTSIDE, "locals": _OUTSIDE, "super": _OUTSIDE, "__import__": "import at the top of the file",
}  # fmt: skip
_MATH = {
    "factorial": "math.gamma(n + 1)",
    "gcd": "a loop: while b > 0, with a, b = b, a % b",
    "isclose": "abs(a - b) <= 1e-9 * abs(b)",
    "fsum": _ELEMENTS, "prod": "a loop that accumulates: p *= x[i]",
    "degrees": "x * (180 / math.pi)", "radians": "x * (math.pi / 180)",
    "isqrt": "int(math.sqrt(n))",
}  # fmt: skip
_NUMPY = {
    "where": "a if condition else b",
    "sum": _ELEMENTS, "dot": _ELEMENTS, "mean": _ELEMENTS, "prod": _ELEMENTS, "vdot": _ELEMENTS, "inner": _ELEMENTS,
    "max": "max(a, b), or max(... for k in A.atoms(tile))", "min": "min(a, b), or min(... for k in A.atoms(tile))",
    "maximum": "max(a, b)", "minimum": "min(a, b)", "abs": "abs(v)", "absolute": "abs(v)", "clip": "min(max(v, a), b)",
    "argmax": "ev.argmax(... for k in A.atoms(tile))", "argmin": "ev.argmin(... for k in A.atoms(tile))",
    "zeros": _ARRAYS, "ones": _ARRAYS, "empty": _ARRAYS, "arange": "range(n)", "array": _ARRAYS, "full": _ARRAYS,
    "zeros_like": _ARRAYS, "asarray": _ARRAYS, "sort": _BUILTINS["sorted"], "power": "x ** y",
    "conj": "z.conjugate()", "conjugate": "z.conjugate()", "real": "z.real", "imag": "z.imag",
    "sign": "(v > 0) * 1 - (v < 0) * 1", "square": "v * v",
    "bitwise_count": "ev.popcount(x) counts at x's own width; NumPy counts the bits of abs(x)",
}  # fmt: skip
# The names that SciPy's matrices have for it.
_OF_MATRICES = {
    "nnz": "num_atoms", "indptr": "offsets", "data": "values", "col": "indices",
    "num_rows": "num_tiles", "num_cols": "num_columns",
}  # fmt: skip
_TABLES: tuple[tuple[ModuleType, dict[str, str]], ...] = (
    (builtins, _BUILTINS), (math, _MATH), (np, _NUMPY),
)  # fmt: skip


def instead_of(function: Any) -> str:
    """Return the hint for a function that is not part of the language, or "" if there is no special one."""
    if isinstance(function, type) and issubclass(function, np.generic):
        return f"typed numbers are {', '.join(f'np.{t.__name__}' for t in CONVERSIONS if issubclass(t, np.generic))}"
    for module, table in _TABLES:
        for name, hint in table.items():
            if getattr(module, name, None) is function:
                return hint
    return ""


def nearest_of_layout(wanted: str, names: list[str]) -> str:
    """Return the hint for a name that a layout does not have, if one of its `names` is meant; otherwise ""."""
    meant = _OF_MATRICES.get(wanted)
    near = [meant] if meant in names else difflib.get_close_matches(wanted, names, n=1)
    return f"did you mean {near[0]}?" if near else ""


def nearest(wanted: str, module: ModuleType, spelled: str) -> str:
    """Return the hint for a name that `module`, which the user calls `spelled`, does not have."""
    if hasattr(math, wanted) and not wanted.startswith("_"):
        return f"did you mean math.{wanted}?"
    names = [n for n in dir(module) if not n.startswith("_")]
    near = difflib.get_close_matches(wanted, names, n=1)
    return f"did you mean {spelled}.{near[0]}?" if near else ""
