"""The launches of the last calls, found again by what decides them: where arguments lie and of what type they are.

Everything that a call checks and prepares follows from its arguments' addresses, shapes, strides
and types, the numbers among them, and a layout's own numbers. A call in which all these are as in
an earlier one is launched as that one was; any other goes the long way. (The offsets and columns of a
bare matrix are the same objects, too: those have been looked at.) Values and structures are
read by each launch anew. What was chosen stays: after a structure is changed in place, the schedule
may be one for the old structure, which is as right, and perhaps slow.

Reading them is most of what a call costs: a function that is written for the arguments at hand reads them into a
signature, by which a call is found.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, NamedTuple

from evenly.interop import sparse
from evenly.interop.arrays import address, kind
from evenly.language.reads import Reads
from evenly.layouts.contract import LayoutInstance, is_layout

from .inside import FIELDS, bounds, inside

MOST = 8  # calls remembered

# What decides of an array, by its library. Of CuPy's with one axis size and strides tell, and cost less than a shape.
_ARRAYS = {
    # NPY_ARRAY_C_CONTIGUOUS | ALIGNED | WRITEABLE: one number for what takes three attributes.
    "numpy": ("address({a})", "{a}.shape", "{a}.dtype", "{a}.flags.num & 0x501"),
    "cupy": ("{a}.data.ptr", "{a}.shape", "{a}.strides", "{a}.dtype"),
    "torch": (
        "{a}.data_ptr()",
        "{a}.shape",
        "{a}.stride()",
        "{a}.dtype",
        "{a}.is_conj()",
        "{a}.is_neg()",
        "{a}.requires_grad and torch_is_grad_enabled()",
    ),
    "device": ("{a}.pointer", "{a}.shape", "{a}.dtype"),
}
_CHANGEABLE = {"torch": _ARRAYS["torch"], "numpy": ("{a}.dtype",)}  # of a layout's arrays
_VECTORS = {**_ARRAYS, "cupy": ("{a}.data.ptr", "{a}.size", "{a}.strides", "{a}.dtype")}


class CallCache:
    """What was prepared for the last few calls with arguments of these Python types, on one device.

    also: what else decides, asked at each call: the device's current stream, say.
    """

    def __init__(
        self, arguments: tuple[Any, ...], device: str, also: tuple[Callable[[], Any], ...] = ()
    ) -> None:
        self._device, self._count = device, len(arguments)
        self._inside = _types_inside(arguments)
        self.read = _reader(arguments, also)
        self._calls: list[_Call] = []

    def repeat(self, *args: Any) -> bool:
        """Run as an earlier call did, if one with such arguments is remembered; whether one is."""
        signature = self.read(*args) if len(args) == self._count else None
        for call in self._calls:
            if call.signature == signature and (not call.reads or call.reads.hold()):
                call.prepared()
                return True
        return False

    def remember(
        self, args: tuple[Any, ...], prepared: Any, device: str, reads: Reads | None = None
    ) -> bool:
        """Keep what was prepared for these arguments; whether they can be told from others.

        reads: what it was compiled with, where that may change.
        """
        signature = self.read(*args) if _types_inside(args) == self._inside else None
        if signature:
            self.keep(signature, prepared, device, reads)
        return bool(signature)

    def keep(self, signature: Any, prepared: Any, device: str, reads: Reads | None = None) -> None:
        if device == self._device:
            for part in signature:
                if type(part) is weakref.ref:
                    _pin(part())
            kept = tuple(_Structure(p) if type(p) is _Held else p for p in signature)
            # A new list: other threads may be looking through the old one.
            self._calls = [_Call(kept, prepared, reads), *self._calls][:MOST]


def _types_inside(arguments: tuple[Any, ...]) -> list[type]:
    """Of the arrays of layouts: those of another library would have to be read otherwise."""
    return [type(v) for layout in arguments if is_layout(layout) for _, v in inside(layout, "")]


class _Call(NamedTuple):
    """A call that is remembered. reads: what it was compiled with, where that may change."""

    signature: Any
    prepared: Callable[[], None]
    reads: Reads | None


_pinned: weakref.WeakKeyDictionary[Any, list[weakref.ref[Any]]] = weakref.WeakKeyDictionary()


def _pin(layout: Any) -> None:
    """Keep a layout's arrays where they lie, as long as it lives: NumPy resizes none that a weak reference leads to."""
    if layout not in _pinned:
        held = (value for _, value in inside(layout, ""))
        _pinned[layout] = [weakref.ref(value) for value in held if kind(value) == "numpy"]


class _Held:
    """The arrays of a bare matrix, which whoever has just read a signature from them keeps where they are."""

    def __init__(self, data: Any, *structure: Any) -> None:
        self._data, self.structure = data, structure

    __hash__ = None  # type: ignore[assignment]


class _Structure:
    """The arrays of structure of a bare matrix, as a call keeps them: others may lie where they lay, unlooked at."""

    def __init__(self, held: _Held) -> None:
        self._known = [weakref.ref(array) for array in held.structure]

    def __eq__(self, other: object) -> bool:
        return type(other) is _Held and all(
            reference() is array
            for reference, array in zip(self._known, other.structure, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]


def _reader(
    arguments: tuple[Any, ...], also: tuple[Callable[[], Any], ...]
) -> Callable[..., tuple[Any, ...] | None]:
    """A function of such arguments: what decides their launches, to be compared; None where it cannot be told."""
    names = [f"a{i}" for i in range(len(arguments))]
    known: dict[str, Any] = {"address": address, "ref": weakref.ref, "Held": _Held}
    known |= {f"ask{i}": f for i, f in enumerate(also)}
    known["torch_is_grad_enabled"] = getattr(sys.modules.get("torch"), "is_grad_enabled", None)
    lines, parts = [_same_types(dict(zip(names, arguments, strict=True)), known)], []
    for name, argument in zip(names, arguments, strict=True):
        if is_layout(argument):
            lines.append(_same_types(dict(_asked(argument, name)), known))
        elif sparse.is_compressed(argument):
            arrays = {f"{name}_{field}": getattr(argument, field) for field in FIELDS}
            lines += [f"{name}_{field} = {name}.{field}" for field in FIELDS]
            lines.append(_same_types(arrays, known))
        found = _parts(name, argument)
        if found is None:
            return lambda *_: None
        parts += found
    parts += [f"ask{i}()" for i in range(len(also))]
    returned = "".join(f"{part}, " for part in parts)
    body = "".join(f"        {line}\n" for line in [*lines, f"return ({returned})"])
    text = (
        f"def read({', '.join(names)}):\n"
        f"    try:\n"
        f"{body}"
        f"    except (RuntimeError, IndexError):\n"  # no address (a sparse tensor), no offsets
        f"        return None\n"
    )
    exec(_compiled(text), known)
    made: Callable[..., tuple[Any, ...] | None] = known["read"]
    return made


def _same_types(values: dict[str, Any], known: dict[str, Any]) -> str:
    """A line that ends the function where types are others than those that it is written for; `known` gets these."""
    tests = []
    for name, value in values.items():
        expected = f"T_{name.replace('.', '_')}"
        known[expected] = type(value)
        tests.append(f"type({name}) is not {expected}")
    return f"if {' or '.join(tests)}: return None" if tests else "pass"


@functools.lru_cache(maxsize=256)
def _compiled(text: str) -> CodeType:
    """Compiling takes longer than all else that a one-shot call of a small kernel does; calls of a kind share it."""
    return compile(text, "<evenly: read>", "exec")


def _parts(name: str, argument: Any) -> list[str] | None:
    if is_layout(argument):
        return _layout_parts(name, argument)
    if argument is None or isinstance(argument, bool | int):
        return [name]
    for number in (float, complex):
        # 0.0 equals -0.0, and a class of its own may be shown in any way.
        if isinstance(argument, number):
            return [f"{number.__name__}.__repr__({name})"]
    if sparse.is_sparse(argument):
        return _matrix_parts(name, argument) if sparse.is_compressed(argument) else None
    table = _VECTORS if getattr(argument, "ndim", 0) == 1 else _ARRAYS
    found = table.get(kind(argument) or "")
    return None if found is None else [p.format(a=name) for p in found]


def _matrix_parts(name: str, matrix: Any) -> list[str] | None:
    """Its shape and its arrays; in host memory the first and last offsets too, which a layout of it is cut by."""
    arrays = {f"{name}_{field}": getattr(matrix, field) for field in FIELDS}
    parts = [f"Held({', '.join(arrays)})", f"{name}.shape"]
    for path, array in arrays.items():
        found = _VECTORS.get(kind(array) or "")
        if found is None:
            return None
        parts += [p.format(a=path) for p in found]
    ends = [f"{name}_indptr[0]", f"{name}_indptr[-1]"]
    return [*parts, *ends] if kind(matrix.indptr) == "numpy" else parts


def _layout_parts(name: str, layout: LayoutInstance) -> list[str] | None:
    """The layout itself, what can be changed of its arrays, and the counts that the host has to ask for.

    A layout is frozen, and a weak reference never equals one to another layout (they are compared by identity).
    Its arrays lie where they are (see `_pin`), but a tensor can be given other memory, and NumPy's arrays another type.
    """
    try:
        weakref.ref(layout)
    except TypeError:  # a class with slots
        return None
    parts = [f"ref({name})"]
    for path, value in _asked(layout, name):
        parts += [p.format(a=path) for p in _CHANGEABLE.get(kind(value) or "", ())]
    return parts + list(bounds(layout, name))


def _asked(layout: LayoutInstance, name: str) -> Iterator[tuple[str, Any]]:
    """What is inside and is asked for something: no array that is as it was when the layout was made."""
    return (
        (path, value)
        for path, value in inside(layout, name)
        if is_layout(value) or kind(value) in _CHANGEABLE
    )
