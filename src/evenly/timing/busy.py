"""Tell whether other programs keep this machine busy."""

from __future__ import annotations

import os


def busy_machine() -> str:
    """Return a warning if other programs use the cores, else "". A call takes as long as its slowest worker."""
    if not hasattr(os, "getloadavg"):
        return ""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load < 0.5 * cores:
        return ""
    return f"This machine was busy already (load {load:.1f}, {cores} cores): times may be longer."
