"""The error for a kernel that no GPU can run."""

from __future__ import annotations

from evenly.errors import InputError


def too_much_shared(nbytes: int, most: int, kernel: str) -> InputError:
    """Return the error for blocks that need `nbytes` of shared memory, where `most` is the limit."""
    return InputError(
        "schedule",
        expected=f"blocks that fit into {most:,} bytes of shared memory",
        given=f"{nbytes:,} bytes, in {kernel}",
        hint="fewer items or threads a block, fewer columns of a thread (vector=), or a schedule that owns whole tiles",
    )
