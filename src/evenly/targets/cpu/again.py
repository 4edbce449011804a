"""A call like an earlier one, in one native step: it looks at the arguments, and runs the phase.

Of a call that takes a few microseconds, looking at its arguments from Python takes most. So native code is
called as CPython calls its own functions (`METH_FASTCALL`), with the arguments' addresses, and takes the
steps of `interop.looks`. It holds the interpreter's lock meanwhile: nothing changes under it.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit, types

from evenly.interop.arrays import address
from evenly.interop.fields import HEAD
from evenly.interop.looks import ATTRIBUTE_INTEGERS, FOLLOW, IS, ITEM, STEP_INTEGERS, WORD, Looks

from . import workers
from .driver import call_phase, halves, integers, phase
from .kept import kept_callback

if TYPE_CHECKING:
    from .run import Run

# A record of a call, integers: the arguments' number; whether a thread is in it; the addresses of `phase`, of what
# it is called with, of the threads that it may use, and of AttributeError; how many values, attributes, early steps
# and steps there are. Then these.
COUNT, BUSY, PHASE, CALL, THREADS, MISSING, VALUES, ATTRIBUTES, EARLY, STEPS, BEGIN = range(11)
RAN, OTHER, RAISED = 1, 0, -1
METH_FASTCALL = 0x80

_word = types.int64
_truth = types.ExternalFunction("PyBool_FromLong", _word(_word))
_attribute = types.ExternalFunction("PyObject_GetAttr", _word(_word, _word))
_item = types.ExternalFunction(
    "PyDict_GetItem", _word(_word, _word)
)  # of keys that are str: runs no Python
_let_go = types.ExternalFunction("Py_DecRef", types.void(_word))
_raised = types.ExternalFunction("PyErr_ExceptionMatches", types.int32(_word))
_no_error = types.ExternalFunction("PyErr_Clear", types.void())
_unlock = types.ExternalFunction("PyEval_SaveThread", _word())
_lock = types.ExternalFunction("PyEval_RestoreThread", types.void(_word))


@njit
def _fetch(values_at, attributes_at, count):
    """Read attributes; how many could be read, with an exception where that is not all of them."""
    values = integers(values_at)
    for i in range(count):
        attribute = integers(attributes_at + 8 * ATTRIBUTE_INTEGERS * i)
        found = _attribute(values[attribute[0]], attribute[1])
        if found == 0:
            return i
        values[attribute[2]] = found
    return count


@njit
def _alike(values_at, steps_at, count):
    """Whether all steps find what they expect."""
    values = integers(values_at)
    for i in range(count):
        step = integers(steps_at + 8 * STEP_INTEGERS * i)
        does, place, expected = step[0], values[step[1]], step[4]
        if does == FOLLOW:
            values[expected] = integers(place + step[2])[0]
            continue
        if does == IS:
            found = place
        elif does == WORD:
            found = integers(place + step[2])[0] & step[3]
        elif does == ITEM:
            found = _item(place, step[2])
        else:
            found = halves(place + step[2])[0] & step[3]
        if found != expected:
            return False
    return True


@njit
def _run(phase_at, call, threads):
    """Run the phase without the interpreter's lock."""
    thread = _unlock()
    ran = call_phase(phase_at, call, threads)
    _lock(thread)
    return ran != 0


@njit
def _looked(record, values_at, attributes_at, steps_at, fetched):
    """RAN where all is as it was, OTHER where not, RAISED with an exception that reading attributes came to."""
    if fetched < record[ATTRIBUTES]:
        if _raised(record[MISSING]) == 0:
            return RAISED
        _no_error()
        return OTHER
    # All steps again: reading attributes may have run Python.
    return RAN if _alike(values_at, steps_at, record[STEPS]) else OTHER


@njit
def _ran(record_at, arguments_at, count):
    """RAN where the call is as this record's was, and has been run; else OTHER, or RAISED."""
    record = integers(record_at)
    if record[COUNT] != count or record[BUSY]:
        return OTHER
    values_at = record_at + 8 * BEGIN
    attributes_at = values_at + 8 * record[VALUES]
    steps_at = attributes_at + 8 * ATTRIBUTE_INTEGERS * record[ATTRIBUTES]
    values, arguments = integers(values_at), integers(arguments_at)
    for i in range(count):
        values[i] = arguments[i]
    found = RAN if _alike(values_at, steps_at, record[EARLY]) else OTHER
    if found != RAN:
        return found
    record[BUSY] = 1  # from here on another thread may be let in
    fetched = _fetch(values_at, attributes_at, record[ATTRIBUTES])
    if record[ATTRIBUTES] > 0:
        found = _looked(record, values_at, attributes_at, steps_at, fetched)
    if found == RAN and not _run(record[PHASE], record[CALL], integers(record[THREADS])[0]):
        found = OTHER
    for i in range(fetched):
        _let_go(values[integers(attributes_at + 8 * ATTRIBUTE_INTEGERS * i)[2]])
    record[BUSY] = 0
    return found


@kept_callback("int64(int64, int64, int64)")
def _again(self, arguments, count):
    """True where one of the records is of such a call, which then has been run; else False. NULL: an exception."""
    records = integers(integers(self + HEAD)[0])
    for i in range(records[0]):
        found = _ran(records[i + 1], arguments, count)
        if found == RAISED:
            return 0
        if found == RAN:
            return _truth(1)
    return _truth(0)


class Memo:
    """A call that native code knows again: a record of it, and what that points to.

    It has a run of its own, which one thread at a time is in: another finds it busy, and goes the long way.
    """

    def __init__(self, looks: Looks, run: Run) -> None:
        self._kept = looks.held, run, workers.threads, phase
        steps = [*looks.early, *looks.late]
        how_many = len(looks.values), len(looks.attributes), len(looks.early), len(steps)
        places = phase.address, address(run.calls[0]), address(workers.threads), id(AttributeError)
        record = [looks.count, 0, *places, *how_many, *looks.values]
        rows = [number for row in (*looks.attributes, *steps) for number in row]
        self.record = np.array([*record, *rows], np.int64)


class _Records(np.ndarray):
    """Addresses of records, known to `_again` by where an array has its data.

    It keeps what the function that it is `self` of points to: their memos, its own definition, its machine code.
    """

    kept: tuple[Sequence[Memo], _Method, Any]


def any_of(memos: Sequence[Memo]) -> Callable[..., bool]:
    """A function of a call's arguments: whether it was one of these, and has been run."""
    records = np.array([len(memos), *(address(m.record) for m in memos)], np.int64).view(_Records)
    method = _method()
    records.kept = memos, method, _again
    made: Callable[..., bool] = _make()(ctypes.byref(method), records, None)
    return made


class _Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )


@functools.cache
def _method() -> _Method:
    return _Method(b"again", _again.address, METH_FASTCALL, None)


@functools.cache
def _make() -> Any:
    """PyCFunction_NewEx(method, self, module)."""
    types_ = ctypes.POINTER(_Method), ctypes.py_object, ctypes.c_void_p
    made = ctypes.PYFUNCTYPE(ctypes.py_object, *types_)
    return made(("PyCFunction_NewEx", ctypes.pythonapi))
