"""Make the typed program of a kernel and its arguments, as the runtime does."""

from __future__ import annotations

import ast
import math
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from evenly.language import ir, names, parse, source
from evenly.language import types as T
from evenly.language.diagnostics import LanguageError
from evenly.language.lower import lower_kernel
from evenly.language.specs import ArraySpec, LayoutSpec, ScalarSpec, Spec, StaticSpec
from evenly.language.verify import verify
from evenly.layouts.contract import is_layout, masks


def spec_of(value: Any, kind: str = "") -> Spec:
    """The spec of one argument (`kind`: that of the layout's field it stands in)."""
    if is_layout(value):
        fields = [
            (n, spec_of(getattr(value, n), f.kind)) for n, f in type(value).__fields__.items()
        ]
        return LayoutSpec(type(value), tuple(fields), masks(value))
    if kind == "static" or value is None:
        return StaticSpec(value)
    if kind == "int":
        return ScalarSpec(T.POS)
    if isinstance(value, np.ndarray):
        found = T.from_dtype(value.dtype)
        assert found is not None
        return ArraySpec(found, value.ndim, kind == "index_array")
    if isinstance(value, np.generic):
        found = T.from_dtype(value.dtype)
        assert found is not None
        return ScalarSpec(T.read_as(found))
    if isinstance(value, bool):
        return ScalarSpec(T.BOOL)
    kinds = {int: T.WEAK_INT, float: T.WEAK_FLOAT, complex: T.WEAK_COMPLEX}
    return ScalarSpec(kinds[type(value)])


def lowered(
    function: Callable[..., Any], arguments: dict[str, Any], text: str | None = None
) -> ir.Program:
    """The verified program of `function` for these arguments. Raises LanguageError."""
    fetched = source.fetch(function, text)
    tree = parse.parse(fetched)
    specs = tuple(spec_of(arguments[p]) for p in tree.parameters)
    program = lower_kernel(fetched, tree, specs)
    verify(program, specs)
    return program


def made(text: str, **captured: Any) -> Callable[..., Any]:
    """The function that `text` defines, seeing `captured` and `ev`; pass the text on as its source."""
    text = textwrap.dedent(text)
    name = next(n.name for n in ast.parse(text).body if isinstance(n, ast.FunctionDef))
    space: dict[str, Any] = {"ev": names, "math": math, "np": np, **captured}
    exec(text, space)
    return space[name]


def refusal(text: str, arguments: dict[str, Any], **captured: Any) -> LanguageError | None:
    """How the kernel in `text` is refused for these arguments; None if it is not."""
    text = textwrap.dedent(text).strip() + "\n"
    try:
        lowered(made(text, **captured), arguments, text)
    except LanguageError as error:
        return error
    return None
