"""Native functions that are kept in evenly's cache: what Numba's `cache=True` is, with our files in place of its own.

Numba unpickles whatever lies beside a source file. evenly's cache gives out only what it was given
(`evenly.cache`); anything else, and what cannot be loaded after all, is compiled anew.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import binding as llvm
from numba import njit
from numba.core import config, registry, sigutils
from numba.core.caching import _Cache
from numba.core.ccallback import CFunc
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.typeinfer import register_dispatcher

from evenly.cache import discard, read_file, write_file
from evenly.version import __version__

KIND = "cpu"


def kept_callback(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.cfunc`, kept."""

    def decorate(function: Callable[..., Any]) -> Any:
        normal = sigutils.normalize_signature(signature)
        made: Any = CFunc(function, normal, locals={}, options=options)
        made._cache = Kept(function)
        made.compile()
        return made

    return decorate


def kept_function(signature: str, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit` with one signature, kept."""

    def decorate(function: Callable[..., Any]) -> Any:
        made = njit(**options)(function)
        made._cache = Kept(function)
        with register_dispatcher(made):
            made.compile(signature)
        made.disable_compile()
        return made

    return decorate


class Kept(_Cache):  # type: ignore[misc]  # what Numba has no types for
    """Where Numba looks for a function's machine code, and leaves it."""

    cache_path = None

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = f"{function.__module__}\0{function.__qualname__}"

    def load_overload(self, signature: Any, context: Any) -> Any:
        context.refresh()
        name = self._name(signature)
        content = read_file(KIND, name)
        if content is None:
            return None
        try:
            return CompileResult._rebuild(context, *pickle.loads(content))
        except Exception:  # written here, by something else that has the same name and versions
            discard(KIND, name)
            return None

    def save_overload(self, signature: Any, made: Any) -> None:
        if not made.library.has_dynamic_globals:
            write_file(KIND, self._name(signature), dumps(made._reduce()))

    def enable(self) -> None:
        """It is never off."""

    def disable(self) -> None:
        """It is never off."""

    def flush(self) -> None:
        """Nothing waits to be written."""

    def _name(self, signature: Any) -> str:
        whole = "\0".join((self._function, str(signature), identity()))
        return hashlib.sha256(whole.encode()).hexdigest() + ".code"


@functools.cache
def identity() -> str:
    """All that decides machine code beside a function's own text: machine, compiler, and what emitted code calls."""
    versions = __version__, numba.__version__, llvmlite.__version__, np.__version__, sys.version
    processor = registry.cpu_target.target_context.codegen().magic_tuple()
    machine = sys.platform, platform.machine(), sys.abiflags if hasattr(sys, "abiflags") else ""
    compiler = llvm.llvm_version_info, config.USING_SVML, config.OPT
    return repr((versions, processor, machine, compiler, _foundations()))


def _foundations() -> str:
    """A digest of the texts of this package."""
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()
