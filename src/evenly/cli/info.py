"""Run `evenly info`: list the available targets, the devices, the versions and the cache."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Iterator

from evenly import targets
from evenly.cache import directory, limit
from evenly.errors import printable
from evenly.version import __version__

PACKAGES = ("numpy", "scipy", "numba", "cuda-core", "cuda-bindings", "cupy", "torch")
CUPY = ("cupy", "cupy-cuda13x", "cupy-cuda12x")


def lines() -> Iterator[str]:
    """Yield the lines of the report."""
    yield f"evenly {__version__}"
    yield ""
    yield "Targets"
    missing = targets.available()
    for name, why in missing.items():
        works = "" if why else f"works: {targets.get(name).device()}"
        yield f"  {name:8}{works or why.removeprefix(f'target {name!r}: ')}"
    yield ""
    yield "Devices"
    yield f"  cpu     {platform.processor() or platform.machine()}, {os.cpu_count()} cores"
    if not missing["cuda"]:
        yield from _gpus()
    yield ""
    yield "Versions"
    yield f"  {'python':15}{platform.python_version()}"
    for name in PACKAGES:
        yield f"  {name:15}{_version(name) or 'not installed'}"
    for name, version in (("nvrtc", _nvrtc()), ("cuda driver", _driver())):
        yield f"  {name:15}{version or 'not found'}"
    yield ""
    yield "Cache"
    found = limit.entries()
    size = sum(entry.size for entry in found)
    yield f"  {printable(str(directory()))}"
    yield f"  {len(found):,} files, {size / 10**6:,.1f} MB; may be deleted (`evenly cache` shows more)"


def _gpus() -> Iterator[str]:
    import cuda.core as core

    from evenly.gpus.numbers import for_gpu
    from evenly.targets.cuda.place import gpu_of

    for device in core.Device.get_all_devices():
        device.set_current()
        major, minor = device.compute_capability
        count = device.properties.multiprocessor_count
        name = f"  cuda:{device.device_id:<3}{device.name}"
        yield f"{name}, compute capability {major}.{minor}, {count} multiprocessors"
        yield f"          what work costs there: {for_gpu(gpu_of(device.device_id))['origin']}"


def _version(package: str) -> str:
    for name in CUPY if package == "cupy" else (package,):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return ""


def _nvrtc() -> str:
    try:
        from cuda.bindings import nvrtc

        _, major, minor = nvrtc.nvrtcVersion()
    except Exception:  # a missing package or library raises an error of its own
        return ""
    return f"{major}.{minor}"


def _driver() -> str:
    try:
        from cuda.bindings import driver

        status, version = driver.cuDriverGetVersion()
    except Exception:
        return ""
    return f"for CUDA {version // 1000}.{version % 1000 // 10}" if int(status) == 0 else ""
