"""Run `evenly cache`: show the compiled code on disk, limit its size, or clear it."""

from __future__ import annotations

from collections.abc import Iterator

from evenly.cache import directory, places
from evenly.cache import limit as limits
from evenly.errors import printable

WHAT = {
    "cpu": "native functions",
    "cubin": "GPU code",
    "simt": "libraries of the emulator",
    "matrices": "matrices of `evenly bench`",
}


def run(clear: bool, limit: str | None) -> Iterator[str]:
    """Clear or trim the cache if asked to, then yield the lines that describe it. Raises InputError."""
    allowed = limits.limit()
    if clear:
        yield _removed(*limits.trim(0))
    elif limit is not None:
        most = limits.size_of("--limit", limit)
        yield _removed(*limits.trim(most)) if most else _removed(0, 0)  # 0 means no limit
    yield printable(str(directory()))
    if fault := _fault():
        yield f"  not used: {printable(fault)}"
    found = limits.entries()
    for kind, what in WHAT.items():
        sizes = [entry.size for entry in found if entry.kind == kind]
        yield f"  {kind:10}{len(sizes):>7,} files {_mb(sum(sizes)):>13}  {what}"
    most_said = f"of at most {_mb(allowed)}" if allowed else "and no limit"
    size = sum(entry.size for entry in found)
    yield f"  {'all':10}{len(found):>7,} files {_mb(size):>13}  {most_said} ({limits.VARIABLE})"


def _removed(files: int, size: int) -> str:
    return f"{files:,} files removed, {_mb(size)}"


def _fault() -> str:
    try:
        return places.fault(directory())
    except OSError:
        return ""  # there is no cache yet


def _mb(size: int) -> str:
    return f"{size / 10**6:,.1f} MB"
