"""The arguments of a call: their types, for the compiler (specs), and their memory, for the launch (`Binding`)."""

from __future__ import annotations

import functools
import numbers
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.interop import sparse
from evenly.interop.array_view import ArrayView
from evenly.interop.arrays import (
    as_numpy,
    conversion,
    is_array,
    not_an_array,
    view,
)
from evenly.language.ir import Requirement
from evenly.language.members import growing
from evenly.language.specs import ArraySpec, LayoutSpec, ScalarSpec, Spec, StaticSpec
from evenly.language.types import (
    BOOL,
    POS,
    TYPES,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    from_dtype,
    read_as,
)
from evenly.layouts.contract import LayoutInstance, is_layout, masks
from evenly.layouts.seen import as_csr

NUMBERS = np.generic, numbers.Complex


def accept(value: Any, name: str, anew: bool = False) -> Any:
    """Return an argument as kernels take it. A CSR matrix becomes a layout.

    anew: check the entries of a CSR matrix even if they have been checked before.

    Raises InputError for a sparse matrix of another format, and for anything that is not an array,
    a layout, a sparse matrix or a number.
    """
    if is_layout(value) or value is None:
        return value
    # PyTorch's sparse tensors are Tensors as well, so this comes before `is_array`.
    if type(value) is not np.ndarray and sparse.is_sparse(value):
        if sparse.format_of(value) != "csr":
            raise _no_csr(value, name)
        return as_csr(value, name, anew)
    if is_array(value):
        return value
    if isinstance(value, NUMBERS):
        return value
    expected = "an array, a layout, a sparse matrix or a number"
    if hint := _hint_for_many(value, name):
        raise InputError(name, expected=expected, given=type(value).__name__, hint=hint)
    raise not_an_array(value, name, expected)


def _hint_for_many(value: Any, name: str) -> str:
    """Return a hint for types, and for a list of types or matrices; "" for anything else."""
    first = value[0] if isinstance(value, list | tuple) and value else value
    if isinstance(first, type | np.dtype):
        return f"a kernel that emits takes types for {name}: kernel.collect(...)"
    if is_layout(first) or sparse.is_sparse(first):
        return f"ev.batch({name}) makes one layout of many matrices"
    return ""


# For each format of sparse matrices: the layout of the same format, and what its tiles are.
_KEPT = {
    "csc": ("csc", "columns"),
    "coo": ("coo", "nonzeros"),
    "bsr": ("bcsr", "rows"),
    "dia": ("dia", "rows"),
}


def as_layout(value: Any, name: str) -> Any:
    """Return an argument as algorithms take it. A sparse matrix becomes the layout of its own format."""
    if type(value) is np.ndarray or not sparse.is_sparse(value):
        return accept(value, name)
    if sparse.format_of(value) == "csr":
        return as_csr(value, name)
    from evenly.layouts import convert

    kept, _ = _KEPT.get(sparse.format_of(value), ("csr", ""))
    return convert(value, kept, name=name)


def _no_csr(matrix: Any, name: str) -> InputError:
    """Make the error for a sparse matrix that is not CSR. The user has to choose its layout: this decides the tiles."""
    format_ = sparse.format_of(matrix)
    kept, tiles = _KEPT.get(format_, ("", ""))
    ways = [f"ev.{kept}({name}), whose tiles are {tiles}"] if kept else []
    return InputError(
        name,
        expected="a layout or a CSR matrix",
        given=f"a {format_.upper()} matrix",
        hint=", or ".join([*ways, f"ev.csr({name}), whose tiles are rows"]),
    )


Views = dict[tuple[str, ...], ArrayView]  # by path


def spec_of(value: Any, name: str, views: Views | None = None) -> Spec:
    """Return the type of an argument. Raises InputError for types that kernels do not support.

    views: is filled with what is looked at, since a call needs it again.
    """
    if is_layout(value):
        return layout_spec(value, name, views)
    if is_array(value):
        return array_spec(_viewed(value, name, views), name)
    if value is None:
        return StaticSpec(None)
    if isinstance(value, bool | np.bool_):
        return ScalarSpec(BOOL)
    if isinstance(value, np.generic):
        t = from_dtype(value.dtype)
        if t is None:
            hint = conversion(value.dtype, name)
            raise InputError(
                name, expected=f"a number of {TYPES}", given=str(value.dtype), hint=hint
            )
        return ScalarSpec(read_as(t))
    if isinstance(value, numbers.Integral):
        _check_integer(int(value), name)
    kinds = {numbers.Integral: WEAK_INT, numbers.Real: WEAK_FLOAT, numbers.Complex: WEAK_COMPLEX}
    return ScalarSpec(next(t for kind, t in kinds.items() if isinstance(value, kind)))


def _check_integer(value: int, name: str) -> None:
    """Raise InputError for an integer of more than 64 bits, since no target holds it."""
    if not -(2**63) <= value < 2**63:
        # Python refuses to convert thousands of digits
        given = str(value) if value.bit_length() < 256 else f"one of {value.bit_length()} bits"
        raise InputError(name, expected="an integer of 64 bits", given=given)


def array_spec(v: ArrayView, name: str, ids: bool = False) -> ArraySpec:
    spec = _array_spec(v.dtype, len(v.shape), ids)
    if spec is None:
        raise InputError(
            name,
            expected=f"an array of {TYPES}",
            given=str(v.dtype),
            hint=conversion(v.dtype, name),
        )
    if not v.contiguous:
        raise InputError(
            name,
            expected="a contiguous array in C order",
            given=f"strides of a view, shape {v.shape}",
            hint="numpy.ascontiguousarray(...), or .contiguous() in PyTorch",
        )
    if v.pointer % v.dtype.itemsize:  # a misaligned access ends the process's CUDA context
        raise InputError(
            name,
            expected=f"memory aligned to the {v.dtype.itemsize} bytes of a {spec.dtype}",
            given=f"the address {v.pointer:#x}",
            hint="copy the array: .copy(), or .clone() in PyTorch",
        )
    return spec


@functools.lru_cache(256)
def _array_spec(dtype: np.dtype[Any], ndim: int, ids: bool) -> ArraySpec | None:
    """Return the type of an array; None if the language has no such elements. Equal ones are one object."""
    t = from_dtype(dtype)
    return None if t is None else ArraySpec(t, ndim, ids)


def _viewed(value: Any, name: str, views: Views | None) -> ArrayView:
    found = view(value, name)
    if views is not None:
        views[tuple(name.split("."))] = found
    return found


def layout_spec(layout: LayoutInstance, name: str, views: Views | None = None) -> LayoutSpec:
    fields: list[tuple[str, Spec]] = []
    for field_ in type(layout).__fields__.values():
        value, where = getattr(layout, field_.name), f"{name}.{field_.name}"
        spec: Spec
        match field_.kind:
            case "layout":
                spec = layout_spec(value, where, views)
            case "int":
                _check_integer(int(value), where)
                spec = ScalarSpec(POS)
            case "static":
                _check_integer(int(value), where)
                spec = StaticSpec(int(value))
            case _:
                found = _viewed(value, where, views)
                spec = array_spec(found, where, field_.kind == "index_array")
        fields.append((field_.name, spec))
    return LayoutSpec(type(layout), tuple(fields), masks(layout))


def is_written(layout: LayoutInstance) -> bool:
    """Whether kernels only emit or append to the layout: they do not walk it."""
    return bool(getattr(layout, "emits", "") or getattr(layout, "appends", False))


@dataclass
class Binding:
    """The arguments of one call. Each is found by its path, such as ("A", "offsets")."""

    arguments: dict[str, Any]
    views: Views = field(default_factory=dict)
    _specs: dict[str, Spec] = field(default_factory=dict)

    def beside(self, name: str, value: Any) -> Binding:
        """Return the binding of the same arguments, but for one. What is known of the others is kept."""
        views = {path: v for path, v in self.views.items() if path[0] != name}
        specs = {n: spec for n, spec in self._specs.items() if n != name}
        return Binding(self.arguments | {name: value}, views, specs)

    def specs(self) -> tuple[Spec, ...]:
        """Return the type of each argument. Raises InputError for types that kernels do not support."""
        for name, value in self.arguments.items():
            if name not in self._specs:
                self._specs[name] = spec_of(value, name, self.views)
        return tuple(self._specs[name] for name in self.arguments)

    def value(self, path: tuple[str, ...]) -> Any:
        found = self.arguments[path[0]]
        for name in path[1:]:
            found = getattr(found, name)
        return found

    def view(self, path: tuple[str, ...]) -> ArrayView:
        if path not in self.views:
            self.views[path] = view(self.value(path), ".".join(path))
        return self.views[path]

    def array(self, path: tuple[str, ...]) -> np.ndarray[Any, Any]:
        """Return the array at `path` as a NumPy array over the same memory."""
        return as_numpy(self.value(path), ".".join(path))

    def scalar(self, path: tuple[str, ...]) -> Any:
        return self.value(path)

    def extent(self, path: tuple[str, ...], axis: int) -> int:
        return self.view(path).shape[axis]

    def layout(self, path: tuple[str, ...]) -> LayoutInstance:
        layout: LayoutInstance = self.value(path)
        return layout

    def first_layout(self) -> LayoutInstance | None:
        """Return the first layout, by which "auto" chooses a schedule. None if there is none."""
        layouts = (v for v in self.arguments.values() if is_layout(v))
        return next((v for v in layouts if not is_written(v)), None)

    @functools.cached_property
    def device(self) -> str:
        """The device of all arrays: "cpu" or "cuda:0". Raises InputError if they are on different ones."""
        places: dict[str, str] = {}
        for name, path in self.array_paths:
            v = self.view(path)
            place = f"{v.device}:{v.device_id}" if v.device == "cuda" else v.device
            places.setdefault(place, name)
        if len(places) > 1:
            (a, first), (b, second), *_ = places.items()
            raise InputError(
                second,
                expected=f"an array on {a}, where {first} is",
                given=f"one on {b}",
                hint="move one of them: layout.to('cuda'), cupy.asarray, tensor.to(...)",
            )
        return next(iter(places), "cpu")

    @property
    def place(self) -> str:
        """The same without the number: "cpu" or "cuda"."""
        return self.device.partition(":")[0]

    @functools.cached_property
    def array_paths(self) -> list[tuple[str, tuple[str, ...]]]:
        """The name and the path of each array."""
        return [at for name, value in self.arguments.items() for at in _array_paths(value, (name,))]

    def check_lengths(self, requirements: frozenset[Requirement]) -> None:
        """Raise InputError if an array is too short for the ids of a layout that index it."""
        for r in sorted(requirements, key=lambda r: (r.array, r.axis)):
            least, found = (
                int(getattr(self.layout(r.layout), r.bound)),
                self.extent(r.array, r.axis),
            )
            if found < least:
                where, name = ".".join(r.layout), ".".join(r.array)
                what = f"at least {least} elements" + (
                    f" on axis {r.axis}" if len(self.view(r.array).shape) > 1 else ""
                )
                raise InputError(
                    name,
                    expected=f"{what}, since ids of {where} index it ({where}.{r.bound.replace('max_', 'num_')})",
                    given=str(found),
                )

    def check_outputs(self, written: frozenset[tuple[str, ...]]) -> None:
        """Raise InputError if an output is read-only, or shares memory with another array."""
        spans = []
        for name, path in self.array_paths:
            v = self.view(path)
            if path in written and v.readonly:
                raise InputError(
                    name,
                    expected="a writable array, since the kernel stores into it",
                    given="a read-only one",
                )
            spans.append((v.pointer, v.pointer + v.nbytes, name, path in written))
        if shared := overlap(spans):
            raise self._overlap(*shared)

    def _overlap(self, output: str, other: str) -> InputError:
        """Return the error for two arrays that share memory, or for what grows that was given twice."""
        owners = {name.split(".")[0] for name in (output, other)}
        names = [name for name in self.arguments if name in owners]
        given = [self.arguments[name] for name in names]
        if len(names) == 2 and given[0] is given[1] and growing(type(given[0])):
            expected = f"another one than {names[0]}, since the kernel changes it"
            return InputError(names[1], expected=expected, given="the same")
        return InputError(
            output,
            expected=f"an output that shares no memory with {other}",
            given="overlapping arrays",
            hint=f"copy {other} first",
        )


def overlap(spans: Iterable[tuple[int, int, str, bool]]) -> tuple[str, str] | None:
    """Return the name of an output and of another array that share memory; None if there are none.

    spans: of each array its first address, the one behind it, its name, and whether it is written.
    """
    ordered = sorted(spans)
    for i, (_, stop, name, out) in enumerate(ordered):
        for start, _, other, other_out in ordered[i + 1 :]:
            if start >= stop:
                break
            if out or other_out:
                return (name, other) if out else (other, name)
    return None


def _array_paths(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    if is_layout(value):
        for field_ in type(value).__fields__.values():
            yield from _array_paths(getattr(value, field_.name), (*path, field_.name))
    elif is_array(value):
        yield ".".join(path), path


def is_wide(binding: Binding) -> bool:
    """Whether positions need 64 bits, since a count or an integer field of a layout may exceed 31 bits.

    Loops go beyond their end before they stop: one over tiles by as many groups as a grid has, which may be as many as
    there are tiles.
    """
    return any(_wide(value) for value in binding.arguments.values() if is_layout(value))


def _wide(layout: LayoutInstance) -> bool:
    limit = 2**31 - 2**21
    if layout.max_tiles + layout.max_atoms >= limit or 2 * layout.max_tiles >= limit:
        return True
    for field_ in type(layout).__fields__.values():
        value = getattr(layout, field_.name)
        if field_.kind == "layout" and _wide(value):
            return True
        if field_.kind == "int" and not -limit < value < limit:
            return True
    return False
