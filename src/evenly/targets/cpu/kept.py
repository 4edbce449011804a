"""Keep native functions in evenly's cache. This takes the place of Numba's `cache=True`.

Numba unpickles any file that it finds beside a source file. evenly's cache only returns content that evenly has written
(`evenly.cache`). Other content, and content that cannot be loaded, is compiled again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import pickle
import platform
import sys
from collections.abc import Callable, Iterator
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
from evenly.targets import compilations
from evenly.version import __version__

KIND = "cpu"


def kept_callback(
    signature: Any, packs: bool = False, **options: Any
) -> Callable[[Callable[..., Any]], Any]:
    """Like `numba.cfunc`, with the result kept in the cache. packs: LLVM packs adjacent operations into vectors."""

    def decorate(function: Callable[..., Any]) -> Any:
        normal = sigutils.normalize_signature(signature)
        made: Any = CFunc(function, normal, locals={}, options=options)
        made._cache = Kept(function)
        with _packing(packs):
            made.compile()
        return made

    return decorate


@contextlib.contextmanager
def _packing(packs: bool) -> Iterator[None]:
    """Compile with or without that pass of LLVM, which Numba has as a setting of the process."""
    before, config.SLP_VECTORIZE = config.SLP_VECTORIZE, int(packs)
    try:
        yield
    finally:
        config.SLP_VECTORIZE = before


def kept_function(signature: str, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Like `numba.njit` for one signature, with the result kept in the cache."""

    def decorate(function: Callable[..., Any]) -> Any:
        made = njit(**options)(function)
        made._cache = Kept(function)
        with register_dispatcher(made):
            made.compile(signature)
        made.disable_compile()
        return made

    return decorate


class Kept(_Cache):  # type: ignore[misc]  # what Numba has no types for
    """The cache object in which Numba looks for a function's machine code, and saves it."""

    cache_path = None

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = f"{function.__module__}\0{function.__qualname__}"

    def load_overload(self, signature: Any, context: Any) -> Any:
        context.refresh()
        name = self._name(signature)
        content = read_file(KIND, name)
        try:
            if content is not None:
                compilations.load()
                return CompileResult._rebuild(context, *pickle.loads(content))
        except Exception:  # written here, by another function with the same name and versions
            discard(KIND, name)
        compilations.begin()
        return None

    def save_overload(self, signature: Any, made: Any) -> None:
        if not made.library.has_dynamic_globals:
            write_file(KIND, self._name(signature), dumps(made._reduce()))

    def enable(self) -> None:
        """Do nothing: the cache is always on."""

    def disable(self) -> None:
        """Do nothing: the cache is always on."""

    def flush(self) -> None:
        """Do nothing: everything is written at once."""

    def _name(self, signature: Any) -> str:
        whole = "\0".join((self._function, str(signature), identity()))
        return hashlib.sha256(whole.encode()).hexdigest() + ".code"


@functools.cache
def identity() -> str:
    """Return what machine code depends on besides a function's text: machine, compiler, and functions that it calls."""
    versions = __version__, numba.__version__, llvmlite.__version__, np.__version__, sys.version
    processor = registry.cpu_target.target_context.codegen().magic_tuple()
    machine = sys.platform, platform.machine(), sys.abiflags if hasattr(sys, "abiflags") else ""
    compiler = llvm.llvm_version_info, config.USING_SVML, config.OPT
    return repr((versions, processor, machine, compiler, _foundations()))


def _foundations() -> str:
    """Return a digest of all source files of this package."""
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()
