"""The launches of the last calls, found again by the addresses and types of the arguments.

Everything that a call checks and prepares follows from the addresses, shapes, strides and types of its
arguments, and from their numbers: scalar arguments, and the numbers of a layout. If all of these are as in an
earlier call, the same launches are run again; otherwise the call is prepared from the start. If only addresses of
array arguments are others, as those of new results, they are put into what was prepared. (For a bare
matrix, the offsets and columns must also be the same objects, because those have been checked.) Each launch
reads values and structures anew. The chosen schedule stays: after a structure is changed in place, it may be
one that suits the old structure. The results are then still right, but the call may be slow.

Reading these properties is most of the cost of a call. A function that is generated for the types at hand reads
them into a signature, which is the key of the cache: the addresses of array arguments, and all else.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from evenly.interop import sparse
from evenly.interop.arrays import address, kind
from evenly.language.reads import Reads
from evenly.layouts.contract import LayoutInstance, is_layout

from . import alike
from .addresses import Memory
from .frontiers import Launched
from .inside import FIELDS, bounds, inside

MOST = 8  # how many calls are remembered

# Expressions for what a launch depends on, by the array's library. For CuPy arrays with one axis,
# size and strides are enough, and cost less than the shape.
_ARRAYS = {
    # The mask is NPY_ARRAY_C_CONTIGUOUS | ALIGNED | WRITEABLE: one number instead of three attributes.
    "numpy": ("address({a})", "{a}.shape", "{a}.dtype", "{a}.flags.num & 0x501"),
    "cupy": ("{a}.data.ptr", "{a}.shape", "{a}.strides", "{a}.dtype", "{a}.data.device_id"),
    "torch": (
        "{a}.data_ptr()",
        "{a}.shape",
        "{a}.stride()",
        "{a}.dtype",
        "{a}.get_device()",
        "{a}.is_conj()",
        "{a}.is_neg()",
        "{a}.requires_grad and torch_is_grad_enabled()",
    ),
    "device": ("{a}.pointer", "{a}.shape", "{a}.dtype", "{a}.device_id", "{a}.readonly"),
}
_CHANGEABLE = {"torch": _ARRAYS["torch"], "numpy": ("{a}.dtype",)}  # for arrays in layouts
_VECTORS = {
    **_ARRAYS,
    "cupy": ("{a}.data.ptr", "{a}.size", "{a}.strides", "{a}.dtype", "{a}.data.device_id"),
}


class CallCache:
    """What was prepared for the last few calls with arguments of these Python types, on one device.

    also: functions that return what else a launch depends on, such as the device's current stream. Each call
    calls them. by_memory: whether layouts made anew are known by the memory of their arrays (alike.py).
    """

    def __init__(
        self,
        arguments: tuple[Any, ...],
        device: str,
        also: tuple[Callable[[], Any], ...] = (),
        by_memory: bool = False,
    ) -> None:
        self._device, self._also, self._by_memory = device, also, by_memory
        self.begin(arguments)

    def begin(self, arguments: tuple[Any, ...]) -> None:
        """Begin anew, for arguments of these types."""
        self._calls: list[_Call] = []
        self._count, self._inside = len(arguments), _types_inside(arguments)
        self.read = _reader(arguments, self._also, _known_by_itself)
        self._read_alike = _reader(arguments, self._also, self._known_by_parts)

    def repeat(self, *args: Any) -> bool:
        """Run a remembered call with such arguments, and return True; return False if there is none."""
        return len(args) == self._count and self._repeat(args, self.read(*args), OWN)

    def repeat_alike(self, *args: Any) -> bool:
        """Run a remembered call that differs only in layouts made anew, and return True; else return False."""
        if len(args) != self._count or not any(call.alike for call in self._calls):
            return False
        return self._repeat(args, self._read_alike(*args), ALIKE)

    def _repeat(self, args: tuple[Any, ...], signature: Any, by: int) -> bool:
        """Run a remembered call of which the one of its two signatures is this. Return whether there is one."""
        if signature is None:
            return False
        for call in self._calls:
            if call[by] == signature and (not call.reads or call.reads.hold()):
                call.prepared()
                return True
        return self._repeat_elsewhere(args, signature, by)

    def _repeat_elsewhere(self, args: tuple[Any, ...], signature: Any, by: int) -> bool:
        """The same for a call of which only addresses are others: it runs as it is there, and is remembered."""
        addresses, rest = signature
        for call in self._calls:
            its: Any = call[by]
            if not (call.memory and its and its[1] == rest):
                continue
            if (not call.reads or call.reads.hold()) and (memory := call.memory.at(addresses)):
                prepared = call.prepared.moved(addresses)
                own, alike = (signature, None) if by == OWN else (self.read(*args), signature)
                if own is not None:
                    self.keep(own, prepared, self._device, call.reads, alike, memory)
                prepared()
                return True
        return False

    def _known_by_parts(self, name: str, layout: LayoutInstance) -> Described | None:
        try:
            parts = [*alike.parts(name, layout, _ARRAYS, self._by_memory), *bounds(layout, name)]
        except (KeyError, TypeError):
            return None
        return dict(inside(layout, name)), parts

    def remember(
        self,
        args: tuple[Any, ...],
        prepared: Any,
        device: str,
        reads: Reads | None = None,
        memory: Memory | None = None,
    ) -> bool:
        """Remember what was prepared for these arguments. Return False if they cannot be told from others.

        reads: the outside values that it was compiled with, if those may change. memory: where its arrays lie; None: it
        cannot run where they lie elsewhere.
        """
        signature = self.read(*args) if _types_inside(args) == self._inside else None
        if signature:
            # What knows its frontiers knows these alone.
            known = None if isinstance(prepared, Launched) else self._read_alike(*args)
            self.keep(signature, prepared, device, reads, known, memory)
        return bool(signature)

    def keep(
        self,
        signature: Any,
        prepared: Any,
        device: str,
        reads: Reads | None = None,
        alike: Any = None,
        memory: Memory | None = None,
    ) -> None:
        if device == self._device:
            for part in signature[1]:
                if type(part) is weakref.ref:
                    _pin(part())
            kept = _kept(signature), alike and _kept(alike), prepared, reads, memory
            # Make a new list: other threads may be reading the old one.
            self._calls = [_Call(*kept), *self._calls][:MOST]


def _kept(signature: Any) -> Any:
    """Return a signature that keeps no array alive."""
    addresses, rest = signature
    return addresses, tuple(_Structure(p) if type(p) is _Held else p for p in rest)


def _types_inside(arguments: tuple[Any, ...]) -> list[type]:
    """Return the types of the arrays in layouts. Arrays of another library are read in another way."""
    return [type(v) for layout in arguments if is_layout(layout) for _, v in inside(layout, "")]


class _Call(NamedTuple):
    """A remembered call. reads: the outside values that it was compiled with, if those may change.

    alike: what it depends on if layouts are not known by themselves (alike.py); None: that cannot be told.
    memory: where its arrays lie; None: it cannot run where they lie elsewhere.
    """

    signature: Any
    alike: Any
    prepared: Any
    reads: Reads | None
    memory: Memory | None


OWN, ALIKE = range(2)  # the signatures of a call

_pinned: weakref.WeakKeyDictionary[Any, list[weakref.ref[Any]]] = weakref.WeakKeyDictionary()


def _pin(layout: Any) -> None:
    """Keep a layout's arrays at their addresses: NumPy does not resize an array that a weak reference points to."""
    if layout not in _pinned:
        held = (value for _, value in inside(layout, ""))
        _pinned[layout] = [weakref.ref(value) for value in held if kind(value) == "numpy"]


class _Held:
    """The arrays of a bare matrix. While a signature is in use, it keeps them where they are."""

    def __init__(self, data: Any, *structure: Any) -> None:
        self._data, self.structure = data, structure

    __hash__ = None  # type: ignore[assignment]


class _Structure:
    """Weak references to the structure arrays of a bare matrix: new, unchecked arrays may get the same addresses."""

    def __init__(self, held: _Held) -> None:
        self._known = [weakref.ref(array) for array in held.structure]

    def __eq__(self, other: object) -> bool:
        return type(other) is _Held and all(
            reference() is array
            for reference, array in zip(self._known, other.structure, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]


# The values of a layout whose types are looked at, and expressions for what a launch depends on.
Described = tuple[dict[str, Any], list[str]]


def _reader(
    arguments: tuple[Any, ...],
    also: tuple[Callable[[], Any], ...],
    described: Callable[[str, LayoutInstance], Described | None],
) -> Callable[..., tuple[Any, ...] | None]:
    """Generate a function that returns the signature of such arguments, or None if they have none."""
    names = [f"a{i}" for i in range(len(arguments))]
    known: dict[str, Any] = {"ref": weakref.ref, "Held": _Held, **_names_for_parts()}
    known["Same"] = alike.Same
    known |= {f"ask{i}": f for i, f in enumerate(also)}
    lines = [_same_types(dict(zip(names, arguments, strict=True)), known)]
    addresses: list[str] = []
    parts: list[str] = []
    for name, argument in zip(names, arguments, strict=True):
        if is_layout(argument):
            layout = described(name, argument)
            if layout is None:
                return lambda *_: None
            lines.append(_same_types(layout[0], known))
            parts += layout[1]
            continue
        if sparse.is_compressed(argument):
            arrays = {f"{name}_{field}": getattr(argument, field) for field in FIELDS}
            lines += [f"{name}_{field} = {name}.{field}" for field in FIELDS]
            lines.append(_same_types(arrays, known))
        found = _parts(name, argument)
        if found is None:
            return lambda *_: None
        lies = int(_is_array(argument))
        addresses += found[:lies]
        parts += found[lies:]
    parts += [f"ask{i}()" for i in range(len(also))]
    returned = ", ".join(f"({''.join(f'{x}, ' for x in xs)})" for xs in (addresses, parts))
    body = "".join(f"        {line}\n" for line in [*lines, f"return {returned}"])
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


def _names_for_parts() -> dict[str, Any]:
    """Return the functions that the expressions of parts call."""
    is_grad_enabled = getattr(sys.modules.get("torch"), "is_grad_enabled", None)
    return {"address": address, "torch_is_grad_enabled": is_grad_enabled}


def _same_types(values: dict[str, Any], known: dict[str, Any]) -> str:
    """Return a line that makes the function return None if a type differs; add the expected types to `known`."""
    tests = []
    for name, value in values.items():
        expected = f"T_{name.replace('.', '_')}"
        known[expected] = type(value)
        tests.append(f"type({name}) is not {expected}")
    return f"if {' or '.join(tests)}: return None" if tests else "pass"


@functools.lru_cache(maxsize=256)
def _compiled(text: str) -> CodeType:
    """Compile the function's text. Cached: this takes longer than the rest of a one-shot call of a small kernel."""
    return compile(text, "<evenly: read>", "exec")


def _parts(name: str, argument: Any) -> list[str] | None:
    if argument is None or isinstance(argument, bool | int):
        return [name]
    if isinstance(argument, np.generic):
        return [f"{name}.tobytes()"]
    for number in (float, complex):
        # Compare by text, because 0.0 == -0.0. A subclass may have a `__repr__` of its own.
        if isinstance(argument, number):
            return [f"{number.__name__}.__repr__({name})"]
    if sparse.is_sparse(argument):
        return _matrix_parts(name, argument) if sparse.is_compressed(argument) else None
    table = _VECTORS if getattr(argument, "ndim", 0) == 1 else _ARRAYS
    found = table.get(kind(argument) or "")
    return None if found is None else [p.format(a=name) for p in found]


def _is_array(argument: Any) -> bool:
    """Whether the argument is an array: the first of its parts is then its address."""
    others = is_layout(argument) or sparse.is_sparse(argument)
    return not others and kind(argument) is not None


def _matrix_parts(name: str, matrix: Any) -> list[str] | None:
    """List a matrix's shape and arrays, and in host memory its first and last offsets, which bound its layout."""
    arrays = {f"{name}_{field}": getattr(matrix, field) for field in FIELDS}
    parts = [f"Held({', '.join(arrays)})", f"{name}.shape"]
    for path, array in arrays.items():
        found = _VECTORS.get(kind(array) or "")
        if found is None:
            return None
        parts += [p.format(a=path) for p in found]
    ends = [f"{name}_indptr[0]", f"{name}_indptr[-1]"]
    return [*parts, *ends] if kind(matrix.indptr) == "numpy" else parts


def _known_by_itself(name: str, layout: LayoutInstance) -> Described | None:
    """List the layout, what can change about its arrays, and counts that the host has to compute.

    A layout is frozen, and weak references to two layouts are never equal (layouts are compared by identity).
    The arrays stay at their addresses (see `_pin`), but a tensor can be given other memory, and a NumPy array
    another dtype.
    """
    try:
        weakref.ref(layout)
    except TypeError:  # a class with __slots__
        return None
    asked, parts = dict(_asked(layout, name)), [f"ref({name})"]
    for path, value in asked.items():
        parts += [p.format(a=path) for p in _CHANGEABLE.get(kind(value) or "", ())]
    return asked, parts + list(bounds(layout, name))


def _asked(layout: LayoutInstance, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a layout that the signature reads, without arrays that cannot change."""
    return (
        (path, value)
        for path, value in inside(layout, name)
        if is_layout(value) or kind(value) in _CHANGEABLE
    )
