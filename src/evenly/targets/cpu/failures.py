"""The errors of a run: for arrays that do not fit, and for what the checks of debug mode have recorded."""

from __future__ import annotations

import numpy as np

from evenly.errors import InputError
from evenly.language import ir

from .text import Check

RECORD = 4  # integers in a record: the number of the check, the value, its bound, and one unused


def misfit(array: ir.Array, given: np.ndarray) -> InputError:
    axes = f"{array.ndim} ax{'is' if array.ndim == 1 else 'es'}"
    strided = "" if given.flags.c_contiguous else " that is not C-contiguous"
    return InputError(
        ".".join(array.path),
        expected=f"a C-contiguous array of {array.dtype} with {axes}",
        given=f"one of {given.dtype} with shape {given.shape}{strided}",
        hint="numpy.ascontiguousarray" if strided else "",
    )


def failure(check: Check, value: int, bound: int) -> InputError:
    """Return the error for a check's record."""
    where = f"{check.at.file}:{check.at.line}: " if check.at is not None else ""
    if check.kind == "index":
        expected = f"an index from 0 to {bound - 1}" if bound else "no index, for it is empty"
        return InputError(f"{where}{check.name}", expected=expected, given=f"{check.name}[{value}]")
    if check.kind == "shift":
        return InputError(
            f"{where}{check.name}",
            expected=f"a shift count from 0 to {bound - 1}",
            given=str(value),
        )
    if check.kind == "length":
        said = f"{where}the scratch array {check.name}"
        return InputError(said, expected="a length of 0 or more", given=str(value))
    if check.kind == "assertion":
        return InputError(f"{where}{check.name}", expected="it to hold", given="False")
    if check.kind == "step":
        return InputError(f"{where}{check.name}", expected="a step that is not zero", given="0")
    return InputError(f"{where}{check.name}", expected="a divisor that is not zero", given="0")
