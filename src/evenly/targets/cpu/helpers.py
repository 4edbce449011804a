"""The functions of this folder that emitted code calls: those of intrinsics, and those that engines need."""

from __future__ import annotations

import re
import textwrap

from evenly.language.intrinsics import TABLE, Intrinsic

_ENGINES = {
    "complexes": {"divide_complex", "multiply_complex"},
    "primitives": {
        "add_in_any_order", "add_wrapping", "as_float", "as_it_stands", "floor_divide", "multiply_in_any_order",
        "multiply_wrapping", "pointer", "subtract_wrapping",
    },
}  # fmt: skip

# What few functions need is imported only where it is called.
_RARE = {
    "numpy": ("int8", "int16", "uint32", "uint64"),
    "evenly.targets.cpu.atomics": (
        "atomic_add_unless", "atomic_and", "atomic_exch_unless", "atomic_or", "atomic_xor",
    ),
    "evenly.targets.cpu.integers": (
        "equal_exactly", "leading_zeros", "less_exactly", "popcount", "rotate_left", "rotate_right",
    ),
    "evenly.targets.cpu.checks": ("check_length",),
    "evenly.targets.cpu.primitives": (
        "greater_number", "is_nan", "lesser_number", "shifted", "sum_of_terms", "wide_vectors",
    ),
    "evenly.targets.cpu.stack": ("stack",),
    "evenly.targets.cpu.trials": ("trial_begins", "trial_ends", "trial_stages", "trial_tiles"),
    "evenly.targets.cpu.crew": (
        "crew_attention", "crew_begins", "crew_chunk", "crew_claims", "crew_counts", "crew_first", "crew_is_full",
        "crew_leaves", "crew_now", "crew_pauses", "crew_sends", "crew_until", "crew_waits",
    ),
}  # fmt: skip


def called(entry: Intrinsic) -> str:
    """Return the name by which emitted code calls an intrinsic: for a function of this folder, without the file's."""
    file, _, name = entry.numba.rpartition(".")
    return name if file in _ENGINES or f"evenly.targets.cpu.{file}" in _RARE else entry.numba


def imported(file: str) -> str:
    """Return the import statement for all functions of one file that emitted code may call."""
    own = {called(entry) for entry in TABLE if entry.numba.startswith(f"{file}.")}
    names = ", ".join(sorted(own | _ENGINES[file]))
    indented = textwrap.fill(names, 106, initial_indent="    ", subsequent_indent="    ")
    return f"from evenly.targets.cpu.{file} import (\n{indented}\n)"


def rarely_imported(text: str) -> str:
    """Return the import statements for what the emitted `text` needs and others do not, each after a line break."""
    words = set(re.findall(r"\w+", text))
    needed = {module: [n for n in names if n in words] for module, names in _RARE.items()}
    return "".join(f"\nfrom {m} import {', '.join(found)}" for m, found in needed.items() if found)
