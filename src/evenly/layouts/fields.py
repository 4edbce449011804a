"""The fields of a layout: their annotations, and the values that they may have."""

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

    # A type checker takes a field for Any, since the arrays of NumPy, CuPy and PyTorch
    # have no common type.
    Element = TypeVarWithDefault("Element", default=Any)
    Index = Any
    Array: TypeAlias = Any | Element
    Static = int
    Layout = Any
else:

    class Index:
        """The element type of an array of indices or offsets: int32 or int64."""

    class Array(Generic[T]):
        """A field that is an array of NumPy, CuPy or PyTorch, or an `ev.DeviceArray`."""

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
    """Return the kind of field of an annotation. Raises InputError for an unknown one."""
    if isinstance(annotation, str):
        annotation = _evaluated(cls, annotation)
    if isinstance(annotation, str):  # a name that is local to a function
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
    except Exception:  # evaluating the annotation failed; its text may still be known
        return annotation


def check_fields(self: Any) -> None:
    """Raise InputError if a field does not match its annotation. O(1), on any device."""
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
    """Check an array in O(1) and return it as a layout holds it, without a copy.

    In CPU memory it becomes a NumPy array. In GPU memory it is an array of CuPy or PyTorch,
    or an `ev.DeviceArray`. index: whether only int32 and int64 are allowed.
    """
    if type(obj) is not np.ndarray:
        whose = arrays.kind(obj)
        if whose is None:
            theirs = isinstance(obj, np.ndarray) or hasattr(obj, "to_numpy")  # masked, pandas
            parts = "dtype", "shape", "__getitem__", "__len__"
            if not theirs and all(hasattr(obj, part) for part in parts):
                return obj  # a stand-in for an array, of a tracer or checker
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
    """Yield the dtypes of a layout's arrays that are not indices, and of those of the layouts in its fields."""
    for field in type(layout).__fields__.values():
        value = getattr(layout, field.name)
        if field.kind == "layout":
            yield from value_types(value)
        elif field.kind == "array":
            yield arrays.dtype_of(value, field.name)
