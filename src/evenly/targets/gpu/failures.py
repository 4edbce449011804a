"""What a user is told of a kernel that no GPU runs."""

from __future__ import annotations

from evenly.errors import InputError


def too_much_shared(nbytes: int, most: int, kernel: str) -> InputError:
    """What a user is told whose blocks need so many bytes of shared memory."""
    return InputError(
        "schedule",
        expected=f"blocks that fit into {most:,} bytes of shared memory",
        given=f"{nbytes:,} bytes, in {kernel}",
        hint="fewer items or threads a block, or a schedule that owns whole tiles",
    )
