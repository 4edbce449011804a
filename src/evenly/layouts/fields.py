"""The fields of a layout: how they are annotated, and what may stand in them."""

from __future__ import annotations

import dataclasses
import operator
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeGuard, TypeVar, get_origin

import numpy as np

from evenly.errors import InputError
from evenly.interop import arrays
from evenly.interop.device_array import DeviceArray
from evenly.language.types import TYPES, from_dtype

T = TypeVar("T")

INDEX_TYPES = frozenset(np.dtype(t) for t in ("int32", "int64"))


if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    from evenly.layouts.defaults import LayoutInstance

    # To a type checker a field is anything: NumPy's arrays have no common type
    # with CuPy's and PyTorch's.
    Element = TypeVarWithDefault("Element", default=Any)
    Index = Any
    Array: TypeAlias = Any | Element
    Static = int
    Layout = Any
else:

    class Index:
        """The element type of an array of indices or offsets: int32 or int64."""

    class Array(Generic[T]):
        """A field that is an array: NumPy, CuPy, PyTorch or an `ev.DeviceArray`."""

    class Static:
        """A field that is an integer known when the kernel is compiled."""

    class Layout:
        """A field that is another layout."""


FieldKind = Literal["array", "index_array", "int", "static", "layout"]


@dataclasses.dataclass(frozen=True, slots=True)
class FieldSpec:
    """One field of a layout."""

    name: str
    kind: FieldKind


def is_layout(obj: object) -> TypeGuard[LayoutInstance]:
    """Whether `obj` is an instance of a class that `ev.layout` made."""
    return hasattr(type(obj), "__fields__") and hasattr(type(obj), "__default_methods__")


def kind_of(cls: type, name: str, annotation: Any) -> FieldKind:
    """The kind of field that an annotation asks for; InputError for any other."""
    if isinstance(annotation, str):
        annotation = _evaluated(cls, annotation)
    if isinstance(annotation, str):  # a name that is local to a function: by its text
        text = annotation.replace("ev.", "").replace("evenly.", "").replace(" ", "")
        by_text: dict[str, Any] = {"Array": Array, "int": int}
        by_text["Array[Index]"] = Array[Index]  # type: ignore[misc]
        by_text |= {"Static": Static, "Layout": Layout}
        annotation = by_text.get(text, annotation)
    if annotation is int:
        return "int"
    if annotation is Static:
        return "static"
    if annotation is Array:
        return "array"
    if get_origin(annotation) is Array:
        return "index_array" if annotation.__args__[0] is Index else "array"
    if annotation is Layout or hasattr(annotation, "__default_methods__"):
        return "layout"
    raise InputError(
        f"{cls.__name__}.{name}",
        expected="a field annotated Array[Index], Array, int, Static or Layout",
        given=annotation if isinstance(annotation, str) else repr(annotation),
    )


def _evaluated(cls: type, annotation: str) -> Any:
    names = dict(vars(sys.modules[cls.__module__])) if cls.__module__ in sys.modules else {}
    try:
        return eval(annotation, names, dict(vars(cls)))
    except Exception:  # whatever a stranger's annotation raises, its text may still do
        return annotation


def check_fields(self: Any) -> None:
    """Each field holds what its annotation says: O(1), on any device."""
    for spec in type(self).__fields__.values():
        given = getattr(self, spec.name)
        where = f"{type(self).__name__}.{spec.name}"
        if spec.kind == "layout":
            if not is_layout(given):
                raise InputError(where, expected="a layout", given=type(given).__name__)
            continue
        if spec.kind in ("int", "static"):
            try:
                clean: Any = operator.index(given)
            except TypeError:
                kind = type(given).__name__
                raise InputError(where, expected="an integer", given=kind) from None
        else:
            clean = as_field(given, where, index=spec.kind == "index_array")
        if clean is not given:
            object.__setattr__(self, spec.name, clean)


def as_field(obj: Any, name: str, *, index: bool) -> Any:
    """`obj` as a layout keeps it: checked in O(1), never copied.

    CPU memory comes back as a NumPy array, GPU memory as CuPy's, PyTorch's or an
    `ev.DeviceArray`. index: only int32 and int64 are admitted.
    """
    if type(obj) is not np.ndarray:
        whose = arrays.kind(obj)
        if whose is None:
            theirs = isinstance(obj, np.ndarray) or hasattr(obj, "to_numpy")  # masked, pandas
            parts = "dtype", "shape", "__getitem__", "__len__"
            if not theirs and all(hasattr(obj, part) for part in parts):
                return obj  # stands in for an array: a tracer's or a checker's
            raise arrays.not_an_array(obj, name)
        found = arrays.view(obj, name)
        if found.device == "cpu":
            obj = arrays.as_numpy(obj, name)
        elif whose == "dlpack":
            obj = DeviceArray(found)
        dtype, contiguous = found.dtype, found.contiguous
    else:
        dtype, contiguous = obj.dtype, obj.flags.c_contiguous
    if dtype not in INDEX_TYPES and (index or not dtype.isnative or from_dtype(dtype) is None):
        raise _bad_field_type(name, dtype, index)
    if not contiguous:
        hint = "numpy.ascontiguousarray(...) copies it"
        raise InputError(name, expected="a contiguous array", given="a strided one", hint=hint)
    return obj


def _bad_field_type(name: str, dtype: np.dtype[Any], index: bool) -> InputError:
    if index:
        expected = "int32 or int64 indices"
        hint = ".astype(numpy.int32) or numpy.int64"
        if dtype.kind == "u" or not dtype.isnative:
            hint = arrays.conversion(dtype)
    else:
        expected, hint = f"values of {TYPES}", arrays.conversion(dtype)
    return InputError(name, expected=expected, given=f"dtype {dtype}", hint=hint)


def value_types(layout: LayoutInstance) -> Iterator[np.dtype[Any]]:
    """Of a layout's arrays of values, and of those of the layouts inside."""
    for field in type(layout).__fields__.values():
        value = getattr(layout, field.name)
        if field.kind == "layout":
            yield from value_types(value)
        elif field.kind == "array":
            yield arrays.dtype_of(value, field.name)
