"""What there is on this machine: the best target that works, and what a target runs on."""

from __future__ import annotations

from evenly import targets
from evenly.errors import UnavailableError


def best_target() -> tuple[str, str]:
    """The best target that works here, and why it is not "cuda" ("" if it is)."""
    missing = ""
    for name in ("cuda", "cpu"):
        try:
            targets.get(name)
            return name, missing
        except UnavailableError as error:
            missing = missing or error.missing
    return "python", missing


def described(target: str) -> str:
    """A target with what it runs on: "cpu (2 threads)"."""
    if target == "cpu":
        import numba

        threads = numba.get_num_threads()
        return f"cpu ({threads} thread{'s' * (threads != 1)})"
    if target == "cuda":
        import cuda.core as core

        return f"cuda ({core.Device().name})"
    return target
