"""The processor that target `cpu` runs on."""

from __future__ import annotations

import functools
import platform
from pathlib import Path

from evenly.errors import printable


def described() -> str:
    """Return the processor's name, and the number of threads that Numba uses."""
    import numba

    threads = numba.get_num_threads()
    return f"{_processor()}, {threads} thread{'s' * (threads != 1)}"


@functools.cache
def _processor() -> str:
    """Return the name of the CPU, or its architecture if the system does not tell the name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return printable(next(named, "") or platform.processor() or platform.machine())


SAMPLING = Path("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling")


@functools.cache
def gathers_quickly() -> bool:
    """Whether gather instructions are quicker than single loads, as on Intel's processors with AVX-512.

    They are slow where microcode guards them against gather data sampling (Intel, INTEL-SA-00828, 2023), on AMD's, and
    perhaps where the system does not say.
    """
    from numba.core import registry

    _, name, features = registry.cpu_target.target_context.codegen().magic_tuple()
    try:
        guard = SAMPLING.read_text()
    except OSError:
        return False
    unguarded = guard.startswith(("Not affected", "Vulnerable"))
    return unguarded and "+avx512f" in features.split(",") and not name.startswith("znver")
