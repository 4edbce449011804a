"""Parts of a set of launches: compute-sanitizer takes seconds for each kernel that is compiled, and a run may have few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def part(all_: Sequence[T], which: str) -> Sequence[T]:
    """Return the part "2/4", the second of four, of which each has every fourth; or all, where `which` is empty."""
    number, _, parts = (which or "1/1").partition("/")
    if not 1 <= int(number) <= int(parts):
        raise SystemExit(f"expected a part from 1/{parts} to {parts}/{parts}, and not {which}")
    return all_[int(number) - 1 :: int(parts)]
