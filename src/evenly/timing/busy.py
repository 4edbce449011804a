"""Whether this machine has something else to do."""

from __future__ import annotations

import os


def busy_machine() -> str:
    """A warning where other programs keep the cores from us: each worker waits for the last."""
    if not hasattr(os, "getloadavg"):
        return ""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load < 0.5 * cores:
        return ""
    return f"This machine was busy already (load {load:.1f}, {cores} cores): times may be longer."
