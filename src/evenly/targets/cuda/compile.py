"""Compile CUDA C++ to a cubin with NVRTC, through cuda.core, and cache it on disk. This works without a GPU."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import warnings
from typing import Any

from evenly.cache import read_file, write_file
from evenly.errors import InternalError, UnavailableError
from evenly.targets import compilations
from evenly.targets.gpu import headers
from evenly.targets.gpu.failures import too_much_shared

# Lambdas in device code have no annotation, and older versions of NVRTC take them for host functions.
OPTIONS: dict[str, Any] = {"std": "c++17", "device_as_default_execution_space": True}
TOO_MUCH_SHARED = re.compile(r"too much shared data \((0x[0-9a-f]+) bytes, (0x[0-9a-f]+) max\)")


def require() -> Any:
    """Return the module cuda.core. Raises UnavailableError, which says how to install it."""
    try:
        import cuda.core as core
    except ImportError:
        raise UnavailableError(
            "target 'cuda'",
            "the package cuda-core is not installed",
            "pip install 'evenly[cu13]' (or [cu12] for a CUDA 12 driver)",
        ) from None
    return core


@functools.cache
def versions() -> str:
    """Return the versions on which the machine code depends, besides the source and the architecture."""
    core = require()
    from cuda.bindings import nvrtc

    _, major, minor = nvrtc.nvrtcVersion()
    return f"cuda.core {core.__version__} nvrtc {major}.{minor} {_nvrtc_file()}"


def _nvrtc_file() -> str:
    """Identify the file of NVRTC, since two builds may have the same version."""
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib

        path = load_nvidia_dynamic_lib("nvrtc").abs_path
        status = os.stat(path)
    except Exception:  # some versions of cuda.bindings lack this function, or raise
        return ""
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def cubin(source: str, name: str, arch: str) -> bytes:
    """Compile `headers + source` for an architecture such as "sm_90". Return the machine code."""
    full = headers.text() + source
    key = hashlib.sha256("\0".join((full, arch, versions(), repr(OPTIONS))).encode()).hexdigest()
    cached = read_file("cubin", f"{key}.cubin")
    if cached is not None:
        return cached
    compilations.begin()
    made = _compile(full, name, arch)
    write_file("cubin", f"{key}.cubin", made)
    return made


def _compile(full: str, name: str, arch: str) -> bytes:
    core = require()
    options = core.ProgramOptions(arch=arch, **OPTIONS)
    program = core.Program(full, "c++", options)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = program.compile("cubin").code
    except Exception as error:
        shared = TOO_MUCH_SHARED.search(str(error))
        if shared:
            raise too_much_shared(int(shared[1], 16), int(shared[2], 16), name) from None
        raise InternalError(
            f"NVRTC refused the kernel {name} that evenly emitted: please report it.\n{error}"
        ) from error
    if not code:
        raise InternalError(f"NVRTC gave no machine code for {name}")
    return bytes(code)


def resources(source: str, name: str, arch: str) -> dict[str, int]:
    """Return a kernel's bytes of code, registers, spilled bytes and stack bytes, as ptxas reports them."""
    import io

    core = require()
    log = io.StringIO()
    options = core.ProgramOptions(arch=arch, ptxas_options=["-v"], **OPTIONS)
    code = core.Program(headers.text() + source, "c++", options).compile("cubin", logs=log).code
    text = log.getvalue()

    def greatest(pattern: str) -> int:
        return max((int(x) for x in re.findall(pattern, text)), default=-1)

    return {
        "code": len(code),
        "registers": greatest(r"Used (\d+) registers"),
        "spills": greatest(r"(\d+) bytes spill stores"),
        "stack": greatest(r"(\d+) bytes stack frame"),
    }
