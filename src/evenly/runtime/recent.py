"""The launches of the last calls, found again by what decides them: where arguments lie and of what type they are.

Everything that a call checks and prepares follows from its arguments' addresses, shapes, strides
and types, the numbers among them, and a layout's own numbers. A call in which all these are as in
an earlier one is launched as that one was; any other goes the long way. So nothing that hangs on
a matrix's structure or values can be stale.

Reading them is most of what a call costs, so it is done by one function that is written for
the arguments at hand.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from evenly.interop import sparse
from evenly.interop.arrays import address, kind
from evenly.layouts.contract import is_layout
from evenly.layouts.defaults import is_default

MOST = 8  # calls remembered

# What decides of an array, by its library. Of one with one axis its size and strides say it all, and cost less than
# a shape.
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
    ),
    "device": ("{a}.pointer", "{a}.shape", "{a}.dtype"),
}
_VECTORS = {**_ARRAYS, "cupy": ("{a}.data.ptr", "{a}.size", "{a}.strides", "{a}.dtype")}


class Recent:
    """What was prepared for the last few calls with arguments of these Python types, on one device.

    also: what else decides, asked at each call: the device's current stream, say.
    """

    def __init__(
        self, arguments: tuple[Any, ...], device: str, also: tuple[Callable[[], Any], ...] = ()
    ) -> None:
        self._device = device
        self.read = _reader(arguments, also)
        self._calls: list[tuple[Any, Any]] = []

    def find(self, signature: Any) -> Any:
        """What was prepared for such a call, or None."""
        for held, prepared in self._calls:
            if held == signature:
                return prepared
        return None

    def keep(self, signature: Any, prepared: Any, device: str) -> None:
        if device == self._device:
            # A new list: other threads may be looking through the old one.
            self._calls = [(signature, prepared), *self._calls][:MOST]


def _reader(
    arguments: tuple[Any, ...], also: tuple[Callable[[], Any], ...]
) -> Callable[..., tuple[Any, ...] | None]:
    """A function of such arguments: what decides their launches, to be compared; None where it cannot be told."""
    names = [f"a{i}" for i in range(len(arguments))]
    known: dict[str, Any] = {"address": address, "ref": weakref.ref}
    known |= {f"T{i}": type(a) for i, a in enumerate(arguments)}
    known |= {f"ask{i}": f for i, f in enumerate(also)}
    parts: list[str] = []
    for name, argument in zip(names, arguments, strict=True):
        found = _parts(name, argument)
        if found is None:
            return lambda *_: None
        parts += found
    parts += [f"ask{i}()" for i in range(len(also))]
    others = " or ".join(f"type(a{i}) is not T{i}" for i in range(len(arguments))) or "False"
    text = (
        f"def read({', '.join(names)}):\n"
        f"    if {others}:\n"
        f"        return None\n"
        f"    try:\n"
        f"        return ({', '.join(parts)},)\n"
        f"    except (RuntimeError, IndexError):\n"  # no address (a sparse tensor), no offsets
        f"        return None\n"
    )
    exec(_compiled(text), known)
    made: Callable[..., tuple[Any, ...] | None] = known["read"]
    return made


@functools.lru_cache(maxsize=256)
def _compiled(text: str) -> CodeType:
    """Compiling takes longer than all else that a one-shot call of a small kernel does; calls of a kind share it."""
    return compile(text, "<evenly: read>", "exec")


def _parts(name: str, argument: Any) -> list[str] | None:
    if is_layout(argument):
        return _layout_parts(name, argument)
    if argument is None or isinstance(argument, bool | int):
        return [name]
    if isinstance(argument, float | complex):
        return [f"repr({name})"]  # 0.0 equals -0.0
    if sparse.is_sparse(argument):
        return _matrix_parts(name, argument) if sparse.is_compressed(argument) else None
    table = _VECTORS if getattr(argument, "ndim", 0) == 1 else _ARRAYS
    found = table.get(kind(argument) or "")
    return None if found is None else [p.format(a=name) for p in found]


def _matrix_parts(name: str, matrix: Any) -> list[str] | None:
    """Its shape and its arrays; in host memory the first and last offsets too, which a layout of it is cut by."""
    parts, on_host = [f"{name}.shape"], kind(matrix.indptr) == "numpy"
    for path in (f"{name}.data", f"{name}.indices", f"{name}.indptr"):
        found = _VECTORS.get(kind(getattr(matrix, path.rpartition(".")[2])) or "")
        if found is None:
            return None
        parts += [p.format(a=path) for p in found]
    return [*parts, f"{name}.indptr[0]", f"{name}.indptr[-1]"] if on_host else parts


def _layout_parts(name: str, layout: Any) -> list[str] | None:
    """The layout itself, its tensors of PyTorch, and the counts that the host has to ask for.

    A layout is frozen, and its arrays lie where they are as long as it lives; a weak reference never
    equals one to another layout. A tensor can be given other memory.
    """
    parts = [f"ref({name})"]
    for path, value in _arrays(layout, name):
        if kind(value) == "torch":
            parts += [p.format(a=path) for p in _ARRAYS["torch"]]
    for bound in ("max_tiles", "max_atoms"):
        if not is_default(bound, getattr(type(layout), bound)):
            parts.append(f"{name}.{bound}")
    return parts


def _arrays(layout: Any, path: str) -> Iterator[tuple[str, Any]]:
    for field in type(layout).__fields__.values():
        value, name = getattr(layout, field.name), f"{path}.{field.name}"
        if field.kind == "layout":
            yield from _arrays(value, name)
        elif "array" in field.kind:
            yield name, value
