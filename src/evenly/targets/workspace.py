"""How much memory the scratch arrays of a kernel may take: `max_workspace=`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenly.errors import InputError
from evenly.language import ir

MOST_WORKSPACE = 1 << 30  # bytes, where the caller does not say

# The greatest lengths of each scratch array of a run, by its path: one for the tiles of each team.
Rooms = dict[ir.Path, tuple[int, ...]]


def limit_of(value: Any) -> int:
    """Return a limit that the user gave. Raises InputError."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or value < 1:
        raise InputError(
            "max_workspace", expected="a number of bytes, 1 or more", given=repr(value)
        )
    return int(value)


def share_of(lengths: tuple[int, ...], teams: tuple[int, ...] = (1,)) -> int:
    """Return how many elements each thread of a team needs, so that all have room for the longest array of their tiles.

    teams: the sizes of the teams that the lengths belong to, or one size of all.
    """
    sizes = teams if len(teams) == len(lengths) else teams[:1] * len(lengths)
    return max((-(-n // size) for n, size in zip(lengths, sizes, strict=True)), default=0)


def at_a_time(arrays: Sequence[tuple[ir.Array, int]], wanted: int, most: int, who: str) -> int:
    """Return how many of `wanted` processors may run at a time, so that their arrays take at most `most` bytes.

    arrays: with the elements of each that one processor needs. who: what that is.
    Raises InputError if not even one may run.
    """
    each = sum(count * a.dtype.dtype.itemsize for a, count in arrays)
    if each > most:
        names = ", ".join(dict.fromkeys(a.name for a, _ in arrays))
        what = f"the scratch array {names} of {who} takes"
        if len(arrays) > 1:
            what = f"the scratch arrays {names} of {who} take"
        expected = f"at least {each:,} bytes, which {what}"
        raise InputError("max_workspace", expected=expected, given=f"{most:,}")
    return min(wanted, most // each) if each else wanted
